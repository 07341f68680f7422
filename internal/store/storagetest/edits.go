package storagetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/memory"
	"interlock/internal/meter"
	"interlock/internal/phase"
	"interlock/internal/privacy"
)

// Governed fills a place with something of every kind that is proved, some of it in a second version; the place keeps the first.
func Governed(t testing.TB, p Place) {
	t.Helper()
	s := p.Open(t)
	defer s.Close()
	bot := interlock.Requester{Agent: "bot", Principal: "ann"}
	pending := *Request("pending")
	pending.Requester = bot
	answered := *Request("answered")
	answered.Requester = bot
	commit(t, s, with(Decision("setup"), write(pending, answered, interlock.AgentRecord{ID: "bot", Principal: "ann"},
		interlock.OperatorRecord{Name: "olga", Role: "viewer"},
		interlock.Suppression{ID: "sup", Rule: "x"}, interlock.Challenge{ID: "block", Requester: bot, Kind: interlock.ChallengeBlock},
		ledger.AttemptsBody{Agent: "bot", Principal: "ann", Attempts: meter.Attempts{Failed: []time.Time{Now}}},
		interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinQuarantined, Seen: "sha256:01"},
		interlock.Grant{ID: "grant", Agent: "bot", Principal: "ann", Times: 2, Left: 2, Expires: Now.Add(time.Hour)},
		ledger.CarriedBody{Name: ledger.CarriedKey("s"), Order: "o"}, ledger.CounterBody{Name: "n", Left: 3},
		ledger.BreakerBody{Name: "agent:bot", Cycles: []time.Time{Now}}, holds("agent", "bot"), holds("type", "worker"),
		holds("run", "r"), holds("system", "all"), ledger.HoldBody{Scope: ledger.HoldBreaker, Key: "agent:bot", Since: Now},
		interlock.Run{ID: "r", Agent: "bot", Orchestration: "r", Created: Now, Until: Now},
		ledger.CheckpointBody{RunKept: interlock.RunKept{Run: "r", Number: 1, At: Now}, Agent: "bot"},
		ledger.HoldBody{Scope: ledger.HoldBackup, Key: "agent:bot", Since: Now, Hold: phase.Hold{
			Backup: &phase.Backup{For: "other"}, Heals: Now}},
		ledger.RunCountBody{Name: ledger.AgentTally("bot"), Seq: 1}, ledger.RollbackBody{ID: "rb", Open: 1},
		ledger.RollbackStepBody{Rollback: "rb", N: 1, Status: ledger.StepOpen}, ledger.MessageBody{Message: interlock.Message{ID: "m",
			From: "bot", To: "bat"}},
		ledger.OwedBody{Event: "e", At: Now}, ledger.FirstUseBody{Type: "clerk", Use: "tool refund", Yes: Now},
		ledger.CommitmentBody{Name: "cmt_1", Rule: "x", At: Now},
		memory.Fact{Store: memory.Episodic, Holder: "bot", Key: "a/b/c/d", Number: 1, Versions: []memory.Version{{ID: "mem_1", At: Now}}},
		ledger.HoldBody{Scope: ledger.HoldMemory, Key: "agent:bot", Since: Now},
		interlock.Plan{ID: "pln_1", Agent: "bot", Run: "r", Created: Now}, ledger.BaselineBody{Name: "bas_1", At: Now},
		interlock.ActionRequest{ID: "act_1", Status: interlock.ActionPending, Created: Now, Expires: Now},
		ledger.PersonBody{Subject: "u-1", Public: "age1", Key: []byte("k"), Made: Now},
		privacy.Consent{Terms: privacy.Terms{ID: "c1", Until: Now}, Subject: "u-1", At: Now},
		ledger.PersonalBody{ID: "pd_1", Subject: "u-1", At: Now, Sealed: []byte("s")})))
	c := Decision("setup")
	c.Writes = append(ledger.Settings(map[string]string{"mode": "enforcing"}), ledger.Row{Kind: ledger.Candidate,
		Key: ledger.CandidateKey, Value: ledger.CandidateBody{Name: ledger.CandidateKey, Ruleset: "sha256:02"}},
		(&ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:02", Since: Now}).Row(), ledger.Row{Kind: ledger.Definition,
			Key: ledger.DefinitionOf("files", "read", "sha256:01").Key, Body: []byte(`{"a":1}`)})
	commit(t, s, c)
	p.Keep(t)
	commit(t, s, with(Decision("setup"), write(answered.Answered(*Yes("answered")), interlock.AgentRecord{ID: "bot", Principal: "ann", Revoked: Now},
		interlock.OperatorRecord{Name: "olga", Role: "viewer", Revoked: Now},
		interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinQuarantined, Seen: "sha256:03"},
		ledger.AttemptsBody{Agent: "bot", Principal: "ann",
			Attempts: meter.Attempts{Failed: []time.Time{Now, Now}}},
		ledger.RunCountBody{Name: ledger.AgentTally("bot"), Seq: 2, Open: 1, Delegated: 1})))
}

// holds is a hold on somebody who acts.
func holds(scope ledger.HoldScope, key string) ledger.HoldBody {
	return ledger.HoldBody{Scope: scope, Key: key, Since: Now, Hold: phase.Hold{Phase: phase.Emergency}}
}

// Decided is what decisions about bot, and orders of olga, load.
func Decided() []ledger.Ref {
	of := ledger.Of("bot", "ann")
	return []ledger.Ref{{Kind: ledger.Agent, Key: "bot"}, {Kind: ledger.Operator, Key: "olga"}, {Kind: ledger.Operator, Key: "ghost"},
		{Kind: ledger.Operator, Mark: ledger.All}, {Kind: ledger.Hold, Key: ledger.HoldName(ledger.HoldRuleset, "sha256:02")},
		{Kind: ledger.Hold, Mark: ledger.OverAll}, {Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldAgent, "bot")},
		{Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldType, "worker")}, {Kind: ledger.Hold, Mark: ledger.Over(ledger.HoldRun, "r")},
		{Kind: ledger.Breaker, Key: "agent:bot"},
		{Kind: ledger.Request, Mark: of}, {Kind: ledger.Order, Mark: of}, {Kind: ledger.Order, Mark: ledger.Ordered(interlock.VerbSuppress)},
		{Kind: ledger.Challenge, Mark: ledger.Of("bot")}, {Kind: ledger.Attempts, Key: ledger.AttemptsKey("bot", "ann")},
		{Kind: ledger.Pin, Key: ledger.PinKey("files", "read")}, {Kind: ledger.Setting, Mark: ledger.All},
		{Kind: ledger.Candidate, Key: ledger.CandidateKey}, {Kind: ledger.Carried, Key: ledger.CarriedKey("s")},
		{Kind: ledger.Run, Key: ledger.RunKey("bot", "r")}, {Kind: ledger.Checkpoint, Key: ledger.RunKey("bot", "r")},
		{Kind: ledger.RunCount, Key: ledger.AgentTally("bot")},
		{Kind: ledger.Message, Key: "m"}, {Kind: ledger.Rollback, Key: "rb"}, {Kind: ledger.RollbackStep, Key: ledger.RollbackStepKey("rb", 1)},
		{Kind: ledger.Rollback, Mark: ledger.RollbackNamed("rb")}, {Kind: ledger.RollbackStep, Mark: ledger.RollbackSteps("rb")},
		{Kind: ledger.FirstUse, Key: ledger.FirstUseKey("clerk", "tool refund")}, {Kind: ledger.Owed, Key: "e"},
		{Kind: ledger.Plan, Key: ledger.RunKey("bot", "r")}, {Kind: ledger.Commitment, Key: "cmt_1"}, {Kind: ledger.Baseline, Key: "bas_1"},
		{Kind: ledger.ActionRequest, Key: "act_1"}, {Kind: ledger.Person, Key: "u-1"}, {Kind: ledger.Consent, Mark: ledger.OfPerson("u-1")},
		{Kind: ledger.Personal, Mark: ledger.OfPerson("u-1")},
		{Kind: ledger.Memory, Key: memory.Place(memory.Episodic, "bot", "a/b/c/d")},
		{Kind: ledger.Hold, Mark: ledger.MemoryHolds},
		{Kind: ledger.Counter, Key: "n"}, ledger.DefinitionOf("files", "read", "sha256:01"),
		{Kind: ledger.Request, Key: "answered"}, {Kind: ledger.Request, Key: "pending"}}
}

// Loaded is what each ref gives, by itself: rows, or that they are not believed.
func Loaded(t testing.TB, s Store) map[ledger.Ref]string {
	t.Helper()
	got := map[ledger.Ref]string{}
	for _, ref := range Decided() {
		rows, _, err := s.Load(t.Context(), ref)
		tampered := (*ledger.Tampered)(nil)
		switch {
		case errors.As(err, &tampered):
			got[ref] = "tampered"
			if !strings.Contains(err.Error(), "audit verify") {
				t.Errorf("the error does not say what to do: %v", err)
			}
		case err != nil:
			t.Fatalf("%+v: %v", ref, err)
		}
		for _, r := range rows {
			got[ref] += string(r.Body) + "\n"
		}
	}
	return got
}

// edited are the rows that are edited: of each kind that is proved one, and holds of each scope.
func edited(t *testing.T) (rows []ledger.Ref) {
	t.Helper()
	keys, book := editedKeys(), ledger.NewBook()
	for _, kind := range ledger.Kinds() {
		if book.Proved(kind.Name) != (keys[kind.Name] != "") {
			t.Errorf("the test does not know whether %s is proved", kind.Name)
		}
	}
	for _, key := range []string{"agent:bot", "breaker:agent:bot", "backup:agent:bot", "type:worker", "run:r", "system:all", "memory:agent:bot"} {
		rows = append(rows, ledger.Ref{Kind: ledger.Hold, Key: key})
	}
	for kind, key := range keys {
		rows = append(rows, ledger.Ref{Kind: kind, Key: key})
	}
	return rows
}

func editedKeys() map[string]string {
	return map[string]string{ledger.Agent: "bot", ledger.Operator: "olga", ledger.Request: "answered", ledger.Order: "grant",
		ledger.Challenge: "block", ledger.Attempts: ledger.AttemptsKey("bot", "ann"), ledger.Pin: ledger.PinKey("files", "read"),
		ledger.Setting: "mode", ledger.Candidate: ledger.CandidateKey, ledger.Carried: ledger.CarriedKey("s"),
		ledger.Hold: ledger.HoldName(ledger.HoldRuleset, "sha256:02"), ledger.Counter: "n", ledger.Breaker: "agent:bot",
		ledger.Run: ledger.RunKey("bot", "r"), ledger.Checkpoint: ledger.RunKey("bot", "r"), ledger.RunCount: ledger.AgentTally("bot"),
		ledger.Rollback: "rb", ledger.RollbackStep: ledger.RollbackStepKey("rb", 1), ledger.Message: "m",
		ledger.FirstUse: ledger.FirstUseKey("clerk", "tool refund"), ledger.Owed: "e",
		ledger.Plan: ledger.RunKey("bot", "r"), ledger.Commitment: "cmt_1", ledger.Baseline: "bas_1",
		ledger.ActionRequest: "act_1", ledger.Person: "u-1", ledger.Consent: "c1", ledger.Personal: "pd_1",
		ledger.Memory:     memory.Place(memory.Episodic, "bot", "a/b/c/d"),
		ledger.Definition: ledger.DefinitionOf("files", "read", "sha256:01").Key}
}

// Edits runs the proofs: whatever somebody who can write the store's files, and has not its key, does to standing rows, they are
// as they were to decisions, or it is refused; the check names it, and the person who runs the store is told. The edits that put
// a row back are for those that Governed makes a second version of.
func Edits(t *testing.T, p Place, edits []string) {
	Governed(t, p)
	fresh := p.Copies(t)
	s := fresh().Open(t)
	before := Loaded(t, s)
	s.Close()
	for ref, text := range before {
		if text == "tampered" || text == "" && ref.Key != "ghost" {
			t.Fatalf("before: %+v is %q", ref, text)
		}
	}
	second := []string{ledger.Agent, ledger.Operator, ledger.Request, ledger.Attempts, ledger.Pin, ledger.RunCount}
	for _, row := range edited(t) {
		if testing.Short() && row.Kind != ledger.Operator && row.Kind != ledger.Request {
			continue // the race detector learns nothing from the others
		}
		for _, edit := range edits {
			if !strings.HasPrefix(edit, "put back") || slices.Contains(second, row.Kind) {
				t.Run(row.Kind+" "+row.Key+" "+edit, func(t *testing.T) {
					p := fresh()
					p.Edit(t, edit, row.Kind, row.Key)
					noBetter(t, p, before)
				})
			}
		}
	}
}

// noBetter holds what decisions take from an edited store against what they took before.
func noBetter(t *testing.T, p Place, before map[ledger.Ref]string) {
	t.Helper()
	told := map[string]bool{}
	s := p.Told(t, func(w *ledger.Tampered) { told[w.Name()] = true })
	defer s.Close()
	refused := 0
	for ref, text := range Loaded(t, s) {
		if ref.Kind == ledger.Request && ref.Key != "" && text == "" {
			continue // by its id alone nobody knows whose it was; decisions ask for the agent's
		}
		if text != before[ref] && text != "tampered" {
			t.Errorf("%+v is %q, was %q", ref, text, before[ref])
		}
		if text == "tampered" {
			refused++
		}
	}
	if refused == 0 || len(told) == 0 {
		t.Errorf("%d refused, told %v", refused, told)
	}
	if named := Checked(t, s); len(named) == 0 {
		t.Error("the check names nothing")
	}
}

// Checked is what the check names.
func Checked(t testing.TB, s Store) (named []string) {
	t.Helper()
	err := s.CheckStanding(t.Context(), func(w *ledger.Tampered) error {
		named = append(named, w.Name())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return named
}
