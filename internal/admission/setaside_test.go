package admission_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/spec"
)

const (
	aside     = "rule=fs.delete-system run=run-1 for=1h"
	fromShort = "the release waits"
)

func (h *house) trySetAside(params, approval, operator string) (interlock.ActionRequest, error) {
	h.t.Helper()
	detail, err := governance.Detail(governance.RequestTerms{Target: "agent:claude", Params: params, Approval: approval})
	if err != nil {
		h.t.Fatal(err)
	}
	done, err := h.CarryOut(h.t.Context(), h.signs(interlock.VerbRequest, quorum.ActOverride, detail, fromShort, operator))
	return done.Request, err
}

// setsAside is a rule that these people have set aside for one job.
func (h *house) setsAside(approval, asks string, votes ...string) interlock.ActionRequest {
	h.t.Helper()
	r, err := h.trySetAside(aside, approval, asks)
	if err != nil {
		h.t.Fatal(err)
	}
	if got := h.votes(r.ID, "approve", votes...); got.Status != interlock.ActionApproved {
		h.t.Fatalf("it is %s: %s", got.Status, got.Why)
	}
	if got, err := h.executes(r.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		h.t.Fatalf("carried out: %s %s, %v", got.Status, got.Why, err)
	}
	return r
}

// TestSafetyOverride: a quorum of the council sets one rule aside for one job until a time, which is recorded with each signature and
// reviewed afterwards; nothing else is set aside by it, and one admin alone sets nothing aside.
func TestSafetyOverride(t *testing.T) {
	spec.Covers(t, "MACE-11-2", "MACE-12-4")
	h := council(t)
	check := func(when string, want bool) {
		t.Helper()
		if objected, suppressed := h.asked(); objected == want || suppressed != want {
			t.Errorf("%s: objected %v, set aside %v", when, objected, suppressed)
		}
	}
	r, err := h.trySetAside(aside, "", "ada")
	if err != nil || r.Class != 3 || r.Ballot.Approval != interlock.ApprovalCouncil {
		t.Fatalf("asked: %+v, %v", r, err)
	}
	if _, err := h.executes(r.ID, "executing", "ada"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("an admin alone: %v", err)
	}
	h.votes(r.ID, "approve", "member-0", "member-1", "member-2")
	check("approved and not carried out", false)
	before := len(h.entries())
	if got, err := h.executes(r.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatalf("carried out: %s %s, %v", got.Status, got.Why, err)
	}
	check("carried out", true)
	for _, want := range []interlock.EventType{"SAFETY_OVERRIDE", "EMERGENCY_REVIEW", "ALERT", "executed_event"} {
		if !slices.Contains(h.since(before), want) {
			t.Errorf("no %s among %v", want, h.since(before))
		}
	}
	said := h.last(interlock.EventSafetyOverride)
	if strings.Count(said, `"verb":"vote"`) != 3 || !strings.Contains(said, `"signature":"member-1's"`) ||
		!strings.Contains(said, `"rule":"fs.delete-system"`) || !strings.Contains(said, `"run":"run-1"`) {
		t.Errorf("it says %s", said)
	}
	another := func(edit func(*interlock.Requester)) bool {
		a := h.propose(silenced, func(p *admission.Case) { edit(&p.Requester) })
		return slices.ContainsFunc(a.Findings, func(f interlock.Finding) bool { return f.Gate == "suppression" })
	}
	if another(func(r *interlock.Requester) { r.Run = "run-2" }) || another(func(r *interlock.Requester) { r.Run = "" }) ||
		another(func(r *interlock.Requester) { r.Agent = "codex" }) {
		t.Error("another job, or another agent's, has the rule set aside")
	}
	if review := h.reviewOf(r.ID); review.Status != interlock.ActionPending || review.Action.Type != quorum.ActReview {
		t.Errorf("its review: %+v", review)
	}
	h.now = h.now.Add(time.Hour)
	check("when its time is over", false)
}

// TestSafetyOverrideByTwo: a superadmin and an admin may as well, and neither of them alone.
func TestSafetyOverrideByTwo(t *testing.T) {
	h := council(t)
	h.setsAside("superadmin_dual", "sue", "sue", "ada")
	if objected, suppressed := h.asked(); objected || !suppressed {
		t.Errorf("objected %v, set aside %v", objected, suppressed)
	}
	if said := h.last(interlock.EventSafetyOverride); strings.Count(said, `"verb":"vote"`) != 2 {
		t.Errorf("it says %s", said)
	}
}

// TestSafetyOverrideEnds: what the council does not stand by is not set aside any more; nor is it once a voter has left, and nobody sets
// a rule aside for an agent of their own.
func TestSafetyOverrideEnds(t *testing.T) {
	h := council(t)
	r := h.setsAside("", "ada", "member-0", "member-1", "member-2")
	review := h.reviewOf(r.ID)
	h.votes(review.ID, "reject", "member-2", "member-3", "member-4")
	if objected, _ := h.asked(); !objected {
		t.Error("the council has rejected it, and it stands")
	}
	if said := h.last(interlock.EventSuppression); !strings.Contains(said, "does not stand by it") {
		t.Errorf("it says %s", said)
	}
	h = council(t)
	h.setsAside("", "ada", "member-0", "member-1", "member-2")
	if err := h.PutOperator(t.Context(), interlock.OperatorRecord{Name: "member-1", Role: quorum.RoleCouncil, SSHKey: "key of member-1",
		Created: h.now, Revoked: h.now}); err != nil {
		t.Fatal(err)
	}
	if objected, _ := h.asked(); !objected {
		t.Error("a voter has left office, and it stands")
	}
	h = council(t)
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Principal: "member-1", Created: h.now}); err != nil {
		t.Fatal(err)
	}
	r, err := h.trySetAside(aside, "", "ada")
	if err != nil {
		t.Fatal(err)
	}
	h.votes(r.ID, "approve", "member-0", "member-1", "member-2")
	if got, err := h.executes(r.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionFailed || !strings.Contains(got.Why, "own") {
		t.Errorf("by the vote of the agent's owner: %s %s, %v", got.Status, got.Why, err)
	}
}

// TestNotSetAside: what can't be set aside is refused before anybody votes on it, and no operator's own order is for one job.
func TestNotSetAside(t *testing.T) {
	h := council(t)
	h.employ("olga", quorum.RoleAdmin)
	for params, want := range map[string]interlock.Code{
		"rule=fs.delete-root run=r for=1h":                                  interlock.CodeUnauthorized, // layer 1
		"rule=self.agent-instructions run=r for=1h":                         interlock.CodeUnauthorized,
		"rule=kill.stopped run=r for=1h":                                    interlock.CodeNotFound,
		"rule=hold.ruleset run=r for=1h":                                    interlock.CodeNotFound,
		"rule=fs.delete-system run=r for=25h":                               interlock.CodeInvalid,
		"rule=fs.delete-system run=r for=0s":                                interlock.CodeInvalid,
		"rule=fs.delete-system for=1h":                                      interlock.CodeInvalid,
		"rule=fs.delete-system run=r":                                       interlock.CodeInvalid,
		"rule=fs.delete-system run=r for=1h agent=codex":                    interlock.CodeInvalid,
		"rule=fs.delete-system rule=db.drop run=r for=1h":                   interlock.CodeInvalid,
		"rule=fs.delete-system run=r for=1h for=2h":                         interlock.CodeInvalid,
		"rule= run=r for=1h":                                                interlock.CodeInvalid,
		"everything":                                                        interlock.CodeInvalid,
		"rule=fs.delete-system run=" + strings.Repeat("x", 600) + " for=1h": interlock.CodeInvalid,
	} {
		if _, err := h.trySetAside(params, "", "ada"); codeOf(err) != want {
			t.Errorf("%.60s: %v, want %s", params, err, want)
		}
	}
	for _, target := range []string{"agent:*", "agent:", "claude", "type:clerk", "rule:fs.delete-system"} {
		detail, err := governance.Detail(governance.RequestTerms{Target: target, Params: aside})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.CarryOut(t.Context(), h.signs(interlock.VerbRequest, quorum.ActOverride, detail, "x", "ada")); codeOf(err) !=
			interlock.CodeInvalid {
			t.Errorf("on %s: %v", target, err)
		}
	}
	if _, err := h.trySetAside(aside, "admin_single", "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("by one admin: %v", err)
	}
	if _, err := h.Suppress(t.Context(), ordered(h, func(s *interlock.Suppression) { s.Run = "run-1" })); codeOf(err) != interlock.CodeInvalid {
		t.Errorf("by an operator's own order: %v", err)
	}
}

// TestSafetyOverrideIsHeldToItsVotes: a row that says anything else than people have approved counts for nothing.
func TestSafetyOverrideIsHeldToItsVotes(t *testing.T) {
	h := council(t)
	r := h.setsAside("", "ada", "member-0", "member-1", "member-2")
	standing := h.standing()
	verify := func(_ interlock.OperatorRecord, _, _, signature string) (string, error) {
		return "fingerprint of " + signature, nil
	}
	counts := func(edit func(s *interlock.Suppression, r *interlock.ActionRequest)) error {
		s := standing.Suppressions[quorum.OverrideID(r.ID)]
		override := *s.Override
		override.Ballot.Votes, override.Ballot.Roster = slices.Clone(override.Ballot.Votes), slices.Clone(override.Ballot.Roster)
		s.Override = &override
		edit(&s, &override)
		return quorum.OfSuppression(s).Counts(standing.Operators, standing.Agents, verify, h.now)
	}
	if err := counts(func(*interlock.Suppression, *interlock.ActionRequest) {}); err != nil {
		t.Fatalf("as it is: %v", err)
	}
	for name, edit := range map[string]func(s *interlock.Suppression, r *interlock.ActionRequest){
		"another rule":    func(s *interlock.Suppression, _ *interlock.ActionRequest) { s.Rule = "db.drop" },
		"another run":     func(s *interlock.Suppression, _ *interlock.ActionRequest) { s.Run = "run-2" },
		"every run":       func(s *interlock.Suppression, _ *interlock.ActionRequest) { s.Run = "" },
		"another agent":   func(s *interlock.Suppression, _ *interlock.ActionRequest) { s.Agent = "*" },
		"longer":          func(s *interlock.Suppression, _ *interlock.ActionRequest) { s.Expires = s.Expires.Add(time.Minute) },
		"later":           func(s *interlock.Suppression, _ *interlock.ActionRequest) { s.Created = s.Created.Add(time.Minute) },
		"a later end":     func(_ *interlock.Suppression, r *interlock.ActionRequest) { r.Expires = r.Expires.Add(time.Hour) },
		"another request": func(s *interlock.Suppression, r *interlock.ActionRequest) { r.ID, s.ID = "act_0", "sup_0" },
		"other params": func(s *interlock.Suppression, r *interlock.ActionRequest) {
			s.Rule, r.Action.Params = "db.drop", "rule=db.drop run=run-1 for=1h"
		},
		"a vote less":    func(_ *interlock.Suppression, r *interlock.ActionRequest) { r.Ballot.Votes = r.Ballot.Votes[:2] },
		"one vote twice": func(_ *interlock.Suppression, r *interlock.ActionRequest) { r.Ballot.Votes[2] = r.Ballot.Votes[1] },
		"a smaller quorum": func(_ *interlock.Suppression, r *interlock.ActionRequest) {
			r.Ballot.Quorum, r.Ballot.Votes = 2, r.Ballot.Votes[:2]
		},
		"a smaller council": func(_ *interlock.Suppression, r *interlock.ActionRequest) { r.Ballot.Roster = r.Ballot.Roster[:3] },
		"one admin's yes": func(_ *interlock.Suppression, r *interlock.ActionRequest) {
			r.Ballot.Approval = interlock.ApprovalAdmin
		},
		"another type":  func(_ *interlock.Suppression, r *interlock.ActionRequest) { r.Action.Type = "code_upload" },
		"a forged vote": func(_ *interlock.Suppression, r *interlock.ActionRequest) { r.Ballot.Votes[0].Signature = "mallory's" },
	} {
		if err := counts(edit); err == nil {
			t.Errorf("%s: it counts", name)
		}
	}
}

// TestEmergenciesOnlyRestrict: whatever two people order at once in an emergency leaves every hold and every rule that objects as they
// are, silences nothing and grants nothing (MACE safety boundaries 8).
func TestEmergenciesOnlyRestrict(t *testing.T) {
	for _, class := range quorum.Classes() {
		if class.Class != 4 {
			continue
		}
		h := council(t)
		held := ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:01", Why: "it is not there"}
		if err := h.Hold(t.Context(), held); err != nil {
			t.Fatal(err)
		}
		commands := []string{"git status", silenced, "rm -rf /"}
		var before []interlock.Verdict
		for _, command := range commands {
			before = append(before, h.propose(command).Answer)
		}
		was := h.standing()
		r := h.asks(class.Type, "agent:claude", "sue")
		if got := h.votes(r.ID, "approve", "sue", "ada"); got.Status != interlock.ActionExecuted {
			t.Fatalf("%s: %s %s", class.Type, got.Status, got.Why)
		}
		for n, command := range commands {
			if got := h.propose(command).Answer; got.Compare(before[n]) < 0 {
				t.Errorf("%s: %s is answered %v, and was %v", class.Type, command, got, before[n])
			}
		}
		now := h.standing()
		if len(now.Suppressions) > 0 || len(now.Grants) > 0 || len(now.Holds()) != len(was.Holds())+1 {
			t.Errorf("%s: %d silent, %d granted, holds %v and before %v", class.Type, len(now.Suppressions), len(now.Grants), now.Holds(),
				was.Holds())
		}
		for _, h := range was.Holds() {
			if is, stands := now.Others[ledger.Hold][h.Name()].(ledger.HoldBody); !stands || is.Phase != h.Phase {
				t.Errorf("%s: the hold %s is %+v", class.Type, h.Name(), is)
			}
		}
	}
}

// TestTheCouncilClearsHalts: where a council sits no admin ends a halt alone, whether it governs the rest or not; without one an admin does.
func TestTheCouncilClearsHalts(t *testing.T) {
	spec.Covers(t, "MACE-8.3-1")
	h := council(t)
	name := ledger.HoldName(ledger.HoldRuleset, string(h.Rules().Digest()))
	if err := h.Hold(t.Context(), ledger.HoldBody{Scope: ledger.HoldRuleset, Key: string(h.Rules().Digest()), Why: "its text is not there"}); err !=
		nil {
		t.Fatal(err)
	}
	clears := func() error {
		_, err := h.CarryOut(t.Context(), h.signs(interlock.VerbClearHold, name, "", "looked at it", "ada"))
		return err
	}
	if err := clears(); codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), "request create force_halt_clear --target") {
		t.Errorf("an admin alone: %v", err)
	}
	goesOn(t, h, "after it was refused", interlock.Deny)
	r, err := h.tryAsk(quorum.ActClearHalt, name, "ada")
	if err != nil {
		t.Fatal(err)
	}
	h.votes(r.ID, "approve", "member-0", "member-1", "member-2")
	if got, err := h.executes(r.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatalf("by request: %s %s, %v", got.Status, got.Why, err)
	}
	goesOn(t, h, "cleared by the council", interlock.Allow)
}
