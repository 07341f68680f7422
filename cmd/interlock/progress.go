package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"interlock"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
)

// quiet is how long something takes before it is said how far it is, and beat how often it is said then.
const (
	quiet = time.Second
	beat  = 200 * time.Millisecond
)

// A progress says on a terminal's standard error how far something is that takes long; nil, which is what everybody else gets,
// says nothing.
type progress struct {
	screen io.Writer
	now    func() time.Time
	what   string
	total  int64 // 0: not known
	done   int64
	due    time.Time
	shown  bool
}

// progress begins one. Who begins it ends it.
func (p *program) progress(what string, total int64) *progress {
	if !atTerminal(p.stderr) || p.getenv("TERM") == "dumb" {
		return nil
	}
	return newProgress(p.stderr, now, what, total)
}

func newProgress(screen io.Writer, now func() time.Time, what string, total int64) *progress {
	return &progress{screen: screen, now: now, what: what, total: total, due: now().Add(quiet)}
}

// step counts one more thing as done.
func (g *progress) step() {
	if g == nil {
		return
	}
	if g.done++; g.done%64 != 0 { // the clock is not asked for each
		return
	}
	at := g.now()
	if at.Before(g.due) {
		return
	}
	g.due, g.shown = at.Add(beat), true
	if g.total > 0 {
		fmt.Fprintf(g.screen, "\r%s: %d of %d (%d%%)\x1b[K", g.what, g.done, g.total, min(100, g.done*100/g.total))
	} else {
		fmt.Fprintf(g.screen, "\r%s: %d\x1b[K", g.what, g.done)
	}
}

// end takes the line away again.
func (g *progress) end() {
	if g != nil && g.shown {
		fmt.Fprint(g.screen, "\r\x1b[K")
	}
}

// A watchedSource is a log whose reading is shown.
type watchedSource struct {
	auditlog.Source
	progress *progress
}

// Walk calls visit for every entry.
func (w watchedSource) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return w.Source.Walk(ctx, w.progress.counting(visit))
}

// A watchedRecording is the same of a log with what its decisions were made from.
type watchedRecording struct {
	archive.Recording
	progress *progress
}

// Walk calls visit for every entry.
func (w watchedRecording) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return w.Recording.Walk(ctx, w.progress.counting(visit))
}

// counting is visit with a step for each entry.
func (g *progress) counting(visit func(interlock.Entry) error) func(interlock.Entry) error {
	if g == nil {
		return visit
	}
	return func(e interlock.Entry) error {
		g.step()
		return visit(e)
	}
}

// walking begins a progress over the entries of a log.
func (p *program) walking(what string, log auditlog.Source) *progress {
	if !atTerminal(p.stderr) {
		return nil // and no head is read for it
	}
	var total int64
	if head, err := log.Head(p.ctx); err == nil {
		total = head.Size
	}
	return p.progress(what, total)
}
