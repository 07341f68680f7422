package aql

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"interlock/internal/conform"
)

func tokenChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-SL-4.2"}, Drives: "MCP in a home that acknowledges", Do: permissions},
		{IDs: []string{"AQL-D-4.3", "AQL-E-4"}, Drives: "MCP over HTTP", Do: confirmations},
		{IDs: []string{"AQL-D-7.2-5"}, Drives: "MCP over HTTP", Do: reasonsFirst},
		{IDs: []string{"AQL-C-1"}, Drives: "MCP, log", Do: tokenForm},
		{IDs: []string{"AQL-C-2"}, Drives: "MCP over two connections", Do: tokenScope},
		{IDs: []string{"AQL-C-3"}, Drives: "MCP with calls that succeed, fail, and come at once", Do: tokenOnce},
		{IDs: []string{"AQL-C-6"}, Drives: "MCP with the token in other places", Do: tokenPlace},
		{IDs: []string{"AQL-C-7"}, Drives: "MCP, clock", Do: tokenCodes},
		{IDs: []string{"AQL-C-8"}, Drives: "MCP, log", Do: tokenEvents},
		{IDs: []string{"AQL-C-10"}, Drives: "MCP", Do: tokenIsNoProof},
	}
}

// tokens is a home whose server asks for confirmations itself.
func tokens(ctx context.Context, d *conform.Driver) (*conform.House, error) {
	return d.House(ctx, conform.Plan{Name: "aql-tokens", Clocked: true, Settings: "mcp_acknowledge: true\n"})
}

// asked is the token that a call is answered with, if it wants a confirmation.
func asked(r conform.Reply) string {
	if !failsBy(r, "CONFIRMATION_REQUIRED") {
		return ""
	}
	return r.Member("error.details.confirmation_token")
}

// confirmed carries an operation out, and confirms it where that is asked for.
func confirmed(c caller, operation string, with params) conform.Reply {
	r := do(c, operation, with)
	if token := asked(r); token != "" {
		return do(c, operation, confirming(with, token))
	}
	return r
}

// confirming are parameters with a token.
func confirming(with params, token string) params {
	out := params{"_confirmation": token}
	for name, value := range with {
		out[name] = value
	}
	return out
}

func permissions(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "permitted")
	defer c.Close()
	var w wrong
	for _, tc := range []struct {
		operation string
		with      params
		asks      bool
	}{
		{"introspect", params{"query": "types"}, false},
		{"execute_agent", params{"element_name": "e"}, true}, {"execute_agent", params{"element_name": "f"}, true},
		{"record_execution_step", params{"element_name": "e", "next_action_hint": "git status"}, true},
		{"record_execution_step", params{"element_name": "e", "next_action_hint": "git log"}, false},
		{"record_execution_step", params{"element_name": "f", "next_action_hint": "git diff"}, false},
		{"complete_execution", params{"element_name": "e"}, true}, {"abort_execution", params{"element_name": "f"}, true},
		{"introspect", params{"query": "operations"}, false},
	} {
		r := do(c, tc.operation, tc.with)
		w.unless((asked(r) != "") == tc.asks, "%s %v: %s", tc.operation, tc.with, short(r.Text))
		if token := asked(r); token != "" {
			again := do(c, tc.operation, confirming(tc.with, token))
			w.unless(again.Member("success") == "true", "%s with its token: %s", tc.operation, again.Text)
		}
	}
	other := connect(ctx, h, "permitted")
	defer other.Close()
	confirmed(other, "execute_agent", params{"element_name": "e"})
	w.unless(asked(step(other, "e", "git status")) != "", "another connection's steps are not asked about")
	said := conform.Reply{Text: do(c, "introspect", params{"query": "operations"}).Member("data._protocol.permissions")}
	for operation, want := range map[string]string{"introspect": "AUTO_APPROVE", "record_execution_step": "CONFIRM_SESSION",
		"execute_agent":      "CONFIRM_SINGLE_USE",
		"complete_execution": "CONFIRM_SINGLE_USE", "abort_execution": "CONFIRM_SINGLE_USE", "confirm_operation": "AUTO_APPROVE"} {
		w.unless(said.Member(operation) == want, "%s says %s", operation, said.Member(operation))
	}
	return "introspection is free, steps are confirmed once per connection, what begins and ends executions each time", w.err()
}

func confirmations(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	c := remote{ctx, h, "validated"}
	var w wrong
	with := params{"element_name": "destructive work"}
	r := do(c, "execute_agent", with)
	details := conform.Reply{Text: r.Member("error.details")}
	at, err := time.Parse(time.RFC3339, details.Member("expires_at"))
	w.unless(failsBy(r, "CONFIRMATION_REQUIRED") && details.Member("operation") == "execute_agent" &&
		details.Member("danger_level") == "destructive" &&
		details.Member("reasons.0") != "" && details.Member("confirmation_message") != "" &&
		strings.HasPrefix(details.Member("confirmation_token"), "conf_") &&
		err == nil && at.After(h.Now()), "it is asked with %s", r.Text)
	w.shaped("ResultFailure", r.Text)
	token := asked(r)
	w.unless(do(c, "execute_agent", confirming(with, token)).Member("data.status") == "running",
		"the same request with the token does not pass")
	again := do(c, "execute_agent", confirming(with, token))
	w.unless(again.Member("success") == "false", "it passes twice: %s", again.Text)
	return "asked with operation, level, reasons, message, token and expiry; the same request passes once with the token", w.err()
}

func reasonsFirst(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	var w wrong
	r := begin(remote{ctx, h, "validated"}, "destructive reasons")
	w.unless(asked(r) != "" && strings.Contains(r.Member("error.details.reasons"), "it removes herons"), "it is asked with %s",
		r.Text)
	return "why it is destructive is with the question: " + r.Member("error.details.reasons"), w.err()
}

var tokenText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^conf_[A-Za-z0-9_-]{22,75}$`) })

func tokenForm(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "formed")
	defer c.Close()
	var w wrong
	const drawn = 40
	columns := map[int]map[byte]bool{}
	token := ""
	for n := range drawn {
		token = asked(begin(c, fmt.Sprintf("e%d", n)))
		w.unless(tokenText().MatchString(token), "a token is %q", token)
		for at := 5; at < len(token); at++ {
			if columns[at] == nil {
				columns[at] = map[byte]bool{}
			}
			columns[at][token[at]] = true
		}
	}
	bits := 0
	for _, c := range columns {
		if len(c) > 16 { // of forty that are drawn from 64
			bits += 6
		}
	}
	w.unless(bits >= 126, "%d bits of %d tokens change", bits, drawn) // the last place holds two bits
	w.unless(!strings.Contains(h.CLI(ctx, "", "audit", "list", "--json").Out, token), "a token is in the log")
	events := h.Events(ctx, "TOKEN_ISSUED")
	w.unless(strings.Contains(events, `"sha256:`), "the log does not name tokens by their hash")
	return fmt.Sprintf("conf_ and 22 places of 64 symbols, of which %d bits change among %d; the log has hashes", bits+2, drawn),
		w.err()
}

func tokenScope(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	if err := h.Agent(ctx, "validated-too"); err != nil {
		return "", err
	}
	one, other := remote{ctx, h, "validated"}, remote{ctx, h, "validated-too"}
	var w wrong
	with := params{"element_name": "destructive scope", "goal": "heron"}
	token := asked(do(one, "execute_agent", with))
	w.unless(token != "", "nothing is asked")
	for name, r := range map[string]conform.Reply{
		"other parameters":   do(one, "execute_agent", confirming(params{"element_name": "destructive scope", "goal": "egret"}, token)),
		"another element":    do(one, "execute_agent", confirming(params{"element_name": "destructive other", "goal": "heron"}, token)),
		"another connection": do(other, "execute_agent", confirming(with, token)),
	} {
		w.unless(failsBy(r, "TOKEN_SCOPE_MISMATCH"), "%s: %s", name, r.Text)
	}
	stream := connect(ctx, h, "elsewhere")
	defer stream.Close()
	r := do(stream, "execute_agent", confirming(params{"element_name": "dangerous scope"}, token))
	w.unless(failsBy(r, "TOKEN_INVALID"), "at another issuer: %s", r.Text)
	acknowledging, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, acknowledging, "scoped")
	defer c.Close()
	confirmed(c, "execute_agent", params{"element_name": "e"})
	ending := asked(do(c, "complete_execution", params{"element_name": "e"}))
	r = do(c, "abort_execution", confirming(params{"element_name": "e"}, ending))
	w.unless(ending != "" && failsBy(r, "TOKEN_SCOPE_MISMATCH"), "another operation: %s", r.Text)
	w.unless(do(one, "execute_agent", confirming(with, token)).Member("success") == "true", "what it was issued for does not pass")
	return "another operation, other parameters, another connection and another issuer are refused, what it was issued for passes",
		w.err()
}

func tokenOnce(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "once")
	defer c.Close()
	var w wrong
	with := params{"element_name": "e"}
	token := asked(do(c, "execute_agent", with))
	w.unless(do(c, "execute_agent", confirming(with, token)).Member("success") == "true", "it does not count once")
	w.unless(failsBy(do(c, "execute_agent", confirming(with, token)), "TOKEN_ALREADY_USED"), "it counts twice")
	nothing := params{"element_name": "nothing of this name"}
	token = asked(do(c, "complete_execution", nothing))
	first := do(c, "complete_execution", confirming(nothing, token))
	second := do(c, "complete_execution", confirming(nothing, token))
	w.unless(failsBy(first, "NOT_FOUND_RESOURCE") && failsBy(second, "TOKEN_ALREADY_USED"), "of a call that fails: %s, then %s",
		first.Text, second.Text)
	return "it counts once, and a call that fails has used it up as well", w.err()
}

func tokenPlace(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "placed")
	defer c.Close()
	var w wrong
	with := params{"element_name": "e"}
	token := asked(do(c, "execute_agent", with))
	for _, name := range []string{"_token", "_confirmation_token", "_confirm"} {
		r := do(c, "execute_agent", params{"element_name": "e", name: token})
		w.unless(asked(r) != "", "as %s: %s", name, r.Text)
	}
	r := do(c, "execute_agent", params{"element_name": "e", "confirmation": token})
	w.unless(failsBy(r, "VALIDATION_UNKNOWN_PARAM"), "as confirmation: %s", r.Text)
	w.unless(do(c, "execute_agent", confirming(with, token)).Member("success") == "true", "as params._confirmation it is refused")
	return "it counts as params._confirmation, and under no other name", w.err()
}

func tokenCodes(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "codes")
	defer c.Close()
	var w wrong
	with := params{"element_name": "e"}
	unknown, malformed := do(c, "execute_agent", confirming(with, "conf_AAAAAAAAAAAAAAAAAAAAAA")), do(c, "execute_agent",
		confirming(with, "nonsense"))
	w.unless(failsBy(unknown, "TOKEN_INVALID") && unknown.Text == malformed.Text, "an unknown one: %s, a malformed one: %s",
		unknown.Text, malformed.Text)
	token := asked(do(c, "execute_agent", with))
	w.unless(failsBy(do(c, "execute_agent", confirming(params{"element_name": "f"}, token)), "TOKEN_SCOPE_MISMATCH"),
		"a mismatching one has another code")
	do(c, "execute_agent", confirming(with, token))
	w.unless(failsBy(do(c, "execute_agent", confirming(with, token)), "TOKEN_ALREADY_USED"), "a used one has another code")
	token = asked(do(c, "execute_agent", with))
	h.Pass(6 * time.Minute)
	late := do(c, "execute_agent", confirming(with, token))
	w.unless(failsBy(late, "TOKEN_EXPIRED"), "an expired one: %s", late.Text)
	return "TOKEN_INVALID alike for unknown and malformed ones, TOKEN_EXPIRED, TOKEN_ALREADY_USED, TOKEN_SCOPE_MISMATCH", w.err()
}

func tokenEvents(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "recorded")
	var w wrong
	with := params{"element_name": "e"}
	token := asked(do(c, "execute_agent", with))
	do(c, "execute_agent", confirming(with, "conf_AAAAAAAAAAAAAAAAAAAAAA"))
	do(c, "execute_agent", confirming(with, token))
	asked(do(c, "execute_agent", params{"element_name": "f"}))
	c.Close()
	for _, kind := range []string{"TOKEN_ISSUED", "TOKEN_VALIDATED", "TOKEN_REJECTED", "TOKEN_REVOKED"} {
		found := false
		for line := range strings.Lines(h.Events(ctx, kind)) {
			var entry struct {
				Event struct {
					Actor   string `json:"actor_id"`
					Payload struct {
						Token     string `json:"token_hash"`
						Operation string
					}
				}
			}
			w.error(json.Unmarshal([]byte(line), &entry))
			found = found || entry.Event.Actor == "recorded" && entry.Event.Payload.Operation == "execute_agent" &&
				strings.HasPrefix(entry.Event.Payload.Token, "sha256:")
		}
		w.unless(found, "the log holds no %s of this agent", kind)
	}
	return "TOKEN_ISSUED, TOKEN_VALIDATED, TOKEN_REJECTED and TOKEN_REVOKED, each with its operation and the token's hash", w.err()
}

func tokenIsNoProof(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "proofless")
	defer c.Close()
	var w wrong
	token := asked(begin(c, "e"))
	w.unless(token != "", "there is no token")
	confirmed(c, "execute_agent", params{"element_name": "task"})
	held := confirmed(c, "record_execution_step", params{"element_name": "task", "next_action_hint": risky})
	request := held.Member("data.request_id")
	w.unless(holds(held) && request != "", "a risky step with a confirmation: %s", held.Text)
	for name, r := range map[string]conform.Reply{
		"the step": do(c, "record_execution_step", params{"element_name": "task", "next_action_hint": risky,
			"_confirmation": token}),
		"its request": do(c, "confirm_operation", params{"request_id": request, "_confirmation": token}),
		"a code":      do(c, "confirm_operation", params{"request_id": request, "code": token}),
	} {
		w.unless(!goesOn(r) && r.Member("data.confirmed") != "true", "with a token as %s: %s", name, r.Text)
	}
	s := connect(ctx, h, "proofless-stop")
	defer s.Close()
	confirmed(s, "execute_agent", params{"element_name": "task"})
	stop := confirmed(s, "record_execution_step", params{"element_name": "task", "next_action_hint": disaster})
	own := asked(verify(s, challenge(stop), "0000-0000-0000-0000-0000-0000-0000-0000"))
	r := confirmed(s, "verify_challenge", params{"challenge_id": challenge(stop), "code": own})
	w.unless(stops(stop) && own != "" && r.Member("success") == "false", "a token as a verification code: %s", r.Text)
	return "a token lets no step pass that a human has to answer, approves no request and is no verification code", w.err()
}
