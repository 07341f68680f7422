package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"interlock/internal/ledger"
)

// Who waits for others to write is told by this process's own commits, and of those of other processes by one goroutine, which runs
// only while somebody waits and asks SQLite for a counter of the file that every commit moves.

// soonest is how often it looks at most.
const soonest = 5 * time.Millisecond

// logKind is for the entries of the log, which are no rows.
const logKind = ""

// A mark is how far the log is, and the rows beside it.
type mark struct{ size, revision int64 }

// A watcher is one who waits.
type watcher struct {
	ledger.Watch
	passes  bool // some of what he waits for comes without moving the revision
	changed chan struct{}
	forget  func() bool // that his context may end
}

// wants reports whether he waits for rows of a kind.
func (w *watcher) wants(kind string) bool { return len(w.Kinds) == 0 || slices.Contains(w.Kinds, kind) }

// tell leaves a signal, unless one is waiting: it is for both.
func (w *watcher) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// watching is everybody who waits.
type watching struct {
	some  atomic.Bool // for commits: for most of them nobody waits for
	begin sync.Mutex  // held while the looking begins, before mu

	mu      sync.Mutex // guards the fields below, and that no signal is sent on a closed channel
	all     map[*watcher]struct{}
	told    mark // how far those who wait have been told of
	looking *lookout
	over    bool
}

// A lookout looks for what other processes write, until nobody waits any more.
type lookout struct {
	c      *conn
	seen   int64 // the file's counter
	sooner chan struct{}
	ctx    context.Context
	stop   context.CancelFunc
}

// Watch tells the caller that some of what he names may have changed since Watch returned: in this process or in another. Signals
// that nobody has taken yet are one, and none is lost. What may have changed is told as changed, so is a store that has failed or
// can't be looked at. The channel is closed when ctx ends and when the store is closed.
func (s *Store) Watch(ctx context.Context, what ledger.Watch) (<-chan struct{}, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.failed(); err != nil {
		return nil, err
	}
	w := &watcher{Watch: what, passes: len(what.Kinds) == 0, changed: make(chan struct{}, 1)}
	w.Within = max(w.Within, soonest)
	for _, kind := range what.Kinds {
		w.passes = w.passes || s.book.Swept(kind) || s.book.Filed(kind)
	}
	k := &s.watching
	k.begin.Lock()
	defer k.begin.Unlock()
	if !k.add(w) {
		return nil, errClosed
	}
	if err := s.lookOut(ctx); err != nil {
		k.remove(w)
		return nil, err
	}
	forget := context.AfterFunc(ctx, func() { k.remove(w) })
	k.mu.Lock()
	defer k.mu.Unlock()
	w.forget = forget
	if _, still := k.all[w]; !still { // the store was closed meanwhile
		forget()
	}
	return w.changed, nil
}

func (k *watching) add(w *watcher) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return false
	}
	if k.all == nil {
		k.all = map[*watcher]struct{}{}
	}
	k.all[w] = struct{}{}
	k.some.Store(true)
	return true
}

// remove forgets one who waits. With the last one the looking ends.
func (k *watching) remove(w *watcher) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, waits := k.all[w]; !waits {
		return
	}
	delete(k.all, w)
	close(w.changed)
	if len(k.all) > 0 {
		return
	}
	k.some.Store(false)
	if k.looking != nil {
		k.looking.stop()
		k.looking = nil
	}
}

// end forgets everybody who waits, for good.
func (k *watching) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	for w := range k.all { // in any order
		if w.forget != nil {
			w.forget()
		}
		close(w.changed)
	}
	k.all = nil
	k.some.Store(false)
	if k.looking != nil {
		k.looking.stop()
		k.looking = nil
	}
}

// lookOut sees to it that somebody looks, from where the file is now on.
func (s *Store) lookOut(ctx context.Context) error {
	k := &s.watching
	k.mu.Lock()
	l := k.looking
	k.mu.Unlock()
	if l != nil {
		select {
		case l.sooner <- struct{}{}: // somebody more eager may have come
		default:
		}
		return nil
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	l = &lookout{sooner: make(chan struct{}, 1)}
	if err := s.beginLooking(ctx, l); err != nil {
		return explain("begin to watch", err)
	}
	l.ctx, l.stop = context.WithCancel(context.Background())
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		l.stop()
		return errors.Join(errClosed, l.c.close())
	}
	k.looking = l
	s.background.Go(func() { s.lookFor(l) })
	return nil
}

// beginLooking opens a connection and notes how far the file is.
func (s *Store) beginLooking(ctx context.Context, l *lookout) (err error) {
	if l.c, err = s.take(ctx, s.db); err != nil {
		return err
	}
	var now mark
	if l.seen, err = l.counter(ctx); err == nil {
		now, err = l.head(ctx)
	}
	if err != nil {
		_ = l.c.close() // the first error is the one to report
		l.c = nil
		return err
	}
	s.watching.others(now, false)
	return nil
}

// counter is a number that is another one whenever another connection has committed.
func (l *lookout) counter(ctx context.Context) (n int64, err error) {
	_, err = l.c.row(ctx, "PRAGMA data_version", nil, &n)
	return n, err
}

func (l *lookout) head(ctx context.Context) (now mark, err error) {
	_, err = l.c.row(ctx, "SELECT size, revision FROM head WHERE one = 1", nil, &now.size, &now.revision)
	return now, err
}

// lookFor looks as often as those who wait want, until it is stopped.
func (s *Store) lookFor(l *lookout) {
	defer func() { _ = l.c.close() }() // nothing was written with it
	timer := time.NewTimer(s.watching.within())
	defer timer.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-l.sooner:
		case <-timer.C:
			s.lookOnce(l)
		}
		timer.Reset(s.watching.within())
	}
}

// lookOnce tells those who wait if another process has written. What can't be told is told as changed: they look and find out,
// and the next look is with a connection of its own.
func (s *Store) lookOnce(l *lookout) {
	var now mark
	var seen int64
	var err error
	if l.c == nil {
		if err = s.beginLooking(l.ctx, l); err == nil {
			s.watching.others(mark{}, true)
			return
		}
	} else if seen, err = l.counter(l.ctx); err == nil && seen != l.seen {
		l.seen = seen
		if now, err = l.head(l.ctx); err == nil {
			s.watching.others(now, true)
			return
		}
	}
	if err == nil || l.ctx.Err() != nil {
		return
	}
	if l.c != nil {
		_ = l.c.close()
		l.c = nil
	}
	s.watching.everybody()
}

// within is how long to wait until the next look.
func (k *watching) within() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := time.Hour
	for w := range k.all { // in any order: the least of them
		next = min(next, w.Within)
	}
	return next
}

// others is told that the file is at a mark. Unless it has only begun to be looked at, those who wait for rows are told if these
// have moved since they were last told; those who wait for more are told in any case, because notes and what is swept leave no
// trace in the head.
func (k *watching) others(now mark, changed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	moved := now.revision == 0 || now.revision > k.told.revision
	if now.size > k.told.size || now.revision > k.told.revision { // what this process wrote meanwhile has been told
		k.told = now
	}
	for w := range k.all { // in any order
		if changed && (moved || w.passes) {
			w.tell()
		}
	}
}

// wrote is told what a transaction of this process has moved, and which kinds. If others wrote just before it, that is told as well.
func (k *watching) wrote(before, after mark, kinds func() []string) {
	if !k.some.Load() {
		return
	}
	touched := kinds()
	k.mu.Lock()
	defer k.mu.Unlock()
	alone := before == k.told
	if after.size > k.told.size {
		k.told = after
	}
	for w := range k.all { // in any order
		if !alone || slices.ContainsFunc(touched, w.wants) {
			w.tell()
		}
	}
}

// noted is told that this process has written a note of a kind.
func (k *watching) noted(kind string) {
	if !k.some.Load() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for w := range k.all { // in any order
		if w.wants(kind) {
			w.tell()
		}
	}
}

// everybody is told: nobody knows what has changed.
func (k *watching) everybody() {
	if !k.some.Load() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for w := range k.all { // in any order
		w.tell()
	}
}

// wrote tells what a transaction has written.
func (s *Store) wrote(done *batch) {
	after := mark{s.newest.Size, done.after.Revision}
	before := mark{after.size - int64(len(done.drafts)), done.before.Revision}
	s.watching.wrote(before, after, func() []string {
		kinds := []string{logKind}
		for _, w := range done.written {
			kinds = append(kinds, w.row.Kind)
		}
		for ref := range done.passing { // in any order: they are looked through
			kinds = append(kinds, ref.Kind)
		}
		for _, f := range done.filed {
			kinds = append(kinds, f.row.Kind)
		}
		return kinds
	})
}
