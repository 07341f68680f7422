package admission_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
)

const pushes = "git push --force origin feature"

// grants is a signed grant to the agent for its forced pushes.
func (h *house) grants(operator string, edit ...func(*interlock.Grant)) interlock.Grant {
	g := interlock.Grant{ID: "grt_1", Operator: operator, Agent: "claude", Principal: "alice", Ruleset: h.Rules().Digest(), Kind: interlock.KindShell,
		Tool: "git push *", Times: 2, Created: h.now, Expires: h.now.Add(time.Hour), Reason: "the release", Method: interlock.MethodSSH,
		Key: "fingerprint of " + operator + "'s", Signature: operator + "'s"}
	for _, e := range edit {
		e(&g)
	}
	g.Statement = quorum.GrantStatement(g)
	return g
}

// TestGrantIsDrawn: as often as it says and no more, by its agent alone, and each draw stands in the decision.
func TestGrantIsDrawn(t *testing.T) {
	h := newHouse(t)
	h.employ("bob", "operator")
	if _, err := h.Grant(t.Context(), h.grants("bob")); err != nil {
		t.Fatal(err)
	}
	if other := h.propose(pushes, from("codex", "alice", "r")); other.Answer.Allowed() {
		t.Error("another agent drew the grant")
	}
	for n := range 2 {
		answer := h.propose(pushes, event("PreToolUse", string(rune('a'+n))))
		if answer.Answer != interlock.Allow || answer.Verdict != interlock.Ask || answer.Decision.Grant != "grt_1" || answer.Request != "" {
			t.Fatalf("draw %d: %v, verdict %v, grant %q, request %q", n, answer.Answer, answer.Verdict, answer.Decision.Grant, answer.Request)
		}
	}
	if spent := h.propose(pushes, event("PreToolUse", "b")); spent.Answer.Allowed() || spent.Request == "" {
		t.Errorf("the same call again, with the grant used up: %v", spent.Answer)
	}
	if standing := h.standing(); len(standing.Grants) != 0 {
		t.Errorf("what stands: %+v", standing.Grants)
	}
	h.entries()
}

// TestGrantsThatDoNotCount change nothing and are recorded; one in the store whose signature does not hold is not drawn, and
// somebody is told, once.
func TestGrantsThatDoNotCount(t *testing.T) {
	h := newHouse(t)
	h.employ("bob", "operator")
	h.employ("vera", "viewer")
	for name, g := range map[string]interlock.Grant{
		"of a viewer":         h.grants("vera"),
		"of nobody":           h.grants("mallory"),
		"under other rules":   h.grants("bob", func(g *interlock.Grant) { g.Ruleset = "sha256:0" }),
		"without a statement": func() interlock.Grant { g := h.grants("bob"); g.Statement = ""; return g }(),
		"for too long":        h.grants("bob", func(g *interlock.Grant) { g.Expires = g.Created.Add(31 * 24 * time.Hour) }),
	} {
		before := len(h.entries())
		if _, err := h.Grant(t.Context(), g); codeOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]interlock.EventType{interlock.EventApprovalRefused}, h.entries()[before:]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := h.Grant(t.Context(), h.grants("bob")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Grant(t.Context(), h.grants("bob")); codeOf(err) != interlock.CodeConflict {
		t.Errorf("the id twice: %v", err)
	}
	h.Admission = again(t, h, func(c *admission.Config) {
		c.Verify = func(interlock.OperatorRecord, string, string, string) (string, error) {
			return "", errors.New("forged")
		}
		c.Alert = func(kind, message string) { h.alerts = append(h.alerts, kind) }
	})
	h.alerts = nil
	for range 2 {
		if answer := h.propose(pushes); answer.Answer.Allowed() || answer.Decision.Grant != "" {
			t.Errorf("a grant whose signature does not hold: %v, %q", answer.Answer, answer.Decision.Grant)
		}
	}
	if diff := cmp.Diff([]string{"grant-invalid"}, h.alerts); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
}

func TestGrantEnds(t *testing.T) {
	h := newHouse(t)
	h.employ("bob", "operator")
	if _, err := h.Grant(t.Context(), h.grants("bob")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.EndGrant(t.Context(), "grt_1", "bob", ""); err != nil {
		t.Fatal(err)
	}
	if answer := h.propose(pushes); answer.Answer.Allowed() {
		t.Error("a grant that was revoked let an action pass")
	}
	if _, err := h.EndGrant(t.Context(), "grt_1", "bob", ""); codeOf(err) != interlock.CodeNotFound {
		t.Errorf("ended twice: %v", err)
	}
	types := h.entries()
	want := []interlock.EventType{interlock.EventGrant, interlock.EventGrant, interlock.EventReviewRequest,
		interlock.EventApprovalRefused}
	if diff := cmp.Diff(want, types[len(types)-4:]); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// TestWhatDoorsRecord: executions, tokens and sessions leave their events, and nothing without an identity does.
func TestWhatDoorsRecord(t *testing.T) {
	h := newHouse(t)
	ctx, me := t.Context(), interlock.Requester{Agent: "claude", Principal: "alice", Run: "exe_1"}
	for name, err := range map[string]error{
		"execution": h.RecordExecution(ctx, me, auditlog.ExecutionRecord{Execution: "exe_1", State: "running"}),
		"token":     h.RecordToken(ctx, interlock.EventTokenIssued, me, auditlog.TokenRecord{Operation: "delete_x"}),
		"session":   h.RecordSession(ctx, auditlog.SessionRecord{What: "refused"}),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := h.RecordToken(ctx, interlock.EventDecision, me, auditlog.TokenRecord{}); codeOf(err) != interlock.CodeInvalid {
		t.Errorf("a decision passed for a token's event: %v", err)
	}
	if err := h.RecordExecution(ctx, interlock.Requester{}, auditlog.ExecutionRecord{}); codeOf(err) != interlock.CodeInvalid {
		t.Errorf("nobody's execution: %v", err)
	}
	kinds := map[interlock.EventType]int{}
	for _, kind := range h.entries() {
		kinds[kind]++
	}
	want := map[interlock.EventType]int{interlock.EventExecution: 1, interlock.EventTokenIssued: 1, interlock.EventSession: 1}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
