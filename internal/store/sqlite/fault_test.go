package sqlite_test

import (
	"context"
	"crypto/sha256"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/meter"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

var errFault = errors.New("the disk is on fire")

// A faulty is a driver connection that fails at a chosen step. Steps are statements that reach the database, counted from
// the moment it is armed.
type faulty struct {
	sqldriver.Conn
	plan *plan
}

// A plan says at which step what happens.
type plan struct {
	armed  bool
	step   int                // of the next statement
	at     int                // step that fails
	after  bool               // whether the statement takes effect first
	kill   bool               // the process dies instead of getting an error
	failed string             // the statement that failed
	tell   func(query string) // told of every statement, armed or not
}

// strike runs a statement under the plan.
func (p *plan) strike(query string, run func() error) error {
	if p.tell != nil {
		p.tell(query)
	}
	if !p.armed {
		return run()
	}
	p.step++
	if p.step-1 != p.at {
		return run()
	}
	p.failed = query
	if p.after {
		if err := run(); err != nil {
			return err
		}
	}
	if p.kill {
		if self, err := os.FindProcess(os.Getpid()); err != nil || self.Kill() != nil {
			panic("a process that can't end itself")
		}
		<-time.After(time.Hour)
	}
	return errFault
}

func (f *faulty) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	s, err := f.Conn.(sqldriver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &faultyStatement{Stmt: s, query: query, plan: f.plan}, nil
}

func (f *faulty) ExecContext(ctx context.Context, query string, args []sqldriver.NamedValue) (result sqldriver.Result, err error) {
	err = f.plan.strike(query, func() (err error) {
		result, err = f.Conn.(sqldriver.ExecerContext).ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

func (f *faulty) QueryContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	return f.Conn.(sqldriver.QueryerContext).QueryContext(ctx, query, args)
}

type faultyStatement struct {
	sqldriver.Stmt
	query string
	plan  *plan
}

func (s *faultyStatement) ExecContext(ctx context.Context, args []sqldriver.NamedValue) (result sqldriver.Result, err error) {
	err = s.plan.strike(s.query, func() (err error) {
		result, err = s.Stmt.(sqldriver.StmtExecContext).ExecContext(ctx, args)
		return err
	})
	return result, err
}

func (s *faultyStatement) QueryContext(ctx context.Context, args []sqldriver.NamedValue) (rows sqldriver.Rows, err error) {
	err = s.plan.strike(s.query, func() (err error) {
		rows, err = s.Stmt.(sqldriver.StmtQueryContext).QueryContext(ctx, args)
		return err
	})
	if err != nil && rows != nil {
		rows.Close()
		rows = nil
	}
	return rows, err
}

// prepare makes a store with one entry, a request that is approved and one that is pending.
func prepare(t testing.TB, path string) {
	s := open(t, path)
	defer s.Close()
	for _, id := range []string{"approved", "pending"} {
		c := storagetest.Decision("setup")
		c.Writes = ledger.Rows(*storagetest.Request(id))
		if _, err := s.Commit(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	c := storagetest.Decision("setup")
	c.Writes = ledger.Rows(storagetest.Request("approved").Answered(*storagetest.Yes("approved")),
		interlock.Grant{ID: "grant", Agent: "agent", Times: 2, Left: 2, Created: storagetest.Now.Add(-time.Hour),
			Expires: storagetest.Now.Add(time.Hour)},
		interlock.Suppression{ID: "old"}, ledger.CounterBody{Name: "n", Left: 3})
	if _, err := s.Commit(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}

const prepared = 3 // entries

// preparedCopies makes such a store again and again.
func preparedCopies(t testing.TB) (make func() (path string)) {
	path := newPath(t)
	prepare(t, path)
	return copies(t, path)
}

// everything is a change that does all a change can do.
func everything() ledger.Change {
	c := storagetest.Decision("new")
	c.Events = append(c.Events, storagetest.Draft(interlock.EventAlert, "new"))
	c.Writes = ledger.Rows(storagetest.Request("pending").Answered(*storagetest.Yes("pending")), *storagetest.Request("opened"),
		interlock.AgentRecord{ID: "agent"}, interlock.OperatorRecord{Name: "olga"}, interlock.Suppression{ID: "new"},
		interlock.Challenge{ID: "challenge", Requester: interlock.Requester{Agent: "agent"}},
		ledger.AttemptsBody{Agent: "agent", Attempts: meter.Attempts{Failed: []time.Time{storagetest.Now}}},
		interlock.Pin{Server: "files", Tool: "read", Seen: "sha256:01", Definition: "sha256:01"},
		ledger.CounterBody{Name: "m", Left: 1}, ledger.Done{Agent: "agent", Run: "new", Steps: 1, Seen: storagetest.Now},
		ledger.Ending{Agent: "agent", Action: "sha256:aa", Status: interlock.OutcomeFailure, At: storagetest.Now})
	c.Writes = append(c.Writes, ledger.Settings(map[string]string{"mode": "enforcing"})...)
	c.Writes = append(c.Writes, ledger.Once(interlock.Order{ID: "o", Statement: "s", Expires: storagetest.Now}))
	c.Writes = append(c.Writes, ledger.Ended(ledger.Order, "old"),
		ledger.Row{Kind: ledger.Definition, Key: ledger.DefinitionOf("files", "read", "sha256:01").Key, Body: []byte("{}")})
	c.Spends = []ledger.Spend{{Kind: ledger.Request, Key: "approved", Take: 1}, {Kind: ledger.Order, Key: "grant", Take: 1},
		{Kind: ledger.Counter, Key: "n", Take: 2}}
	c.Writes = append(c.Writes, ledger.Rows(ledger.Past{Run: "new", Action: interlock.PastAction{At: storagetest.Now,
		Kind: interlock.KindShell}}, ledger.WrittenBody{File: "file", At: storagetest.Now})...)
	c.Writes = append(c.Writes, ledger.Rows(ledger.CallBody{Requester: interlock.Requester{Agent: "agent", Run: "new", Call: "c1"},
		Action: "sha256:aa", At: storagetest.Now})...)
	return c
}

// whole checks that the change is in the store completely or not at all, and says which.
func whole(t *testing.T, path string) (there bool) {
	t.Helper()
	report := verify(t, path)
	if report.Problem != nil {
		t.Fatalf("the log does not verify: %v", report.Problem)
	}
	there = report.Entries == prepared+2
	if !there && report.Entries != prepared {
		t.Fatalf("the log has %d entries", report.Entries)
	}
	s := open(t, path)
	defer s.Close()
	standing, err := storagetest.Whole(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	status := func(id string) interlock.RequestStatus { return standing.Requests[id].Status }
	called, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Call, Mark: ledger.Called("agent", "new", "c1")})
	if err != nil {
		t.Fatal(err)
	}
	texts, _, textErr := s.Load(t.Context(), ledger.DefinitionOf("files", "read", "sha256:01"))
	past, _, pastErr := s.Load(t.Context(), ledger.Ref{Kind: ledger.Recent, Key: "new"})
	wrote, _, wroteErr := s.Load(t.Context(), ledger.Ref{Kind: ledger.Written, Key: "file"})
	counters, _, countErr := s.Load(t.Context(), ledger.Ref{Kind: ledger.Counter, Key: "n"},
		ledger.Ref{Kind: ledger.Counter, Key: "m"}, ledger.Ref{Kind: ledger.Execution, Key: ledger.ExecutionKey("", "agent", "new")},
		ledger.Ref{Kind: ledger.Failed, Key: ledger.FailedKey("", "agent")},
		ledger.Ref{Kind: ledger.Carried, Key: ledger.CarriedKey("s")})
	if err := errors.Join(pastErr, wroteErr, countErr, textErr); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, r := range counters {
		left = append(left, string(r.Body))
	}
	_, old := standing.Suppressions["old"]
	got := fmt.Sprint(status("approved"), status("pending"), status("opened"), len(standing.Agents), len(standing.Operators),
		len(standing.Settings), len(called), standing.Grants["grant"].Left, old, len(standing.Suppressions), len(standing.Challenges),
		len(standing.Attempts), len(standing.Pins), len(texts), len(past), len(wrote), left)
	want := fmt.Sprint(interlock.RequestApproved, interlock.RequestPending, "", 0, 0, 0, 0, 2, true, 1, 0, 0, 0, 0, 0, 0,
		[]string{`{"name":"n","left":3}`})
	if there {
		want = fmt.Sprint("", interlock.RequestApproved, interlock.RequestPending, 1, 1, 1, 1, 1, false, 1, 1, 1, 1, 1, 1, 1,
			[]string{`{"name":"n","left":1}`, `{"name":"m","left":1}`,
				`{"agent":"agent","run":"new","seen":"2026-03-04T05:06:07Z","steps":1}`,
				`{"agent":"agent","seen":"2026-03-04T05:06:07Z","actions":[{"action":"sha256:aa","last":"2026-03-04T05:06:07Z",` +
					`"outcome":"failure","count":1}]}`,
				`{"name":"` + ledger.CarriedKey("s") + `","order":"o","expires":"2026-03-04T05:06:07Z"}`})
	}
	if got != want {
		t.Errorf("with %d entries the rest is %s, want %s", report.Entries, got, want)
	}
	// Whatever happened: the store goes on, and the approval is spent once in all.
	c := storagetest.Decision("later")
	c.Spends = ledger.One(ledger.Request, "approved")
	if _, err := s.Commit(t.Context(), c); there != errors.Is(err, ledger.ErrConflict) || !there && err != nil {
		t.Errorf("spending afterwards: %v (the change is there: %v)", err, there)
	}
	return there
}

// Every statement of a commit fails, before or after it took effect.
func TestFaultMatrix(t *testing.T) {
	steps, fresh := 0, preparedCopies(t)
	for _, after := range []bool{false, true} {
		for at := 0; ; at++ {
			path := fresh()
			p := &plan{at: at, after: after}
			s, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn { return &faulty{Conn: c, plan: p} })
			if err != nil {
				t.Fatal(err)
			}
			p.armed = true
			receipt, err := s.Commit(t.Context(), everything())
			p.armed = false
			if p.failed == "" {
				if err != nil {
					t.Fatalf("without a fault: %v", err)
				}
				steps = max(steps, p.step)
				s.Close()
				break
			}
			name := fmt.Sprintf("step %d after=%v %.40s", at, after, p.failed)
			if err == nil {
				t.Fatalf("%s: committed with receipt %+v", name, receipt)
			}
			if errors.Is(err, ledger.ErrConflict) {
				t.Errorf("%s: a fault is called a conflict: %v", name, err)
			}
			_, again := s.Commit(t.Context(), storagetest.Decision("again"))
			isCommit := strings.HasPrefix(p.failed, "COMMIT")
			if isCommit && again == nil {
				t.Errorf("%s: the store goes on after an error of unknown effect", name)
			}
			s.Close()
			if !isCommit && again == nil {
				// The store went on, rightly, and has one entry more; the change must not be there.
				report := verify(t, path)
				if report.Problem != nil || report.Entries != prepared+1 {
					t.Errorf("%s: the log has %d entries, problem %v", name, report.Entries, report.Problem)
				}
				continue
			}
			if there := whole(t, path); there != (isCommit && after) {
				t.Errorf("%s: the change is there: %v", name, there)
			}
		}
	}
	if steps < 60 {
		t.Errorf("a commit of everything has %d steps: the matrix does not cover what it should", steps)
	}
}

// Every statement of a commit is the process's last; that it is killed before one leaves what being killed after the one before did.
func TestKilledAtEveryStep(t *testing.T) {
	fresh := preparedCopies(t)
	for _, after := range []bool{false, true} {
		for at := 0; after || at == 0; at++ {
			path := fresh()
			command, lines, stderr := start(t, path, fmt.Sprint("die ", at, " ", after))
			answered := lines.Scan()
			err := command.Wait()
			if err == nil {
				if !answered {
					t.Fatalf("no fault and no answer: %s", stderr)
				}
				if at < 60 {
					t.Errorf("a commit of everything has only %d steps", at)
				}
				if !whole(t, path) {
					t.Error("answered and not there")
				}
				break
			}
			if stderr.Len() > 0 { // who is killed says nothing
				t.Fatalf("step %d: %v %s", at, err, stderr)
			}
			if there := whole(t, path); answered && !there {
				t.Errorf("step %d after=%v: answered and not there", at, after)
			}
		}
	}
}

// die is the child's part of TestKilledAtEveryStep.
func die(path string, o driver.Options, task []string) error {
	at, _ := strconv.Atoi(task[1])
	p := &plan{at: at, after: task[2] == "true", kill: true, armed: task[0] == "migrate"}
	s, err := sqlite.OpenWrapped(path, o, func(c sqldriver.Conn) sqldriver.Conn { return &faulty{Conn: c, plan: p} })
	if err != nil {
		return err
	}
	if task[0] == "migrate" {
		return s.Close()
	}
	p.armed = true
	if task[0] == "release" {
		_, _, err := s.Release(context.Background(), ledger.Letting{UpTo: 1024, Stay: []interlock.EventType{interlock.EventAlert}, Before: storagetest.Now})
		if err != nil {
			return err
		}
		return s.Close()
	}
	r, err := s.Commit(context.Background(), everything())
	if err != nil {
		return err
	}
	p.armed = false
	fmt.Println(r.First)
	return s.Close()
}

// failing is a Sealer whose signature fails.
type failing struct{ driver.Sealer }

func (failing) Seal(ledger.Head, []ledger.Draft, []int64, []byte) ([]interlock.Entry, ledger.Head, error) {
	return nil, ledger.Head{}, errors.New("the key is gone")
}

// A log that can't be signed does not grow, and nothing is spent.
func TestSigningFailureStopsCommits(t *testing.T) {
	path := newPath(t)
	prepare(t, path)
	o := options(t)
	o.Sealer = failing{o.Sealer}
	s, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), everything()); err == nil {
		t.Error("committed without a signature")
	}
	s.Close()
	if whole(t, path) {
		t.Error("the change is there without a signature")
	}
}

// A full disk refuses in a sentence, loses nothing, and the store goes on when there is room again.
func TestDiskFull(t *testing.T) {
	path := newPath(t)
	prepare(t, path)
	var writers []sqldriver.Conn
	s, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn {
		writers = append(writers, c)
		return c
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	limit := func(pages int) {
		if _, err := writers[0].(sqldriver.ExecerContext).ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // SQLite takes the number of pages there are
	committed := int64(prepared)
	big := storagetest.Decision("big")
	var text strings.Builder // that can't be packed
	for n := 0; text.Len() < 40<<10; n++ {
		fmt.Fprintf(&text, "%x", sha256.Sum256([]byte{byte(n), byte(n >> 8)}))
	}
	big.Events[0].Payload = []byte(`{"x":"` + text.String() + `"}`)
	full := 0
	for range 20 { // a file that was migrated has pages to spare
		_, err := s.Commit(t.Context(), big)
		var sentence *interlock.Error
		switch {
		case err == nil:
			committed++
		case errors.As(err, &sentence) && strings.Contains(sentence.Message, "disk is full"):
			full++
		default:
			t.Fatalf("the error is %v", err)
		}
	}
	if full == 0 {
		t.Fatal("the disk never was full")
	}
	limit(1 << 20)
	if _, err := s.Commit(t.Context(), big); err != nil {
		t.Fatalf("after room was made: %v", err)
	}
	if got, ok := sound(t, path); !ok || got != committed+1 {
		t.Errorf("the log has %d entries (sound %v), want %d", got, ok, committed+1)
	}
}

// A caller who leaves in the middle of reading, at whatever statement, leaves nothing behind that keeps others from working.
func TestReaderLeaves(t *testing.T) {
	path := newPath(t)
	prepare(t, path)
	var cancel context.CancelFunc
	countdown := 0
	p := &plan{tell: func(string) {
		if countdown--; countdown == 0 && cancel != nil {
			cancel()
		}
	}}
	for at := 1; at < 12; at++ {
		cancel = nil
		s, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn { return &faulty{Conn: c, plan: p} })
		if err != nil {
			t.Fatal(err)
		}
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		countdown = at
		_, standingErr := storagetest.Whole(ctx, s)
		_, _, findErr := s.Scan(ctx, ledger.Ref{Kind: ledger.Call, Mark: ledger.Called("agent", "run", "c")}, ledger.Every(1))
		_, _, entryErr := s.Entry(ctx, strings.Repeat("0", 64))
		if at < 6 && standingErr == nil && findErr == nil && entryErr == nil {
			t.Errorf("statement %d: nobody noticed that the caller left", at)
		}
		cancel()
		if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
			t.Errorf("statement %d: committing afterwards: %v", at, err)
		}
		if standing, err := storagetest.Whole(t.Context(), s); err != nil || len(standing.Requests) != 2 {
			t.Errorf("statement %d: the standing afterwards: %v, %v", at, standing.Requests, err)
		}
		s.Close()
	}
}

// What is noted of a transaction that did not happen is forgotten: every entry is found by its id, also the one that another
// process wrote in its place.
func TestIDsAfterFailure(t *testing.T) {
	path := newPath(t)
	var p plan
	one, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn { return &faulty{Conn: c, plan: &p} })
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	two := open(t, path)
	defer two.Close()
	var ids []string
	commit := func(s *sqlite.Store) {
		t.Helper()
		receipt, err := s.Commit(t.Context(), storagetest.Decision("a"))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, receipt.Events...)
	}
	commit(one)
	for p.at = 0; !strings.HasPrefix(p.failed, "UPDATE head"); p.at++ {
		p.step, p.armed = 0, true
		if _, err := one.Commit(t.Context(), storagetest.Decision("b")); err == nil {
			t.Fatalf("step %d failed and the commit did not; the last failure was %q", p.at, p.failed)
		}
		p.armed = false
	}
	commit(two)
	for range 600 {
		commit(one)
	}
	for index, id := range ids {
		if entry, found, err := two.Entry(t.Context(), id); err != nil || !found || entry.Index != int64(index) {
			t.Fatalf("entry %d, %s: found %v at %d, %v", index, id, found, entry.Index, err)
		}
	}
}
