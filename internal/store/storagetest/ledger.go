package storagetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/anomaly"
	"interlock/internal/ledger"
	"interlock/internal/memory"
	"interlock/internal/meter"
	"interlock/internal/origin"
	"interlock/internal/phase"
	"interlock/internal/privacy"
)

// row is a row of a kind with a value in it.
func row(t testing.TB, kind, key string, value any) ledger.Row {
	t.Helper()
	r, err := ledger.Put(kind, key, value)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// keys loads what refs name and returns the keys.
func keys(t testing.TB, s Store, refs ...ledger.Ref) []string {
	t.Helper()
	rows, _, err := s.Load(t.Context(), refs...)
	if err != nil {
		t.Fatal(err)
	}
	recalled, _, err := s.Recall(t.Context(), refs...)
	if err != nil {
		t.Fatal(err)
	}
	var list, again []string
	for _, r := range rows {
		list = append(list, r.Key)
	}
	for _, r := range recalled {
		again = append(again, r.Key)
	}
	if !slices.Equal(list, again) {
		t.Errorf("loaded %q and recalled %q", list, again)
	}
	return list
}

// rows: a row of every kind is found under its key and its marks, in every process and after a restart, as it was last
// written, and no more once it has ended.
func rows(t *testing.T, p Place) {
	s := p.Open(t)
	who := interlock.Requester{Agent: "agent", Principal: "p"}
	request := *Request("r1")
	request.Requester = who
	all := []ledger.Row{
		row(t, ledger.Agent, "agent", interlock.AgentRecord{ID: "agent", TokenHash: "h", Created: Now}),
		row(t, ledger.Operator, "olga", interlock.OperatorRecord{Name: "olga", Created: Now}),
		row(t, ledger.Request, "r1", request),
		row(t, ledger.Challenge, challenge().ID, challenge()),
		row(t, ledger.Order, "grt_1", *grant(2)),
		row(t, ledger.Attempts, ledger.AttemptsKey("agent", "p"), failed(1)),
		row(t, ledger.Pin, ledger.PinKey("files", "read"), interlock.Pin{Server: "files", Tool: "read"}),
		{Kind: ledger.Definition, Key: "d", Body: []byte(`{"name":"read"}`)},
		row(t, ledger.Setting, "mode", ledger.Settings(map[string]string{"mode": "enforcing"})[0].Value),
		row(t, ledger.Counter, "n", ledger.CounterBody{Name: "n", Left: 3}),
		row(t, ledger.Execution, ledger.ExecutionKey("p", "agent", "run"), ledger.Done{Principal: "p", Agent: "agent", Run: "run",
			Steps: 1, Seen: Now}),
		row(t, ledger.Candidate, ledger.CandidateKey, ledger.CandidateBody{Name: ledger.CandidateKey, Ruleset: "sha256:01"}),
		row(t, ledger.Call, "e", ledger.CallBody{EventID: "e", Requester: interlock.Requester{Agent: "agent", Run: "run", Call: "c1"},
			Action: "sha256:aa", At: Now}),
		row(t, ledger.Recent, "agent\x00run", ledger.RecentBody{Run: "agent\x00run", Actions: []interlock.PastAction{action("x", 0)}}),
		row(t, ledger.Again, "e", ledger.AgainBody{Event: "e", At: Now}),
		row(t, ledger.Written, "f", ledger.WrittenBody{File: "f", At: Now}),
		row(t, ledger.Heard, "agent\x00run", ledger.HeardBody{Run: "agent\x00run", Heard: origin.Heard{At: Now, Prompts: 1}}),
		row(t, ledger.Failed, ledger.FailedKey("p", "agent"), ledger.FailedBody{Principal: "p", Agent: "agent", Seen: Now}),
		row(t, ledger.Shadow, "sha256:01", ledger.ShadowBody{Ruleset: "sha256:01", To: Now}),
		row(t, ledger.Subscription, "psh_01", ledger.SubscriptionBody{ID: "psh_01", Operator: "olga", Made: Now}),
		row(t, ledger.Rollback, "rb_01", ledger.RollbackBody{ID: "rb_01", Steps: 2, Open: 1, Begun: Now}),
		row(t, ledger.RollbackStep, "rb_01/2", ledger.RollbackStepBody{Rollback: "rb_01", N: 2, Status: ledger.StepOpen}),
		row(t, ledger.Hold, "ruleset:sha256:01", ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:01", Since: Now}),
		row(t, ledger.Signal, "drift\x00agent\x00", ledger.SignalBody{Signal: interlock.Signal{Kind: interlock.SignalDrift, Agent: "agent"}, At: Now}),
		row(t, ledger.Breaker, "agent:agent", ledger.BreakerBody{Name: "agent:agent", Blocks: []time.Time{Now}}),
		row(t, ledger.Tally, "agent:agent", ledger.TallyBody{Name: "agent:agent", Counts: phase.Tally{}.With(Now, true)}),
		row(t, ledger.Run, ledger.RunKey("agent", "r"), interlock.Run{ID: "r", Agent: "agent", Orchestration: "o", Parent: "p", Created: Now}),
		row(t, ledger.Checkpoint, ledger.RunKey("agent", "run_1"), ledger.CheckpointBody{RunKept: interlock.RunKept{Run: "run_1", Number: 1, At: Now},
			Agent: "agent"}),
		row(t, ledger.Plan, ledger.RunKey("agent", "r"), interlock.Plan{ID: "pln_1", Agent: "agent", Run: "r", Created: Now}),
		row(t, ledger.Commitment, "cmt_1", ledger.CommitmentBody{Name: "cmt_1", At: Now, Locked: Now}),
		row(t, ledger.ActionRequest, "act_1", interlock.ActionRequest{ID: "act_1", Digest: "sha256:01", Status: interlock.ActionPending,
			Created: Now, Expires: Now, Ballot: interlock.Ballot{Closes: Now}}),
		row(t, ledger.Baseline, "bas_1", ledger.BaselineBody{Name: "bas_1", At: Now}),
		row(t, ledger.RunCount, ledger.AgentTally("agent"), ledger.RunCountBody{Name: ledger.AgentTally("agent"), Seq: 1, Delegated: 1}),
		row(t, ledger.Message, "m", ledger.MessageBody{Message: interlock.Message{ID: "m", From: "agent", To: "other",
			Orchestration: "o", Sent: Now, Until: Now}}),
		row(t, ledger.Alive, "agent", ledger.AliveBody{Agent: "agent", At: Now}),
		row(t, ledger.FirstUse, ledger.FirstUseKey("clerk", "tool refund"), ledger.FirstUseBody{Type: "clerk", Use: "tool refund", Yes: Now}),
		row(t, ledger.Memory, memory.Place("episodic", "agent", "a/b/c/d"), memory.Fact{Store: "episodic", Holder: "agent", Key: "a/b/c/d",
			Number: 1, Versions: []memory.Version{{ID: "mem_1", Agent: "agent", At: Now}}}),
		row(t, ledger.Carried, ledger.CarriedKey("s"), ledger.CarriedBody{Name: ledger.CarriedKey("s"), Order: "o", Expires: Now}),
		row(t, ledger.Person, "u-1", ledger.PersonBody{Subject: "u-1", Public: "age1", Key: []byte("k"), Made: Now}),
		row(t, ledger.Consent, "c1", privacy.Consent{Terms: privacy.Terms{ID: "c1", Tier: "high", Until: Now}, Subject: "u-1", At: Now}),
		row(t, ledger.Personal, "pd_1", ledger.PersonalBody{ID: "pd_1", Subject: "u-1", At: Now, Sealed: []byte("s")}),
	}
	used, _ := meter.Count{}.Take(3, meter.Bound{Most: 9, Window: time.Hour}, Now)
	all = append(all, row(t, ledger.Usage, "u", ledger.UsageBody{Key: "u", Count: used}),
		row(t, ledger.Settled, "e", ledger.SettledBody{Event: "e", At: Now}),
		row(t, ledger.Profile, "agent:agent", ledger.ProfileBody{Name: "agent:agent", Profile: anomaly.Profile{Last: Now}}))
	heard := ledger.MeterBody{Agent: "agent", Measure: "tokens", Number: 1, Sums: map[string]int64{"spans": 3}, Counted: 3, At: Now}
	all = append(all, row(t, ledger.Meter, ledger.MeterKey(&heard), heard),
		row(t, ledger.Budget, "b", ledger.BudgetBody{Key: "b", Number: 1, Told: map[string]time.Time{"notice": Now}, Within: time.Hour, At: Now}))
	all = append(all, row(t, ledger.Judged, "sha256:01", ledger.JudgedBody{Key: "sha256:01", Judgments: []interlock.Judgment{{}}, At: Now}),
		row(t, ledger.Owed, "e", ledger.OwedBody{Event: "e", Class: "write workspace", At: Now, Until: Now}))
	kinds := map[string]bool{}
	for _, r := range all {
		kinds[r.Kind] = true
	}
	if len(kinds) != len(ledger.Kinds()) {
		t.Errorf("%d kinds are written of %d", len(kinds), len(ledger.Kinds()))
	}
	found(t, p, all...)
	// a hold on who acts is kept with what else is theirs
	found(t, p, row(t, ledger.Hold, "agent:agent", ledger.HoldBody{Scope: ledger.HoldAgent, Key: "agent", Since: Now,
		Hold: phase.Hold{Phase: phase.Alternate, Deadline: Now.Add(phase.MaxAlternate)}}))
	// the other verb of a kind that stood a moment ago
	found(t, p, row(t, ledger.Order, "sup_1", interlock.Suppression{ID: "sup_1", Created: Now, Expires: Now.Add(time.Hour)}))
	refused(t, s, with(Decision("a"), func(c *ledger.Change) {
		c.Writes = []ledger.Row{{Kind: "nonsense", Key: "x", Body: []byte("{}")}}
	}), nil)
	refused(t, s, with(Decision("a"), func(c *ledger.Change) {
		c.Writes = []ledger.Row{row(t, ledger.Agent, "other", interlock.AgentRecord{ID: "agent"})}
	}), nil)
}

// found writes rows, looks for each under its key and its marks, and ends it.
func found(t *testing.T, p Place, all ...ledger.Row) {
	t.Helper()
	s, other := p.Open(t), p.Open(t)
	put := func(s Store, rows ...ledger.Row) {
		t.Helper()
		commit(t, s, with(Decision("a"), func(c *ledger.Change) { c.Writes = rows }))
	}
	book := ledger.NewBook()
	before := current(t, s).Version
	put(s, all...)
	for _, r := range all {
		about, err := book.About(r)
		if err != nil {
			t.Fatal(err)
		}
		refs := []ledger.Ref{{Kind: r.Kind, Key: r.Key}}
		for _, m := range about.Marks {
			refs = append(refs, ledger.Ref{Kind: r.Kind, Mark: m.Name})
		}
		for _, ref := range refs {
			for _, store := range []Store{s, other, p.Open(t)} {
				if got := keys(t, store, ref); !slices.Equal(got, []string{r.Key}) {
					t.Errorf("%+v: %q", ref, got)
				}
			}
			if got := keys(t, s, ledger.Ref{Kind: ref.Kind, Key: ref.Key + "x", Mark: ref.Mark}); len(got) > 0 {
				t.Errorf("something else than %+v: %q", ref, got)
			}
			if about.Binds {
				refused(t, other, with(Decision("a"),
					func(c *ledger.Change) { c.Version, c.Reads = before, []ledger.Ref{ref} }),
					ledger.ErrConflict)
			}
		}
		read := with(Decision("a"), func(c *ledger.Change) {
			_, c.Version, _ = s.Load(t.Context(), refs...)
			c.Reads = refs
		})
		put(other, ledger.Row{Kind: r.Kind, Key: r.Key})
		for _, ref := range refs {
			for _, store := range []Store{s, other, p.Open(t)} {
				if got := keys(t, store, ref); len(got) > 0 {
					t.Errorf("%+v has ended: %q", ref, got)
				}
			}
		}
		if about.Stands {
			refused(t, s, read, ledger.ErrConflict) // what it was computed from has ended
		}
	}
}

// reads: a change is refused for what it names as read, and for nothing else.
func reads(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	agent := func(id string) ledger.Ref { return ledger.Ref{Kind: ledger.Agent, Key: id} }
	_, version, err := s.Load(t.Context(), agent("one"))
	if err != nil {
		t.Fatal(err)
	}
	decide := func(refs ...ledger.Ref) ledger.Change {
		return with(Decision("a"), func(c *ledger.Change) { c.Version, c.Reads = version, refs })
	}
	commit(t, other, with(Decision("b"), write(interlock.AgentRecord{ID: "two"})))
	commit(t, s, decide(agent("one")))
	refused(t, s, decide(agent("one"), agent("two")), ledger.ErrConflict)
	refused(t, s, decide(ledger.Ref{Kind: ledger.Agent, Mark: ledger.All}), ledger.ErrConflict)
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Version = version }), ledger.ErrConflict)
	refused(t, s, with(decide(agent("one")), func(c *ledger.Change) { c.Version += 100 }), ledger.ErrConflict)
	// An opened or spent request makes nobody decide again, an answer does.
	of := ledger.Ref{Kind: ledger.Request, Mark: ledger.Of("agent", "p")}
	_, version, _ = s.Load(t.Context(), of)
	commit(t, other, with(Decision("b"), write(*Request("r1"))))
	commit(t, s, decide(of))
	commit(t, other, with(Decision("b"), answer(t, other, Yes("r1"))))
	refused(t, s, decide(of), ledger.ErrConflict)
	_, version, _ = s.Load(t.Context(), of)
	commit(t, other, with(Decision("b"), spend(ledger.Request, "r1")))
	commit(t, s, decide(of))
}

// spends: of many that take from one row at once, as many as there is room for do, none has to try again, and each that finds
// nothing is told what is there.
func spends(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	const room, callers = 10, 32
	commit(t, s, with(Decision("a"), func(c *ledger.Change) {
		c.Writes = []ledger.Row{row(t, ledger.Counter, "n", ledger.CounterBody{Name: "n", Left: room})}
	}))
	_, version, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	results := make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		store := s
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			_, results[i] = store.Commit(t.Context(), with(Decision(fmt.Sprint("run", i)), func(c *ledger.Change) {
				c.Version, c.Spends = version, []ledger.Spend{{Kind: ledger.Counter, Key: "n", Take: 1}}
			}))
		})
	}
	all.Wait()
	taken := 0
	for _, err := range results {
		var met *ledger.Met
		switch {
		case err == nil:
			taken++
		case !errors.As(err, &met) || errors.Is(err, ledger.ErrConflict):
			t.Errorf("whoever found nothing was told %v", err)
		case cmp.Diff(row(t, ledger.Counter, "n", ledger.CounterBody{Name: "n"}).Body, met.Row.Body) != "":
			t.Errorf("it met %s", met.Row.Body)
		}
	}
	if taken != room {
		t.Errorf("%d took one each, of %d", taken, room)
	}
	size(t, p, 1+room)
}

// merges: what many add to one row at once is all there afterwards, and nobody had to read first or to try again.
func merges(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	const callers, each = 16, 4
	var all sync.WaitGroup
	for i := range callers {
		store := s
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			c := Decision(fmt.Sprint("run", i))
			for n := range each {
				c.Writes = append(c.Writes, ledger.Rows(ledger.Ending{Agent: "agent", Action: interlock.Digest(fmt.Sprint(i, n)),
					At: Now, Status: interlock.OutcomeFailure})...)
			}
			if _, err := store.Commit(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	ref := ledger.Ref{Kind: ledger.Failed, Key: ledger.FailedKey("", "agent")}
	for _, store := range []Store{s, other, p.Open(t)} {
		rows, _, err := store.Load(t.Context(), ref)
		if err != nil || len(rows) != 1 || len(rows[0].Value.(ledger.FailedBody).Actions) != callers*each {
			t.Errorf("%+v, %v", rows, err)
		}
	}
	refused(t, s, with(Decision("a"), func(c *ledger.Change) {
		c.Writes = []ledger.Row{{Kind: ref.Kind, Key: ref.Key, Value: "nonsense"}}
	}), nil)
	size(t, p, callers)
}

// scan: what is kept under a mark comes in the order of the mark, up to a place in it and no more than is asked for.
func scan(t *testing.T, p Place) {
	s := p.Open(t)
	for i, hours := range []int{3, 1, 2} {
		r := Request(fmt.Sprint("r", i))
		r.Expires = Now.Add(time.Duration(hours) * time.Hour)
		commit(t, s, with(Decision("a"), write(*r)))
	}
	for _, tc := range []struct {
		hours, limit int
		want         []string
	}{{3, 10, []string{"r1", "r2", "r0"}}, {2, 10, []string{"r1", "r2"}}, {3, 1, []string{"r1"}}, {0, 10, nil}} {
		for _, store := range []Store{s, p.Open(t)} {
			rows, _, err := store.Scan(t.Context(), ledger.Ref{Kind: ledger.Request, Mark: ledger.All},
				ledger.UpTo(Now.Add(time.Duration(tc.hours)*time.Hour).UnixNano(), tc.limit))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rows {
				got = append(got, r.Value.(interlock.ApprovalRequest).ID)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("up to %d hours, %d at most: %q, want %q", tc.hours, tc.limit, got, tc.want)
			}
		}
	}
	commit(t, s, with(Decision("a"), expire(t, s, "r1")))
	if rows, _, err := s.Scan(t.Context(), ledger.Ref{Kind: ledger.Request, Mark: ledger.All},
		ledger.UpTo(Now.Add(time.Hour).UnixNano(), 10)); err != nil || len(rows) > 0 {
		t.Errorf("what has ended is found: %v, %v", rows, err)
	}
}

// pages: a kind is walked a page at a time, forwards and backwards, and nothing is left out or comes twice, also where many
// rows stand at the same place; counting stops where it is told to.
func pages(t *testing.T, p Place) {
	s := p.Open(t)
	want := []string{}
	for n := range 11 {
		a := interlock.AgentRecord{ID: fmt.Sprintf("a%02d", n), Created: Now.Add(time.Duration(n/4) * time.Hour)}
		commit(t, s, with(Decision("a"), write(a)))
		want = append(want, a.ID)
	}
	back := slices.Clone(want)
	slices.Reverse(back)
	mark := ledger.Ref{Kind: ledger.Agent, Mark: ledger.All}
	at := func(hours int) int64 { return Now.Add(time.Duration(hours) * time.Hour).UnixNano() }
	for name, tc := range map[string]struct {
		span ledger.Span
		want []string
	}{
		"all":          {ledger.Every(3), want},
		"one by one":   {ledger.Every(1), want},
		"in one":       {ledger.Every(100), want},
		"newest first": {ledger.Span{UpTo: math.MaxInt64, Newest: true, Limit: 3}, back},
		"up to":        {ledger.UpTo(at(1), 3), want[:8]},
		"from":         {ledger.From(at(1), 3), want[4:]},
		"between":      {ledger.Span{From: at(1), UpTo: at(1), Newest: true, Limit: 3}, back[3:7]},
	} {
		got := []string{}
		for _, store := range []Store{s, p.Open(t)} {
			got = got[:0]
			for span := tc.span; ; {
				rows, next, err := store.Scan(t.Context(), mark, span)
				if err != nil || len(rows) > span.Limit || len(got) > 20 {
					t.Fatalf("%s: %d rows, %v", name, len(rows), err)
				}
				for _, r := range rows {
					got = append(got, r.Value.(interlock.AgentRecord).ID)
				}
				if next == (ledger.Place{}) {
					break
				}
				span.After = next
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: %q, want %q", name, got, tc.want)
			}
			counted := tc.span
			for limit, count := range map[int]int{0: len(tc.want), 2: 2, 100: len(tc.want)} {
				counted.Limit = limit
				if n, err := store.Count(t.Context(), mark, counted); err != nil || n != count {
					t.Errorf("%s: counted up to %d: %d (%v), want %d", name, limit, n, err, count)
				}
			}
		}
	}
}
