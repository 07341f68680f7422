package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"interlock"
	"interlock/embedded"
)

// judgeSays is what the judge of this benchmark answers: it denies its canary, and allows everything else.
const (
	judgeSays = `{"id":"x","object":"chat.completion","model":"bench-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":` +
		`"assistant","content":"%s"}}],"usage":{"prompt_tokens":900,"completion_tokens":30}}`
	judgeAllow = `{\"decision\":\"ALLOW\",\"layer\":null,\"rule_id\":null,\"reason\":\"fine\",\"confidence\":1}`
	judgeDeny  = `{\"decision\":\"DENY\",\"layer\":1,\"rule_id\":\"L1.integrity\",\"reason\":\"bad\",\"confidence\":1}`
)

// A slowJudge answers after a while.
type slowJudge struct{ after time.Duration }

func (s slowJudge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	says := judgeAllow
	if bytes.Contains(body, []byte("attacker.example")) {
		says = judgeDeny
	} else if s.after > 0 {
		time.Sleep(s.after)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, judgeSays, says)
}

// judgedHome opens a home whose judge answers after a while, and is asked of what when says. Without that it is an ordinary one.
func (b *bench) judgedHome(name string, after time.Duration, when string) (*embedded.Backend, func(), error) {
	home, err := b.home(name)
	if err != nil {
		return nil, nil, err
	}
	closing := func() {}
	if when != "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		server := &http.Server{Handler: slowJudge{after}, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }() // it ends when it is closed
		closing = func() { _ = server.Close() }
		settings := "judge:\n  when: " + when + "\n  judges: [{name: main, wire: openai-chat, url: \"http://" + listener.Addr().String() +
			"/v1\", model: bench-1, in_flight: 512, waiting: 1024}]\n"
		if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
			return nil, nil, err
		}
	}
	backend, err := embedded.Open(b.ctx, embedded.Config{Home: home})
	if err != nil {
		closing()
		return nil, nil, err
	}
	return backend, func() { backend.Close(); closing() }, nil
}

// judged measures what a judge costs beside the time that it takes itself.
func judged(b *bench) error {
	fmt.Fprint(b.out, "\n## The judge\n\nThe same decisions in process, durable, of one caller, in turns: without a judge; with one whose "+
		"answer is remembered; with one that is not due; with one "+
		"that answers at once over HTTP on this machine, beside such an exchange alone and 8 KB appended with sync. Then 500 callers, whose "+
		"judge takes 500 ms and has passed its test. "+
		"Budgets: around a call at most 300 µs at the median; a remembered answer at most 20 µs more than none; 500 in flight at least 900/s in at "+
		"most 300 MB.\n\n")
	none, closeNone, err := b.judgedHome("judge-none", 0, "")
	if err != nil {
		return err
	}
	defer closeNone()
	quick, closeQuick, err := b.judgedHome("judge-quick", 0, "all")
	if err != nil {
		return err
	}
	defer closeQuick()
	notDue, closeNotDue, err := b.judgedHome("judge-not-due", 0, "changes")
	if err != nil {
		return err
	}
	defer closeNotDue()
	same := interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "git status", Dir: "/repo"},
		Requester: interlock.Requester{Principal: "bench", Agent: "bench", Run: "run-1"},
		View:      interlock.View{Home: "/home/dev", Workspace: "/repo"}}
	propose := func(backend *embedded.Backend, fresh bool) func(int) error {
		return func(caller int) error {
			p := same
			if fresh {
				p = proposal(b, caller)
			}
			if answer := backend.Propose(b.ctx, p); !answer.Answer.Allowed() {
				return fmt.Errorf("the decision was %v: %+v", answer.Answer, answer.Findings)
			}
			return nil
		}
	}
	bare, closeBare := bareJudge()
	defer closeBare()
	sync, closeSync, err := b.appendAndSync()
	if err != nil {
		return err
	}
	defer closeSync()
	if err := b.inTurns([]turn{{what: "no judge", step: propose(none, true)}, {what: "not due", step: propose(notDue, true)},
		{what: "no judge, the same action", step: propose(none, false)}, {what: "remembered", step: propose(quick, false)},
		{what: "asked", step: propose(quick, true)}, {what: "such an exchange alone", step: bare},
		{what: "8 KB appended, with sync", step: sync}}); err != nil {
		return err
	}
	slow, closeSlow, err := b.judgedHome("judge-slow", 500*time.Millisecond, "all")
	if err != nil {
		return err
	}
	defer closeSlow()
	if err := propose(slow, true)(0); err != nil { // which waits until the judge has passed its test
		return err
	}
	rate, times, err := load(500, max(b.step, 5*time.Second), propose(slow, true))
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n500 callers, a judge of 500 ms: %.0f decisions/s, p50 %s ms, p99 %s ms, %.0f MB resident after it.\n", rate,
		millis(quantile(times, 0.5)), millis(quantile(times, 0.99)), residentMB(os.Getpid()))
	return nil
}

// A turn is one of several steps that are called in turns, so that whatever else the machine does strikes all of them alike.
type turn struct {
	what  string
	step  func(int) error
	times []time.Duration
}

// turnsEach is how often a step is called before it is the next one's turn.
const turnsEach = 8

// inTurns has one caller take steps by turns for as long as each of them would take alone, and prints a row for each.
func (b *bench) inTurns(turns []turn) error {
	for end := time.Now().Add(time.Duration(len(turns)) * b.step); time.Now().Before(end); {
		for n := range turns {
			for range turnsEach {
				at := time.Now()
				if err := turns[n].step(0); err != nil {
					return fmt.Errorf("%s: %w", turns[n].what, err)
				}
				turns[n].times = append(turns[n].times, time.Since(at))
			}
		}
	}
	fmt.Fprint(b.out, "| what | fastest tenth µs | p50 µs | p99 µs |\n|---|---:|---:|---:|\n")
	for _, t := range turns {
		fmt.Fprintf(b.out, "| %s | %s | %s | %s |\n", t.what, micros(quantile(t.times, 0.1)), micros(quantile(t.times, 0.5)),
			micros(quantile(t.times, 0.99)))
	}
	return nil
}

// appendAndSync returns a step that appends 8 KB to a file and has them on the disk.
func (b *bench) appendAndSync() (step func(int) error, closing func(), err error) {
	file, err := os.Create(filepath.Join(b.scratch, "judge-floor"))
	if err != nil {
		return nil, nil, err
	}
	text := make([]byte, 8<<10)
	return func(int) error {
		if _, err := file.Write(text); err != nil {
			return err
		}
		return file.Sync()
	}, func() { _ = file.Close() }, nil
}

// bareJudge returns a step that exchanges one question with a judge, and nothing else.
func bareJudge() (step func(int) error, closing func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return func(int) error { return err }, func() {}
	}
	server := &http.Server{Handler: slowJudge{}, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // it ends when it is closed
	client := &http.Client{}
	question := make([]byte, 8<<10)
	for n := range question {
		question[n] = 'x'
	}
	return func(int) error {
		response, err := client.Post("http://"+listener.Addr().String()+"/v1/chat/completions", "application/json", bytes.NewReader(question))
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}, func() { _ = server.Close() }
}
