package admission_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/rules"
)

// withRule are the default rules with one more, which refuses mkdir and says which it is.
func withRule(t *testing.T, name string) *ruleset.Ruleset {
	t.Helper()
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), map[string][]byte{"team.yaml": []byte(
		`rules: [{id: team.` + name + `, layer: 3, verdict: deny, reason: no directories, match: {glob: ["mkdir *"]}}]`)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// renewed is a house whose rules the test changes.
func renewed(t *testing.T) (*house, *atomic.Pointer[admission.Renewal], func(*admission.Config)) {
	var now atomic.Pointer[admission.Renewal]
	now.Store(&admission.Renewal{})
	renew := func(c *admission.Config) { c.Renew = func() admission.Renewal { return *now.Load() } }
	h := newHouse(t, renew)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h, &now, renew
}

// rulings are the rulesets that RULESET_CHANGE events declare, in order, and what every decision names has been declared before it.
func (h *house) rulings() (declared []string) {
	h.t.Helper()
	known := map[string]bool{}
	for _, e := range h.log() {
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		digest := event.Snapshots["ruleset"]
		if e.Type == interlock.EventRuleset {
			declared, known[digest] = append(declared, digest), true
		}
		if auditlog.IsDecision(e.Type) {
			d, err := auditlog.ReadDecision(e)
			if err != nil || !known[digest] || string(d.Decision.Ruleset) != digest {
				h.t.Errorf("entry %d was decided under %s and says %s; declared %v, %v", e.Index, d.Decision.Ruleset, digest, known[digest], err)
			}
		}
	}
	return declared
}

// TestRulesComeIntoForceWhileItRuns: the next decision is under the new rules, which were declared once, whoever found them first;
// what is under way ends under the rules it began with.
func TestRulesComeIntoForceWhileItRuns(t *testing.T) {
	h, now, renew := renewed(t)
	processes := []*admission.Admission{h.Admission, again(t, h, renew)}
	if a := h.propose("mkdir x"); a.Answer != interlock.Allow {
		t.Fatalf("before: %v %+v", a.Answer, a.Findings)
	}
	const changes = 6
	for n := range int64(changes) {
		set := withRule(t, fmt.Sprint("no", n))
		now.Store(&admission.Renewal{Number: n + 1, Rules: set})
		var all sync.WaitGroup
		for caller := range 8 {
			all.Go(func() {
				a := processes[caller%2].Propose(t.Context(), interlock.Proposal{
					Action:    interlock.Action{Kind: interlock.KindShell, Input: "mkdir x", Dir: "/repo"},
					Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: fmt.Sprint("run-", caller)}})
				if a.Answer != interlock.Deny || a.Event == "" || a.Ruleset != set.Digest() ||
					!strings.HasSuffix(a.Decisive().Rule, fmt.Sprint("no", n)) {
					t.Errorf("change %d: %v under %s by %+v", n, a.Answer, a.Ruleset, a.Decisive())
				}
			})
		}
		all.Wait()
	}
	if got := h.rulings(); len(got) != changes+1 {
		t.Errorf("%d rulesets were declared, want %d: %v", len(got), changes+1, got)
	}
}

// A decision that is under way when other rules come into force ends under those it began with, also where it is made again.
func TestADecisionKeepsItsRules(t *testing.T) {
	h, now, _ := renewed(t)
	before, raced := h.Rules().Digest(), false
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		if !raced {
			raced = true
			now.Store(&admission.Renewal{Number: 1, Rules: withRule(t, "later")})
			if h.Rules().Digest() == before { // for whoever asks from now on
				t.Error("the rules did not come into force")
			}
			return ledger.Receipt{}, ledger.ErrConflict
		}
		return next()
	}
	if a := h.propose("mkdir x"); a.Answer != interlock.Allow || a.Ruleset != before {
		t.Errorf("%v under %s, begun under %s", a.Answer, a.Ruleset, before)
	}
	if a := h.propose("mkdir x"); a.Answer != interlock.Deny || a.Ruleset == before {
		t.Errorf("the next: %v under %s", a.Answer, a.Ruleset)
	}
	h.rulings()
}

// TestRulesThatCantBeUsed: they change nothing but that an alert says so, once; and what can't be declared decides nothing.
func TestRulesThatCantBeUsed(t *testing.T) {
	h, now, _ := renewed(t)
	now.Store(&admission.Renewal{Number: 1, Rules: withRule(t, "first")})
	first := h.propose("mkdir x")
	now.Store(&admission.Renewal{Number: 2, Err: interlock.Errorf(interlock.CodeInvalid, "", "team.yaml:1: what is this")})
	for range 3 {
		if a := h.propose("mkdir x"); a.Answer != interlock.Deny || a.Ruleset != first.Ruleset {
			t.Errorf("%v under %s, want %s", a.Answer, a.Ruleset, first.Ruleset)
		}
	}
	alerts := 0
	for _, kind := range h.entries() {
		if kind == interlock.EventAlert {
			alerts++
		}
	}
	if alerts != 1 || len(h.alerts) != 1 || !strings.Contains(h.alerts[0], "rules-unread") || !strings.Contains(h.alerts[0], "team.yaml:1") {
		t.Errorf("%d in the log; raised %q", alerts, h.alerts)
	}
	if got := h.Rules().Digest(); got != first.Ruleset {
		t.Errorf("in force: %s", got)
	}

	now.Store(&admission.Renewal{Number: 3, Rules: withRule(t, "second")})
	h.store.commit = func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		return ledger.Receipt{}, errors.New("the disk is gone")
	}
	if a := h.propose("ls"); a.Answer != interlock.Deny || a.Event != "" {
		t.Errorf("rules that could not be declared decided %v, event %q", a.Answer, a.Event)
	}
	if _, ok := h.Weigh(t.Context(), admission.Way{}, interlock.Proposal{}); ok {
		t.Error("something was weighed under rules that could not be declared")
	}
	h.store.commit = nil
	if a := h.propose("mkdir x"); a.Answer != interlock.Deny || a.Ruleset != withRule(t, "second").Digest() {
		t.Errorf("afterwards: %v under %s", a.Answer, a.Ruleset)
	}
	h.rulings()
}
