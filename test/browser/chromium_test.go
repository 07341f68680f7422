package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A chromium is a browser without a window, spoken to by its DevTools protocol over two pipes: no port for others to find,
// no driver in between. https://chromedevtools.github.io/devtools-protocol/ describes the methods by name.
type chromium struct {
	commands io.Writer

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	pages   map[string]*page // by session
	ended   error
}

// A message is one command, its answer, or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// findChromium returns the program. Its absence is a failure of the suite: a console nobody drove is not tested.
func findChromium() (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	if named := os.Getenv("CHROMIUM"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("Chromium is missing and the console can't be tested without it: run `make setup` as root on Debian, or install it and name it in CHROMIUM")
}

// startChromium starts a browser that reaches no network of its own accord, and ends it with the test.
func startChromium(t *testing.T, more ...string) *chromium {
	t.Helper()
	program, err := findChromium()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "interlock-browser-")
	if err != nil {
		t.Fatal(err)
	}
	theirEnd, ourCommands := pipe(t)
	ourAnswers, theirAnswers := pipe(t)
	arguments := []string{"--headless", "--remote-debugging-pipe", "--user-data-dir=" + profile, "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "about:blank"}
	if os.Getuid() == 0 { // Chromium's own sandbox needs a user who is not root
		arguments = append([]string{"--no-sandbox"}, arguments...)
	}
	arguments = append(more, arguments...)
	var said bytes.Buffer
	process := exec.Command(program, arguments...)
	process.ExtraFiles = []*os.File{theirEnd, theirAnswers} // 3 and 4, as --remote-debugging-pipe wants them
	process.Stdout, process.Stderr = &said, &said
	process.Env = append(os.Environ(), "HOME="+profile, "XDG_CONFIG_HOME="+filepath.Join(profile, "config"), "XDG_CACHE_HOME="+filepath.Join(profile, "cache"))
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	theirEnd.Close()
	theirAnswers.Close()
	c := &chromium{commands: ourCommands, waiting: map[int]chan message{}, pages: map[string]*page{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(ourAnswers)
	}()
	t.Cleanup(func() {
		_ = c.call(context.Background(), "", "Browser.close", nil, nil) // it may be gone before it answers
		<-read
		if err := process.Wait(); err != nil && t.Failed() {
			t.Logf("Chromium: %v\n%s", err, said.Bytes())
		}
		os.RemoveAll(profile)
	})
	return c
}

func pipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close(); writer.Close() })
	return reader, writer
}

// read hands answers to who waits for them and events to their page, until the browser is gone.
func (c *chromium) read(from io.Reader) {
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
			continue
		}
		c.mu.Lock()
		waiting, page := c.waiting[m.ID], c.pages[m.Session]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		switch {
		case waiting != nil:
			waiting <- m
		case page != nil && m.Method != "":
			page.happened(m)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = errors.New("the browser has ended")
	for id, waiting := range c.waiting {
		delete(c.waiting, id)
		close(waiting)
	}
}

// call sends a command, to the browser or to one of its pages, and decodes the answer into result unless that is nil.
func (c *chromium) call(ctx context.Context, session, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if params == nil {
		raw = nil
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return c.ended
	}
	c.last++
	command, err := json.Marshal(message{ID: c.last, Session: session, Method: method, Params: raw})
	if err == nil {
		c.waiting[c.last] = answer
		_, err = c.commands.Write(append(command, 0))
	}
	c.mu.Unlock()
	if err != nil {
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
