package admission_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/governance"
	"interlock/internal/quorum"
	"interlock/spec"
)

func governs(c *admission.Config) { c.Council.Governs = true }

// orders has an operator give an order about another.
func (h *house) orders(verb interlock.Verb, subject string, terms governance.OperatorTerms, operator string) error {
	h.t.Helper()
	detail := ""
	if verb != interlock.VerbRevoke {
		var err error
		if detail, err = governance.Detail(terms); err != nil {
			h.t.Fatal(err)
		}
	}
	h.now = h.now.Add(time.Second)
	_, err := h.CarryOut(h.t.Context(), h.signs(verb, subject, detail, "", operator))
	return err
}

// approves has the council approve what a refusal says is to be asked for.
func (h *house) approves(refused error, operator string) {
	h.t.Helper()
	said := strings.Split(refused.Error(), `"`)
	_, kind, _ := strings.Cut(said[0], "request create ")
	kind, _, asked := strings.Cut(kind, " --target ")
	if len(said) != 5 || !asked {
		h.t.Fatalf("the refusal does not say what to ask for: %v", refused)
	}
	detail, err := governance.Detail(governance.RequestTerms{Target: said[1], Params: said[3]})
	if err != nil {
		h.t.Fatal(err)
	}
	done, err := h.CarryOut(h.t.Context(), h.signs(interlock.VerbRequest, kind, detail, "it is needed", operator))
	if err != nil {
		h.t.Fatal(err)
	}
	for n := 0; h.actionNow(done.Request.ID).Status == interlock.ActionPending; n++ {
		h.votes(done.Request.ID, "approve", fmt.Sprintf("member-%d", n))
	}
}

// TestNobodyMakesTheCouncil: once a council that governs sits, who votes, governs or audits is for it to say, whatever the order; what it
// approved goes through once, and nothing else with it.
func TestNobodyMakesTheCouncil(t *testing.T) {
	spec.Covers(t, "MACE-GOV-8")
	h := council(t, governs)
	h.employ("vic", quorum.RoleViewer)
	key := governance.OperatorTerms{SSHKey: "key of a friend's"}
	for _, c := range []struct {
		verb    interlock.Verb
		subject string
		terms   governance.OperatorTerms
		by      string
	}{
		{interlock.VerbAddOperator, "friend", governance.OperatorTerms{Role: quorum.RoleCouncil, SSHKey: "key of a friend's"}, "ada"},
		{interlock.VerbAddOperator, "friend", governance.OperatorTerms{Role: quorum.RoleAdmin, SSHKey: "key of a friend's"}, "ada"},
		{interlock.VerbAddOperator, "friend", governance.OperatorTerms{Role: quorum.RoleAuditor, SSHKey: "key of a friend's"}, "sue"},
		{interlock.VerbAddOperator, "friend", governance.OperatorTerms{Role: quorum.RoleSuperadmin, SSHKey: "key of a friend's"}, "sue"},
		{interlock.VerbChangeOperator, "vic", governance.OperatorTerms{Role: quorum.RoleCouncil}, "ada"},
		{interlock.VerbChangeOperator, "member-0", governance.OperatorTerms{Role: quorum.RoleViewer}, "ada"},
		{interlock.VerbChangeOperator, "member-0", key, "ada"},
		{interlock.VerbChangeOperator, "member-0", governance.OperatorTerms{Enrolment: &interlock.Enrolment{Hash: "h",
			Expires: h.now.Add(time.Hour)}}, "ada"},
		{interlock.VerbRevoke, "member-0", key, "ada"},
		{interlock.VerbRevoke, "aud", key, "sue"},
		{interlock.VerbRevoke, "ada", key, "sue"},
	} {
		name := fmt.Sprint(c.verb, " ", c.subject, " ", c.terms.Role)
		before := h.standing().Operators
		err := h.orders(c.verb, c.subject, c.terms, c.by)
		if codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), "quorum of the council") {
			t.Errorf("%s: %v", name, err)
		}
		if now := h.standing().Operators; fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("%s changed who is in office", name)
		}
	}
	terms := governance.OperatorTerms{Role: quorum.RoleCouncil, SSHKey: "key of a friend's"}
	h.approves(h.orders(interlock.VerbAddOperator, "friend", terms, "ada"), "ada")
	other := terms
	other.SSHKey = "key of another"
	if err := h.orders(interlock.VerbAddOperator, "friend", other, "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("another key than was approved: %v", err)
	}
	if err := h.orders(interlock.VerbAddOperator, "friend", terms, "ada"); err != nil {
		t.Fatalf("what was approved: %v", err)
	}
	h.approves(h.orders(interlock.VerbRevoke, "friend", terms, "ada"), "ada")
	if err := h.orders(interlock.VerbRevoke, "friend", terms, "ada"); err != nil {
		t.Fatalf("the approved revocation: %v", err)
	}
	if err := h.orders(interlock.VerbAddOperator, "friend", terms, "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("what was approved, again: %v", err)
	}
}

// TestWhatNeedsNoCouncil: the council is seated by who governs, others than who governs are theirs to make, and one's own keys are
// one's own.
func TestWhatNeedsNoCouncil(t *testing.T) {
	h := newHouse(t, governs)
	h.employ("ada", quorum.RoleAdmin)
	for n := range 3 {
		name := fmt.Sprintf("member-%d", n)
		terms := governance.OperatorTerms{Role: quorum.RoleCouncil, SSHKey: "key of " + name}
		if err := h.orders(interlock.VerbAddOperator, name, terms, "ada"); err != nil {
			t.Fatalf("seating the council: %v", err)
		}
	}
	terms := governance.OperatorTerms{Role: quorum.RoleCouncil, SSHKey: "key of another"}
	if err := h.orders(interlock.VerbAddOperator, "member-3", terms, "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Fatalf("the council sits: %v", err)
	}
	terms.Role = quorum.RoleOperator
	if err := h.orders(interlock.VerbAddOperator, "olga", terms, "ada"); err != nil {
		t.Errorf("an operator: %v", err)
	}
	if err := h.orders(interlock.VerbChangeOperator, "member-0", governance.OperatorTerms{SSHKey: "a newer key"}, "member-0"); err != nil {
		t.Errorf("one's own key: %v", err)
	}
	if err := h.orders(interlock.VerbRevoke, "olga", terms, "ada"); err != nil {
		t.Errorf("an operator's end: %v", err)
	}
	free := council(t)
	terms = governance.OperatorTerms{Role: quorum.RoleCouncil, SSHKey: "key of another"}
	if err := free.orders(interlock.VerbAddOperator, "member-9", terms, "ada"); err != nil {
		t.Errorf("where the council does not govern: %v", err)
	}
}

// TestAuditWindow: an auditor reads what is sealed for as long as the constants say, from when they were given the role; each time it is
// recorded, and when it is over the role has to be given again.
func TestAuditWindow(t *testing.T) {
	spec.Covers(t, "MACE-ROLE-3")
	h := council(t, func(c *admission.Config) { c.Council.Audit = 48 * time.Hour })
	reads := func(who string) error {
		_, err := h.CarryOut(t.Context(), h.signs(interlock.VerbReadSealed, "event:1", "", "to look", who), interlock.VerbReadSealed)
		return err
	}
	h.now = h.now.Add(48*time.Hour - 1)
	if err := reads("aud"); err != nil || h.count(interlock.EventAccess) != 1 {
		t.Fatalf("in time: %v, %d recorded", err, h.count(interlock.EventAccess))
	}
	h.now = h.now.Add(1)
	before := len(h.entries())
	if err := reads("aud"); codeOf(err) != interlock.CodeExpired || h.count(interlock.EventAccess) != 1 {
		t.Errorf("too late: %v", err)
	}
	if got := h.since(before); len(got) != 1 || got[0] != interlock.EventApprovalRefused {
		t.Errorf("too late: entries %v", got)
	}
	if err := reads("ada"); err != nil {
		t.Errorf("an admin: %v", err)
	}
	if err := h.orders(interlock.VerbChangeOperator, "aud", governance.OperatorTerms{Role: quorum.RoleAuditor}, "ada"); err != nil {
		t.Fatal(err)
	}
	if err := reads("aud"); err != nil {
		t.Errorf("given the role again: %v", err)
	}
	h.entries()
}
