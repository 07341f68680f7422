package aql

import (
	"context"
	"strings"
	"time"

	"interlock/internal/conform"
)

func declaredChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-D-3.2"}, Drives: "introspect, MCP", Do: dangerBlock},
		{IDs: []string{"AQL-D-7.2-2"}, Drives: "HTTP API in homes of other rules and profiles", Do: policyConfigured},
		{IDs: []string{"AQL-D-7.3-1"}, Drives: "MCP, clock", Do: cooldown},
		{IDs: []string{"AQL-D-7.3-2"}, Drives: "MCP, an operator's code", Do: reauthentication},
		{IDs: []string{"AQL-D-9.1"}, Drives: "MCP, HTTP API", Do: conditions},
		{IDs: []string{"AQL-D-9.2"}, Drives: "MCP, operators of two roles, clock", Do: approvers},
	}
}

// declarations are what operators say of operations: the safety loop's own, which differ by their parameters, and others.
const declarations = `
danger:
  - {name: execute_agent, level: destructive, when: [{parameter: element_name, operator: matches, value: "destructive*"}], reasons: [it removes herons],
    confirmation_message: "Begin {element_name} now?"}
  - {name: execute_agent, level: dangerous, when: [{parameter: element_name, operator: matches, value: "dangerous*"}], reasons: [it can't be undone]}
  - {name: execute_agent, level: forbidden, when: [{parameter: element_name, operator: matches, value: "forbidden*"}], reasons: [nobody does this]}
  - {name: execute_agent, level: reversible, when: [{parameter: element_name, operator: matches, value: "often*"}], cooldown: 10m}
  - {name: complete_execution, level: reversible, when: [{parameter: summary, operator: matches, value: "careful*"}],
    approvers: {roles: [admin], within: 30m}}
  - {name: abort_execution, level: reversible, when: [{parameter: reason, operator: matches, value: "secret*"}], requires_reauth: true,
    audit_context: [reason], reasons: [it is about a secret]}
  - {name: get_heron_plans, level: forbidden}
  - {name: scored_destructive, level: destructive}
  - {name: scored_dangerous, level: dangerous}
  - {name: scored_forbidden, level: forbidden}
  - {name: refund_order, level: dangerous, when: [{parameter: amount, operator: ">", value: 100}]}
`

// declared is the home of these declarations.
func declared(ctx context.Context, d *conform.Driver) (*conform.House, error) {
	return d.House(ctx, conform.Plan{Name: "aql-declared", Clocked: true, Rules: declarations})
}

func dangerBlock(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	c := remote{ctx, h, "validated"}
	var w wrong
	danger := conform.Reply{Text: do(c, "introspect", params{"query": "operations"}).Member("data._protocol.danger")}
	execute, abort := conform.Reply{Text: danger.Member("execute_agent")}, conform.Reply{Text: danger.Member("abort_execution")}
	w.unless(execute.Member("level") == "forbidden" && strings.Contains(execute.Member("reasons"), "it removes herons") &&
		execute.Member("confirmation_message") == "Begin {element_name} now?" && execute.Member("cooldown_seconds") == "600", "execute_agent: %s", execute.Text)
	w.unless(abort.Member("requires_reauth") == "true" && strings.Contains(abort.Member("audit_context"), "reason"), "abort_execution: %s", abort.Text)
	w.shaped("DangerMetadata", execute.Text)
	asked := begin(c, "destructive herons")
	w.unless(asked.Member("error.details.confirmation_message") == "Begin destructive herons now?", "it is asked %s", asked.Text)
	return "level, reasons, message, cooldown, re-authentication and audit context as they are declared; the message is asked with the parameter's value", w.err()
}

func policyConfigured(ctx context.Context, d *conform.Driver) (string, error) {
	bare, err := judged(ctx, d)
	if err != nil {
		return "", err
	}
	with, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	strict, err := d.House(ctx, conform.Plan{Name: "aql-supervised", Clocked: true, Profile: "supervised"})
	if err != nil {
		return "", err
	}
	var w wrong
	for _, tc := range []struct {
		h          *conform.House
		tool, want string
	}{{bare, "scored_dangerous", "allow"}, {with, "scored_dangerous", "deny"}, {bare, "create_note", "allow"}, {strict, "create_note", "ask"}} {
		w.error(tc.h.Agents(ctx, "judged"))
		got := tc.h.Decide(ctx, "judged", conform.Tool(tc.tool, params{}))
		w.unless(got.Verdict == tc.want, "%s is %s by %s instead of %s", tc.tool, got.Verdict, got.Rule, tc.want)
	}
	return "one operation passes or is denied as rules declare it, another passes or is asked about by the profile", w.err()
}

func cooldown(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "often")
	defer c.Close()
	var w wrong
	w.unless(begin(c, "often one").Member("success") == "true", "the first does not begin")
	again := begin(c, "often two")
	w.unless(failsBy(again, "RATE_LIMIT_EXCEEDED"), "the second at once: %s", again.Text)
	w.unless(begin(c, "plain").Member("success") == "true", "another one waits as well")
	h.Pass(10*time.Minute + time.Second)
	later := begin(c, "often two")
	w.unless(later.Member("success") == "true", "after its time: %s", later.Text)
	return "the second is refused for ten minutes, what is not declared is not", w.err()
}

func reauthentication(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "reauth")
	defer c.Close()
	var w wrong
	begin(c, "plain")
	call := params{"element_name": "plain", "reason": "secret business"}
	held := do(c, "abort_execution", call)
	id := held.Member("error.details.verificationId")
	w.unless(failsBy(held, "PERMISSION_DENIED") && uuid().MatchString(id), "it is answered %s", held.Text)
	shown, err := code(ctx, h, id)
	w.error(err)
	w.unless(verify(c, id, shown).Member("data.verified") == "true", "the code is refused")
	w.unless(do(c, "abort_execution", call).Member("data.status") == "cancelled", "with the code it does not pass")
	begin(c, "other")
	w.unless(do(c, "abort_execution", params{"element_name": "other", "reason": "enough"}).Member("data.status") == "cancelled", "without the condition it does not pass")
	return "it takes a human's code, with which it passes", w.err()
}

func conditions(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	var w wrong
	c := remote{ctx, h, "validated"}
	w.unless(begin(c, "plain").Member("success") == "true", "by one value it does not begin")
	w.unless(failsBy(begin(c, "destructive"), "CONFIRMATION_REQUIRED"), "by another it is not confirmed")
	w.unless(failsBy(begin(c, "forbidden"), "PERMISSION_DANGER_LEVEL_DENIED"), "by a third it is not denied")
	var levels []string
	for _, amount := range []any{100, 101, "much"} {
		level, _ := levelOf(ctx, h, "validated", "refund_order", params{"amount": amount})
		levels = append(levels, level)
	}
	w.unless(levels[0] != "dangerous" && levels[1] == "dangerous" && levels[2] == "dangerous", "refunds of 100, 101 and something else are %v", levels)
	return "one operation is reversible, destructive or forbidden by its parameter, a refund dangerous above an amount and where it can't be compared", w.err()
}

func approvers(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	for name, role := range map[string]string{"olga": "operator", "adam": "admin"} {
		if err := h.Operator(ctx, name, role); err != nil {
			return "", err
		}
	}
	c := connect(ctx, h, "approved")
	defer c.Close()
	var w wrong
	begin(c, "plain")
	call := params{"element_name": "plain", "summary": "careful work"}
	held := do(c, "complete_execution", call)
	request := held.Member("error.details.request_id")
	w.unless(failsBy(held, "PERMISSION_DENIED") && request != "", "it is answered %s", held.Text)
	said := h.CLI(ctx, "", "approve", request, "--key", h.KeyFile("olga"))
	w.unless(said.Code != 0, "an operator of another role answers it: %s", said.Out)
	w.unless(do(c, "complete_execution", call).Member("success") == "false", "another role's yes counts")
	_, yes := h.Order(ctx, "adam", "approve", request)
	w.error(yes)
	w.unless(do(c, "complete_execution", call).Member("data.status") == "completed", "an admin's yes does not let it pass")
	begin(c, "late")
	call["element_name"] = "late"
	request = do(c, "complete_execution", call).Member("error.details.request_id")
	h.Pass(31 * time.Minute)
	late := h.CLI(ctx, "", "approve", request, "--key", h.KeyFile("adam"))
	w.unless(request != "" && late.Code != 0 && do(c, "complete_execution", call).Member("success") == "false", "a yes after its time counts: %s", late.Out)
	return "the named role answers it and no other, within its time", w.err()
}
