package mcpgateway

import (
	"context"
	"sync"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// lookEvery is how often the standing is looked at while anything waits: an answer reaches the call that waits for it within
// twice that, whichever process it was given in.
const lookEvery = 25 * time.Millisecond

// A watch tells those who wait for a request when it is no longer pending. One goroutine looks for all of them, and only
// while there are any.
type watch struct {
	known  func(context.Context, ...ledger.Ref) (ledger.Standing, error)
	now    func() time.Time
	closed chan struct{}

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

func newWatch(known func(context.Context, ...ledger.Ref) (ledger.Standing, error), now func() time.Time) *watch {
	return &watch{known: known, now: now, closed: make(chan struct{}), waiting: map[string]*waiter{}}
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
	return one.changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if one.count--; one.count == 0 && w.waiting[request] == one {
			delete(w.waiting, request)
		}
	}
}

// look looks until nothing waits any more.
func (w *watch) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for w.once() {
		select {
		case <-ticker.C:
		case <-w.closed:
			return
		}
	}
}

// once wakes those whose request is no longer pending; false if nothing waits. A standing that can't be read wakes nobody:
// whoever waits has a time of its own.
func (w *watch) once() bool {
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
		standing, err = w.known(ctx, asked...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		now := w.now()
		for _, ref := range asked { // and nobody who has come since
			one, waits := w.waiting[ref.Key]
			r, open := standing.Requests[ref.Key]
			if !waits || open && r.Status == interlock.RequestPending && now.Before(r.Expires) {
				continue
			}
			close(one.changed)
			delete(w.waiting, ref.Key)
		}
	}
	w.looking = len(w.waiting) > 0
	return w.looking
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
