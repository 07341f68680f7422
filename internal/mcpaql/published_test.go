package mcpaql_test

import (
	"fmt"
	"testing"

	"interlock"
	"interlock/internal/mcpaql"
	"interlock/internal/mcpaql/published"
	"interlock/spec"
)

// shapes are those that the specification publishes.
func shapes(t testing.TB) published.Shapes {
	t.Helper()
	s, err := published.Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fits holds a value against a published shape.
func fits(t *testing.T, shape, what string, value any) {
	t.Helper()
	for _, fault := range shapes(t).CheckValue(shape, value) {
		t.Errorf("%s: %s", what, fault)
	}
}

// TestAnswersAreAsPublished holds everything that introspection and operations answer against the published shapes, member by member,
// in both modes. No type of this program has a say in it.
func TestAnswersAreAsPublished(t *testing.T) {
	spec.Covers(t, "AQL-7.2", "AQL-7.3", "AQL-7.4", "AQL-5.1", "AQL-8.7.1", "AQL-8.7.3", "AQL-8.6.2", "AQL-D-7.1-5", "AQL-D-3.2")
	for _, single := range []bool{false, true} {
		f := newFixture(t, func(c *mcpaql.Config) { c.Single = single })
		at := func(e mcpaql.Endpoint) mcpaql.Endpoint {
			if single {
				return ""
			}
			return e
		}
		ask := func(params string) any {
			return any(f.call(caller, at(mcpaql.Read), `{"operation":"introspect","params":{`+params+`}}`))
		}
		list := ask(`"query":"operations"`).(map[string]any)
		fits(t, "IntrospectionSuccess", "the list of operations", any(list))
		data := list["data"].(map[string]any)
		danger := data["_protocol"].(map[string]any)["danger"].(map[string]any)
		for _, o := range data["operations"].([]any) {
			name := o.(map[string]any)["name"].(string)
			fits(t, "IntrospectionSuccess", name, ask(fmt.Sprintf(`"query":"operations","name":%q`, name)))
			fits(t, "DangerMetadata", "the danger of "+name, danger[name])
			delete(danger, name)
		}
		if len(danger) > 0 {
			t.Errorf("the danger of operations that are not listed: %v", danger)
		}
		types := ask(`"query":"types"`)
		fits(t, "IntrospectionSuccess", "the list of types", types)
		for _, one := range types.(map[string]any)["data"].(map[string]any)["types"].([]any) {
			name := one.(map[string]any)["name"].(string)
			fits(t, "IntrospectionSuccess", name, ask(fmt.Sprintf(`"query":"types","name":%q`, name)))
		}
		for _, wrong := range []string{``, `"query":"everything"`, `"query":7`, `"query":"types","limit":1`, `"query":"types","name":"\u0000"`} {
			fits(t, "IntrospectionFailure", "introspection of "+wrong, ask(wrong))
			fits(t, "OperationResult", "introspection of "+wrong, ask(wrong))
		}
		fits(t, "IntrospectionSuccess", "an unknown operation", ask(`"query":"operations","name":"none"`))
		fits(t, "IntrospectionSuccess", "an unknown type", ask(`"query":"types","name":"None"`))

		begun := f.data(at(mcpaql.Execute), `{"operation":"execute_agent","params":{"element_name":"e"}}`)
		fits(t, "ExecutionState", "an execution", any(begun))
		for name, answer := range map[string]interlock.Answer{"allowed": allowed(), "refused": objected(interlock.Deny, "danger", "no"),
			"asked":    with(objected(interlock.Ask, "rules", "deploys"), func(a *interlock.Answer) { a.Request = "apr_1" }),
			"stopped":  with(objected(interlock.Deny, "rules", "root"), func(a *interlock.Answer) { a.Challenge, a.Tier = "c", interlock.TierDangerZone }),
			"no store": interlock.Refusal("unavailable", "the store is gone")} {
			f.backend.answer = func(interlock.Proposal) interlock.Answer { return answer }
			step := f.call(caller, at(mcpaql.Create), `{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls"}}`)
			fits(t, "OperationResult", name, any(step))
			fits(t, "AutonomyDirective", name, step["data"])
			fits(t, "ExecutionState", name, step["data"])
			directive := step["data"].(map[string]any)
			told := map[string]bool{}
			for _, n := range directive["notifications"].([]any) {
				told[n.(map[string]any)["type"].(string)] = true
			}
			// AQL-8.7.3: what the evaluator does not let go on is an autonomy_pause; a stop is a danger_zone.
			paused := directive["continue"] == false && directive["stopped"] == false && name != "no store"
			if told["autonomy_pause"] != paused || told["danger_zone"] != (directive["stopped"] == true) {
				t.Errorf("%s: told as %v", name, told)
			}
		}
		ended := f.data(at(mcpaql.Execute), `{"operation":"complete_execution","params":{"element_name":"e"}}`)
		fits(t, "ExecutionState", "an execution that has ended", any(ended))
	}
}

// TestFailuresAreAsPublished: each has a published code, and the details that are published for it.
func TestFailuresAreAsPublished(t *testing.T) {
	spec.Covers(t, "AQL-E-1", "AQL-E-3", "AQL-E-4", "AQL-6.2", "AQL-5.1")
	known := map[string]bool{}
	for _, code := range shapes(t).Values("PublishedCode") {
		known[code] = true
	}
	for _, code := range mcpaql.Codes() {
		if !known[string(code)] {
			t.Errorf("%s is in no published list", code)
		}
	}
	f := newFixture(t, func(c *mcpaql.Config) { c.Limits.Depth = 8 })
	ended := f.start("ended")
	f.data(mcpaql.Execute, fmt.Sprintf(`{"operation":"complete_execution","execution_id":%q}`, ended))
	for _, tc := range []struct {
		name     string
		endpoint mcpaql.Endpoint
		request  string
		code     string
		details  string // shape of the details
	}{
		{"left out", mcpaql.Execute, `{"operation":"execute_agent"}`, "VALIDATION_MISSING_PARAM", ""},
		{"no operation", mcpaql.Execute, `{}`, "VALIDATION_MISSING_PARAM", ""},
		{"of another type", mcpaql.Execute, `{"operation":"execute_agent","element_name":7}`, "VALIDATION_INVALID_TYPE", ""},
		{"no object", mcpaql.Execute, `[]`, "VALIDATION_INVALID_TYPE", ""},
		{"unknown", mcpaql.Execute, `{"operation":"execute_agent","element_name":"e","x":1}`, "VALIDATION_UNKNOWN_PARAM", ""},
		{"not text", mcpaql.Execute, "{\"operation\":\"execute_agent\",\"element_name\":\"a\\u0000\"}", "VALIDATION_INVALID_ENCODING", ""},
		{"too deep", mcpaql.Execute,
			`{"operation":"execute_agent","element_name":"e","parameters":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}}}}`, "VALIDATION_PAYLOAD_TOO_LARGE", ""},
		{"elsewhere", mcpaql.Read, `{"operation":"execute_agent","element_name":"e"}`, "VALIDATION_ENDPOINT_MISMATCH", "EndpointMismatchDetails"},
		{"introspection elsewhere", mcpaql.Create, `{"operation":"introspect","query":"types"}`, "VALIDATION_ENDPOINT_MISMATCH", "EndpointMismatchDetails"},
		{"no such operation", mcpaql.Execute, `{"operation":"drop"}`, "NOT_FOUND_OPERATION", ""},
		{"no such execution", mcpaql.Execute, `{"operation":"abort_execution","execution_id":"exec_0"}`, "NOT_FOUND_RESOURCE", ""},
		{"ended", mcpaql.Execute, fmt.Sprintf(`{"operation":"abort_execution","execution_id":%q}`, ended), "CONFLICT_VERSION_MISMATCH", ""},
	} {
		answer := f.call(caller, tc.endpoint, tc.request)
		fits(t, "ResultFailure", tc.name, any(answer))
		failure := answer["error"].(map[string]any)
		if failure["code"] != tc.code {
			t.Errorf("%s: %v, want %s", tc.name, failure["code"], tc.code)
		}
		if tc.details != "" {
			fits(t, tc.details, tc.name, failure["details"])
		}
	}
	for trust, want := range map[interlock.Trust][2]string{interlock.TrustValidated: {"PERMISSION_DANGER_LEVEL_DENIED", "DangerDeniedDetails"},
		interlock.TrustCommunityReviewed: {"CONFIRMATION_REQUIRED", "ConfirmationDetails"}} {
		answer := dangerously(t, "dangerous", trust).call(caller, mcpaql.Execute, `{"operation":"execute_agent","element_name":"e"}`)
		fits(t, "ResultFailure", want[0], any(answer))
		failure := answer["error"].(map[string]any)
		if failure["code"] != want[0] {
			t.Errorf("%s: %v", want[0], failure)
		}
		fits(t, want[1], want[0], failure["details"])
	}
}

// TestEachRefusalOfAdmissionHasItsCode: what admission says is wrong reaches the agent under the code that is published for it.
func TestEachRefusalOfAdmissionHasItsCode(t *testing.T) {
	spec.Covers(t, "AQL-E-1")
	for code, want := range map[interlock.Code]string{interlock.CodeInvalid: "VALIDATION_INVALID_TYPE", interlock.CodeNotFound: "NOT_FOUND_RESOURCE",
		interlock.CodeConflict: "CONFLICT_VERSION_MISMATCH", interlock.CodeExpired: "TOKEN_EXPIRED", interlock.CodeUnauthorized: "PERMISSION_DENIED",
		interlock.CodeLimited: "RATE_LIMIT_EXCEEDED", interlock.CodeUnavailable: "INTERNAL_ERROR", interlock.CodeInternal: "INTERNAL_ERROR"} {
		f := newFixture(t, nil)
		f.backend.confirm = func(string, string) (interlock.ApprovalRequest, error) {
			return interlock.ApprovalRequest{}, interlock.Errorf(code, "", "no")
		}
		answer := f.call(caller, mcpaql.Execute, `{"operation":"confirm_operation","request_id":"apr_1"}`)
		if failure := answer["error"].(map[string]any); failure["code"] != want {
			t.Errorf("%s: %v, want %s", code, failure, want)
		}
	}
}
