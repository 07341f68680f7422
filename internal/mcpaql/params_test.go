package mcpaql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/mcpaql"
	"interlock/spec"
)

func TestParametersStandInParamsOrBesideOperation(t *testing.T) {
	spec.Covers(t, "AQL-4.1")
	for name, tc := range map[string]struct{ request, hint string }{
		"in params":                  {`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls"}}`, "ls"},
		"beside":                     {`{"operation":"record_execution_step","element_name":"e","next_action_hint":"ls"}`, "ls"},
		"params wins":                {`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls"},"next_action_hint":"rm -rf /"}`, "ls"},
		"null params":                {`{"operation":"record_execution_step","params":null,"element_name":"e","next_action_hint":"ls"}`, "ls"},
		"camel case":                 {`{"operation":"record_execution_step","params":{"elementName":"e","nextActionHint":"ls"}}`, "ls"},
		"camel case in params wins":  {`{"operation":"record_execution_step","params":{"element_name":"e","nextActionHint":"ls"},"next_action_hint":"rm"}`, "ls"},
		"metadata is not looked at":  {`{"operation":"record_execution_step","_meta":{"agent":"root"},"params":{"element_name":"e","next_action_hint":"ls","_request_id":7}}`, "ls"},
		"null is absence":            {`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls","outcome":null}}`, "ls"},
		"null in params hides other": {`{"operation":"record_execution_step","outcome":"failure","params":{"element_name":"e","next_action_hint":"ls","outcome":null}}`, "ls"},
	} {
		f := newFixture(t, nil)
		f.start("e")
		f.data(mcpaql.Create, tc.request)
		p := f.backend.proposals[0]
		if p.Action.Input != tc.hint || p.Loop.Outcome != "" || p.Requester.Agent != "mcp" {
			t.Errorf("%s: proposed %+v", name, p)
		}
	}
}

func TestBadParametersAreNamed(t *testing.T) {
	spec.Covers(t, "AQL-4.6", "AQL-5.1", "AQL-E-1", "AQL-8.6.3")
	valid := []any{"element_name", "next_action_hint", "step_description", "outcome", "findings", "execution_id"}
	for name, tc := range map[string]struct {
		request string
		code    mcpaql.Code
		message string
		details map[string]any
	}{
		"unknown": {`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls","zoom":1,"force":true}}`, mcpaql.CodeUnknownParam,
			"Unknown parameter 'force' for operation 'record_execution_step'. Valid parameters: element_name, next_action_hint, step_description, outcome, findings, execution_id",
			map[string]any{"operation": "record_execution_step", "unknown_params": []any{"force", "zoom"}, "valid_params": valid}},
		"unknown beside": {`{"operation":"introspect","query":"types","force":1}`, mcpaql.CodeUnknownParam,
			"Unknown parameter 'force' for operation 'introspect'. Valid parameters: query, name, fields", nil},
		"two spellings": {`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls","nextActionHint":"rm"}}`, mcpaql.CodeUnknownParam,
			"Parameter 'nextActionHint' is another spelling of 'next_action_hint'; send one of them",
			map[string]any{"operation": "record_execution_step", "unknown_params": []any{"nextActionHint"}, "valid_params": valid}},
		"missing": {`{"operation":"record_execution_step","params":{"element_name":"e"}}`, mcpaql.CodeMissingParam,
			"Missing required parameter 'next_action_hint' (string) for operation 'record_execution_step'",
			map[string]any{"operation": "record_execution_step", "param_name": "next_action_hint", "expected_type": "string"}},
		"null": {`{"operation":"record_execution_step","params":{"element_name":null,"next_action_hint":"x"}}`, mcpaql.CodeMissingParam,
			"Missing required parameter 'element_name' (string) for operation 'record_execution_step'",
			map[string]any{"operation": "record_execution_step", "param_name": "element_name", "expected_type": "string"}},
		"blank": {`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":" \n"}}`, mcpaql.CodeMissingParam,
			"Missing required parameter 'next_action_hint' (string) for operation 'record_execution_step'",
			map[string]any{"operation": "record_execution_step", "param_name": "next_action_hint", "expected_type": "string"}},
		"wrong type": {`{"operation":"record_execution_step","params":{"element_name":7,"next_action_hint":"ls"}}`, mcpaql.CodeInvalidType,
			"Parameter 'element_name' expected 'string', got 'number'",
			map[string]any{"operation": "record_execution_step", "param_name": "element_name", "expected_type": "string", "actual_type": "number"}},
		"none of a list": {`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls","outcome":"great"}}`, mcpaql.CodeInvalidType,
			"Parameter 'outcome' expected one of 'success', 'failure', 'skipped', got another string",
			map[string]any{"operation": "record_execution_step", "param_name": "outcome", "expected_type": "string",
				"actual_type": "string", "enum": []any{"success", "failure", "skipped"}}},
		"element of a list": {`{"operation":"introspect","query":"types","fields":["a",1]}`, mcpaql.CodeInvalidType,
			"Parameter 'fields' expected 'string|array of string', got 'array'", nil},
		"no operation": {`{}`, mcpaql.CodeMissingParam, "Missing required parameter 'operation' (string)",
			map[string]any{"param_name": "operation", "expected_type": "string"}},
		"operation's type": {`{"operation":1}`, mcpaql.CodeInvalidType, "Parameter 'operation' expected 'string', got 'number'",
			map[string]any{"param_name": "operation", "expected_type": "string", "actual_type": "number"}},
		"params' type": {`{"operation":"introspect","params":[]}`, mcpaql.CodeInvalidType,
			"Parameter 'params' expected 'object', got 'array'", nil},
		"no object": {`[1]`, mcpaql.CodeInvalidType, "Parameter 'arguments' expected 'object', got 'array'",
			map[string]any{"param_name": "arguments", "expected_type": "object", "actual_type": "array"}},
		"twice": {`{"operation":"introspect","query":"types","query":"operations"}`, mcpaql.CodeInvalidType,
			"The arguments can't be read: /query: the member stands twice; keep one", nil},
		"in another case": {`{"operation":"introspect","params":{"query":"types","Query":"operations"}}`, mcpaql.CodeInvalidType, "", nil},
		"not JSON": {`{"operation"`, mcpaql.CodeInvalidType,
			"The arguments can't be read: /operation: the text ends in the middle of a value at byte 12; send valid JSON", nil},
		"half a character":   {`{"operation":"introspect","query":"\ud800"}`, mcpaql.CodeInvalidEncoding, "", nil},
		"a broken character": {"{\"operation\":\"introspect\",\"query\":\"\xff\"}", mcpaql.CodeInvalidEncoding, "", nil},
		"NUL": {`{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls\u0000rm"}}`, mcpaql.CodeInvalidEncoding,
			"Parameter 'next_action_hint' holds a NUL character; send plain UTF-8 text", map[string]any{"param_name": "next_action_hint"}},
	} {
		f := newFixture(t, nil)
		endpoint := mcpaql.Create
		if strings.Contains(tc.request, "introspect") {
			endpoint = mcpaql.Read
		}
		failure := f.failure(endpoint, tc.request, tc.code)
		if tc.message != "" && failure["message"] != tc.message {
			t.Errorf("%s: %q, want %q", name, failure["message"], tc.message)
		}
		if details, _ := failure["details"].(map[string]any); tc.details != nil && cmp.Diff(tc.details, details) != "" {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(tc.details, details))
		}
		if endpoint == mcpaql.Read && failure["details"] != nil { // the published error of introspection is closed
			t.Errorf("%s: %v", name, failure)
		}
		if len(f.backend.proposals) > 0 {
			t.Errorf("%s: was proposed all the same", name)
		}
		if events := f.backend.taken(); len(events) != 1 || !strings.HasPrefix(events[0], "REFUSAL mcp "+string(tc.code)) {
			t.Errorf("%s: recorded %q", name, events)
		}
	}
}

func TestLimitsAreNamedAndKept(t *testing.T) {
	spec.Covers(t, "AQL-4.7.5")
	step := func(hint string) string {
		return `{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls","findings":` + hint + `}}`
	}
	for name, tc := range map[string]struct {
		request, limit string
		within         string // the largest that passes
	}{
		"request": {step(`"` + strings.Repeat("x", 1<<20) + `"`), "max_request_size", step(`"` + strings.Repeat("x", 1<<20-len(step(`""`))) + `"`)},
		"array":   {step("[" + strings.Repeat("1,", 10_000) + "1]"), "max_array_elements", step("[" + strings.Repeat("1,", 9_999) + "1]")},
		"nesting": {step(strings.Repeat("[", 31) + strings.Repeat("]", 31)), "max_nesting_depth",
			step(strings.Repeat("[", 30) + strings.Repeat("]", 30))},
		"nesting without end": {step(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)), "max_nesting_depth", step("[]")},
		"batch": {`{"operations":[` + strings.Repeat(`{"operation":"introspect"},`,
			100) + `{"operation":"introspect"}]}`, "max_batch_operations", step("[]")},
	} {
		f := newFixture(t, nil)
		f.start("e")
		failure := f.failure(mcpaql.Create, tc.request, mcpaql.CodePayloadTooLarge)
		if details := failure["details"].(map[string]any); details["limit"] != tc.limit || !strings.Contains(failure["message"].(string), tc.limit) {
			t.Errorf("%s: %v, want %s", name, failure, tc.limit)
		}
		f.data(mcpaql.Create, tc.within)
	}
	f := newFixture(t, func(c *mcpaql.Config) { c.Limits.String = 100 })
	f.start("e")
	if failure := f.failure(mcpaql.Create, step(`"`+strings.Repeat("x", 101)+`"`),
		mcpaql.CodePayloadTooLarge); failure["details"].(map[string]any)["limit"] != "max_string_length" {
		t.Errorf("a long string: %v", failure)
	}
	f.data(mcpaql.Create, step(`"`+strings.Repeat("x", 100)+`"`))
}

// An answer over the limit that is advertised is not sent; the refusal in its place names the limit.
func TestAnswersAreKeptToTheirLimit(t *testing.T) {
	spec.Covers(t, "AQL-4.7.5")
	const limit = 4000
	f := newFixture(t, func(c *mcpaql.Config) { c.Limits.Response = limit })
	session, _ := f.connect(t, "2025-11-25")
	if answer := tool(t, session, "mcp_aql_read",
		operation("introspect", map[string]any{"query": "operations", "name": "introspect"})); answer["success"] != true {
		t.Errorf("an answer within the limit: %v", answer)
	}
	answer := tool(t, session, "mcp_aql_read", operation("introspect", map[string]any{"query": "operations"}))
	failure, _ := answer["error"].(map[string]any)
	if message, _ := failure["message"].(string); failure["code"] != "VALIDATION_PAYLOAD_TOO_LARGE" || !strings.Contains(message, "max_response_size") {
		t.Errorf("an answer over the limit: %.300v", answer)
	}
	protocol := f.data(mcpaql.Read, `{"operation":"introspect","query":"operations"}`)["_protocol"].(map[string]any)
	if said := protocol["limits"].(map[string]any); said["max_response_size"] != float64(limit) {
		t.Errorf("the limit is advertised as %v", said["max_response_size"])
	}
}

// Whatever is sent: there is an answer in the envelope; nothing with an unknown parameter succeeds; what was proposed came
// from a string named next_action_hint or its alias; and no failure shows a type or place of the program.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{`{"operation":"introspect","query":"operations"}`,
		`{"operation":"record_execution_step","params":{"element_name":"e","nextActionHint":"ls","outcome":"success","findings":["x",{"y":1}]}}`,
		`{"operation":"execute_agent","element_name":"e","parameters":{"a":1}}`,
		`{"operations":[{"operation":"introspect","query":"types"},{"operation":"abort_execution"}]}`,
		`{"operation":"confirm_operation","params":{"request_id":"apr_1","code":"1"},"_confirmation":"conf_x"}`,
		`{"operation":"verify_challenge","challenge_id":1}`,
		`{"operation":"complete_execution","execution_id":"exec_1","outcome":"\ud83d\ude00"}`, `[`, `{"params":{"params":{}}}`,
		`{"operation":"introspect","query":"types","fields":"minimal"}`} {
		f.Add([]byte(seed))
	}
	fix := newFixture(f, nil)
	known := map[string]bool{}
	for _, name := range []string{"element_name", "elementName", "next_action_hint", "nextActionHint", "step_description",
		"stepDescription", "outcome", "findings", "execution_id", "executionId",
		"query", "name", "fields", "goal", "parameters", "challenge_id", "challengeId", "code", "request_id", "requestId", "summary", "reason"} {
		known[name] = true
	}
	here, err := os.Getwd()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		fix.backend.proposals = nil
		result := fix.server.Call(context.Background(), caller, "", request)
		text, err := json.Marshal(result)
		if err != nil {
			t.Fatalf("%q: the answer can't be written: %v", request, err)
		}
		var answer struct {
			Success *bool
			Error   *struct{ Code, Message string }
		}
		if err := json.Unmarshal(text, &answer); err != nil || answer.Success == nil || *answer.Success == (answer.Error != nil) {
			t.Fatalf("%q: no envelope: %s", request, text)
		}
		if answer.Error != nil {
			for _, inner := range []string{"interface {}", "map[string]", "mcpaql", "goroutine", ".go:", here} {
				if strings.Contains(answer.Error.Message, inner) && !strings.Contains(string(request), inner) {
					t.Fatalf("%q: the message shows the program: %s", request, answer.Error.Message)
				}
			}
			return
		}
		var sent map[string]any
		if err := json.Unmarshal(request, &sent); err != nil {
			t.Fatalf("%q succeeded and is no object", request)
		}
		if _, batch := sent["operations"]; batch {
			return
		}
		for _, name := range names(sent) {
			if !known[name] {
				t.Fatalf("%q succeeded with the unknown parameter %s", request, name)
			}
		}
		for _, p := range fix.backend.proposals {
			if said := fmt.Sprint(sent); !strings.Contains(said, p.Action.Input) {
				t.Fatalf("%q: proposed %q", request, p.Action.Input)
			}
		}
	})
}

// names are the parameters of a request, in params and beside operation.
func names(sent map[string]any) []string {
	var out []string
	params, _ := sent["params"].(map[string]any)
	for _, level := range []map[string]any{sent, params} {
		for name := range level {
			if name != "operation" && name != "params" && !strings.HasPrefix(name, "_") {
				out = append(out, name)
			}
		}
	}
	sort.Strings(out)
	return out
}

// TestBlankTexts: a text of nothing but spaces is a missing one where one is required, and a text like any other where none is.
func TestBlankTexts(t *testing.T) {
	f := newFixture(t, nil)
	f.start("e")
	f.data(mcpaql.Create, `{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":"ls","step_description":"  "}}`)
	if len(f.backend.proposals) != 1 {
		t.Errorf("%d steps were proposed", len(f.backend.proposals))
	}
	f.failure(mcpaql.Create, `{"operation":"record_execution_step","params":{"element_name":"e","next_action_hint":" \t"}}`, mcpaql.CodeMissingParam)
}
