// Package storagetest is the contract of Interlock's stores as tests: what admission relies on, and nothing a store may do
// in its own way. Every store runs it. Start with Run.
package storagetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
	"interlock/internal/ledger"
)

// Store is what every store must be able to do, and Release. It is written out because a contract must not depend on who uses it.
type Store interface {
	Load(ctx context.Context, refs ...ledger.Ref) (rows []ledger.Row, version int64, err error)
	Recall(ctx context.Context, refs ...ledger.Ref) (rows []ledger.Row, version int64, err error)
	Scan(ctx context.Context, mark ledger.Ref, span ledger.Span) (rows []ledger.Row, next ledger.Place, err error)
	Count(ctx context.Context, mark ledger.Ref, span ledger.Span) (int, error)
	Note(ctx context.Context, row ledger.Ref, change func(value any) (any, error)) error
	Commit(ctx context.Context, c ledger.Change) (ledger.Receipt, error)
	Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error)
	Entry(ctx context.Context, eventID string) (interlock.Entry, bool, error)
	Blob(ctx context.Context, digest interlock.Digest) ([]byte, bool, error)
	Blobs(ctx context.Context, visit func(ledger.Blob) error) error
	Head(ctx context.Context) (ledger.Head, error)
	Walk(ctx context.Context, visit func(interlock.Entry) error) error
	Hashes(ctx context.Context, index int64) ([]byte, error)
	Recorded(ctx context.Context, from int64, visit func(interlock.Entry) error) error
	Inputs(ctx context.Context, index int64) ([]byte, bool, error)
	CheckStanding(ctx context.Context, visit func(*ledger.Tampered) error) error
	Watch(ctx context.Context, what ledger.Watch) (<-chan struct{}, error)
	Release(ctx context.Context, l ledger.Letting) (entries, blobs int64, err error)
	Close() error
}

// A Place is where one test keeps its store.
type Place struct {
	Open   func(t testing.TB) Store                    // opens the store; more than once on the same data
	Verify func(t testing.TB) (entries int64, ok bool) // verifies the whole log with the public key

	// For Edits alone.
	Told   func(t testing.TB, told func(*ledger.Tampered)) Store // opens the store, which tells what it does not believe
	Copies func(t testing.TB) (fresh func() Place)               // makes places that hold what this one does
	Keep   func(t testing.TB)                                    // keeps what the store holds, for edits that put it back
	Edit   func(t testing.TB, name, kind, key string)            // edits a row, or what proves it, and not through the store
}

// Now is the time of everything in the suite. A store under test has its clock set to it.
var Now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// Run runs the contract. place makes an empty place for one test.
func Run(t *testing.T, place func(t testing.TB) Place) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, p Place)
	}{
		{"receipts", receipts}, {"sequences", sequences}, {"versions", versions}, {"standing", standing},
		{"approval", approval}, {"approval refused", approvalRefused}, {"approval expires", approvalExpires}, {"asked", asked},
		{"one spends", oneSpends}, {"concurrent commits", concurrentCommits}, {"two stores", twoStores}, {"known", known},
		{"past", past}, {"past of others", pastOfOthers}, {"passes", passes}, {"added", added}, {"heard", heard},
		{"suppressions", suppressions},
		{"challenges", challenges}, {"grants", grants}, {"one draws", oneDraws}, {"attempts", attempts}, {"pins", pins},
		{"rows", rows}, {"reads", reads}, {"spends", spends}, {"usages", usages}, {"merges", merges}, {"scan", scan}, {"pages", pages},
		{"notes", notes}, {"entries", entries}, {"logged", logged},
		{"hears", hears}, {"waits", waits}, {"watchers", watchers}, {"watch ends", watchEnds},
		{"calls", calls}, {"calls in pages", callsInPages}, {"calls seen", callsSeen}, {"outcomes", outcomes}, {"release", release},
		{"bad changes", badChanges}, {"cancelled", cancelled}, {"closed", closed},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := place(t)
			test.run(t, p)
			if _, ok := p.Verify(t); !ok {
				t.Error("the log does not verify afterwards")
			}
		})
	}
}

// Draft returns an event of a run, with the seed "seed-" and the run's name.
func Draft(kind interlock.EventType, run string) ledger.Draft {
	return ledger.Draft{Type: kind, Run: run, Seed: "seed-" + run, Actor: "agent", Role: "agent", Recorded: Now,
		Payload: []byte(`{"run":"` + run + `"}`)}
}

// Decision returns a change with one decision event.
func Decision(run string) ledger.Change {
	return ledger.Change{Events: []ledger.Draft{Draft(interlock.EventDecision, run)}}
}

// Request returns a pending approval request.
func Request(id string) *interlock.ApprovalRequest {
	return &interlock.ApprovalRequest{ID: id, Action: "sha256:aa", Ruleset: "sha256:bb", Nonce: "00",
		Requester: interlock.Requester{Principal: "p", Agent: "agent", Run: "run"},
		Created:   Now, Expires: Now.Add(time.Hour), Display: "rm -rf build", Status: interlock.RequestPending}
}

// Yes returns an operator's yes to a request.
func Yes(id string) *interlock.Approval {
	return &interlock.Approval{Request: id, Verdict: interlock.Allow, Operator: "olga", Key: "SHA256:x", Statement: "s",
		Signature: "sig", At: Now}
}

func eventID(seed string, sequence int, kind interlock.EventType) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d:%s", seed, sequence, kind))
	return hex.EncodeToString(sum[:])
}

func commit(t testing.TB, s Store, c ledger.Change) ledger.Receipt {
	t.Helper()
	r, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func refused(t testing.TB, s Store, c ledger.Change, want error) {
	t.Helper()
	r, err := s.Commit(t.Context(), c)
	if err == nil {
		t.Fatalf("committed, with receipt %+v", r)
	}
	if want != nil && !errors.Is(err, want) {
		t.Errorf("refused with %v, want %v", err, want)
	}
}

func current(t testing.TB, s Store) ledger.Standing {
	t.Helper()
	standing, err := Whole(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return standing
}

func size(t testing.TB, p Place, want int64) {
	t.Helper()
	if got, ok := p.Verify(t); got != want || !ok {
		t.Errorf("the log has %d entries (sound: %v), want %d", got, ok, want)
	}
}

func receipts(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	first := commit(t, s, Decision("a"))
	second := commit(t, s, ledger.Change{Events: []ledger.Draft{Draft(interlock.EventDecision, "a"),
		Draft(interlock.EventAlert, "a")}})
	want := []ledger.Receipt{
		{First: 0, Events: []string{eventID("seed-a", 1, interlock.EventDecision)}},
		{First: 1, Events: []string{eventID("seed-a", 2, interlock.EventDecision), eventID("seed-a", 3, interlock.EventAlert)}},
	}
	if diff := cmp.Diff(want, []ledger.Receipt{first, second},
		cmpopts.IgnoreFields(ledger.Receipt{}, "Checkpoint")); diff != "" {
		t.Errorf("receipts (-want +got):\n%s", diff)
	}
	if len(first.Checkpoint) == 0 || len(second.Checkpoint) == 0 {
		t.Error("a receipt has no checkpoint")
	}
	for i, id := range append(first.Events, second.Events...) {
		entry, found, err := s.Entry(t.Context(), id)
		if err != nil || !found || entry.Index != int64(i) || entry.ID != id {
			t.Errorf("entry %d by id: %+v, %v, %v", i, entry, found, err)
		}
	}
	if _, found, err := s.Entry(t.Context(), eventID("other", 1, "X")); found || err != nil {
		t.Errorf("an unknown id: %v, %v", found, err)
	}
}

func sequences(t *testing.T, p Place) {
	s := p.Open(t)
	var got []string
	for i, run := range []string{"a", "b", "a", "", "b", "a"} {
		c := Decision(run)
		if i > 1 {
			c.Events[0].Seed = "another" // a run keeps the seed it began with
		}
		got = append(got, commit(t, s, c).Events...)
		if i == 3 {
			s.Close()
			s = p.Open(t)
		}
	}
	s.Close()
	kind := interlock.EventDecision
	want := []string{eventID("seed-a", 1, kind), eventID("seed-b", 1, kind), eventID("seed-a", 2, kind),
		eventID("another", 1, kind),
		eventID("seed-b", 2, kind), eventID("seed-a", 3, kind)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event ids (-want +got):\n%s", diff)
	}
}

func versions(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	before := current(t, s).Version
	if before == 0 {
		t.Fatal("the first version is 0, which means none")
	}
	commit(t, s, with(Decision("a"), func(c *ledger.Change) { c.Version = before }))
	if got := current(t, s).Version; got != before {
		t.Errorf("a decision alone moved the version from %d to %d", before, got)
	}
	commit(t, s, with(Decision("a"), write(interlock.AgentRecord{ID: "agent"})))
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Version = before }), ledger.ErrConflict)
	after := current(t, s).Version
	if after <= before {
		t.Errorf("the version went from %d to %d", before, after)
	}
	commit(t, s, with(Decision("a"), func(c *ledger.Change) { c.Version = after }))
	commit(t, s, Decision("a")) // depends on no version
	size(t, p, 4)
}

func approval(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	spend := with(Decision("a"), func(c *ledger.Change) { c.Spends = ledger.One(ledger.Request, "r1") })
	refused(t, s, spend, nil) // there is none
	commit(t, s, with(Decision("a"), write(*Request("r1"))))
	refused(t, s, with(Decision("a"), write(*Request("r1"))), ledger.ErrConflict)
	refused(t, s, spend, ledger.ErrConflict) // it is pending
	version := current(t, s).Version
	commit(t, s, with(Decision("a"), answer(t, s, Yes("r1"))))
	want := *Request("r1")
	want.Status, want.Approval = interlock.RequestApproved, Yes("r1")
	if diff := cmp.Diff(map[string]interlock.ApprovalRequest{"r1": want}, current(t, s).Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if current(t, s).Version == version {
		t.Error("an approval did not move the version: decisions made without it would stand")
	}
	refused(t, s, with(Decision("a"), answer(t, s, Yes("r1"))), ledger.ErrConflict)
	commit(t, s, spend)
	refused(t, s, spend, ledger.ErrConflict)
	if got := current(t, s).Requests; len(got) != 0 {
		t.Errorf("a spent request still stands: %+v", got)
	}
	commit(t, s, with(Decision("a"), func(c *ledger.Change) {
		r := *Request("r2")
		r.Obligations = []interlock.Obligation{{Type: interlock.ObligationDual}}
		c.Writes = ledger.Rows(r)
	}))
	commit(t, s, with(Decision("a"), answer(t, s, Yes("r2"))))
	if got := current(t, s).Requests["r2"]; got.Status != interlock.RequestPending || got.First == nil || got.Approval != nil {
		t.Errorf("one yes of two leaves %+v", got)
	}
	commit(t, s, with(Decision("a"), answer(t, s, Yes("r2"))))
	if got := current(t, s).Requests["r2"]; got.Status != interlock.RequestApproved || got.First == nil || got.Approval == nil {
		t.Errorf("two yeses leave %+v", got)
	}
	size(t, p, 6)
}

func approvalRefused(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	commit(t, s, with(Decision("a"), write(*Request("r1"))))
	no := Yes("r1")
	no.Verdict = interlock.Deny
	maybe := Yes("r1")
	maybe.Verdict = interlock.Ask
	refused(t, s, with(Decision("a"), answer(t, s, maybe)), nil)
	commit(t, s, with(Decision("a"), answer(t, s, no)))
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Spends = ledger.One(ledger.Request, "r1") }), ledger.ErrConflict)
	refused(t, s, with(Decision("a"), answer(t, s, Yes("r1"))), ledger.ErrConflict)
	refused(t, s, with(Decision("a"), answer(t, s, Yes("r2"))), nil)
	born := Request("r3")
	born.Status = interlock.RequestApproved
	refused(t, s, with(Decision("a"), write(*born)), nil)
	size(t, p, 2)
}

func approvalExpires(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	late := func(c *ledger.Change) { c.Events[0].Recorded = Now.Add(time.Hour) }
	for _, id := range []string{"r1", "r2"} {
		commit(t, s, with(Decision("a"), write(*Request(id))))
	}
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { answer(t, s, Yes("r1"))(c); late(c) }), ledger.ErrConflict)
	commit(t, s, with(Decision("a"), answer(t, s, Yes("r1"))))
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Spends = ledger.One(ledger.Request, "r1"); late(c) }), ledger.ErrConflict)
	commit(t, s, with(Decision("a"), func(c *ledger.Change) { expire(t, s, "r1")(c); late(c) }))
	commit(t, s, with(Decision("a"), func(c *ledger.Change) { expire(t, s, "r2")(c); late(c) }))
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { expire(t, s, "r2")(c); late(c) }), ledger.ErrConflict)
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Spends = ledger.One(ledger.Request, "r1") }), ledger.ErrConflict)
	if got := current(t, s).Requests; len(got) != 0 {
		t.Errorf("expired requests still stand: %+v", got)
	}
}

func oneSpends(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	commit(t, s, with(Decision("a"), write(*Request("r1"))))
	commit(t, s, with(Decision("a"), answer(t, s, Yes("r1"))))
	const callers = 32
	results := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := Decision(fmt.Sprint("run", i))
			if i%2 == 0 {
				spend(ledger.Request, "r1")(&c)
			}
			_, results[i] = s.Commit(context.Background(), c)
		}()
	}
	wg.Wait()
	spent := 0
	for i, err := range results {
		switch {
		case i%2 == 1 && err != nil:
			t.Errorf("a commit that spends nothing failed with its neighbours: %v", err)
		case i%2 == 0 && err == nil:
			spent++
		case i%2 == 0 && !errors.Is(err, ledger.ErrConflict):
			t.Errorf("the losers get %v, want a conflict", err)
		}
	}
	if spent != 1 {
		t.Errorf("the approval was spent %d times", spent)
	}
	size(t, p, 2+callers/2+1)
}

func concurrentCommits(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	const callers, each = 16, 25
	var mu sync.Mutex
	places := map[int64]string{}
	var wg sync.WaitGroup
	for i := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range each {
				r, err := s.Commit(context.Background(), Decision(fmt.Sprint("run", i%5)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if before, taken := places[r.First]; taken {
					t.Errorf("entry %d was given to %s and %s", r.First, before, r.Events[0])
				}
				places[r.First] = r.Events[0]
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	size(t, p, callers*each)
	for index, id := range places {
		entry, found, err := s.Entry(t.Context(), id)
		if err != nil || !found || entry.Index != index {
			t.Fatalf("event %s: entry %d, found %v, %v; want entry %d", id, entry.Index, found, err, index)
		}
	}
}

// twoStores: what one process commits, another sees in its next Standing.
func twoStores(t *testing.T, p Place) {
	one := p.Open(t)
	defer one.Close()
	two := p.Open(t)
	defer two.Close()
	commit(t, one, Decision("a"))
	version := current(t, two).Version
	commit(t, two, Decision("a"))
	commit(t, one, with(Decision("a"), write(*Request("r1"))))
	if _, pending := current(t, two).Requests["r1"]; !pending {
		t.Error("the request opened by one is not seen by the other")
	}
	commit(t, two, with(Decision("b"), answer(t, two, Yes("r1"))))
	if got := current(t, one).Requests["r1"].Status; got != interlock.RequestApproved {
		t.Errorf("the approval given through one is %q to the other", got)
	}
	refused(t, one, with(Decision("a"), func(c *ledger.Change) { c.Version = version; c.Spends = ledger.One(ledger.Request, "r1") }), ledger.ErrConflict)
	commit(t, one, with(Decision("a"), func(c *ledger.Change) {
		c.Version = current(t, one).Version
		c.Spends = ledger.One(ledger.Request, "r1")
	}))
	refused(t, two, with(Decision("a"), func(c *ledger.Change) { c.Spends = ledger.One(ledger.Request, "r1") }), ledger.ErrConflict)
	size(t, p, 5)
}

// known holds what makes it safe to decide from memory: one's own commits are in it, and what others did refuses the
// change, after which the standing has it.
func known(t *testing.T, p Place) {
	one := p.Open(t)
	defer one.Close()
	two := p.Open(t)
	defer two.Close()
	read := func() ledger.Standing {
		t.Helper()
		standing, err := wholeBy(t.Context(), one.Recall)
		if err != nil {
			t.Fatal(err)
		}
		return standing
	}
	no := Yes("r3")
	no.Verdict = interlock.Deny
	for _, change := range []func() func(*ledger.Change){
		func() func(*ledger.Change) { return write(*Request("r1")) },
		func() func(*ledger.Change) { return write(*Request("r2")) },
		func() func(*ledger.Change) { return answer(t, one, Yes("r1")) },
		func() func(*ledger.Change) {
			return func(c *ledger.Change) { c.Writes = ledger.Settings(map[string]string{"mode": "logging"}) }
		},
		func() func(*ledger.Change) { return spend(ledger.Request, "r1") },
		func() func(*ledger.Change) { return expire(t, one, "r2") },
		func() func(*ledger.Change) { return write(*Request("r3")) },
		func() func(*ledger.Change) { return answer(t, one, no) },
		func() func(*ledger.Change) { return write(interlock.AgentRecord{ID: "builder", Created: Now}) },
		func() func(*ledger.Change) { return write(interlock.OperatorRecord{Name: "olga", Created: Now}) },
		func() func(*ledger.Change) {
			return func(c *ledger.Change) {
				c.Writes = ledger.Settings(map[string]string{"mode": "enforcing", "profile": "guard"})
			}
		},
		func() func(*ledger.Change) {
			return write(*Request("r4"), interlock.Suppression{ID: "sup_1", Rule: "net.upload", Created: Now, Expires: Now.Add(time.Hour)})
		},
		func() func(*ledger.Change) {
			return func(c *ledger.Change) {
				c.Writes = append(ledger.Rows(*Request("r5")), ledger.Ended(ledger.Order, "sup_1"))
			}
		},
		func() func(*ledger.Change) { return write(*challenge(), *grant(2), *failed(1)) },
		func() func(*ledger.Change) { return spend(ledger.Order, "grt_1") },
		func() func(*ledger.Change) { return write(*ended(), *failed(0)) },
		func() func(*ledger.Change) { return spend(ledger.Order, "grt_1") },
	} {
		commit(t, one, with(Decision("a"), change()))
		if diff := cmp.Diff(current(t, two), read()); diff != "" {
			t.Errorf("after a commit of its own (-standing +known):\n%s", diff)
		}
	}
	agent := interlock.AgentRecord{ID: "agent", Created: Now, Revoked: Now}
	version := read().Version
	commit(t, two, with(Decision("b"), write(agent)))
	refused(t, one, with(Decision("a"), func(c *ledger.Change) { c.Version = version }), ledger.ErrConflict)
	if current(t, one).Agents["agent"].Revoked.IsZero() || read().Agents["agent"].Revoked.IsZero() {
		t.Error("the revocation made through the other is not seen after it refused a change")
	}
	size(t, p, 18)
}

func cancelled(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		// Either order is right: recorded before the caller left, or not at all. What is wrong is a lost receipt.
		if r, err := s.Commit(ctx, Decision("a")); err == nil && len(r.Events) != 1 {
			t.Errorf("no error and receipt %+v", r)
		}
	}
	commit(t, s, Decision("a"))
}

func closed(t *testing.T, p Place) {
	s := p.Open(t)
	commit(t, s, Decision("a"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, s, Decision("a"), nil)
	if err := s.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	size(t, p, 1)
}
