package admission_test

import (
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/governance"
	"interlock/internal/quorum"
	"interlock/spec"
)

// TestCheatingTheCouncil: each way is refused, leaves its event and changes nothing; the honest vote beside it counts.
func TestCheatingTheCouncil(t *testing.T) {
	spec.Covers(t, "MACE-GOV-5", "MACE-GOV-T4")
	h := council(t)
	r := h.asks("code_upload", "agent:claude", "member-4")
	refused := func(what string, given quorum.Given, code interlock.Code) {
		t.Helper()
		before, was := len(h.entries()), h.actionNow(r.ID)
		if _, err := h.CarryOut(t.Context(), given); codeOf(err) != code {
			t.Errorf("%s: %v, want %s", what, err, code)
		}
		if got := h.since(before); len(got) != 1 || got[0] != interlock.EventApprovalRefused {
			t.Errorf("%s: entries %v", what, got)
		}
		if is := h.actionNow(r.ID); is.Status != was.Status || len(is.Ballot.Votes) != len(was.Ballot.Votes) {
			t.Errorf("%s: it has %d votes and is %s", what, len(is.Ballot.Votes), is.Status)
		}
	}
	const no, conflict, late = interlock.CodeUnauthorized, interlock.CodeConflict, interlock.CodeExpired
	refused("who asked", h.ballot(r.ID, "approve", "member-4"), no)
	refused("an admin", h.ballot(r.ID, "approve", "ada"), no)
	refused("an auditor", h.ballot(r.ID, "approve", "aud"), no)
	refused("nobody", h.ballot(r.ID, "approve", "stranger"), no)
	refused("unsigned", h.ballot(r.ID, "approve", "member-0").Signed("", "", ""), no)
	refused("signed by somebody else", h.ballot(r.ID, "approve", "member-0").Signed(interlock.MethodSSH, "fingerprint of member-0's", "ada's"), no)
	refused("by a session", h.ballot(r.ID, "approve", "member-0").Signed(interlock.MethodSession, "fingerprint of member-0's", "member-0's"), no)
	refused("for another digest", h.ballot(r.ID, "approve", "member-0", func(v *quorum.Vote) { v.Action = "sha256:00" }), no)
	refused("shown another text", h.ballot(r.ID, "approve", "member-0", func(v *quorum.Vote) { v.Display = "sha256:00" }), no)
	refused("of another roster", h.ballot(r.ID, "approve", "member-0", func(v *quorum.Vote) { v.Roster = "sha256:00" }), no)
	other := h.asks("code_upload", "agent:other", "member-4")
	moved := h.ballot(other.ID, "approve", "member-0")
	moved.Subject = r.ID
	refused("carried over from another request", moved.Signed(interlock.MethodSSH, moved.Key, moved.Signature), no)
	h.employ("newcomer", quorum.RoleCouncil)
	refused("who joined since", h.ballot(r.ID, "approve", "newcomer"), no)

	first := h.ballot(r.ID, "approve", "member-0")
	if _, err := h.CarryOut(t.Context(), first); err != nil {
		t.Fatalf("an honest vote: %v", err)
	}
	refused("replayed", first, conflict)
	refused("twice", h.ballot(r.ID, "reject", "member-0"), conflict)
	if err := h.PutOperator(t.Context(), interlock.OperatorRecord{Name: "member-1", Role: quorum.RoleCouncil, SSHKey: "another",
		Created: h.now}); err != nil {
		t.Fatal(err)
	}
	refused("with a key that was changed since", h.ballot(r.ID, "approve", "member-1"), no)
	if err := h.PutOperator(t.Context(), interlock.OperatorRecord{Name: "double", Role: quorum.RoleAuditor,
		SSHKey: "key of member-2", Created: h.now}); err != nil {
		t.Fatal(err)
	}
	refused("with an auditor's key", h.ballot(r.ID, "approve", "member-2"), no)
	h.now = r.Ballot.Closes
	refused("late", h.ballot(r.ID, "approve", "member-3"), late)
	if _, err := h.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.actionNow(r.ID); got.Status != interlock.ActionExpired {
		t.Errorf("it is %s", got.Status)
	}
}

// TestRequestExpires: a request nobody has voted on expires as an event, and one that was approved and not carried out is invalidated.
func TestRequestExpires(t *testing.T) {
	spec.Covers(t, "MACE-GOV-3")
	h := council(t)
	silent, idle, begun := h.asks("sem_write", "a/b/c/d", "ada"), h.asks("sem_write", "a/b/c/e", "ada"), h.asks("sem_write", "a/b/c/f", "ada")
	h.votes(idle.ID, "approve", "member-0", "member-1", "member-2")
	h.votes(begun.ID, "approve", "member-0", "member-1", "member-2")
	if _, err := h.executes(begun.ID, "executing", "ada"); err != nil {
		t.Fatal(err)
	}
	tied := h.asks("sem_write", "a/b/c/g", "ada")
	h.votes(tied.ID, "approve", "member-0", "member-1")
	h.votes(tied.ID, "reject", "member-2", "member-3")
	h.now = silent.Expires
	if _, err := h.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]interlock.ActionStatus{silent.ID: interlock.ActionExpired, idle.ID: interlock.ActionInvalidated,
		begun.ID: interlock.ActionFailed, tied.ID: interlock.ActionRejected} {
		if got := h.actionNow(id); got.Status != want {
			t.Errorf("%s is %s (%s), want %s", got.Action.Target, got.Status, got.Why, want)
		}
	}
	if got := h.actionNow(begun.ID).Why; got != "UNKNOWN_OUTCOME: nobody has said how it ended" {
		t.Error(got)
	}
}

// TestInvalidated: what has changed between a yes and its use has the yes count for nothing; unchanged, it counts.
func TestInvalidated(t *testing.T) {
	for name, change := range map[string]func(h *house){
		"nothing": func(*house) {},
		"the module": func(h *house) {
			h.tighten(containment.Tightening{Scope: "agent", Key: "claude", To: "A", Trigger: "signal", Why: "an anomaly"})
		},
		"a voter's role": func(h *house) { h.employ("member-1", quorum.RoleAdmin) },
		"a voter's key": func(h *house) {
			_ = h.PutOperator(h.t.Context(), interlock.OperatorRecord{Name: "member-1", Role: quorum.RoleCouncil, SSHKey: "another", Created: h.now})
		},
		"the requester's role": func(h *house) { h.employ("ada", quorum.RoleOperator) },
	} {
		t.Run(name, func(t *testing.T) {
			h := council(t)
			if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Principal: "alice", Created: h.now}); err != nil {
				t.Fatal(err)
			}
			r := h.asks("code_upload", "agent:claude", "ada")
			h.votes(r.ID, "approve", "member-0", "member-1", "member-2")
			change(h)
			want := interlock.ActionInvalidated
			if name == "nothing" {
				want = interlock.ActionExecuting
			}
			got, err := h.executes(r.ID, "executing", "member-0")
			if err != nil || got.Status != want || h.actionNow(r.ID).Status != want {
				t.Errorf("it is %s (%s), %v; want %s", got.Status, got.Why, err, want)
			}
		})
	}
}

// TestOneExecution: of two that begin at once to carry the same out, one does.
func TestOneExecution(t *testing.T) {
	h := council(t)
	r := h.asks("sem_write", "a/b/c/d", "ada")
	h.votes(r.ID, "approve", "member-0", "member-1", "member-2")
	given := []quorum.Given{h.signs(interlock.VerbExecute, r.ID, "executing", "", "ada"),
		h.signs(interlock.VerbExecute, r.ID, "executing", "", "sue")}
	errs := make([]error, 2)
	var both sync.WaitGroup
	for n := range given {
		both.Add(1)
		go func() {
			defer both.Done()
			_, errs[n] = h.CarryOut(t.Context(), given[n])
		}()
	}
	both.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("%v and %v", errs[0], errs[1])
	}
}

// TestLowerClasses: an admin's word is enough for class 1; of class 2 the council is told, and it counts after a time.
func TestLowerClasses(t *testing.T) {
	spec.Covers(t, "MACE-2-8")
	h := council(t)
	low := h.asks("maintenance_toggle", "on", "member-0")
	if got := h.votes(low.ID, "approve", "ada"); got.Status != interlock.ActionApproved {
		t.Errorf("class 1: %s", got.Status)
	}
	own := h.asks("maintenance_toggle", "off", "ada")
	if _, err := h.CarryOut(t.Context(), h.ballot(own.ID, "approve", "ada")); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("an admin approves their own: %v", err)
	}
	medium := h.asks("budget_exceed", "agent:claude", "member-0")
	h.votes(medium.ID, "approve", "ada")
	if _, err := h.executes(medium.ID, "executing", "ada"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("class 2 at once: %v", err)
	}
	h.now = h.now.Add(24 * time.Hour)
	if got, err := h.executes(medium.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuting {
		t.Errorf("class 2 after its time: %s, %v", got.Status, err)
	}
}

// TestWithdrawn: who asked takes a request back, nobody else does, and nobody votes on it then.
func TestWithdrawn(t *testing.T) {
	h := council(t)
	r := h.asks("sem_write", "a/b/c/d", "ada")
	if _, err := h.CarryOut(t.Context(), h.signs(interlock.VerbWithdraw, r.ID, "", "", "sue")); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("somebody else: %v", err)
	}
	if done, err := h.CarryOut(t.Context(), h.signs(interlock.VerbWithdraw, r.ID, "", "", "ada")); err != nil ||
		done.Request.Status != interlock.ActionWithdrawn {
		t.Errorf("who asked: %v", err)
	}
	if _, err := h.CarryOut(t.Context(), h.ballot(r.ID, "approve", "member-0")); codeOf(err) != interlock.CodeConflict {
		t.Errorf("a vote after it: %v", err)
	}
}

// TestPauseIntake: an admin's signed pause refuses what agents begin, and their resume lets it go on.
func TestPauseIntake(t *testing.T) {
	spec.Covers(t, "MACE-8.1-1")
	h := council(t)
	pass := func(want interlock.Verdict) {
		t.Helper()
		if got := h.propose("git status"); got.Answer != want {
			t.Errorf("git status: %v, want %v", got.Answer, want)
		}
	}
	give := func(verb interlock.Verb, operator string) error {
		_, err := h.CarryOut(t.Context(), h.signs(verb, interlock.PauseSubject, "", "maintenance", operator))
		return err
	}
	pass(interlock.Allow)
	if err := give(interlock.VerbPause, "member-0"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("one of the council pauses: %v", err)
	}
	before := len(h.entries())
	if err := give(interlock.VerbPause, "ada"); err != nil || h.since(before)[0] != "SYSTEM_PAUSE" {
		t.Fatalf("%v, %v", err, h.since(before))
	}
	pass(interlock.Deny)
	if err := give(interlock.VerbResume, "ada"); err != nil || h.last("SYSTEM_RESUME") == "" {
		t.Fatal(err)
	}
	pass(interlock.Allow)
}

const councilRule = `
rules:
  - {id: team.council, layer: 3, verdict: ask, reason: touching takes the council, match: {glob: ["touch *"]},
     obligations: [{type: council}], tests: {ask: ["touch x"], pass: ["ls"]}}
`

// TestRuleThatTakesTheCouncil: an action whose rule wants the council waits for its quorum, passes once with it, and with nobody's word
// alone; votes that do not count any more let nothing pass.
func TestRuleThatTakesTheCouncil(t *testing.T) {
	for _, gone := range []bool{false, true} {
		h := council(t, ruled(t, councilRule))
		const risky = "touch x"
		first := h.propose(risky)
		if first.Request == "" || h.requestNow(first.Request).Ballot == nil {
			t.Fatalf("%v %+v, without a ballot", first.Answer, first.Findings)
		}
		if err := h.approve(first.Request, interlock.Allow); codeOf(err) != interlock.CodeUnauthorized {
			t.Errorf("an operator alone: %v", err)
		}
		for _, member := range []string{"member-0", "member-1"} {
			if _, err := h.CarryOut(t.Context(), h.ballot(first.Request, "approve", member)); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.propose(risky); got.Answer.Allowed() {
			t.Error("it passed with two votes")
		}
		if _, err := h.CarryOut(t.Context(), h.ballot(first.Request, "approve", "member-2")); err != nil {
			t.Fatal(err)
		}
		if gone {
			h.employ("member-2", quorum.RoleViewer)
		}
		if got := h.propose(risky); got.Answer.Allowed() == gone {
			t.Errorf("with three votes, one of somebody who has left: %t: %v %+v", gone, got.Answer, got.Findings)
		}
		if got := h.propose(risky); got.Answer.Allowed() {
			t.Error("it passed twice")
		}
	}
}

// TestAgentAsks: an agent asks, under the name of whoever owns it, and is bounded; a secret in what it asks for is refused.
func TestAgentAsks(t *testing.T) {
	h := council(t)
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Principal: "member-0", Created: h.now}); err != nil {
		t.Fatal(err)
	}
	ask := func(terms governance.RequestTerms) (interlock.ActionRequest, error) {
		r, _, err := h.AskAction(t.Context(), interlock.Requester{Agent: "claude", Principal: "somebody"}, "code_upload", "version 2", terms)
		return r, err
	}
	r, err := ask(governance.RequestTerms{Target: "agent:claude"})
	if err != nil || r.Requester.Principal != "member-0" || r.Origin != "agent" || len(r.Ballot.Roster) != 4 {
		t.Fatalf("%+v, %v: the owner of the agent is on the roster", r, err)
	}
	if _, err := h.CarryOut(t.Context(), h.ballot(r.ID, "approve", "member-0")); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("the owner of who asks votes: %v", err)
	}
	for _, bad := range []governance.RequestTerms{{}, {Target: "x", Approval: "admin_single"}, {Target: "x", Evidence: []string{""}},
		{Target: "x", Params: "AKIA" + "IOSFODNN7REALKEY"}} {
		if _, err := ask(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	for range 99 {
		if _, err := ask(governance.RequestTerms{Target: "agent:claude"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask(governance.RequestTerms{Target: "agent:claude"}); codeOf(err) != interlock.CodeLimited {
		t.Errorf("one too many: %v", err)
	}
}
