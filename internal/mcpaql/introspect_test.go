package mcpaql_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/mcpaql"
	"interlock/internal/ruleset"
	"interlock/rules"
	"interlock/spec"
)

// The shapes the published schema closes: any other member is an error.
type (
	parameterShape struct {
		Name        string          `json:"name"`
		Type        string          `json:"type"`
		Required    *bool           `json:"required"`
		Description string          `json:"description"`
		Default     any             `json:"default"`
		Enum        []string        `json:"enum"`
		Minimum     *float64        `json:"minimum"`
		Maximum     *float64        `json:"maximum"`
		MinLength   int             `json:"minLength"`
		MaxLength   int             `json:"maxLength"`
		Pattern     string          `json:"pattern"`
		Format      string          `json:"format"`
		Items       *parameterShape `json:"items"`
		Sensitive   bool            `json:"sensitive"`
	}
	operationShape struct {
		Name        string                                   `json:"name"`
		Category    string                                   `json:"semantic_category"`
		Endpoint    string                                   `json:"endpoint"`
		Tool        string                                   `json:"mcpTool"`
		Description string                                   `json:"description"`
		Permissions struct{ ReadOnly, Destructive *bool }    `json:"permissions"`
		Parameters  []parameterShape                         `json:"parameters"`
		Returns     struct{ Name, Kind, Description string } `json:"returns"`
		Examples    []struct {
			Description string
			Request     json.RawMessage
		} `json:"examples"`
		Lifecycle *struct {
			States   []string `json:"states"`
			Cancel   bool     `json:"supports_cancel"`
			Retry    bool     `json:"supports_retry"`
			Progress bool     `json:"progress_reporting"`
		} `json:"lifecycle"`
	}
)

// strictly reads a value into a shape that knows all of its members.
func strictly(t *testing.T, from any, into any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// TestTheVersionOfTheDraftIsStated: where the profile wants a judge's Allow, introspection says which version it goes by (ASA 20).
func TestTheVersionOfTheDraftIsStated(t *testing.T) {
	spec.Covers(t, "ASA-20-9")
	for profile, want := range map[string]any{"asa": "draft-baysal-asimov-safety-architecture-00", "guard": nil, "supervised": nil} {
		f := newFixture(t, func(c *mcpaql.Config) { c.Profile = profile })
		protocol := f.data(mcpaql.Read, `{"operation":"introspect","query":"operations"}`)["_protocol"].(map[string]any)
		if protocol["conformsTo"] != want {
			t.Errorf("under %s it is %v, want %v", profile, protocol["conformsTo"], want)
		}
	}
}

func TestOperationsListSaysWhatHoldsForAll(t *testing.T) {
	spec.Covers(t, "AQL-7.2", "AQL-7.3", "AQL-8.7.2-1", "AQL-8.7.4", "AQL-8.5.4a", "AQL-8.5.4b", "AQL-D-7.1-5")
	f := newFixture(t, nil)
	list := f.data(mcpaql.Read, `{"operation":"introspect","params":{"query":"operations"}}`)
	protocol := list["_protocol"].(map[string]any)
	loop := protocol["safety_loop"].(map[string]any)
	delete(protocol, "safety_loop")
	danger := map[string]any{}
	for name, d := range protocol["danger"].(map[string]any) {
		danger[name] = d.(map[string]any)["level"]
		if len(d.(map[string]any)["reasons"].([]any)) == 0 {
			t.Errorf("%s: no reasons for its danger", name)
		}
	}
	protocol["danger"] = danger
	want := map[string]any{"version": "1.0.0-draft", "conformance": "level-2", "mode": "semantic", "concurrency": "resource-locked",
		"capabilities": map[string]any{"batch": true, "field_selection": true, "confirmation": true, "dangerous_operations": true,
			"execution_safety_loop": "enforcing"},
		"limits": map[string]any{"max_request_size": 1048576.0, "max_response_size": 10485760.0,
			"max_string_length": 1048576.0, "max_array_elements": 10000.0, "max_nesting_depth": 32.0, "max_batch_operations": 100.0},
		"danger": map[string]any{"introspect": "safe", "execute_agent": "reversible", "record_execution_step": "reversible", "verify_challenge": "reversible",
			"confirm_operation": "reversible", "complete_execution": "reversible", "abort_execution": "reversible",
			"register_run": "reversible", "end_run": "reversible", "heartbeat": "safe",
			"submit_plan": "reversible", "send_message": "reversible", "receive_message": "reversible", "acknowledge_message": "reversible",
			"waiting_messages": "safe"},
		"permissions": protocol["permissions"]}
	if diff := cmp.Diff(want, protocol); diff != "" {
		t.Errorf("_protocol (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"maxAutonomousSteps": 50.0, "tolerance": 50.0}, loop["defaults"]); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	var endpoints []string
	for _, o := range list["operations"].([]any) {
		var shape struct {
			Name, Endpoint, Description string
			Category                    string `json:"semantic_category"`
		}
		strictly(t, o, &shape)
		endpoints = append(endpoints, shape.Name+" "+shape.Endpoint+" "+shape.Category)
		if shape.Description == "" {
			t.Errorf("%s has no description", shape.Name)
		}
	}
	wantEndpoints := []string{"introspect read READ", "execute_agent execute EXECUTE", "record_execution_step create CREATE", "verify_challenge create CREATE",
		"confirm_operation execute EXECUTE", "complete_execution execute EXECUTE", "abort_execution execute EXECUTE",
		"register_run create CREATE", "end_run execute EXECUTE", "heartbeat create CREATE",
		"submit_plan create CREATE", "send_message create CREATE", "receive_message execute EXECUTE", "acknowledge_message execute EXECUTE",
		"waiting_messages read READ"}
	if diff := cmp.Diff(wantEndpoints, endpoints); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

func TestOperationDetailsFitTheSchema(t *testing.T) {
	spec.Covers(t, "AQL-7.4")
	tools := map[string]string{"read": "mcp_aql_read", "create": "mcp_aql_create", "execute": "mcp_aql_execute"}
	for _, single := range []bool{false, true} {
		f := newFixture(t, func(c *mcpaql.Config) { c.Single = single })
		endpoint := mcpaql.Read
		if single {
			endpoint = ""
		}
		list := f.data(endpoint, `{"operation":"introspect","query":"operations"}`)
		types := map[string]bool{}
		for _, typ := range f.data(endpoint, `{"operation":"introspect","query":"types"}`)["types"].([]any) {
			types[typ.(map[string]any)["name"].(string)] = true
		}
		for _, info := range list["operations"].([]any) {
			name := info.(map[string]any)["name"].(string)
			data := f.data(endpoint, fmt.Sprintf(`{"operation":"introspect","query":"operations","name":%q}`, name))
			var o operationShape
			strictly(t, data["operation"], &o)
			tool := tools[o.Endpoint]
			if single {
				tool = "mcp_aql"
			}
			if o.Name != name || o.Tool != tool || o.Permissions.ReadOnly == nil ||
				*o.Permissions.ReadOnly != (o.Endpoint == "read") || o.Permissions.Destructive == nil || len(o.Examples) == 0 || !types[o.Returns.Name] {
				t.Errorf("%s: %+v", name, o)
			}
			for _, p := range o.Parameters {
				if p.Required == nil || p.Description == "" || p.Type == "" {
					t.Errorf("%s: parameter %+v", name, p)
				}
			}
			for _, example := range o.Examples {
				at := endpoint // an example is sent where its operation stands
				if !single {
					at = mcpaql.Endpoint(strings.ToUpper(o.Endpoint))
				}
				if answer := f.call(caller, at, string(example.Request)); answer["error"] != nil &&
					answer["error"].(map[string]any)["code"].(string)[:10] == "VALIDATION" {
					t.Errorf("%s: the example %s is refused: %v", name, example.Request, answer)
				}
			}
			if ends := slices.Contains([]string{"execute_agent", "complete_execution", "abort_execution"}, name); ends != (o.Lifecycle != nil) ||
				ends && !slices.Equal(o.Lifecycle.States, []string{"pending", "running", "paused", "completed", "failed", "cancelled"}) {
				t.Errorf("%s: lifecycle %+v", name, o.Lifecycle)
			}
		}
		if data := f.data(endpoint, `{"operation":"introspect","query":"operations","name":"drop_everything"}`); len(data) != 1 || data["operation"] != nil {
			t.Errorf("an unknown operation: %v", data)
		}
	}
}

func TestTypesAreWholeAndClosed(t *testing.T) {
	f := newFixture(t, nil)
	kinds := map[string]bool{}
	for _, info := range f.data(mcpaql.Read, `{"operation":"introspect","query":"types"}`)["types"].([]any) {
		name := info.(map[string]any)["name"].(string)
		var detail struct {
			Name, Kind, Description string
			Values, Members         []string
			Fields                  []parameterShape
		}
		strictly(t, f.data(mcpaql.Read, fmt.Sprintf(`{"operation":"introspect","query":"types","name":%q}`, name))["type"], &detail)
		filled := map[string]bool{"enum": len(detail.Values) > 0, "union": len(detail.Members) > 0, "object": len(detail.Fields) > 0}
		if detail.Name != name || !filled[detail.Kind] || detail.Description == "" {
			t.Errorf("%s: %+v", name, detail)
		}
		kinds[name] = true
	}
	for _, name := range []string{"OperationInput", "OperationResult", "OperationSuccess", "OperationFailure", "EndpointCategory",
		"EndpointPermissions", "AutonomyDirective", "SafetyTier", "AgentNotification"} {
		if !kinds[name] {
			t.Errorf("there is no type %s", name)
		}
	}
	if data := f.data(mcpaql.Read, `{"operation":"introspect","query":"types","name":"Nothing"}`); data["type"] != nil {
		t.Errorf("an unknown type: %v", data)
	}
}

func TestWhatOperatorsSetShowsInIntrospection(t *testing.T) {
	spec.Covers(t, "AQL-D-7.2-2", "AQL-D-3.2")
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), map[string][]byte{"own.yaml": []byte(
		"danger:\n  - name: abort_execution\n    level: destructive\n    reasons: [work is lost]\n    confirmation_message: \"Give up {element_name}?\"\n    cooldown: 90s\n    requires_reauth: true\n    audit_context: [reason]\nloop:\n  agents:\n    - agent: mc*\n      max_autonomous_steps: 5\n      tolerance: conservative\n      policy:\n        deny: [\"*billing*\"]\n")})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(c *mcpaql.Config) { c.Rules = func() *ruleset.Ruleset { return set } })
	f.backend.standing.Agents["mcp"] = interlock.AgentRecord{ID: "mcp", Trust: interlock.TrustCertified, Created: noon}
	protocol := f.data(mcpaql.Read, `{"operation":"introspect","query":"operations"}`)["_protocol"].(map[string]any)
	loop := protocol["safety_loop"].(map[string]any)
	patterns := loop["patterns"].(map[string]any)["deny"].([]any)
	got := []any{loop["maxAutonomousSteps"], loop["tolerance"], loop["defaults"].(map[string]any)["maxAutonomousSteps"], patterns[len(patterns)-1],
		protocol["danger"].(map[string]any)["abort_execution"]}
	danger := map[string]any{"level": "destructive",
		"reasons": []any{"Ends an execution; a new one can be started", "work is lost"}, "confirmation_message": "Give up {element_name}?",
		"cooldown_seconds": 90.0, "requires_reauth": true, "audit_context": []any{"reason"}}
	if diff := cmp.Diff([]any{5.0, 25.0, 50.0, "*billing*", danger}, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	f.start("e")
	if d := f.step("e", "ls"); d["stepsRemaining"] != 4.0 {
		t.Errorf("%v steps remain of 5 after one", d["stepsRemaining"])
	}
}

func TestFieldsAreSelected(t *testing.T) {
	spec.Covers(t, "AQL-7.5")
	f := newFixture(t, nil)
	ask := func(rest string) any {
		return any(f.data(mcpaql.Read, `{"operation":"introspect","params":{`+rest+`}}`))
	}
	first := func(data any) any { return data.(map[string]any)["operations"].([]any)[0] }
	for name, tc := range map[string]struct{ got, want any }{
		"one of each": {first(ask(`"query":"operations","fields":["operations.name"]`)), map[string]any{"name": "introspect"}},
		"nothing beside": {ask(`"query":"types","name":"OperationResult","fields":["type.members"]`),
			map[string]any{"type": map[string]any{"members": []any{"OperationSuccess", "OperationFailure"}}}},
		"deep": {ask(`"query":"operations","fields":["_protocol.capabilities.execution_safety_loop"]`),
			map[string]any{"_protocol": map[string]any{"capabilities": map[string]any{"execution_safety_loop": "enforcing"}}}},
		"unknown ones are left out": {ask(`"query":"types","fields":["nothing","types.nothing"]`), ask(`"query":"types","fields":["types.neither"]`)},
		"minimal":                   {first(ask(`"query":"operations","fields":"minimal"`)), map[string]any{"name": "introspect"}},
		"standard is everything":    {ask(`"query":"types","fields":"standard"`), ask(`"query":"types"`)},
		"full is everything":        {ask(`"query":"types","fields":["full"]`), ask(`"query":"types"`)},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestABatchRunsInOrderAndHaltsAtAConfirmation(t *testing.T) {
	spec.Covers(t, "AQL-7.5")
	f := newFixture(t, nil)
	answer := f.call(caller, "", `{"operations":[{"operation":"execute_agent","params":{"element_name":"e"}},{"operation":"no_such"},
		{"operation":"record_execution_step","element_name":"e","next_action_hint":"ls"},7,{"operations":[]},{"operation":"complete_execution","params":{"element_name":"e"}}]}`)
	var got []string
	for n, item := range answer["results"].([]any) {
		var shape struct {
			Index     int
			Operation string
			Result    struct {
				Success bool
				Data    any
				Error   *struct {
					Code, Message string
					Details       any
				}
			}
		}
		strictly(t, item, &shape)
		code := "ok"
		if shape.Result.Error != nil {
			code = shape.Result.Error.Code
		}
		if shape.Index != n {
			t.Errorf("result %d has the index %d", n, shape.Index)
		}
		got = append(got, shape.Operation+" "+code)
	}
	want := []string{"execute_agent ok", "no_such NOT_FOUND_OPERATION", "record_execution_step ok", " VALIDATION_INVALID_TYPE",
		" VALIDATION_MISSING_PARAM", "complete_execution ok"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"total": 6.0, "succeeded": 3.0, "failed": 3.0}, answer["summary"]); diff != "" ||
		answer["success"] != true || answer["data"] != nil || answer["halted_at"] != nil {
		t.Errorf("summary (-want +got):\n%s\n%v", diff, answer)
	}

	f = dangerously(t, "destructive", interlock.TrustValidated)
	answer = f.call(caller, "", `{"operations":[{"operation":"introspect","query":"types"},{"operation":"execute_agent","element_name":"e"},
		{"operation":"record_execution_step","element_name":"e","params":{"next_action_hint":"ls"}},{"operation":"verify_challenge","params":{"challenge_id":"c","code":"SECRET"}}]}`)
	results := answer["results"].([]any)
	halted := results[len(results)-1].(map[string]any)
	failure := halted["result"].(map[string]any)["error"].(map[string]any)
	wantPending := []any{map[string]any{"index": 2.0, "operation": "record_execution_step",
		"params": map[string]any{"element_name": "e", "next_action_hint": "ls"}},
		map[string]any{"index": 3.0, "operation": "verify_challenge", "params": map[string]any{"challenge_id": "c"}}}
	if diff := cmp.Diff(wantPending, failure["details"].(map[string]any)["pending_operations"]); diff != "" || len(results) != 2 ||
		halted["index"] != 1.0 || halted["status"] != "pending_confirmation" || failure["code"] != "CONFIRMATION_REQUIRED" {
		t.Errorf("pending (-want +got):\n%s\nhalted at %v", diff, halted)
	}
	for _, schema := range []string{"OperationResult", "BatchResult"} { // which disagree on what else a halted batch could say
		if faults := shapes(t).CheckValue(schema, any(answer)); len(faults) > 0 {
			t.Errorf("a halted batch: %v", faults)
		}
	}
	if diff := cmp.Diff(map[string]any{"total": 4.0, "succeeded": 1.0, "failed": 0.0, "halted": 1.0, "pending": 2.0}, answer["summary"]); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if len(f.backend.proposals) != 0 {
		t.Error("what came after the halt was carried out")
	}
}

func TestOperationsStandOnTheirEndpoint(t *testing.T) {
	spec.Covers(t, "AQL-6.2")
	home := map[string]mcpaql.Endpoint{"introspect": mcpaql.Read, "record_execution_step": mcpaql.Create, "verify_challenge": mcpaql.Create,
		"execute_agent": mcpaql.Execute, "complete_execution": mcpaql.Execute, "abort_execution": mcpaql.Execute, "confirm_operation": mcpaql.Execute,
		"register_run": mcpaql.Create, "heartbeat": mcpaql.Create, "end_run": mcpaql.Execute,
		"submit_plan": mcpaql.Create, "send_message": mcpaql.Create, "receive_message": mcpaql.Execute, "acknowledge_message": mcpaql.Execute,
		"waiting_messages": mcpaql.Read}
	for name, right := range home {
		for _, endpoint := range []mcpaql.Endpoint{mcpaql.Create, mcpaql.Read, mcpaql.Execute, ""} {
			failure, _ := newFixture(t, nil).call(caller, endpoint, `{"operation":"`+name+`","wrong":1}`)["error"].(map[string]any)
			if endpoint == right || endpoint == "" {
				if failure["code"] != "VALIDATION_UNKNOWN_PARAM" {
					t.Errorf("%s on %q: %v", name, endpoint, failure)
				}
				continue
			}
			want := map[string]any{"operation": name, "expected_endpoint": string(right), "actual_endpoint": string(endpoint),
				"correct_tool": "mcp_aql_" + map[mcpaql.Endpoint]string{"READ": "read", "CREATE": "create", "EXECUTE": "execute"}[right]}
			if diff := cmp.Diff(want, failure["details"]); diff != "" || failure["code"] != "VALIDATION_ENDPOINT_MISMATCH" {
				t.Errorf("%s on %q (-want +got):\n%s", name, endpoint, diff)
			}
		}
	}
	failure := newFixture(t, nil).failure(mcpaql.Create, `{"operation":"drop_table"}`, mcpaql.CodeNoOperation)
	if diff := cmp.Diff(map[string]any{"operation": "drop_table",
		"available": []any{"record_execution_step", "verify_challenge", "register_run", "heartbeat",
			"submit_plan", "send_message"}}, failure["details"]); diff != "" {
		t.Errorf("an unknown operation (-want +got):\n%s", diff)
	}
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	spec.Covers(t, "AQL-E-2")
	got := map[mcpaql.Code]int{}
	for _, code := range mcpaql.Codes() {
		got[code] = code.Status()
	}
	want := map[mcpaql.Code]int{"VALIDATION_MISSING_PARAM": 400, "VALIDATION_INVALID_TYPE": 422, "VALIDATION_UNKNOWN_PARAM": 422,
		"VALIDATION_INVALID_ENCODING": 400, "VALIDATION_ENDPOINT_MISMATCH": 400,
		"VALIDATION_PAYLOAD_TOO_LARGE": 413, "NOT_FOUND_OPERATION": 404, "NOT_FOUND_RESOURCE": 404, "PERMISSION_DENIED": 403,
		"PERMISSION_TRUST_LEVEL_INSUFFICIENT": 403,
		"PERMISSION_DANGER_LEVEL_DENIED":      403, "CONFIRMATION_REQUIRED": 403, "RATE_LIMIT_EXCEEDED": 429,
		"RATE_LIMIT_QUOTA_PAUSE": 429, "RATE_LIMIT_QUOTA_EXHAUSTED": 429,
		"TOKEN_INVALID": 400, "TOKEN_EXPIRED": 400, "TOKEN_ALREADY_USED": 403, "TOKEN_SCOPE_MISMATCH": 403,
		"CONFLICT_VERSION_MISMATCH": 409, "INTERNAL_ERROR": 500}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if got := mcpaql.Code("SOMETHING_NEW").Status(); got != 500 {
		t.Errorf("an unknown code: %d", got)
	}
}
