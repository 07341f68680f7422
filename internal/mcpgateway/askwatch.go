package mcpgateway

import (
	"context"
	"sync"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// The bounds of looking while anything waits: an answer given in this process reaches the call that waits for it at once, one given
// in another within lookEvery. Where many are answered at once, looks are lookApart apart.
const (
	lookEvery = 15 * time.Millisecond
	lookApart = 2 * time.Millisecond
	lookAgain = time.Second // even if nobody was told of anything: clocks are set, and machines sleep
)

// A watch tells those who wait for a request when it is no longer pending. One goroutine looks for all of them, and only
// while there are any.
type watch struct {
	from   Approvals
	now    func() time.Time
	closed chan struct{}
	come   chan struct{} // somebody has come to wait while others are looked for

	mu      sync.Mutex
	waiting map[string]*waiter
	looking bool
	over    bool
}

// A waiter is one request and how many wait for it.
type waiter struct {
	changed chan struct{}
	count   int
}

func newWatch(from Approvals, now func() time.Time) *watch {
	return &watch{from: from, now: now, closed: make(chan struct{}), come: make(chan struct{}, 1), waiting: map[string]*waiter{}}
}

// follow returns a channel that is closed once the request is no longer pending, and what ends the waiting for it.
func (w *watch) follow(request string) (changed <-chan struct{}, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.waiting[request]
	if one == nil {
		one = &waiter{changed: make(chan struct{})}
		w.waiting[request] = one
	}
	one.count++
	if !w.looking && !w.over {
		w.looking = true
		go w.look()
	}
	select {
	case w.come <- struct{}{}: // it may have been answered before anybody waited
	default:
	}
	return one.changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if one.count--; one.count == 0 && w.waiting[request] == one {
			delete(w.waiting, request)
		}
	}
}

// look looks until nothing waits any more: when a request may have changed, when one has expired, and when somebody has come. Where
// nobody can be told, it looks as often as it would be told.
func (w *watch) look() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	changed, err := w.from.Watch(ctx, ledger.Watch{Kinds: []string{ledger.Request}, Within: lookEvery})
	if err != nil {
		changed = nil
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		open := true
		select {
		case _, open = <-changed:
		case <-w.come:
		case <-timer.C:
		case <-w.closed:
			return
		}
		if !open {
			changed = nil
		}
		next, more := w.once()
		if !more {
			return
		}
		if changed == nil {
			next = min(next, lookEvery)
		}
		timer.Reset(next)
		select {
		case <-time.After(lookApart):
		case <-w.closed:
			return
		}
	}
}

// once wakes those whose request is no longer pending, and says when to look again at the latest; false if nothing waits. A standing
// that can't be read wakes nobody: each that waits has a time of its own.
func (w *watch) once() (next time.Duration, more bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	w.mu.Lock()
	asked := make([]ledger.Ref, 0, len(w.waiting))
	for id := range w.waiting {
		asked = append(asked, ledger.Ref{Kind: ledger.Request, Key: id})
	}
	w.mu.Unlock()
	var standing ledger.Standing
	var err error
	if len(asked) > 0 {
		standing, err = w.from.Ground(ctx, asked...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	next = lookAgain
	if err != nil {
		next = lookEvery
		asked = nil
	}
	now := w.now()
	for _, ref := range asked { // and nobody who has come since
		one, waits := w.waiting[ref.Key]
		if !waits {
			continue
		}
		r, open := standing.Requests[ref.Key]
		if open && r.Status == interlock.RequestPending && now.Before(r.Expires) {
			next = min(next, max(r.Expires.Sub(now), lookEvery))
			continue
		}
		close(one.changed)
		delete(w.waiting, ref.Key)
	}
	w.looking = len(w.waiting) > 0
	return next, w.looking
}

// close wakes everybody who looks at closed and ends the looking.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.over = true
		close(w.closed)
	}
}
