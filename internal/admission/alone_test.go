package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// TestAModuleStaysOne: an agent that is revoked and registered anew under its name is the module that it was. Otherwise one admin alone
// would take back what people have bound it to.
func TestAModuleStaysOne(t *testing.T) {
	h := modular(t, aModule)
	before := h.module()
	h.now = h.now.Add(1)
	if _, err := h.CarryOut(t.Context(), h.signs(interlock.VerbRevoke, "claude", "", "", "ada")); err != nil {
		t.Fatal(err)
	}
	detail, err := governance.Detail(governance.AgentTerms{Principal: "alice", Trust: interlock.TrustValidated})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.CarryOut(t.Context(), h.signs(interlock.VerbAddAgent, "claude", detail, "", "ada")); err != nil {
		t.Fatal(err)
	}
	if is := h.module(); is == nil || fmt.Sprint(*is) != fmt.Sprint(*before) {
		t.Errorf("registered anew it is %+v, and was %+v", is, before)
	}
	if a := h.propose("rm notes"); a.Answer != interlock.Deny {
		t.Errorf("what it is forbidden: %v %+v", a.Answer, a.Decisive())
	}
}

// TestNobodyUnseatsTheCouncil: while something is halted that the council clears, who sits on it is for it to say, whether it governs the
// rest or not: an admin who unseats it would clear the halt alone.
func TestNobodyUnseatsTheCouncil(t *testing.T) {
	h := council(t)
	terms := governance.OperatorTerms{Role: quorum.RoleCouncil, SSHKey: "key of a friend's"}
	if err := h.orders(interlock.VerbAddOperator, "friend", terms, "ada"); err != nil {
		t.Fatalf("while nothing is halted: %v", err)
	}
	name := ledger.HoldName(ledger.HoldRuleset, string(h.Rules().Digest()))
	if err := h.Hold(t.Context(), ledger.HoldBody{Scope: ledger.HoldRuleset, Key: string(h.Rules().Digest()), Why: "its text is not there"}); err !=
		nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if err := h.orders(interlock.VerbRevoke, fmt.Sprintf("member-%d", n), governance.OperatorTerms{}, "ada"); codeOf(err) != interlock.CodeUnauthorized {
			t.Errorf("a member is unseated: %v", err)
		}
	}
	terms.SSHKey = "key of another"
	if err := h.orders(interlock.VerbAddOperator, "another", terms, "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("a member is seated: %v", err)
	}
	if _, err := h.CarryOut(t.Context(), h.signs(interlock.VerbClearHold, name, "", "looked at it", "ada")); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("the halt is cleared by one admin: %v", err)
	}
	terms.Role, terms.SSHKey = quorum.RoleOperator, "key of olga"
	if err := h.orders(interlock.VerbAddOperator, "olga", terms, "ada"); err != nil {
		t.Errorf("an operator, who sits nowhere: %v", err)
	}
	r, err := h.tryAsk(quorum.ActClearHalt, name, "ada")
	if err != nil {
		t.Fatal(err)
	}
	h.votes(r.ID, "approve", "member-0", "member-1", "member-2", "member-3")
	if got, err := h.executes(r.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatalf("cleared by the council: %s %s, %v", got.Status, got.Why, err)
	}
	if err := h.orders(interlock.VerbRevoke, "friend", governance.OperatorTerms{}, "ada"); err != nil {
		t.Errorf("after it was cleared: %v", err)
	}
}

// TestOneAdminTeachesNoTrust: what one admin says yes to is no approval of the council's, and moves no module's trust.
func TestOneAdminTeachesNoTrust(t *testing.T) {
	h := modular(t, aModule)
	for n := range 3 {
		r, _, err := h.AskAction(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice"}, "maintenance_toggle", "it is due",
			governance.RequestTerms{Target: "service:web", Params: fmt.Sprint(n)})
		if err != nil {
			t.Fatal(err)
		}
		h.votes(r.ID, "approve", "ada")
	}
	if health, status := h.health(); health.Trust.String() != "0.500000000" || health.Events != 0 {
		t.Errorf("by one admin's word its trust is %s, and it is %s", health.Trust, status)
	}
}

// TestTrustIsTaughtAtTheDeadline: what the council comes to when the time to vote is over is its word as well.
func TestTrustIsTaughtAtTheDeadline(t *testing.T) {
	h := modular(t, aModule)
	r, _, err := h.AskAction(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice"}, "code_upload", "version 2",
		governance.RequestTerms{Target: "agent:claude", Params: "v2"})
	if err != nil {
		t.Fatal(err)
	}
	h.votes(r.ID, "approve", "member-0", "member-1")
	h.votes(r.ID, "reject", "member-2")
	if got := h.actionNow(r.ID); got.Status != interlock.ActionPending {
		t.Fatalf("it is %s", got.Status)
	}
	h.now = r.Ballot.Closes
	if _, err := h.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.actionNow(r.ID); got.Status != interlock.ActionApproved {
		t.Fatalf("it is %s", got.Status)
	}
	if health, _ := h.health(); health.Trust.String() != "0.599500000" {
		t.Errorf("its trust is %s", health.Trust)
	}
}

// TestTheCouncilIsAsItWasCounted: who leaves the council between the counting of its votes and the commit of what it permits is noticed.
func TestTheCouncilIsAsItWasCounted(t *testing.T) {
	h := council(t, governs)
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
	h.votes(done.Request.ID, "approve", "member-0", "member-1", "member-2")
	h.now = h.now.Add(1)
	left := false
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		if h.store.commit = nil; !left {
			left = true
			if err := h.PutOperator(t.Context(), interlock.OperatorRecord{Name: "member-1", Role: quorum.RoleCouncil, SSHKey: "key of member-1",
				Created: h.now, Revoked: h.now}); err != nil {
				t.Error(err)
			}
		}
		return next()
	}
	if err := h.settingsAre("ada", `"monitoring"`, public); codeOf(err) != interlock.CodeUnauthorized || !left {
		t.Errorf("a voter has left meanwhile: %v", err)
	}
}

// TestTheFirstSuperadmin: where there is no superadmin an admin makes somebody else one, so that two can act in an emergency; no other,
// and not themselves.
func TestTheFirstSuperadmin(t *testing.T) {
	h := newHouse(t)
	h.employ("ada", quorum.RoleAdmin)
	h.employ("olga", quorum.RoleOperator)
	if _, err := h.tryAsk(quorum.ActHaltReplays, "all", "ada"); err == nil || !strings.Contains(err.Error(), "superadmin") {
		t.Errorf("an emergency without a superadmin: %v", err)
	}
	super := func(key string) governance.OperatorTerms {
		return governance.OperatorTerms{Role: quorum.RoleSuperadmin, SSHKey: key}
	}
	if err := h.orders(interlock.VerbChangeOperator, "ada", super(""), "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("themselves: %v", err)
	}
	if err := h.orders(interlock.VerbAddOperator, "sue", super("key of sue"), "olga"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("an operator: %v", err)
	}
	if err := h.orders(interlock.VerbAddOperator, "sue", super("key of sue"), "ada"); err != nil {
		t.Fatalf("the first: %v", err)
	}
	if err := h.orders(interlock.VerbAddOperator, "sam", super("key of sam"), "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("a second: %v", err)
	}
	if err := h.orders(interlock.VerbChangeOperator, "sue", governance.OperatorTerms{Role: quorum.RoleViewer}, "ada"); codeOf(err) !=
		interlock.CodeUnauthorized {
		t.Errorf("an end of one: %v", err)
	}
	r := h.asks(quorum.ActHaltReplays, "all", "ada")
	if got := h.votes(r.ID, "approve", "sue", "ada"); got.Status != interlock.ActionExecuted {
		t.Errorf("the emergency is %s: %s", got.Status, got.Why)
	}
	governed := council(t, governs)
	if err := governed.orders(interlock.VerbRevoke, "sue", governance.OperatorTerms{}, "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("where the council governs: %v", err)
	}
}

// TestWhereTheCouncilGovernsOneAdminSilencesNothing: a rule that denies is set aside by the council, or by two in an emergency, and what
// judges hold actions against is policy as the rules are.
func TestWhereTheCouncilGovernsOneAdminSilencesNothing(t *testing.T) {
	h := council(t, governs)
	denials := func(s *interlock.Suppression) { s.Denials, s.Operator = true, "ada" }
	if _, err := h.Suppress(t.Context(), ordered(h, denials)); codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), quorum.ActOverride) {
		t.Errorf("a rule that denies: %v", err)
	}
	if len(h.standing().Suppressions) > 0 {
		t.Error("it is silent")
	}
	_, err := h.CarryOut(t.Context(), h.signs(interlock.VerbAdoptGround, "sha256:01", "", "shorter", "ada"))
	if codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), quorum.ActPolicy) {
		t.Errorf("other ground rules: %v", err)
	}
	free := council(t)
	if _, err := free.Suppress(t.Context(), ordered(free, denials)); err != nil {
		t.Errorf("where it does not govern: %v", err)
	}
}

// TestOneAgentAsksOnlySoMuch: so many requests of one agent wait, however many of others do, and asking looks at none of those.
func TestOneAgentAsksOnlySoMuch(t *testing.T) {
	h := council(t)
	first, _, err := h.AskAction(t.Context(), interlock.Requester{Agent: "codex", Principal: "bob"}, "code_upload", "version 2",
		governance.RequestTerms{Target: "agent:codex", Params: "v2"})
	if err != nil {
		t.Fatal(err)
	}
	var others ledger.Change
	for n := range 1000 {
		r := first
		r.ID = fmt.Sprintf("act_other%d", n)
		others.Writes = append(others.Writes, ledger.Rows(r)...)
	}
	if err := h.Append(&others, interlock.EventAlert, interlock.Requester{Agent: "interlock"}, "system", auditlog.AlertRecord{Code: "x", Message: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.Commit(t.Context(), others); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(1)
	for n := range 101 {
		_, _, err := h.AskAction(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice"}, "code_upload", "version 2",
			governance.RequestTerms{Target: "agent:claude", Params: fmt.Sprint(n)})
		if full := codeOf(err) == interlock.CodeLimited; full != (n == 100) || err != nil && !full {
			t.Fatalf("request %d: %v", n, err)
		}
	}
}

// TestOneKeyIsOnePerson: a key with another comment is the same key, for who registers it and for who counts votes.
func TestOneKeyIsOnePerson(t *testing.T) {
	h := newHouse(t)
	h.employ("ada", quorum.RoleAdmin)
	key := func(comment string) governance.OperatorTerms {
		return governance.OperatorTerms{Role: quorum.RoleCouncil, SSHKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 " + comment}
	}
	if err := h.orders(interlock.VerbAddOperator, "eve", key("eve@home"), "ada"); err != nil {
		t.Fatal(err)
	}
	if err := h.orders(interlock.VerbAddOperator, "eva", key("eva@work"), "ada"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("her second name: %v", err)
	}
	for n, name := range []string{"eva", "max", "moe", "mia"} {
		o := interlock.OperatorRecord{Name: name, Role: quorum.RoleCouncil, SSHKey: "key of " + name, Created: h.now}
		if n == 0 {
			o.SSHKey = key("eva@work").SSHKey
		}
		if err := h.PutOperator(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if r := h.asks("code_upload", "agent:claude", "ada"); len(r.Ballot.Roster) != 3 {
		t.Errorf("on the roster: %+v", r.Ballot.Roster)
	}
}

// TestEvidenceHoldsNoSecret: evidence is kept as it was named, and who reads an event redacted is told of it, so none of it may hold a secret.
func TestEvidenceHoldsNoSecret(t *testing.T) {
	h := council(t)
	ask := func(evidence string) error {
		_, _, err := h.AskAction(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice"}, "code_upload", "version 2",
			governance.RequestTerms{Target: "agent:claude", Params: "v2", Evidence: []string{evidence}})
		return err
	}
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	if err := ask(secret); codeOf(err) != interlock.CodeInvalid {
		t.Errorf("a token as evidence: %v", err)
	}
	if err := ask(strings.Repeat("0a", 32)); err != nil {
		t.Errorf("an event as evidence: %v", err)
	}
	for _, e := range h.log() {
		if strings.Contains(string(e.Body), secret) {
			t.Errorf("%s holds it: %s", e.Type, e.Body)
		}
	}
}
