package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
)

// relayHTTPFlag makes this program a relay whose clients come over HTTP: an address, then what follows relayFlag. It has to read
// ids, because many clients share the server; beside that it does what the other relays do.
const relayHTTPFlag = "-relay-http"

// A httpRelay carries requests from HTTP to a server on standard streams.
type httpRelay struct {
	reads  bool
	before func() error // what a request waits for; those that come together share it

	writing sync.Mutex
	in      io.Writer
	mu      sync.Mutex
	waiting map[string]chan []byte
}

// relayHTTP serves until it is ended.
func relayHTTP(address, log string, command []string) error {
	r := &httpRelay{reads: log == relayReads, before: func() error { return nil }, waiting: map[string]chan []byte{}}
	if log != relayReads {
		write, err := syncedWrites(log)
		if err != nil {
			return err
		}
		r.before = together(write)
	}
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r.in = in
	go func() {
		r.answers(out)
		os.Exit(0) // the server is gone, and so is this
	}()
	return http.ListenAndServe(address, r)
}

func idOf(message []byte) string {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(message, &m) // what is no message has no id
	return string(m.ID)
}

// answers hands the server's answers to those who wait for them.
func (r *httpRelay) answers(out io.Reader) {
	reader := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		if r.reads && passes(line) != nil {
			continue
		}
		id := idOf(line)
		r.mu.Lock()
		answer := r.waiting[id]
		delete(r.waiting, id)
		r.mu.Unlock()
		if answer != nil {
			answer <- line
		}
	}
}

func (r *httpRelay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err == nil && r.reads {
		err = passes(body)
	}
	if err == nil {
		err = r.before()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	id, answer := idOf(body), make(chan []byte, 1)
	if id != "" {
		r.mu.Lock()
		r.waiting[id] = answer
		r.mu.Unlock()
	}
	r.writing.Lock()
	_, err = r.in.Write(append(body, '\n'))
	r.writing.Unlock()
	if err != nil || id == "" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Mcp-Session-Id", "bench")
	_, _ = w.Write(<-answer) // a client that is gone misses nothing
}

// together has those who call at the same time share one step.
func together(step func() error) func() error {
	waiting := make(chan chan error, 1024)
	go func() {
		for first := range waiting {
			all := []chan error{first}
			for more := true; more; {
				select {
				case next := <-waiting:
					all = append(all, next)
				default:
					more = false
				}
			}
			err := step()
			for _, one := range all {
				one <- err
			}
		}
	}()
	return func() error {
		done := make(chan error, 1)
		select {
		case waiting <- done:
			return <-done
		default:
			return errors.New("too many wait")
		}
	}
}
