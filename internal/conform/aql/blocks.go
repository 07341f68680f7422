package aql

import (
	"context"
	"strings"
	"time"

	"interlock/internal/conform"
)

func blockChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-8.7.3"}, Drives: "MCP as four agents, on streams and over HTTP, an admin's order", Do: broadcasts},
		{IDs: []string{"AQL-8.8"}, Drives: "MCP", Do: outOfBand},
		{IDs: []string{"AQL-8.8.1"}, Drives: "MCP as the agent that is stopped and another", Do: stopBroadcasts},
		{IDs: []string{"AQL-D-8.2f"}, Drives: "MCP", Do: forbiddenStops},
		{IDs: []string{"AQL-8.8.3a"}, Drives: "MCP over several connections, hook, operators' orders", Do: blockBinds},
	}
}

// told reports whether a directive tells of another agent's block.
func told(r conform.Reply, id string) bool {
	for _, n := range notes(r) {
		if n.Type == "danger_zone" && n.Metadata.VerificationID == id && n.Message != "" {
			_, err := time.Parse(time.RFC3339, n.Timestamp)
			return err == nil
		}
	}
	return false
}

func broadcasts(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "far"); err != nil {
		return "", err
	}
	near, bad, worse := connect(ctx, h, "near"), connect(ctx, h, "bad"), connect(ctx, h, "worse")
	defer near.Close()
	defer bad.Close()
	defer worse.Close()
	others := map[string]caller{"on streams": near, "over HTTP": remote{ctx, h, "far"}}
	for _, c := range others {
		begin(c, "task")
	}
	var w wrong
	first, second := challenge(acts(bad, disaster)), challenge(acts(worse, forbidden))
	w.unless(first != "" && second != "" && first != second, "two agents are stopped by %q and %q", first, second)
	for name, c := range others {
		for _, when := range []string{"at once", "again"} {
			r := step(c, "task", harmless)
			w.unless(goesOn(r) && told(r, first) && told(r, second), "an agent %s is not told %s: %s", name, when,
				r.Member("data.notifications"))
		}
	}
	own := step(bad, "task", harmless)
	w.unless(told(own, first) && told(own, second), "a stopped agent is told %s", own.Member("data.notifications"))
	w.error(lift(ctx, h, first))
	for name, c := range others {
		r := step(c, "task", harmless)
		w.unless(!told(r, first) && told(r, second), "an agent %s, once one is lifted: %s", name, r.Member("data.notifications"))
	}
	w.error(lift(ctx, h, second))
	for name, c := range others {
		r := step(c, "task", harmless)
		w.unless(!told(r, second), "an agent %s, once both are lifted: %s", name, r.Member("data.notifications"))
	}
	risk := step(near, "task", risky)
	for _, n := range notes(risk) {
		_, err := time.Parse(time.RFC3339, n.Timestamp)
		w.unless(err == nil && n.Message != "", "a notification is %+v", n)
	}
	w.shaped("AutonomyDirective", risk.Member("data"))
	return "two blocks are told to every executing agent with each step until each is lifted, typed and timed", w.err()
}

func outOfBand(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := looped(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	for name, tc := range map[string]struct {
		hint string
		is   func(conform.Reply) bool
	}{"verify": {dangerous, holds}, "danger-zone": {forbidden, stops}, "pattern": {"shred notes.txt", stops}} {
		c := connect(ctx, h, "band-"+name)
		r := acts(c, tc.hint)
		w.unless(tc.is(r) && uuid().MatchString(challenge(r)), "%s: %s", tc.hint, r.Text)
		w.unless(!goesOn(step(c, "task", tc.hint)), "%s goes on without a code", tc.hint)
		shown, err := code(ctx, h, challenge(r))
		w.error(err)
		w.unless(verify(c, challenge(r), shown).Member("data.verified") == "true", "a human's code for %s is refused", tc.hint)
		c.Close()
	}
	return "a verify tier, a danger zone and a deny pattern each take a code that an operator has shown", w.err()
}

func stopBroadcasts(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := looped(ctx, d)
	if err != nil {
		return "", err
	}
	near := connect(ctx, h, "bold-near")
	defer near.Close()
	begin(near, "task")
	var w wrong
	for name, hint := range map[string]string{"zone": forbidden, "pattern": "shred heron.txt"} {
		c := connect(ctx, h, "stop-"+name)
		r := acts(c, hint)
		c.Close()
		w.unless(stops(r) && told(r, challenge(r)), "%s: %s", hint, r.Text)
		heard := step(near, "task", harmless)
		w.unless(challenge(r) != "" && told(heard, challenge(r)), "%s is not broadcast: %s", hint, heard.Member("data.notifications"))
	}
	return "a danger zone and a deny pattern stop the agent, and are told to it and to another", w.err()
}

func forbiddenStops(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "forbidden")
	defer c.Close()
	var w wrong
	r := acts(c, forbidden)
	id := challenge(r)
	w.unless(stops(r) && r.Member("data.nextStepRisk") == "danger_zone" && id != "", "a forbidden step: %s", r.Text)
	w.unless(failsBy(begin(c, "new"), "PERMISSION_DENIED"), "the agent is not stopped")
	w.unless(verify(c, id, "0000-0000-0000-0000-0000-0000-0000-0000").Member("success") == "false", "any code lifts it")
	w.unless(stops(step(c, "task", harmless)), "it goes on without a code")
	shown, err := code(ctx, h, id)
	w.error(err)
	w.unless(verify(c, id, shown).Member("data.unblocked") == "true" && goesOn(step(c, "task", harmless)),
		"a human's code does not lift it")
	return "a hard stop of the agent, which a human's code lifts", w.err()
}

func blockBinds(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	if err := h.Operator(ctx, "olga", "operator"); err != nil {
		return "", err
	}
	var w wrong
	c := connect(ctx, h, "claude")
	before, _ := h.Hook(ctx, "claude", "t0", "git status")
	w.unless(before == "allow", "before it is stopped its hook answers %s", before)
	begin(c, "other")
	id := challenge(acts(c, disaster))
	w.unless(stops(step(c, "other", harmless)), "another execution goes on")
	w.unless(failsBy(begin(c, "new name"), "PERMISSION_DENIED"), "another name begins")
	c.Close()
	again := connect(ctx, h, "claude", "--endpoints", "single")
	defer again.Close()
	r := begin(again, "after a restart")
	w.unless(failsBy(r, "PERMISSION_DENIED") && strings.Contains(r.Text, id), "after a restart of its server: %s", r.Text)
	h.Down()
	w.error(h.Up(ctx))
	w.unless(failsBy(begin(again, "later"), "PERMISSION_DENIED"), "after a restart of the home's server it begins")
	permission, said := h.Hook(ctx, "claude", "t1", "git status")
	w.unless(permission == "deny" && strings.Contains(said.Out, id), "its hook answers %s", said.Out+said.Err)
	w.unless(verify(again, id, "0000-0000-0000-0000-0000-0000-0000-0000").Member("success") == "false" && failsBy(begin(again, "x"),
		"PERMISSION_DENIED"),
		"a wrong code lifts it")
	said = h.CLI(ctx, "", "block", "lift", id, "--reason", "x", "--key", h.KeyFile("olga"))
	w.unless(said.Code != 0 && failsBy(begin(again, "x"), "PERMISSION_DENIED"), "an operator who is no admin lifts it: %s", said.Out)
	w.error(lift(ctx, h, id))
	w.unless(begin(again, "free").Member("success") == "true", "an admin's order does not lift it")
	next := step(again, "free", disaster)
	shown, err := code(ctx, h, challenge(next))
	w.error(err)
	w.unless(stops(next) && challenge(next) != id && verify(again, challenge(next), shown).Member("data.unblocked") == "true" &&
		begin(again, "free again").Member("success") == "true", "a right code does not lift it")
	return "it binds the agent in other executions, names, connections and doors and after restarts; an admin's order or a right code lifts it", w.err()
}
