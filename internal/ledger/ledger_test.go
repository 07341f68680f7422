package ledger_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
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
	"interlock/internal/strictjson/filltest"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// samples is one row of every kind that stands, and under which marks it is found.
func samples(t testing.TB) map[string]struct {
	row   ledger.Row
	marks []string
} {
	t.Helper()
	who := interlock.Requester{Agent: "builder", Principal: "pat"}
	type sample = struct {
		row   ledger.Row
		marks []string
	}
	list := map[string]sample{}
	add := func(kind, key string, value any, marks ...string) {
		row, err := ledger.Put(kind, key, value)
		if err != nil {
			t.Fatal(err)
		}
		list[kind] = sample{row, marks}
	}
	add(ledger.Agent, "builder", interlock.AgentRecord{ID: "builder", TokenHash: "h", Created: now}, "all", "token\x00h")
	add(ledger.Operator, "olga", interlock.OperatorRecord{Name: "olga", Created: now}, "all")
	add(ledger.Request, "r", interlock.ApprovalRequest{ID: "r", Requester: who, Created: now, Expires: now.Add(time.Hour),
		Status: interlock.RequestPending}, "all", "by\x00builder\x00pat", "is\x00", "is\x00pending", "of\x00builder\x00pat")
	add(ledger.Order, "s", interlock.Suppression{ID: "s", Created: now}, "all", "verb\x00suppress")
	list["suppression"] = list[ledger.Order] // the other verb of this kind
	add(ledger.Challenge, "c", interlock.Challenge{ID: "c", Kind: interlock.ChallengeVerify, Requester: who, Request: "r",
		Created: now}, "all", "of\x00builder", "pauses", "waits\x00r")
	add(ledger.Order, "g", interlock.Grant{ID: "g", Agent: "builder", Principal: "pat", Left: 2, Created: now,
		Expires: now.Add(time.Hour)}, "all", "of\x00builder\x00pat", "verb\x00grant")
	add(ledger.Attempts, ledger.AttemptsKey("builder", "pat"), ledger.AttemptsBody{Agent: "builder", Principal: "pat",
		Attempts: meter.Attempts{Failed: []time.Time{now}}}, "all")
	add(ledger.Pin, ledger.PinKey("files", "read"), interlock.Pin{Server: "files", Tool: "read"}, "all", "held", "server\x00files")
	add(ledger.Setting, "mode", ledger.Settings(map[string]string{"mode": "enforcing"})[0].Value, "all")
	add(ledger.Counter, "n", ledger.CounterBody{Name: "n", Left: 3})
	add(ledger.Execution, ledger.ExecutionKey("pat", "builder", "run"), ledger.Done{Principal: "pat", Agent: "builder", Run: "run",
		Seen: now, Steps: 1, Counts: map[string]ledger.Times{"deploy": ledger.Times{}.With(now, time.Hour, 9)}}, "until")
	add(ledger.Candidate, ledger.CandidateKey, ledger.CandidateBody{Name: ledger.CandidateKey, Ruleset: "sha256:01", Began: now})
	add(ledger.Shadow, "sha256:01", ledger.ShadowBody{Ruleset: "sha256:01", Decisions: 1, To: now}, "until")
	failed, _ := ledger.FailedBody{}.With(ledger.Ending{Agent: "builder", Principal: "pat", Action: "sha256:01", At: now,
		Status: interlock.OutcomeFailure})
	add(ledger.Call, "e", ledger.CallBody{EventID: "e", Requester: interlock.Requester{Agent: "builder", Run: "run", Call: "c1"},
		Action: "sha256:01", At: now}, "action\x00builder\x00run\x00sha256:01", "call\x00builder\x00run\x00c1")
	add(ledger.Recent, "builder\x00run", ledger.RecentBody{Run: "builder\x00run", Actions: []interlock.PastAction{{At: now}}}, "until")
	add(ledger.Again, "e", ledger.AgainBody{Event: "e", At: now}, "until")
	add(ledger.Written, "f", ledger.WrittenBody{File: "f", At: now}, "until")
	add(ledger.Heard, "builder\x00run", ledger.HeardBody{Run: "builder\x00run", Heard: origin.Heard{At: now, Prompts: 1}}, "until")
	add(ledger.Failed, ledger.FailedKey("pat", "builder"), failed, "until")
	signal := ledger.SignalBody{Signal: interlock.Signal{Kind: interlock.SignalDrift, Agent: "builder", Run: "run", Value: 41}, At: now}
	add(ledger.Signal, ledger.SignalKey(signal.Signal), signal, "until")
	heard := ledger.MeterBody{Agent: "builder", Run: "run", Service: "claude-code", Measure: "tokens", Number: 1, At: now}
	add(ledger.Meter, ledger.MeterKey(&heard), heard, "until")
	add(ledger.Budget, "b", ledger.BudgetBody{Key: "b", Number: 1, Told: map[string]time.Time{"notice": now}, Within: time.Hour, At: now}, "until")
	add(ledger.Carried, ledger.CarriedKey("s"), ledger.CarriedBody{Name: ledger.CarriedKey("s"), Order: "o", Expires: now})
	add(ledger.Hold, "agent:builder", ledger.HoldBody{Scope: ledger.HoldAgent, Key: "builder", Since: now,
		Hold: phase.Hold{Phase: phase.Alternate, Deadline: now.Add(phase.MaxAlternate)}}, "all", "over\x00agent:builder", "due")
	list["phase"] = list[ledger.Hold]
	add(ledger.Subscription, "psh_01", ledger.SubscriptionBody{ID: "psh_01", Operator: "olga", Made: now}, "until")
	add(ledger.Rollback, "rb_01", ledger.RollbackBody{ID: "rb_01", Steps: 2, Open: 1, Begun: now}, "all", "named\x00rb_01")
	add(ledger.RollbackStep, "rb_01/2", ledger.RollbackStepBody{Rollback: "rb_01", N: 2, Status: ledger.StepOpen}, "all", "steps\x00rb_01")
	add(ledger.Hold, "ruleset:sha256:01", ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:01", Since: now}, "all")
	add(ledger.Breaker, "agent:builder", ledger.BreakerBody{Name: "agent:builder", Blocks: []time.Time{now}}, "all")
	add(ledger.Tally, "agent:builder", ledger.TallyBody{Name: "agent:builder", Counts: phase.Tally{}.With(now, true)}, "until")
	used := ledger.UsageBody{Key: "limit\x00agent\x00builder"}
	used.Count, _ = used.Take(3, meter.Bound{Most: 9, Window: time.Hour}, now)
	add(ledger.Usage, used.Key, used, "until")
	add(ledger.Profile, "agent:builder", ledger.ProfileBody{Name: "agent:builder", Profile: anomaly.Profile{Last: now}}, "until")
	add(ledger.Judged, "sha256:01", ledger.JudgedBody{Key: "sha256:01", Judgments: []interlock.Judgment{{}}, At: now, Until: now}, "until")
	add(ledger.Owed, "e", ledger.OwedBody{Event: "e", Class: "write workspace", At: now, Until: now}, "all")
	add(ledger.Settled, "e", ledger.SettledBody{Event: "e", At: now}, "until")
	add(ledger.Run, ledger.RunKey("builder", "r"), interlock.Run{ID: "r", Agent: "builder", Orchestration: "o", Parent: "p", Created: now},
		"all", "runs\x00builder", "named\x00r", "in\x00o", "under\x00p")
	kept := interlock.RunKept{Run: "run_1", Number: 1, At: now, RunCheckpoint: interlock.RunCheckpoint{Goal: "count"}}
	add(ledger.Checkpoint, ledger.RunKey("builder", "run_1"), ledger.CheckpointBody{RunKept: kept, Agent: "builder"}, "all", "named\x00run_1")
	add(ledger.RunCount, ledger.AgentTally("builder"), ledger.RunCountBody{Name: ledger.AgentTally("builder"), Seq: 1, Delegated: 1}, "all")
	add(ledger.Message, "m", ledger.MessageBody{Message: interlock.Message{ID: "m", From: "builder", To: "tester",
		Orchestration: "o", Sent: now, Until: now},
		Content: []byte("hi")}, "all", "to\x00tester", "from\x00builder", "in\x00o", "due")
	add(ledger.Plan, ledger.RunKey("builder", "r"), interlock.Plan{ID: "pln_1", Agent: "builder", Run: "r", Created: now}, "all",
		"plan\x00pln_1", "plan\x00r")
	add(ledger.Commitment, "cmt_1", ledger.CommitmentBody{Name: "cmt_1", At: now, Locked: now}, "all", "locked")
	add(ledger.ActionRequest, "act_1", interlock.ActionRequest{ID: "act_1", Digest: "sha256:01", Status: interlock.ActionPending, Created: now,
		Requester: interlock.Requester{Agent: "builder"},
		Expires:   now, Review: "act_0", Ballot: interlock.Ballot{Closes: now}}, "every", "by\x00builder", "is\x00pending", "all", "for\x00sha256:01", "due",
		"review\x00act_0")
	add(ledger.Baseline, "bas_1", ledger.BaselineBody{Name: "bas_1", At: now}, "all")
	add(ledger.Alive, "builder", ledger.AliveBody{Agent: "builder", At: now}, "until")
	add(ledger.FirstUse, ledger.FirstUseKey("clerk", "tool refund"), ledger.FirstUseBody{Type: "clerk", Use: "tool refund", Yes: now},
		"all", "uses\x00clerk")
	add(ledger.Person, "u-1", ledger.PersonBody{Subject: "u-1", Public: "age1", Key: []byte("k"), Made: now}, "all")
	add(ledger.Consent, "c1", privacy.Consent{Terms: privacy.Terms{ID: "c1", Tier: "high", Persistent: true, Until: now}, Subject: "u-1", At: now},
		"all", "person\x00u-1")
	add(ledger.Personal, "pd_1", ledger.PersonalBody{ID: "pd_1", Subject: "u-1", At: now, Sealed: []byte("s")}, "all", "person\x00u-1")
	add(ledger.Memory, memory.Place("episodic", "builder", "a/b/c/d"), memory.Fact{Store: "episodic", Holder: "builder", Key: "a/b/c/d",
		Number: 1, Versions: []memory.Version{{ID: "mem_1", Agent: "builder", At: now}}}, "all", "in\x00episodic\x00builder", "id\x00mem_1", "due")
	list[ledger.Definition] = sample{ledger.Row{Kind: ledger.Definition, Key: "d", Body: []byte(`{}`)}, nil}
	return list
}

// TestKinds holds what is true of every kind: its name is its own, somebody may write it, it says how long it lives, what
// loosens is proved, and a row of it is found where it should be and nowhere once it has ended.
func TestKinds(t *testing.T) {
	book, rows, names := ledger.NewBook(), samples(t), map[string]bool{}
	for _, kind := range ledger.Kinds() {
		if names[kind.Name] || kind.Name == "" || kind.Writer == ledger.Nobody || kind.Lives == "" {
			t.Errorf("%+v is not said whole, or twice", kind)
		}
		names[kind.Name] = true
		if kind.Writer == ledger.ByOrder && kind.Proved == "" {
			t.Errorf("%s: an operator's act that nothing proves", kind.Name)
		}
		sample, has := rows[kind.Name]
		if !has {
			t.Errorf("%s: there is no sample of it", kind.Name)
			continue
		}
		about, err := book.About(sample.row)
		if err != nil {
			t.Errorf("%s: %v", kind.Name, err)
		}
		got := map[string]bool{}
		for _, m := range about.Marks {
			got[m.Name] = true
		}
		want := map[string]bool{}
		for _, m := range sample.marks {
			want[m] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s is found elsewhere (-want +got):\n%s", kind.Name, diff)
		}
		if about.Stands != got[ledger.All] {
			t.Errorf("%s: stands %v, and is among all that stand: %v", kind.Name, about.Stands, got[ledger.All])
		}
		if slices.Contains(ledger.Swept(), kind.Name) && (!got[ledger.Until] || len(got) != 1) {
			t.Errorf("%s is forgotten after a while and stands under %v", kind.Name, got)
		}
		if book.Swept(kind.Name) && about.Binds {
			t.Errorf("%s is forgotten after a while, and nobody would notice that it changes", kind.Name)
		}
		ended, err := book.About(ledger.Row{Kind: kind.Name, Key: sample.row.Key})
		if err != nil || len(ended.Marks) > 0 || ended.Stands || ended.Binds != (about.Stands || kind.Name == ledger.Candidate) {
			t.Errorf("%s: once it has ended: %+v, %v", kind.Name, ended, err)
		}
	}
}

// TestStanding puts every kind into a standing, and nothing that has ended.
func TestStanding(t *testing.T) {
	var standing ledger.Standing
	count := func() []int {
		return []int{len(standing.Agents), len(standing.Operators), len(standing.Requests), len(standing.Suppressions),
			len(standing.Settings), len(standing.Challenges), len(standing.Grants), len(standing.Attempts), len(standing.Pins),
			len(standing.Others[ledger.Hold]), len(standing.Others[ledger.Breaker])}
	}
	book := ledger.NewBook()
	for _, sample := range samples(t) {
		if err := book.Into(ledger.Row{Kind: sample.row.Kind, Key: sample.row.Key}, &standing); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, count()); diff != "" {
		t.Errorf("something that has ended stands (-want +got):\n%s", diff)
	}
	for _, sample := range samples(t) {
		if err := book.Into(sample.row, &standing); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1}, count()); diff != "" {
		t.Errorf("something is missing (-want +got):\n%s", diff)
	}
}

// TestTake holds what can be taken from what, and what whoever finds too little is told.
func TestTake(t *testing.T) {
	book, rows := ledger.NewBook(), samples(t)
	approved := interlock.ApprovalRequest{ID: "r", Status: interlock.RequestApproved, Expires: now.Add(time.Hour),
		Approval: &interlock.Approval{Request: "r", Verdict: interlock.Allow}}
	forged := approved
	forged.Approval = nil
	row := func(v any) ledger.Row {
		r, err := ledger.Put(ledger.Request, "r", v)
		if err != nil {
			t.Fatal(err)
		}
		r.Version = 7
		return r
	}
	for name, tc := range map[string]struct {
		row   ledger.Row
		take  int64
		at    time.Time
		why   string // "" is taken
		again bool
		fails string
	}{
		"approved":            {row: row(approved), take: 1},
		"approved, twice":     {row: row(approved), take: 2, why: "good for one", again: true},
		"approved, late":      {row: row(approved), take: 1, at: now.Add(time.Hour), why: "expired", again: true},
		"pending":             {row: rows[ledger.Request].row, take: 1, why: "pending", again: true},
		"approved by nobody":  {row: row(forged), take: 1, fails: "nobody approved it"},
		"no such request":     {row: ledger.Row{Kind: ledger.Request, Key: "x"}, take: 1, why: "there is none", again: true},
		"a grant":             {row: rows[ledger.Order].row, take: 1},
		"more than granted":   {row: rows[ledger.Order].row, take: 3, why: "less left", again: true},
		"a grant, late":       {row: rows[ledger.Order].row, take: 1, at: now.Add(time.Hour), why: "expired", again: true},
		"a suppression":       {row: rows["suppression"].row, take: 1, why: "not used up", again: true},
		"all of a counter":    {row: rows[ledger.Counter].row, take: 3},
		"more than a counter": {row: rows[ledger.Counter].row, take: 4, why: "less left"},
		"nothing":             {row: rows[ledger.Counter].row, take: 0, fails: "nothing to take"},
		"to give back":        {row: rows[ledger.Counter].row, take: -1, fails: "nothing to take"},
		"an agent":            {row: rows[ledger.Agent].row, take: 1, fails: "nothing can be taken"},
	} {
		if tc.at.IsZero() {
			tc.at = now
		}
		left, met, err := book.Take(tc.row, ledger.Spend{Kind: tc.row.Kind, Key: tc.row.Key, Take: tc.take}, tc.at)
		if tc.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: %v, want %q", name, err, tc.fails)
			}
			continue
		}
		if err != nil || (met == nil) != (tc.why == "") {
			t.Errorf("%s: %v, %v", name, met, err)
			continue
		}
		if met != nil {
			if !strings.Contains(met.Why, tc.why) || errors.Is(met, ledger.ErrConflict) != tc.again || met.Row.Key != tc.row.Key {
				t.Errorf("%s: %v, again %v, row %+v", name, met, errors.Is(met, ledger.ErrConflict), met.Row)
			}
			continue
		}
		about, err := book.About(left)
		before, _ := book.About(tc.row)
		if err != nil || about.Left != before.Left-int(tc.take) || left.Version != tc.row.Version {
			t.Errorf("%s: %d are left of %d, version %d; %v", name, about.Left, before.Left, left.Version, err)
		}
	}
}

// FuzzAbout holds that no body, whatever a disk or a hand made of it, is taken for a row under another key, stands and has
// ended at once, or breaks what reads it; and that what is read is written back the same.
func FuzzAbout(f *testing.F) {
	for _, sample := range samples(f) {
		f.Add(sample.row.Kind, sample.row.Key, sample.row.Body)
	}
	f.Add(ledger.Request, "r", []byte(`{"id":"r","status":"approved"}`))
	f.Add(ledger.Order, "g", []byte(`{"id":"other","left":1}`))
	book := ledger.NewBook()
	f.Fuzz(func(t *testing.T, kind, key string, body []byte) {
		row := ledger.Row{Kind: kind, Key: key, Body: body}
		about, err := book.About(row)
		if err != nil {
			return
		}
		if about.Key != key || key == "" {
			t.Fatalf("%q passes for %q", about.Key, key)
		}
		var standing ledger.Standing
		if err := book.Into(row, &standing); err != nil {
			return
		}
		if again, err := book.About(row); err != nil || !cmp.Equal(about, again) {
			t.Fatalf("read twice: %+v and %+v (%v)", about, again, err)
		}
		for _, m := range about.Marks {
			if m.Name == ledger.All && !about.Stands {
				t.Fatalf("%s stands among all and does not stand", kind)
			}
		}
		if r, known := standing.Requests[key]; kind == ledger.Request && known {
			text, err := json.Marshal(r)
			if err != nil {
				return // a time no text can tell
			}
			back, err := book.About(ledger.Row{Kind: kind, Key: key, Body: text})
			if err != nil || !cmp.Equal(back, about) {
				t.Fatalf("written back it is %+v (%v), was %+v", back, err, about)
			}
		}
	})
}

// TestTimes holds what a run's counts say after they were written and read, and what of them a window leaves.
func TestTimes(t *testing.T) {
	var window, all ledger.Times
	for i := range 5 {
		at := now.Add(time.Duration(i)*time.Minute + time.Duration(i))
		window, all = window.With(at, time.Hour, 4), all.With(at, 0, 4)
	}
	if window.Number != 4 || len(window.At) != 4 || all.Number != 4 || all.At != nil {
		t.Errorf("of five, four at most: %+v and %+v", window, all)
	}
	text, err := json.Marshal(window)
	var back ledger.Times
	if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil || !cmp.Equal(back, window) {
		t.Errorf("%s is read as %+v (%v), was %+v", text, back, err, window)
	}
	if left := window.Since(now.Add(2*time.Minute), time.Minute); left.Number != 3 || len(left.At) != 3 {
		t.Errorf("a minute leaves %+v", left)
	}
	if all.Since(now.Add(time.Hour), 0).Number != 4 {
		t.Error("without a window something was forgotten")
	}
	if err := json.Unmarshal([]byte(`{"n":1,"at":"gA=="}`), &back); err == nil {
		t.Error("half a time was read")
	}
}

// TestNext holds what may be written over what: a step follows the one before, a request is opened once, answered while it
// waits and in time, and expires; and nothing is done twice in one change.
func TestNext(t *testing.T) {
	book := ledger.NewBook()
	step := func(n int) ledger.Done { return ledger.Done{Principal: "p", Agent: "a", Run: "r", Steps: n} }
	pending := interlock.ApprovalRequest{ID: "r", Status: interlock.RequestPending, Created: now, Expires: now.Add(time.Hour)}
	yes := interlock.Approval{Request: "r", Verdict: interlock.Allow}
	no, maybe := yes, yes
	no.Verdict, maybe.Verdict = interlock.Deny, interlock.Ask
	with := func(status interlock.RequestStatus, of interlock.ApprovalRequest) interlock.ApprovalRequest {
		of.Status = status
		return of
	}
	other := pending.Answered(yes)
	other.Display = "rm -rf /"
	two := pending
	two.Obligations = []interlock.Obligation{{Type: interlock.ObligationDual}}
	for name, tc := range map[string]struct {
		before, after any
		at            time.Time
		want          string // "" is written
	}{
		"first step":                  {nil, step(1), now, ""},
		"next step":                   {step(1), step(2), now, ""},
		"the same step":               {step(1), step(1), now, "conflict"},
		"a step of nothing":           {nil, step(2), now, "conflict"},
		"open":                        {nil, pending, now, ""},
		"open again":                  {pending, pending, now, "conflict"},
		"born approved":               {nil, pending.Answered(yes), now, "invalid"},
		"answer what is not there":    {nil, pending.Answered(no), now, "not_found"},
		"yes":                         {pending, pending.Answered(yes), now, ""},
		"no":                          {pending, pending.Answered(no), now, ""},
		"maybe":                       {pending, pending.Answered(maybe), now, "invalid"},
		"yes, too late":               {pending, pending.Answered(yes), now.Add(time.Hour), "conflict"},
		"yes to something else":       {pending, other, now, "conflict"},
		"yes after no":                {pending.Answered(no), pending.Answered(no).Answered(yes), now, "conflict"},
		"yes again":                   {pending.Answered(yes), pending.Answered(yes), now, "conflict"},
		"one yes of two":              {two, two.Answered(yes), now, ""},
		"the other":                   {two.Answered(yes), two.Answered(yes).Answered(yes), now, ""},
		"the second as the first":     {two, two.Answered(yes).Answered(yes), now, "conflict"},
		"expired":                     {pending, with(interlock.RequestExpired, pending), now, ""},
		"expired, approved":           {pending.Answered(yes), with(interlock.RequestExpired, pending.Answered(yes)), now, ""},
		"expired, another":            {pending, with(interlock.RequestExpired, other), now, "conflict"},
		"expired twice":               {with(interlock.RequestExpired, pending), with(interlock.RequestExpired, pending), now, "conflict"},
		"spent by hand":               {pending.Answered(yes), with(interlock.RequestSpent, pending.Answered(yes)), now, "conflict"},
		"an agent, whatever was said": {interlock.AgentRecord{ID: "a"}, interlock.AgentRecord{ID: "a", Type: "x"}, now, ""},
	} {
		read := func(kind, key string) (ledger.Row, error) {
			if tc.before == nil {
				return ledger.Row{Kind: kind, Key: key}, nil
			}
			return ledger.Put(kind, key, tc.before)
		}
		rows, refusal, err := book.Steps(&ledger.Change{Writes: ledger.Rows(tc.after)}, tc.at, read)
		got := ""
		var known *interlock.Error
		switch {
		case errors.Is(refusal, ledger.ErrConflict):
			got = "conflict"
		case errors.As(refusal, &known):
			got = string(known.Code)
		}
		if got != tc.want || err != nil || (len(rows) == 1) != (tc.want == "") {
			t.Errorf("%s: %q, want %q (%v, %v, %d rows)", name, got, tc.want, refusal, err, len(rows))
		}
	}
	twice := append(ledger.Rows(interlock.AgentRecord{ID: "a"}), ledger.Ended(ledger.Agent, "a"))
	if _, refusal, err := book.Steps(&ledger.Change{Writes: twice}, now, nil); refusal == nil || err != nil {
		t.Errorf("two things are done to one row: %v, %v", refusal, err)
	}
	if _, refusal, err := book.Steps(&ledger.Change{Writes: ledger.Rows("nonsense")}, now, nil); refusal == nil || err != nil {
		t.Errorf("what is of no kind is written: %v, %v", refusal, err)
	}
}

// TestJudgedIsReadAsItIsWritten: what judges said is remembered as it was written and not read from its body first, so both are the same.
func TestJudgedIsReadAsItIsWritten(t *testing.T) {
	wrote := filltest.Value[ledger.JudgedBody]()
	row, err := ledger.Put(ledger.Judged, string(wrote.Key), wrote)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ledger.NewBook().Value(row)
	if err != nil || !reflect.DeepEqual(read, wrote) {
		t.Errorf("read  %+v, %v\nwrote %+v", read, err, wrote)
	}
}
