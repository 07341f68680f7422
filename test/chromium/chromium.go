// Package chromium drives a browser without a window by its DevTools protocol over two pipes: no port for others to find, no
// driver in between. The console's tests and the pictures of it use it.
// https://chromedevtools.github.io/devtools-protocol/ describes the methods by name.
package chromium

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// A Browser is one running Chromium. It is safe for concurrent use.
type Browser struct {
	process  *exec.Cmd
	profile  string
	said     bytes.Buffer
	commands *os.File
	answers  *os.File
	read     chan struct{} // closed when there is no more to read

	mu      sync.Mutex
	last    int
	waiting map[int]chan Message
	pages   map[string]func(Message) // by session
	ended   error
}

// A Message is one command, its answer, or an event.
type Message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// find returns the program. Its absence is a failure of the caller that needs it: a console nobody drove is not tested.
func find() (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	if named := os.Getenv("CHROMIUM"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("Chromium is missing and the console can't be looked at without it: run `make setup` as root on Debian, " +
		"or install it and name it in CHROMIUM")
}

// Start starts a browser that reaches no network of its own accord, with a profile of its own. The caller closes it.
func Start(more ...string) (*Browser, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	b := &Browser{read: make(chan struct{}), waiting: map[int]chan Message{}, pages: map[string]func(Message){}}
	if b.profile, err = os.MkdirTemp("", "interlock-browser-"); err != nil {
		return nil, err
	}
	if err := b.start(program, more); err != nil {
		os.RemoveAll(b.profile)
		return nil, err
	}
	go func() {
		defer close(b.read)
		b.receive()
	}()
	return b, nil
}

func (b *Browser) start(program string, more []string) error {
	theirEnd, commands, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirEnd.Close()
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		commands.Close()
		return err
	}
	defer theirAnswers.Close()
	arguments := append([]string{"--headless", "--remote-debugging-pipe", "--user-data-dir=" + b.profile, "--disable-gpu",
		"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-dev-shm-usage"}, more...)
	if os.Getuid() == 0 { // Chromium's own sandbox needs a user who is not root
		arguments = append(arguments, "--no-sandbox")
	}
	b.process = exec.Command(program, append(arguments, "about:blank")...)
	b.process.ExtraFiles = []*os.File{theirEnd, theirAnswers} // 3 and 4, as --remote-debugging-pipe wants them
	b.process.Stdout, b.process.Stderr = &b.said, &b.said
	b.process.Env = append(os.Environ(), "HOME="+b.profile, "XDG_CONFIG_HOME="+filepath.Join(b.profile, "config"),
		"XDG_CACHE_HOME="+filepath.Join(b.profile, "cache"))
	if err := b.process.Start(); err != nil {
		commands.Close()
		answers.Close()
		return err
	}
	b.commands, b.answers = commands, answers
	return nil
}

// Close ends the browser and removes its profile. The error tells what the browser said, where it ended badly.
func (b *Browser) Close() error {
	_ = b.Call(context.Background(), "", "Browser.close", nil, nil) // it may be gone before it answers
	<-b.read
	err := b.process.Wait()
	b.commands.Close()
	b.answers.Close()
	os.RemoveAll(b.profile)
	if err != nil {
		return fmt.Errorf("chromium: %w\n%s", err, b.said.Bytes())
	}
	return nil
}

// Listen has what happens on a page told to a function, which must not call back.
func (b *Browser) Listen(session string, happened func(Message)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages[session] = happened
}

// receive hands answers to who waits for them and events to their page, until the browser is gone.
func (b *Browser) receive() {
	lines := bufio.NewReaderSize(b.answers, 1<<20)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			break
		}
		var m Message
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
			continue
		}
		b.mu.Lock()
		waiting, happened := b.waiting[m.ID], b.pages[m.Session]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		switch {
		case waiting != nil:
			waiting <- m
		case happened != nil && m.Method != "":
			happened(m)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = errors.New("the browser has ended")
	for id, waiting := range b.waiting {
		delete(b.waiting, id)
		close(waiting)
	}
}

// Tab opens an empty tab in a browsing context of its own, with its own cookies, and returns its session.
func (b *Browser) Tab(ctx context.Context) (session string, err error) {
	var own struct{ BrowserContextID string }
	var target struct{ TargetID string }
	var attached struct{ SessionID string }
	if err = b.Call(ctx, "", "Target.createBrowserContext", nil, &own); err == nil {
		err = b.Call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": own.BrowserContextID}, &target)
	}
	if err == nil {
		err = b.Call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	}
	return attached.SessionID, err
}

// Call sends a command, to the browser or to one of its pages, and decodes the answer into result unless that is nil.
func (b *Browser) Call(ctx context.Context, session, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if params == nil {
		raw = nil
	}
	answer := make(chan Message, 1)
	if err := b.send(Message{Session: session, Method: method, Params: raw}, answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser has ended", method)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(m.Result, result)
	}
}

// send writes a command whose answer goes into a channel.
func (b *Browser) send(m Message, answer chan Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended != nil {
		return b.ended
	}
	b.last++
	m.ID = b.last
	command, err := json.Marshal(m)
	if err != nil {
		return err
	}
	b.waiting[m.ID] = answer
	_, err = b.commands.Write(append(command, 0))
	return err
}
