package aql

import (
	"context"
	"strings"

	"interlock/internal/conform"
)

func pauseChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-8.6.4"}, Drives: "MCP, an operator's yes and code", Do: nothingProceeds},
		{IDs: []string{"AQL-8.7.3s"}, Drives: "MCP, everything that an agent is told, an operator's yes", Do: ownWord},
		{IDs: []string{"AQL-8.8.3b"}, Drives: "MCP, clock", Do: pendingVerification},
		{IDs: []string{"AQL-8.8.2d"}, Drives: "MCP", Do: namedChallenges},
		{IDs: []string{"AQL-D-8.2n"}, Drives: "MCP as the agent that pauses and another", Do: pausePrivate},
		{IDs: []string{"AQL-D-8.2d"}, Drives: "MCP, an operator's code", Do: dangerousPauses},
	}
}

// The steps that checks report: one that a human answers, one that takes a code, one that stops the agent.
const (
	risky     = "git push --force origin main"
	dangerous = "calling purge_cache on the web server"
	forbidden = "calling drop_table on the database server"
	disaster  = "rm -rf /"
	harmless  = "reading README.md"
)

func nothingProceeds(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	c := connect(ctx, h, "paused")
	defer c.Close()
	first := acts(c, risky)
	request := first.Member("data.request_id")
	w.unless(holds(first) && request != "", "a risky step: %s", first.Text)
	second := connect(ctx, h, "paused")
	defer second.Close()
	begin(second, "another")
	for name, r := range map[string]conform.Reply{"the same": step(c, "task", risky), "another": step(c, "task", harmless),
		"one with success": step(c, "task", harmless, "outcome", "success"), "of another execution": acted(c, "elsewhere", harmless),
		"over another connection": step(second, "another", harmless)} {
		w.unless(holds(r), "%s during the pause: %s", name, r.Text)
	}
	_, yes := h.Order(ctx, "ada", "approve", request)
	w.error(yes)
	w.unless(goesOn(step(c, "task", risky, "execution_id", first.Member("data.execution_id"))),
		"the step an operator approved does not go on")
	s := connect(ctx, h, "stopped")
	defer s.Close()
	stop := acts(s, disaster)
	w.unless(stops(stop), "a catastrophic step: %s", stop.Text)
	w.unless(stops(step(s, "task", harmless)), "a stopped agent's next step goes on")
	for name, r := range map[string]conform.Reply{"begin": begin(s, "new name"), "complete": do(s, "complete_execution",
		params{"element_name": "task"}),
		"abort": do(s, "abort_execution", params{"element_name": "task"})} {
		w.unless(failsBy(r, "PERMISSION_DENIED"), "a stopped agent may %s: %s", name, r.Text)
	}
	shown, err := code(ctx, h, challenge(stop))
	w.error(err)
	w.unless(verify(s, challenge(stop), shown).Member("data.unblocked") == "true" && goesOn(step(s, "task", harmless)),
		"a human's code does not let it go on")
	return "a pause outlasts other steps, outcomes, executions and connections until an operator's yes, a stop everything until a human's code", w.err()
}

func ownWord(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	c := connect(ctx, h, "own-word")
	defer c.Close()
	paused := acts(c, risky)
	request := paused.Member("data.request_id")
	for _, given := range []params{{"request_id": request}, {"request_id": request, "code": "approved"}, {"request_id": request,
		"code": request},
		{"request_id": request, "code": "0000-0000-0000-0000-0000-0000-0000-0000"}} {
		r := do(c, "confirm_operation", given)
		w.unless(r.Member("success") == "false", "its own word %v: %s", given, r.Text)
	}
	w.unless(holds(step(c, "task", risky)), "its own word has let it go on")
	log := h.CLI(ctx, "", "audit", "list", "--json").Out
	w.unless(strings.Contains(log, `"APPROVAL_REFUSED"`), "that it confirmed itself is not recorded")
	s := connect(ctx, h, "own-code")
	defer s.Close()
	verifying := acts(s, dangerous)
	shown, err := code(ctx, h, challenge(verifying))
	w.error(err)
	bare := strings.ReplaceAll(shown, "-", "")
	for _, r := range []conform.Reply{verifying, step(s, "task", harmless), step(s, "task", dangerous), do(s, "introspect",
		params{"query": "operations"})} {
		w.unless(len(bare) >= 26 && !strings.Contains(strings.ReplaceAll(r.Text, "-", ""), bare),
			"the agent is told the code, or there is none")
	}
	_, yes := h.Order(ctx, "ada", "approve", request)
	w.error(yes)
	w.unless(do(c, "confirm_operation", params{"request_id": request}).Member("data.confirmed") == "true" && goesOn(step(c, "task",
		risky)),
		"after a human's yes it does not go on")
	return "an agent's own word in four forms is refused and recorded, what it is told carries no proof, and a human's yes lets it go on", w.err()
}

func pendingVerification(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "verifying")
	defer c.Close()
	var w wrong
	first := acts(c, dangerous)
	id := challenge(first)
	w.unless(holds(first) && id != "", "a dangerous step: %s", first.Text)
	other := step(c, "task", harmless)
	w.unless(holds(other) && challenge(other) == id && strings.Contains(other.Member("data.reason"), id), "another step: %s",
		other.Text)
	begun := begin(c, "new")
	w.unless(begun.Member("data.status") == "running", "a new execution: %s", begun.Text)
	h.Pass(afterCode)
	fresh := step(c, "task", dangerous)
	w.unless(holds(fresh) && challenge(fresh) != "" && challenge(fresh) != id, "once its time is over: %s", fresh.Text)
	h.Pass(afterCode)
	w.unless(goesOn(step(c, "new", harmless)), "another step does not go on once its time is over")
	return "further steps wait and name the challenge, an execution begins, and after its time the step is asked about under a new challenge", w.err()
}

func namedChallenges(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "named")
	defer c.Close()
	var w wrong
	for hint, kind := range map[string]string{dangerous: "autonomy_pause", forbidden: "danger_zone"} {
		c := connect(ctx, h, "named-"+kind)
		r := acts(c, hint)
		c.Close()
		all := notes(r)
		w.unless(len(all) > 0 && all[0].Type == kind && uuid().MatchString(all[0].Metadata.VerificationID), "%s is told as %s", hint,
			r.Member("data.notifications"))
		w.unless(len(all) > 0 && strings.Contains(h.CLI(ctx, "", "block", "list", "--json").Out, all[0].Metadata.VerificationID),
			"operators see another challenge than %s", challenge(r))
	}
	return "a pause for a code is an autonomy_pause, a stop a danger_zone, each with the challenge that operators see", w.err()
}

func pausePrivate(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	near, c := connect(ctx, h, "beside-pause"), connect(ctx, h, "private-pause")
	defer near.Close()
	defer c.Close()
	var w wrong
	id := challenge(acts(c, dangerous))
	heard := acts(near, harmless)
	w.unless(id != "" && goesOn(heard) && !strings.Contains(heard.Text, id), "the challenge %q is told to another agent: %s", id,
		heard.Text)
	w.unless(challenge(step(c, "task", harmless)) == id, "its own agent is not told")
	return "its own agent is told of the challenge, another that executes is not", w.err()
}

func dangerousPauses(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "dangerous")
	defer c.Close()
	var w wrong
	r := acts(c, dangerous)
	w.unless(holds(r) && r.Member("data.nextStepRisk") == "verify" && r.Member("data.status") == "paused" && challenge(r) != "",
		"a dangerous step: %s", r.Text)
	w.unless(begin(c, "new").Member("success") == "true", "it is a hard stop")
	shown, err := code(ctx, h, challenge(r))
	w.error(err)
	w.unless(verify(c, challenge(r), shown).Member("data.verified") == "true", "the right code is refused")
	w.unless(!goesOn(step(c, "task", dangerous+" and the mail server")), "the code lets another action pass")
	w.unless(goesOn(step(c, "task", dangerous)), "the code does not let the step pass")
	return "a pause until a human's code, with which exactly that step passes", w.err()
}
