package sqlite_test

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
	"interlock/test/wait"
)

// looking reports how many goroutines look for what other processes write.
func looking() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "sqlite.(*Store).lookFor(")
}

// soon waits for something that comes.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	if !wait.Holds(is) {
		t.Fatal(what)
	}
}

func watch(t *testing.T, ctx context.Context, s *sqlite.Store, kinds ...string) <-chan struct{} {
	t.Helper()
	changed, err := s.Watch(ctx, ledger.Watch{Kinds: kinds, Within: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func heard(t *testing.T, what string, changed <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-changed:
		if !open {
			t.Fatalf("%s ended the waiting", what)
		}
	case <-time.After(wait.Limit):
		t.Fatalf("nobody heard of %s", what)
	}
}

// However many wait, one goroutine looks, and only while somebody does.
func TestOneLooks(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	defer s.Close()
	if n := looking(); n != 0 {
		t.Fatalf("%d look before anybody waits", n)
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		for range 50 {
			watch(t, ctx, s)
		}
		soon(t, "it is not one that looks", func() bool { return looking() == 1 })
		cancel()
		soon(t, "somebody looks for nobody", func() bool { return looking() == 0 })
	}
	watch(t, t.Context(), s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := looking(); n != 0 {
		t.Errorf("%d look at a closed store", n)
	}
}

// Whoever waits for rows is left alone by what else is written, by this process and by another: decisions, of which there are
// thousands a second, wake nobody.
func TestWatchersAreLeftAlone(t *testing.T) {
	path := newPath(t)
	s, other := open(t, path), open(t, path)
	defer s.Close()
	defer other.Close()
	if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
		t.Fatal(err)
	}
	requests, entries := watch(t, t.Context(), s, ledger.Request), watch(t, t.Context(), s)
	for n, by := range []*sqlite.Store{s, other, other, s, s} {
		if n < 2 { // from then on the two take turns, and it can't be told any more who wrote what
			c := storagetest.Decision("a")
			c.Writes = ledger.Rows(ledger.Past{Run: "a", Action: interlock.PastAction{At: storagetest.Now, Kind: interlock.KindShell}})
			if _, err := by.Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			heard(t, "a decision", entries)
			wait.Chance(20 * time.Millisecond) // for what should not come
			select {
			case <-requests:
				t.Fatalf("step %d: a decision woke who waits for requests", n)
			default:
			}
			continue
		}
		c := storagetest.Decision("a")
		c.Writes = ledger.Rows(*storagetest.Request(fmt.Sprint("r", n)))
		if _, err := by.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		heard(t, "a request", requests)
	}
	if _, err := s.Watch(t.Context(), ledger.Watch{Kinds: []string{ledger.Agent}}); err != nil {
		t.Fatal(err)
	}
}

// What this process writes is heard of at once, however seldom the file is looked at.
func TestOwnCommitsAreHeardAtOnce(t *testing.T) {
	s := open(t, newPath(t))
	defer s.Close()
	slow := func(kinds ...string) <-chan struct{} {
		changed, err := s.Watch(t.Context(), ledger.Watch{Kinds: kinds, Within: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	calls, recent, requests, shadows, all := slow(ledger.Call), slow(ledger.Recent), slow(ledger.Request), slow(ledger.Shadow), slow()
	c := storagetest.Decision("a")
	c.Writes = ledger.Rows(*storagetest.Request("r"), ledger.Past{Run: "a", Action: interlock.PastAction{At: storagetest.Now}},
		ledger.CallBody{Requester: interlock.Requester{Agent: "agent", Run: "a", Call: "c"}, Action: "sha256:aa", At: storagetest.Now})
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	heard(t, "a call", calls)
	heard(t, "an action", recent)
	heard(t, "a request", requests)
	heard(t, "an entry", all)
	err := s.Note(t.Context(), ledger.Ref{Kind: ledger.Shadow, Key: "sha256:01"}, func(any) (any, error) {
		return ledger.ShadowBody{Ruleset: "sha256:01", To: storagetest.Now}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	heard(t, "a note", shadows)
	heard(t, "a note, among all", all)
	if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
		t.Fatal(err)
	}
	heard(t, "an entry alone", all)
	if _, _, err := s.Release(t.Context(), ledger.Letting{UpTo: 1}); err != nil {
		t.Fatal(err)
	}
	heard(t, "an entry that was let go", all)
	for _, changed := range []<-chan struct{}{calls, recent, shadows} {
		select {
		case <-changed:
		default:
		}
	}
	if len(requests) > 1 {
		t.Errorf("%d signals wait", len(requests))
	}
}

// Another process's commit is heard of, also by a store that was opened for reading.
func TestWatchingOtherProcesses(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	defer s.Close()
	reading, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	all, read := watch(t, t.Context(), s), watch(t, t.Context(), reading)
	for _, task := range []string{"commit 1", "hook 1"} {
		command, _, stderr := start(t, path, task)
		if err := command.Wait(); err != nil {
			t.Fatalf("%s: %v %s", task, err, stderr)
		}
		heard(t, task, all)
		heard(t, task+", reading", read)
	}
}

// A blind connection can't be asked how far the file is while a switch is on, and says it was asked.
type blind struct {
	sqldriver.Conn
	at    *atomic.Int32 // which of the two questions fails; 0 is none
	asked *atomic.Int32
}

var errBlind = errors.New("nothing to be seen")

func (b *blind) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	for n, part := range []string{"data_version", "SELECT size, revision FROM head"} {
		if strings.Contains(query, part) {
			s, err := b.Conn.(sqldriver.ConnPrepareContext).PrepareContext(ctx, query)
			return &blindQuestion{s, b, int32(n + 1)}, err
		}
	}
	return b.Conn.(sqldriver.ConnPrepareContext).PrepareContext(ctx, query)
}

type blindQuestion struct {
	sqldriver.Stmt
	of *blind
	n  int32
}

func (q *blindQuestion) QueryContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	if q.of.at.Load() == q.n {
		q.of.asked.Add(1)
		return nil, errBlind
	}
	return q.Stmt.(sqldriver.StmtQueryContext).QueryContext(ctx, args)
}

// When it can't be told whether another process has written, whoever waits is told that it may have, and looks himself; when it can
// be told again, nothing that was written meanwhile or comes after goes without a signal. Waiting that can't begin is refused.
func TestFaultsOfWatching(t *testing.T) {
	for n, question := range []string{"the counter", "the head"} {
		t.Run(question, func(t *testing.T) { faultsOfWatching(t, int32(n+1)) })
	}
}

func faultsOfWatching(t *testing.T, question int32) {
	path := newPath(t)
	var at, asked atomic.Int32
	s, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn { return &blind{c, &at, &asked} })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other := open(t, path)
	defer other.Close()
	at.Store(question)
	if _, err := s.Watch(t.Context(), ledger.Watch{}); !errors.Is(err, errBlind) || looking() != 0 {
		t.Fatalf("waiting for what can't be seen: %v, %d look", err, looking())
	}
	at.Store(0)
	requests := watch(t, t.Context(), s, ledger.Request)
	at.Store(question)
	asked.Store(0)
	write := func(id string) {
		c := storagetest.Decision("a")
		c.Writes = ledger.Rows(*storagetest.Request(id))
		if _, err := other.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	write("meanwhile")
	heard(t, "a failure", requests)
	soon(t, "it was not looked at again", func() bool { return asked.Load() > 2 })
	write("unseen")
	at.Store(0)
	heard(t, "what was written meanwhile", requests)
	for n := range 3 {
		for range 2 {
			for len(requests) > 0 {
				<-requests
			}
			wait.Chance(20 * time.Millisecond) // until whatever is late has come
		}
		write(fmt.Sprint("later", n))
		heard(t, "what came after", requests)
	}
}

// Whoever waits when the store stops finds out.
func TestWatchersHearOfTheEnd(t *testing.T) {
	path := newPath(t)
	p := &plan{}
	s, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn {
		if p.step > 0 {
			return c // not the one that writes
		}
		p.step++
		return &faulty{Conn: c, plan: p}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	agents, err := s.Watch(t.Context(), ledger.Watch{Kinds: []string{ledger.Agent}, Within: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	p.tell = func(query string) {
		if query == "COMMIT" {
			p.armed, p.step, p.at = true, 0, 0
		}
	}
	if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err == nil {
		t.Fatal("committed")
	}
	heard(t, "the store's end", agents)
	if _, err := s.Watch(t.Context(), ledger.Watch{}); err == nil {
		t.Error("a store that has stopped is watched")
	}
}
