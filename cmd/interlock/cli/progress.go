package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"interlock"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
)

// Quiet is how long something takes before it is said how far it is, and beat how often it is said then.
const (
	Quiet = time.Second
	Beat  = 200 * time.Millisecond
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
func (p *Program) progress(what string, total int64) *progress {
	if !AtTerminal(p.Stderr) || p.Getenv("TERM") == "dumb" {
		return nil
	}
	return newProgress(p.Stderr, Now, what, total)
}

func newProgress(screen io.Writer, now func() time.Time, what string, total int64) *progress {
	return &progress{screen: screen, now: now, what: what, total: total, due: now().Add(Quiet)}
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
	g.due, g.shown = at.Add(Beat), true
	if g.total > 0 {
		fmt.Fprintf(g.screen, "\r%s: %d of %d (%d%%)\x1b[K", g.what, g.done, g.total, min(100, g.done*100/g.total))
	} else {
		fmt.Fprintf(g.screen, "\r%s: %d\x1b[K", g.what, g.done)
	}
}

// End takes the line away again.
func (g *progress) End() {
	if g != nil && g.shown {
		fmt.Fprint(g.screen, "\r\x1b[K")
	}
}

// A WatchedSource is a log whose reading is shown.
type WatchedSource struct {
	auditlog.Source
	Progress *progress
}

// Walk calls visit for every entry.
func (w WatchedSource) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return w.Source.Walk(ctx, w.Progress.Counting(visit))
}

// A WatchedRecording is the same of a log with what its decisions were made from.
type WatchedRecording struct {
	archive.Recording
	Progress *progress
}

// Walk calls visit for every entry.
func (w WatchedRecording) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return w.Recording.Walk(ctx, w.Progress.Counting(visit))
}

// Counting is visit with a step for each entry.
func (g *progress) Counting(visit func(interlock.Entry) error) func(interlock.Entry) error {
	if g == nil {
		return visit
	}
	return func(e interlock.Entry) error {
		g.step()
		return visit(e)
	}
}

// Walking begins a progress over the entries of a log.
func (p *Program) Walking(what string, log auditlog.Source) *progress {
	if !AtTerminal(p.Stderr) {
		return nil // and no head is read for it
	}
	var total int64
	if head, err := log.Head(p.Ctx); err == nil {
		total = head.Size
	}
	return p.progress(what, total)
}
