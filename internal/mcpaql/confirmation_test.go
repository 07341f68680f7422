package mcpaql_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/mcpaql"
	"interlock/internal/ruleset"
	"interlock/rules"
	"interlock/spec"
)

// dangerously makes the operator's rules declare an operation's danger and registers the agent at a trust level.
func dangerously(t *testing.T, level string, trust interlock.Trust) *fixture {
	t.Helper()
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(),
		map[string][]byte{"own.yaml": []byte("danger:\n  - name: execute_agent\n    level: " + level + "\n")})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(c *mcpaql.Config) { c.Rules = func() *ruleset.Ruleset { return set } })
	f.backend.standing.Agents["mcp"] = interlock.AgentRecord{ID: "mcp", Trust: trust, Created: noon}
	return f
}

func TestTrustGatesOperationsByTheMatrix(t *testing.T) {
	spec.Covers(t, "AQL-D-4.4", "AQL-D-7.1-4", "AQL-E-3")
	const a, c, d = "allow", "confirm", "deny"
	levels := []string{"safe", "reversible", "destructive", "dangerous", "forbidden"}
	matrix := map[interlock.Trust][]string{ // declarations of operators never lower: execute_agent is reversible at least
		interlock.TrustUntested: {d, d, d, d, d}, interlock.TrustGenerated: {d, d, d, d, d}, interlock.TrustValidated: {a, a, c, d, d},
		interlock.TrustCommunityReviewed: {a, a, a, c, d}, interlock.TrustCertified: {a, a, a, a, c}}
	minimum := []string{"validated", "validated", "validated", "community_reviewed", "certified"}
	for trust, row := range matrix {
		for n, want := range row {
			f := dangerously(t, levels[n], trust)
			level := levels[max(n, 1)]
			answer := f.call(caller, mcpaql.Execute, `{"operation":"execute_agent","element_name":"e"}`)
			failure, _ := answer["error"].(map[string]any)
			switch {
			case want == a && answer["success"] != true, want == c && failure["code"] != "CONFIRMATION_REQUIRED":
				t.Errorf("%s, %s: %v, want %s", trust, level, answer, want)
			case want == d:
				wantFailure := map[string]any{"code": "PERMISSION_DANGER_LEVEL_DENIED",
					"message": "Operation 'execute_agent' (danger: " + level + ") denied for adapter trust level '" + trust.String() + "'",
					"details": map[string]any{"operation": "execute_agent", "danger_level": level,
						"adapter_trust": trust.String(), "minimum_trust_required": minimum[n],
						"reasons": []any{"Starts an execution, which complete_execution or abort_execution ends"}}}
				if diff := cmp.Diff(wantFailure, failure); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", trust, level, diff)
				}
				if events := f.backend.taken(); len(events) != 1 || !strings.HasPrefix(events[0], "REFUSAL mcp") {
					t.Errorf("%s, %s: recorded %q", trust, level, events)
				}
			}
			f.data(mcpaql.Read, `{"operation":"introspect","query":"operations"}`) // whatever the trust
		}
	}
}

// TestWhatTrustNoLongerCovers: an untested agent introspects and does nothing else, reading included, and a certificate that is over leaves
// the level below it.
func TestWhatTrustNoLongerCovers(t *testing.T) {
	spec.Covers(t, "AQL-D-4.1-untested", "AQL-T-4")
	f := dangerously(t, "safe", interlock.TrustUntested)
	f.data(mcpaql.Read, `{"operation":"introspect","query":"types"}`)
	f.failure(mcpaql.Read, `{"operation":"waiting_messages"}`, mcpaql.CodeDangerDenied)
	f = dangerously(t, "safe", interlock.TrustGenerated)
	f.data(mcpaql.Read, `{"operation":"waiting_messages"}`)

	f = dangerously(t, "forbidden", interlock.TrustCertified)
	const begin = `{"operation":"execute_agent","params":{"element_name":"e"}}`
	certified := f.backend.standing.Agents["mcp"]
	certified.Until = noon.Add(time.Hour)
	f.backend.standing.Agents["mcp"] = certified
	f.failure(mcpaql.Execute, begin, mcpaql.CodeConfirmation)
	f.clock.advance(time.Hour)
	f.failure(mcpaql.Execute, begin, mcpaql.CodeDangerDenied)
}

func TestADangerousOperationPassesOnceWithItsToken(t *testing.T) {
	spec.Covers(t, "AQL-D-4.3", "AQL-E-4", "AQL-C-6", "AQL-C-8", "AQL-D-7.2-5")
	f := dangerously(t, "destructive", interlock.TrustValidated)
	const request = `{"operation":"execute_agent","params":{"element_name":"e"}}`
	failure := f.failure(mcpaql.Execute, request, mcpaql.CodeConfirmation)
	details := failure["details"].(map[string]any)
	token := details["confirmation_token"].(string)
	want := map[string]any{"operation": "execute_agent", "danger_level": "destructive", "permission": "CONFIRM_SINGLE_USE",
		"reasons":              []any{"Starts an execution, which complete_execution or abort_execution ends"},
		"confirmation_message": "Start a monitored execution of 'e'?",
		"confirmation_token":   token, "expires_at": "2026-03-01T12:05:00Z"}
	if diff := cmp.Diff(want, details); diff != "" {
		t.Fatalf("details (-want +got):\n%s", diff)
	}
	with := func(element string) string {
		return `{"operation":"execute_agent","params":{"element_name":"` + element + `","_confirmation":"` + token + `"}}`
	}
	f.failure(mcpaql.Execute, with("another"), mcpaql.CodeTokenScope)
	other := caller
	other.Connection = "two"
	if answer := f.call(other, mcpaql.Execute, with("e")); answer["error"].(map[string]any)["code"] != "TOKEN_SCOPE_MISMATCH" {
		t.Errorf("over another connection: %v", answer)
	}
	f.data(mcpaql.Execute, with("e"))
	f.failure(mcpaql.Execute, with("e"), mcpaql.CodeTokenUsed)
	f.failure(mcpaql.Execute, `{"operation":"execute_agent","params":{"element_name":"e","_confirmation":"conf_guess"}}`, mcpaql.CodeTokenInvalid)
	wantEvents := []string{"TOKEN_ISSUED execute_agent", "TOKEN_REJECTED execute_agent TOKEN_SCOPE_MISMATCH",
		"TOKEN_REJECTED execute_agent TOKEN_SCOPE_MISMATCH",
		"TOKEN_VALIDATED execute_agent", "EXECUTION e running", "TOKEN_REJECTED execute_agent TOKEN_ALREADY_USED", "TOKEN_REJECTED execute_agent TOKEN_INVALID"}
	if diff := cmp.Diff(wantEvents, f.backend.taken()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A token that nobody issued confirms nothing, and one that was issued is no human's word: not for a step that waits, not for a
// request, not as a code.
func TestATokenIsNoHumansWord(t *testing.T) {
	spec.Covers(t, "AQL-C-10")
	f := dangerously(t, "destructive", interlock.TrustValidated)
	for _, invented := range []string{"conf_AAAAAAAAAAAAAAAAAAAAAA", "conf_" + strings.Repeat("0", 22), "conf_", "", "approved"} {
		answer := f.call(caller, mcpaql.Execute, `{"operation":"execute_agent","params":{"element_name":"e","_confirmation":"`+invented+`"}}`)
		if failure := answer["error"].(map[string]any); failure["code"] != "TOKEN_INVALID" {
			t.Errorf("the invented token %q: %v", invented, answer)
		}
	}
	if begun := executionsIn(f.backend.taken()); len(begun) > 0 {
		t.Errorf("an invented token began %v", begun)
	}
	token := f.failure(mcpaql.Execute, `{"operation":"execute_agent","params":{"element_name":"e"}}`,
		mcpaql.CodeConfirmation)["details"].(map[string]any)["confirmation_token"].(string)
	f.data(mcpaql.Execute, `{"operation":"execute_agent","params":{"element_name":"e","_confirmation":"`+token+`"}}`)
	asked := with(objected(interlock.Ask, "rules", "deploys"), func(a *interlock.Answer) { a.Request = "apr_1" })
	f.backend.answer = func(interlock.Proposal) interlock.Answer { return asked }
	f.backend.verify = func(_, code string) (governance.Verification, error) {
		return governance.Verification{Result: "unknown", Reason: "no code: " + code}, nil
	}
	f.backend.confirm = func(_, code string) (interlock.ApprovalRequest, error) {
		return interlock.ApprovalRequest{}, interlock.Errorf(interlock.CodeUnauthorized, "", "no human has answered, and %q is no code", code)
	}
	for _, given := range []string{token, "conf_AAAAAAAAAAAAAAAAAAAAAA"} {
		d := f.data(mcpaql.Create,
			`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"deploy","_confirmation":"`+given+`"}}`)
		if d["continue"] != false || d["request_id"] != "apr_1" {
			t.Errorf("a step that waits, with the token %q: %v", given, d)
		}
		if p := f.backend.proposals[len(f.backend.proposals)-1]; strings.Contains(p.Action.Input+p.Action.Hint, given) || p.Loop.Asked+p.Loop.Paused != "" {
			t.Errorf("the token %q reached the decision: %+v", given, p)
		}
		f.failure(mcpaql.Execute, `{"operation":"confirm_operation","params":{"request_id":"apr_1","_confirmation":"`+given+`"}}`,
			mcpaql.CodePermissionDenied)
		f.failure(mcpaql.Execute, `{"operation":"confirm_operation","params":{"request_id":"apr_1","code":"`+given+`"}}`, mcpaql.CodePermissionDenied)
		f.failure(mcpaql.Create, `{"operation":"verify_challenge","params":{"challenge_id":"c","code":"`+given+`"}}`, mcpaql.CodeNoResource)
	}
}

// The permissions are what a client asks its user by; with Acknowledge the server asks for them itself.
func TestPermissionsAreAskedAsOftenAsTheySay(t *testing.T) {
	spec.Covers(t, "AQL-SL-4.2")
	f := newFixture(t, func(c *mcpaql.Config) { c.Acknowledge = true })
	confirmed := func(endpoint mcpaql.Endpoint, operation, params string) bool {
		t.Helper()
		answer := f.call(caller, endpoint, `{"operation":"`+operation+`","params":{`+params+`}}`)
		failure, _ := answer["error"].(map[string]any)
		if failure["code"] != "CONFIRMATION_REQUIRED" {
			return false
		}
		token := failure["details"].(map[string]any)["confirmation_token"].(string)
		f.data(endpoint, `{"operation":"`+operation+`","params":{`+params+`,"_confirmation":"`+token+`"}}`)
		return true
	}
	f.backend.confirm = func(request, _ string) (interlock.ApprovalRequest, error) {
		return interlock.ApprovalRequest{ID: request, Status: interlock.RequestApproved}, nil
	}
	got := []bool{
		confirmed(mcpaql.Read, "introspect", `"query":"types"`),
		confirmed(mcpaql.Execute, "execute_agent", `"element_name":"e"`),
		confirmed(mcpaql.Create, "record_execution_step", `"element_name":"e","next_action_hint":"ls"`),
		confirmed(mcpaql.Create, "record_execution_step", `"element_name":"e","next_action_hint":"pwd"`), // the connection has confirmed
		confirmed(mcpaql.Execute, "execute_agent", `"element_name":"f"`),
		confirmed(mcpaql.Execute, "complete_execution", `"element_name":"e"`),
		confirmed(mcpaql.Execute, "abort_execution", `"element_name":"f"`),
		confirmed(mcpaql.Execute, "confirm_operation", `"request_id":"apr_1"`), // or confirming would need confirming
	}
	if diff := cmp.Diff([]bool{false, true, true, false, true, true, true, false}, got); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	list := newFixture(t, nil).data(mcpaql.Read, `{"operation":"introspect","query":"operations"}`)
	want := map[string]any{"introspect": "AUTO_APPROVE", "record_execution_step": "CONFIRM_SESSION", "verify_challenge": "CONFIRM_SESSION",
		"execute_agent": "CONFIRM_SINGLE_USE", "complete_execution": "CONFIRM_SINGLE_USE",
		"abort_execution": "CONFIRM_SINGLE_USE", "confirm_operation": "AUTO_APPROVE",
		"register_run": "AUTO_APPROVE", "end_run": "AUTO_APPROVE", "heartbeat": "AUTO_APPROVE",
		"submit_plan": "AUTO_APPROVE", "send_message": "AUTO_APPROVE", "receive_message": "AUTO_APPROVE",
		"acknowledge_message": "AUTO_APPROVE", "waiting_messages": "AUTO_APPROVE"}
	if diff := cmp.Diff(want, list["_protocol"].(map[string]any)["permissions"]); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
}
