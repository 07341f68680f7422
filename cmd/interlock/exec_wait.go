package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"interlock/internal/sandbox"
)

// A waiter says on a terminal, while a command is silent, that it runs and why it may wait: what has no network tries for long
// before it gives up. What the command prints takes the line away first.
type waiter struct {
	screen io.Writer
	began  time.Time
	done   chan struct{}
	over   sync.WaitGroup

	mu     sync.Mutex
	last   time.Time // when something was printed
	inLine bool      // the command has begun a line that has no end yet
	shown  bool
}

// withoutNetwork watches a run that has no network. Where standard error is no terminal nothing is said.
func (p *program) withoutNetwork(spec *sandbox.Spec) (end func()) {
	if spec.Network != nil || !atTerminal(p.stderr) || p.getenv("TERM") == "dumb" {
		return func() {}
	}
	w := &waiter{screen: p.stderr, began: now(), last: now(), done: make(chan struct{})}
	spec.Stdout, spec.Stderr = &heardOf{w, spec.Stdout}, &heardOf{w, spec.Stderr}
	w.over.Add(1)
	go w.run()
	return func() {
		close(w.done)
		w.over.Wait()
	}
}

func (w *waiter) run() {
	defer w.over.Done()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-w.done:
			w.mu.Lock()
			w.clear()
			w.mu.Unlock()
			return
		case at := <-tick.C:
			w.mu.Lock()
			if !w.inLine && at.Sub(w.last) >= quiet {
				w.shown = true
				fmt.Fprintf(w.screen, "\r%c running for %s, without network: --allow-host HOST lets it ask for one\x1b[K", `|/-\`[n%4],
					span(at.Sub(w.began)))
			}
			w.mu.Unlock()
		}
	}
}

// clear takes the line away. The lock is held.
func (w *waiter) clear() {
	if w.shown {
		fmt.Fprint(w.screen, "\r\x1b[K")
		w.shown = false
	}
}

// A heardOf passes on what a command prints.
type heardOf struct {
	waiter *waiter
	out    io.Writer
}

func (h *heardOf) Write(text []byte) (int, error) {
	h.waiter.mu.Lock()
	defer h.waiter.mu.Unlock()
	h.waiter.clear()
	if len(text) > 0 {
		h.waiter.last, h.waiter.inLine = now(), text[len(text)-1] != '\n'
	}
	return h.out.Write(text)
}
