package mcpaql_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/mcpaql"
	"interlock/internal/ruleset"
	"interlock/rules"
	"interlock/spec"
)

// declaring makes a server whose operators declare something.
func declaring(t *testing.T, document string, change func(*mcpaql.Config)) *fixture {
	t.Helper()
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), map[string][]byte{"own.yaml": []byte(document)})
	if err != nil {
		t.Fatal(err)
	}
	return newFixture(t, func(c *mcpaql.Config) {
		c.Rules = func() *ruleset.Ruleset { return set }
		if change != nil {
			change(c)
		}
	})
}

const wantsCode = "danger:\n  - {name: \"*\", level: safe, requires_reauth: true}\n"

// TestDeclaredOperationsAreDecided: a call that a declaration wants something of runs only if its own decision allows it.
func TestDeclaredOperationsAreDecided(t *testing.T) {
	spec.Covers(t, "AQL-D-7.3-2")
	const request = `{"operation":"execute_agent","params":{"element_name":"e","goal":"all of it"}}`
	pending := objected(interlock.Ask, "danger", "the operation is declared to need a human's confirmation each time")
	pending.Request, pending.Challenge = "apr_1", "3f0c7a52-0000-4000-8000-000000000001"
	cooling := objected(interlock.Deny, "danger", "not so soon")
	cooling.Findings[0].Rule = "danger.cooldown"
	stopped := objected(interlock.Halt, "standing", "blocked")
	stopped.Challenge, stopped.Tier = "3f0c7a52-0000-4000-8000-000000000002", interlock.TierDangerZone
	for name, tc := range map[string]struct {
		answer interlock.Answer
		want   mcpaql.Code // empty: it runs
	}{
		"allowed": {allowed(), ""}, "waits": {pending, mcpaql.CodePermissionDenied}, "cooldown": {cooling, mcpaql.CodeRateLimit},
		"stopped": {stopped, mcpaql.CodePermissionDenied}, "not recorded": {interlock.Refusal("unavailable", "the store is gone"), mcpaql.CodeInternal},
	} {
		f := declaring(t, wantsCode, nil)
		f.backend.answer = func(interlock.Proposal) interlock.Answer { return tc.answer }
		if tc.want == "" {
			f.data(mcpaql.Execute, request)
		} else {
			failure := f.failure(mcpaql.Execute, request, tc.want)
			details := failure["details"].(map[string]any)
			verification, _ := details["verificationId"].(string)
			id, _ := details["request_id"].(string)
			if diff := cmp.Diff([]any{tc.answer.Challenge, tc.answer.Request, name == "stopped"}, []any{verification, id, details["stopped"]}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if events := f.backend.taken(); len(events) != 0 {
				t.Errorf("%s: an execution began: %v", name, events)
			}
		}
		if len(f.backend.proposals) != 1 {
			t.Fatalf("%s: %d proposals", name, len(f.backend.proposals))
		}
		want := interlock.Action{Kind: interlock.KindTool, Tool: "execute_agent", Arguments: json.RawMessage(`{"element_name":"e","goal":"all of it"}`)}
		if diff := cmp.Diff(want, f.backend.proposals[0].Action); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTheWayOutStaysOpen: whatever is declared of them, the operations by which an agent learns what it waits for and answers
// that are never held back, and without a declaration nothing is.
func TestTheWayOutStaysOpen(t *testing.T) {
	f := declaring(t, wantsCode, nil)
	f.backend.answer = func(interlock.Proposal) interlock.Answer { return objected(interlock.Deny, "danger", "no") }
	f.backend.confirm = func(string, string) (interlock.ApprovalRequest, error) {
		return interlock.ApprovalRequest{ID: "apr_1", Status: interlock.RequestPending}, nil
	}
	f.data(mcpaql.Read, `{"operation":"introspect","params":{"query":"operations"}}`)
	f.data(mcpaql.Execute, `{"operation":"confirm_operation","params":{"request_id":"apr_1"}}`)
	if len(f.backend.proposals) != 0 {
		t.Errorf("%d proposals", len(f.backend.proposals))
	}
	for name, config := range map[string]func(*mcpaql.Config){"disabled": func(c *mcpaql.Config) { c.Mode = interlock.Disabled },
		"monitoring": func(c *mcpaql.Config) { c.Mode = interlock.Monitoring }} {
		f := declaring(t, wantsCode, config)
		f.backend.answer = func(p interlock.Proposal) interlock.Answer {
			a := objected(interlock.Deny, "danger", "no")
			a.Answer = interlock.Allow
			return a
		}
		f.data(mcpaql.Execute, `{"operation":"execute_agent","params":{"element_name":"e"}}`)
		if got, want := len(f.backend.proposals), map[string]int{"disabled": 0, "monitoring": 1}[name]; got != want {
			t.Errorf("%s: %d proposals, want %d", name, got, want)
		}
	}
}

// TestHeldStepsAreDirected: a step that is held back as an operation answers with a directive, and its hint is not judged.
func TestHeldStepsAreDirected(t *testing.T) {
	f := declaring(t, "danger:\n  - {name: record_execution_step, level: safe, approvers: {roles: [admin]}}\n", nil)
	f.start("e")
	f.backend.answer = func(p interlock.Proposal) interlock.Answer {
		if p.Action.Kind == interlock.KindHint {
			return allowed()
		}
		a := objected(interlock.Ask, "danger", "needs a human")
		a.Request = "apr_1"
		return a
	}
	d := f.step("e", "do it")
	if diff := cmp.Diff([]any{false, false, "apr_1", "running"}, []any{d["continue"], d["stopped"], d["request_id"], d["status"]}); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	f.backend.answer = func(interlock.Proposal) interlock.Answer { return allowed() }
	if d := f.step("e", "do it"); d["continue"] != true {
		t.Errorf("after the yes: %v", d)
	}
	if got := len(f.backend.proposals); got != 3 {
		t.Errorf("%d proposals, want the held call, the call and its hint", got)
	}
}

// TestDeclaredLevelsFollowTheirConditions: a level that is declared for some parameters is not that of all calls.
func TestDeclaredLevelsFollowTheirConditions(t *testing.T) {
	spec.Covers(t, "AQL-D-9.1")
	f := declaring(t, "danger:\n  - {name: execute_agent, level: forbidden, when: [{parameter: element_name, operator: matches, value: \"prod*\"}]}\n", nil)
	f.data(mcpaql.Execute, `{"operation":"execute_agent","params":{"element_name":"dev"}}`)
	f.failure(mcpaql.Execute, `{"operation":"execute_agent","params":{"element_name":"production"}}`, mcpaql.CodeDangerDenied)
}
