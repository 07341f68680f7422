package aql

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"interlock/internal/conform"
	"interlock/internal/mcpaql/published"
)

func errorChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-5.1"}, Drives: "MCP with every mistake", Do: envelopes},
		{IDs: []string{"AQL-E-1"}, Drives: "MCP with every mistake", Do: codesPublished},
		{IDs: []string{"AQL-E-2"}, Drives: "HTTP with requests that reach no operation", Do: statuses},
	}
}

// A mistake is one call that is wrong.
type mistake struct {
	name      string
	tool      string
	arguments any
	code      string
	names     string // what the message has to name
}

func mistakes() []mistake {
	const create, read, execute = "mcp_aql_create", "mcp_aql_read", "mcp_aql_execute"
	of := func(operation string, with params) params { return params{"operation": operation, "params": with} }
	task := func(more params) params {
		with := params{"element_name": "task", "next_action_hint": "git status"}
		for name, value := range more {
			with[name] = value
		}
		return of("record_execution_step", with)
	}
	return []mistake{
		{"no operation", read, params{}, "VALIDATION_MISSING_PARAM", "operation"},
		{"a parameter less", create, of("record_execution_step", params{"element_name": "task"}), "VALIDATION_MISSING_PARAM",
			"next_action_hint"},
		{"a parameter more", create, task(params{"unheard_of": 1}), "VALIDATION_UNKNOWN_PARAM", "unheard_of"},
		{"a number for a text", create, task(params{"element_name": 7}), "VALIDATION_INVALID_TYPE", "element_name"},
		{"none of a list", create, task(params{"outcome": "perhaps"}), "VALIDATION_INVALID_TYPE", "outcome"},
		{"NUL", create, task(params{"step_description": "a\x00b"}), "VALIDATION_INVALID_ENCODING", "step_description"},
		{"too deep", execute, of("execute_agent", params{"element_name": "task", "parameters": nested(40)}),
			"VALIDATION_PAYLOAD_TOO_LARGE", "max_nesting_depth"},
		{"another endpoint", create, of("introspect", params{"query": "types"}), "VALIDATION_ENDPOINT_MISMATCH", "mcp_aql_read"},
		{"no such operation", read, of("no_such_operation", nil), "NOT_FOUND_OPERATION", "no_such_operation"},
		{"no such execution", create, task(params{"element_name": "none of this name"}), "NOT_FOUND_RESOURCE", "execute_agent"},
		{"no such handle", execute, of("complete_execution", params{"execution_id": "exec_0"}), "NOT_FOUND_RESOURCE", "exec_0"},
		{"no such challenge", create, of("verify_challenge", params{"challenge_id": "00000000-0000-4000-8000-000000000000",
			"code": "x"}),
			"NOT_FOUND_RESOURCE", "challenge"},
		{"no such request", execute, of("confirm_operation", params{"request_id": "apr_0"}), "NOT_FOUND_RESOURCE", "request"},
		{"an execution that has ended", execute, of("abort_execution", params{"element_name": "over"}), "CONFLICT_VERSION_MISMATCH",
			"execute_agent"},
		{"one too many", execute, of("execute_agent", params{"element_name": "third"}), "RATE_LIMIT_QUOTA_EXHAUSTED", "execution"},
		{"a wrong code", create, of("verify_challenge", params{"challenge_id": "CHALLENGE",
			"code": "0000-0000-0000-0000-0000-0000-0000-0000"}),
			"PERMISSION_DENIED", "code"},
		{"an agent that is stopped", execute, of("execute_agent", params{"element_name": "task"}), "PERMISSION_DENIED",
			"verify_challenge"},
	}
}

// made makes each mistake, and hands its answer on.
func made(ctx context.Context, d *conform.Driver, agent string, seen func(m mistake, r conform.Reply)) error {
	h, err := d.House(ctx, conform.Plan{Name: "aql-few", Clocked: true, Settings: "mcp_executions: 2\n"})
	if err != nil {
		return err
	}
	c := connect(ctx, h, agent)
	defer c.Close()
	begin(c, "over")
	do(c, "complete_execution", params{"element_name": "over"})
	begin(c, "task")
	begin(c, "another")
	id := ""
	for _, m := range mistakes() {
		if strings.HasPrefix(m.code, "PERMISSION_") && id == "" {
			id = challenge(step(c, "task", disaster))
		}
		if with, ok := m.arguments.(params)["params"].(params); ok && with["challenge_id"] == "CHALLENGE" {
			with["challenge_id"] = id
		}
		seen(m, c.Tool(m.tool, m.arguments))
	}
	return nil
}

// leaks are what no message may tell of the program.
var leaks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.go\b|goroutine|panic|runtime error|/internal/|interlock\.|mcpaql|map\[|struct|(?:^|\s)/[a-z]+/|interlock\.db|<nil>|0x[0-9a-f]{6}|strconv|json:`)
})

func envelopes(ctx context.Context, d *conform.Driver) (string, error) {
	var w wrong
	n := 0
	err := made(ctx, d, "enveloped", func(m mistake, r conform.Reply) {
		n++
		w.shaped("ResultFailure", r.Text)
		message := r.Member("error.message")
		w.unless(r.Member("success") == "false" && r.Member("data") == "" && strings.Contains(message, m.names),
			"%s: the message does not name %s: %s", m.name,
			m.names, r.Text)
		w.unless(!leaks().MatchString(message), "%s: the message tells of the program: %s", m.name, message)
	})
	if err != nil {
		return "", err
	}
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "sound")
	defer c.Close()
	for _, r := range []conform.Reply{begin(c, "task"), step(c, "task", harmless), do(c, "introspect", params{"query": "types"}),
		do(c, "complete_execution", params{"element_name": "task"})} {
		w.shaped("ResultSuccess", r.Text)
		w.unless(r.Member("success") == "true" && r.Member("data") != "" && r.Member("error") == "", "a success: %s", r.Text)
	}
	return fmt.Sprintf("%d failures in the published form name what is wrong and nothing of the program; successes have data and no error", n), w.err()
}

func codesPublished(ctx context.Context, d *conform.Driver) (string, error) {
	shapes, err := published.Load()
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	for _, code := range shapes.Values("PublishedCode") {
		known[code] = true
	}
	var w wrong
	seen := map[string]bool{}
	err = made(ctx, d, "published", func(m mistake, r conform.Reply) {
		code := r.Member("error.code")
		w.unless(code == m.code && known[code], "%s: %s instead of %s", m.name, r.Text, m.code)
		seen[code] = true
	})
	return fmt.Sprintf("%d published codes, each for its mistake", len(seen)), conform.First(err, w.err())
}

func statuses(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "sent"); err != nil {
		return "", err
	}
	var w wrong
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	ok, nobody := h.Raw(ctx, "sent", "POST", "/mcp", list), h.Raw(ctx, "nobody", "POST", "/mcp", list)
	w.unless(ok.Status == 200, "a list of tools is answered %d: %s", ok.Status, ok.Text)
	w.unless(nobody.Status == 401 && failsBy(nobody, "PERMISSION_DENIED"), "without a token: %d %s", nobody.Status, nobody.Text)
	w.shaped("ResultFailure", nobody.Text)
	for name, tc := range map[string]struct {
		r    conform.Reply
		want []int
	}{
		"validation": {h.Raw(ctx, "sent", "POST", "/v1/decide", `{"kind":`), []int{400, 422}},
		"absence":    {h.Raw(ctx, "sent", "GET", "/v1/no-such-thing", ""), []int{404}},
		"permission": {h.Raw(ctx, "nobody", "POST", "/v1/decide", `{"kind":"shell","input":"ls"}`), []int{401, 403}},
		"what is larger": {h.Raw(ctx, "sent", "POST", "/v1/decide", `{"kind":"shell","input":"`+strings.Repeat("x", 8<<20)+`"}`),
			[]int{413}},
	} {
		w.unless(strings.Contains(fmt.Sprint(tc.want), fmt.Sprint(tc.r.Status)), "%s: %d %s", name, tc.r.Status, short(tc.r.Text))
	}
	return "within the protocol 200; outside it validation, absence, permission and size each have their status", w.err()
}
