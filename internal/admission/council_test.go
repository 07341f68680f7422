package admission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/governance"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/spec"
)

// council is a house with five members of the council, an admin, a superadmin and an auditor.
func council(t *testing.T, edit ...func(*admission.Config)) *house {
	h := newHouse(t, edit...)
	for n := range 5 {
		h.employ(fmt.Sprintf("member-%d", n), quorum.RoleCouncil)
	}
	h.employ("ada", quorum.RoleAdmin)
	h.employ("sue", quorum.RoleSuperadmin)
	h.employ("aud", quorum.RoleAuditor)
	return h
}

var councilOrders int

// signs is an order of a verb as its operator signs it, each with an id of its own.
func (h *house) signs(verb interlock.Verb, subject, detail, reason, operator string) quorum.Given {
	councilOrders++
	return quorum.OfOrder(interlock.Order{ID: fmt.Sprintf("ord_c%d", councilOrders), Verb: verb, Subject: subject, Detail: detail, Reason: reason,
		Operator: operator, At: h.now, Expires: h.now.Add(5 * time.Minute)}, interlock.Requester{}).
		Signed(interlock.MethodSSH, "fingerprint of "+operator+"'s", operator+"'s")
}

func (h *house) asks(kind, target, operator string) interlock.ActionRequest {
	h.t.Helper()
	r, err := h.tryAsk(kind, target, operator)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) tryAsk(kind, target, operator string) (interlock.ActionRequest, error) {
	h.t.Helper()
	detail, err := governance.Detail(governance.RequestTerms{Target: target, Params: "v1"})
	if err != nil {
		h.t.Fatal(err)
	}
	done, err := h.CarryOut(h.t.Context(), h.signs(interlock.VerbRequest, kind, detail, "it is needed", operator))
	return done.Request, err
}

// ballot is a vote on a request as its operator signs it.
func (h *house) ballot(id, vote, operator string, edit ...func(*quorum.Vote)) quorum.Given {
	h.t.Helper()
	g := h.standing()
	v := quorum.Vote{Request: id, Vote: vote}
	if r, is := g.Action(id); is {
		v.Action, v.Display, v.Roster = r.Digest, quorum.DisplayDigest(r.Display), r.Ballot.Hash
	} else if r := g.Requests[id]; r.Ballot != nil {
		v.Action, v.Display, v.Roster = r.Action, quorum.DisplayDigest(r.Display), r.Ballot.Hash
	}
	for _, e := range edit {
		e(&v)
	}
	return h.signs(interlock.VerbVote, id, quorum.VoteDetail(v), "looked at it", operator)
}

func (h *house) votes(id, vote string, operators ...string) (r interlock.ActionRequest) {
	h.t.Helper()
	for _, operator := range operators {
		done, err := h.CarryOut(h.t.Context(), h.ballot(id, vote, operator))
		if err != nil {
			h.t.Fatalf("%s of %s: %v", vote, operator, err)
		}
		r = done.Request
	}
	return r
}

func (h *house) executes(id, how, operator string) (interlock.ActionRequest, error) {
	done, err := h.CarryOut(h.t.Context(), h.signs(interlock.VerbExecute, id, how, "", operator))
	return done.Request, err
}

func (h *house) actionNow(id string) interlock.ActionRequest {
	h.t.Helper()
	r, _, err := h.Action(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) since(before int) []interlock.EventType { return h.entries()[before:] }

// TestGOVT1: a request reaches its quorum, is approved, and what is executed is appended.
func TestGOVT1(t *testing.T) {
	spec.Covers(t, "MACE-GOV-T1", "MACE-GOV-2", "MACE-SIG-2")
	h := council(t)
	before := len(h.entries())
	r := h.asks("sem_write", "user/person/ada/blood_type", "ada")
	if r.Status != interlock.ActionPending || r.Class != 3 || r.Ballot.Approval != "council_quorum" || r.Ballot.Quorum != 3 ||
		len(r.Ballot.Roster) != 5 {
		t.Fatalf("asked: %+v", r)
	}
	if _, err := h.executes(r.ID, "executing", "ada"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("executed without the council: %v", err)
	}
	if got := h.votes(r.ID, "approve", "member-0", "member-1"); got.Status != interlock.ActionPending {
		t.Errorf("after two votes it is %s", got.Status)
	}
	if got := h.votes(r.ID, "approve", "member-2"); got.Status != interlock.ActionApproved {
		t.Fatalf("after three votes it is %s: %s", got.Status, got.Why)
	}
	if got, err := h.executes(r.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuting {
		t.Fatalf("to begin: %s, %v", got.Status, err)
	}
	if _, err := h.executes(r.ID, "executing", "ada"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("begun twice: %v", err)
	}
	if got, err := h.executes(r.ID, "executed", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatalf("to end: %s, %v", got.Status, err)
	}
	if _, err := h.executes(r.ID, "executing", "ada"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("begun after its end: %v", err)
	}
	kinds := slices.DeleteFunc(h.since(before), func(kind interlock.EventType) bool {
		return kind == interlock.EventAlert || kind == interlock.EventApprovalRefused
	})
	want := "[ACTION_REQUEST COUNCIL_VOTE COUNCIL_VOTE COUNCIL_VOTE ACTION_REQUEST_STATUS ACTION_REQUEST_STATUS executed_event]"
	if got := fmt.Sprint(kinds); got != want {
		t.Errorf("entries %s\nwant    %s", got, want)
	}
	for _, v := range h.actionNow(r.ID).Ballot.Votes {
		if v.Signature != v.Operator+"'s" || v.Statement == "" {
			t.Errorf("the vote of %s is kept without its own signature", v.Operator)
		}
	}
}

// TestGOVT3: an override with both signatures halts replay and leaves a review pending.
func TestGOVT3(t *testing.T) {
	spec.Covers(t, "MACE-GOV-T3", "MACE-S-04", "MACE-12-8", "MACE-8.1-2")
	h := council(t)
	r := h.asks(quorum.ActHaltReplays, "all", "sue")
	if r.Ballot.Approval != "superadmin_dual" || r.Class != 4 {
		t.Fatalf("asked: %+v", r)
	}
	if got := h.votes(r.ID, "approve", "sue"); got.Status != interlock.ActionPending {
		t.Fatalf("one signature: %s", got.Status)
	}
	replay := func() error {
		_, _, err := h.BeginReplay(t.Context(), quorum.ReplayAudit, "everything",
			[]interlock.Order{h.signs(interlock.VerbReplay, "everything", string(quorum.ReplayAudit), "to look", "ada").Order})
		return err
	}
	if err := replay(); err != nil {
		t.Fatalf("a replay before: %v", err)
	}
	before := len(h.entries())
	if got := h.votes(r.ID, "approve", "ada"); got.Status != interlock.ActionExecuted {
		t.Fatalf("two signatures: %s %s", got.Status, got.Why)
	}
	kinds := h.since(before)
	for _, want := range []interlock.EventType{"COUNCIL_VOTE", "FORCE_HALT_REPLAY", "EMERGENCY_OVERRIDE", "EMERGENCY_REVIEW", "ALERT",
		"executed_event"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no %s among %v", want, kinds)
		}
	}
	if signed := h.last(interlock.EventOverride); strings.Count(signed, `"signature":`) != 2 {
		t.Errorf("the override does not hold two signatures: %s", signed)
	}
	if err := replay(); codeOf(err) != interlock.CodeConflict {
		t.Errorf("a replay after: %v", err)
	}
	if _, err := h.CarryOut(t.Context(), h.signs(interlock.VerbClearHold, "replays:all", "", "enough", "ada")); codeOf(err) !=
		interlock.CodeUnauthorized {
		t.Errorf("an admin clears it alone: %v", err)
	}
	review := h.reviewOf(r.ID)
	if got := h.votes(review.ID, "approve", "member-0", "member-1", "member-2"); got.Status != interlock.ActionApproved {
		t.Fatalf("the review is %s", got.Status)
	}
	if got, err := h.executes(review.ID, "executing", "member-0"); err != nil || got.Status != interlock.ActionExecuted ||
		!strings.Contains(h.last(interlock.EventReview), "ratified") {
		t.Errorf("ratified: %s, %v", got.Status, err)
	}
	clearing := h.asks(quorum.ActClearHalt, "replays:all", "ada")
	h.votes(clearing.ID, "approve", "member-0", "member-1", "member-2")
	if got, err := h.executes(clearing.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatalf("cleared: %s, %v, %s", got.Status, err, got.Why)
	}
	if err := replay(); err != nil {
		t.Errorf("a replay after it was cleared: %v", err)
	}
}

func (h *house) reviewOf(override string) (review interlock.ActionRequest) {
	h.t.Helper()
	list, err := h.Actions(h.t.Context(), 100)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range list {
		if r.Review == override {
			return r
		}
	}
	h.t.Fatal("nobody is to review it")
	return review
}

// TestOverdueReview: an override that nobody reviews stands, people are told, and who signed it gives no further one.
func TestOverdueReview(t *testing.T) {
	h := council(t)
	r := h.asks(quorum.ActHaltReplays, "all", "sue")
	h.votes(r.ID, "approve", "sue", "ada")
	second := h.asks(quorum.ActFreezeSnapshots, "all", "sue")
	review := h.reviewOf(r.ID)
	h.now = review.Expires
	before := len(h.entries())
	if _, err := h.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kinds := h.since(before); !slices.Contains(kinds, interlock.EventReviewOverdue) {
		t.Errorf("nothing says that it is late: %v", kinds)
	}
	if !slices.ContainsFunc(h.alerts, func(s string) bool { return strings.HasPrefix(s, "emergency-review-overdue: ") }) {
		t.Errorf("nobody was told: %q", h.alerts)
	}
	if got := h.actionNow(review.ID); got.Status != interlock.ActionExpired || !got.Overdue {
		t.Errorf("the review is %s, overdue %t", got.Status, got.Overdue)
	}
	if holds, err := h.Holds(t.Context()); err != nil || len(holds) != 1 {
		t.Errorf("what was stopped goes on: %v, %v", holds, err)
	}
	_ = second
	third := h.asks(quorum.ActFreezeSnapshots, "all", "aud")
	if _, err := h.CarryOut(t.Context(), h.ballot(third.ID, "approve", "sue")); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("who owes a review signs again: %v", err)
	}
	late := h.asks(quorum.ActReview, r.ID, "aud")
	h.votes(late.ID, "approve", "member-0", "member-1", "member-2")
	if got, err := h.executes(late.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatalf("reviewed late: %s %s, %v", got.Status, got.Why, err)
	}
	h.votes(third.ID, "approve", "sue", "ada")
}

// TestGOVT5: failures by themselves quarantine nobody; the council does, and ends it.
func TestGOVT5(t *testing.T) {
	spec.Covers(t, "MACE-GOV-T5")
	h := council(t)
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Principal: "alice", Created: h.now}); err != nil {
		t.Fatal(err)
	}
	for n := range 8 {
		h.did("go test ./...", "claude", fmt.Sprintf("run-%d", n), "cli", interlock.OutcomeFailure, true)
	}
	if p, _ := h.phaseOf("agent:claude"); p == phase.Emergency {
		t.Fatal("failures quarantined it")
	}
	r := h.asks(quorum.ActQuarantine, "agent:claude", "ada")
	h.votes(r.ID, "approve", "member-0", "member-1", "member-2")
	if got, err := h.executes(r.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatalf("%s %s, %v", got.Status, got.Why, err)
	}
	if p, _ := h.phaseOf("agent:claude"); p != phase.Emergency {
		t.Errorf("it is in phase %s", p)
	}
	back := h.asks(quorum.ActUnquarantine, "agent:claude", "ada")
	h.votes(back.ID, "approve", "member-0", "member-1", "member-2")
	if got, err := h.executes(back.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatalf("%s %s, %v", got.Status, got.Why, err)
	}
	if p, _ := h.phaseOf("agent:claude"); p == phase.Emergency {
		t.Errorf("it is in phase %s", p)
	}
}

// TestGOVT6: where the council governs, a direct change of a constant is rejected, and the proposed and approved one goes through once.
func TestGOVT6(t *testing.T) {
	spec.Covers(t, "MACE-GOV-T6", "MACE-2-5", "MACE-GOV-7")
	h := council(t, func(c *admission.Config) { c.Council.Governs = true })
	err := h.settingsAre("ada", `"monitoring"`, public)
	if codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), "governance_constant") {
		t.Fatalf("a direct change: %v", err)
	}
	g := h.settingsGiven("ada", `"monitoring"`, public)
	digest, err := governance.SettingsDigest(g.Detail, g.Aside)
	if err != nil {
		t.Fatal(err)
	}
	detail, err := governance.Detail(governance.RequestTerms{Target: governance.SettingsSubject, Params: string(digest)})
	if err != nil {
		t.Fatal(err)
	}
	done, err := h.CarryOut(t.Context(), h.signs(interlock.VerbRequest, quorum.ActConstant, detail, "it is needed", "ada"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.settingsAre("ada", `"monitoring"`, public); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("before the council has voted: %v", err)
	}
	h.votes(done.Request.ID, "approve", "member-0", "member-1", "member-2")
	if err := h.settingsAre("ada", `"logging"`, public); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("another change than was approved: %v", err)
	}
	h.now = h.now.Add(time.Second)
	if err := h.settingsAre("ada", `"monitoring"`, public); err != nil {
		t.Fatalf("the approved one: %v", err)
	}
	if got := h.actionNow(done.Request.ID); got.Status != interlock.ActionExecuted {
		t.Errorf("the request is %s", got.Status)
	}
	h.now = h.now.Add(time.Second)
	if err := h.settingsAre("ada", `"monitoring"`, public); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("the approved one again: %v", err)
	}
}
