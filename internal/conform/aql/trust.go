package aql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"interlock/internal/conform"
)

func trustChecks() []conform.Check {
	row := func(agent, trust string, want [5]string) conform.Check {
		return conform.Check{IDs: []string{"AQL-D-4.1-" + agent},
			Drives: "MCP over HTTP as an agent of that trust, with operations of every level",
			Do: func(ctx context.Context, d *conform.Driver) (string, error) {
				return matrixRow(ctx, d, agent, trust, want)
			}}
	}
	const a, c, n = "allowed", "confirmed", "denied"
	return []conform.Check{ // safe, reversible, destructive, dangerous, forbidden
		row("untested", "untested", [5]string{n, n, n, n, n}),
		row("generated", "generated", [5]string{a, n, n, n, n}),
		row("validated", "validated", [5]string{a, a, c, n, n}),
		row("community", "community_reviewed", [5]string{a, a, a, c, n}),
		row("certified", "certified", [5]string{a, a, a, a, c}),
		{IDs: []string{"AQL-D-4.4", "AQL-E-3", "AQL-D-7.1-4"}, Drives: "MCP over HTTP as agents of every trust", Do: denials},
		{IDs: []string{"AQL-T-1"}, Drives: "operators' orders", Do: oneLevel},
		{IDs: []string{"AQL-T-2"}, Drives: "operators' orders, log", Do: demotions},
		{IDs: []string{"AQL-T-4"}, Drives: "MCP over HTTP, clock", Do: expiry},
	}
}

// trusted adds an agent of each trust to a home, each by the name of its clause.
func trusted(ctx context.Context, h *conform.House) error {
	for agent, level := range map[string]string{"untested": "untested", "generated": "generated", "validated": "validated",
		"community": "validated",
		"certified": "validated"} {
		if err := h.Agent(ctx, agent, "--trust", level); err != nil {
			return err
		}
	}
	return conform.First(climb(ctx, h, "community", "community_reviewed"), climb(ctx, h, "certified", "community_reviewed"),
		climb(ctx, h, "certified", "certified"))
}

// climb raises an agent's trust by one level, unless it has it.
func climb(ctx context.Context, h *conform.House, agent, to string) error {
	if now := trustOf(ctx, h, agent); now == to || now == "certified" {
		return nil
	}
	args := []string{"trust", "promote", agent, "--evidence", "looked at"}
	if to == "certified" {
		args = append(args, "--for", "30d")
	}
	_, err := h.Order(ctx, "ada", args...)
	return err
}

// comesTo is what became of a call, in the words of the matrix.
func comesTo(r conform.Reply) string {
	switch {
	case r.Member("success") == "true":
		return "allowed"
	case failsBy(r, "CONFIRMATION_REQUIRED"):
		return "confirmed"
	case failsBy(r, "PERMISSION_DANGER_LEVEL_DENIED"):
		return "denied"
	}
	return r.Text
}

func matrixRow(ctx context.Context, d *conform.Driver, agent, trust string, want [5]string) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	var w wrong
	c := remote{ctx, h, agent}
	w.unless(trustOf(ctx, h, agent) == trust, "the agent is %s", trustOf(ctx, h, agent))
	w.unless(do(c, "introspect", params{"query": "operations"}).Member("success") == "true", "it may not introspect")
	got := [5]string{comesTo(do(c, "waiting_messages", nil))}
	for n, element := range []string{"plain", "destructive", "dangerous", "forbidden"} {
		got[n+1] = comesTo(begin(c, element))
	}
	w.unless(got == want, "what is safe, reversible, destructive, dangerous and forbidden is %v, and should be %v", got, want)
	return fmt.Sprintf("what is safe, reversible, destructive, dangerous and forbidden is %s", strings.Join(got[:], ", ")), w.err()
}

func denials(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	var w wrong
	denied := 0
	for _, tc := range [][4]string{{"untested", "plain", "untested", "validated"}, {"generated", "destructive", "generated",
		"validated"},
		{"validated", "dangerous", "validated", "community_reviewed"}, {"community", "forbidden", "community_reviewed", "certified"}} {
		r := begin(remote{ctx, h, tc[0]}, tc[1])
		details := conform.Reply{Text: r.Member("error.details")}
		level := map[string]string{"plain": "reversible"}[tc[1]]
		if level == "" {
			level = tc[1]
		}
		w.unless(failsBy(r, "PERMISSION_DANGER_LEVEL_DENIED") && details.Member("operation") == "execute_agent" &&
			details.Member("danger_level") == level &&
			details.Member("adapter_trust") == tc[2] && details.Member("minimum_trust_required") == tc[3] &&
			details.Member("reasons.0") != "",
			"%s by one who is %s: %s", tc[1], tc[0], r.Text)
		w.shaped("ResultFailure", r.Text)
		denied++
	}
	other := do(remote{ctx, h, "validated"}, "confirm_operation", params{"request_id": "apr_0"})
	w.unless(!failsBy(other, "PERMISSION_DANGER_LEVEL_DENIED"), "another failure has the same code: %s", other.Text)
	return fmt.Sprintf("%d denials by a code of their own, with operation, level, trust, the trust it would take, and reasons",
		denied), w.err()
}

func oneLevel(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return "", err
	}
	if err := h.Agent(ctx, "climbing", "--trust", "untested"); err != nil {
		return "", err
	}
	var w wrong
	levels := []string{"untested", "generated", "validated", "community_reviewed", "certified"}
	for n, level := range levels[:4] {
		w.unless(trustOf(ctx, h, "climbing") == level, "it is %s and should be %s", trustOf(ctx, h, "climbing"), level)
		promote := []string{"trust", "promote", "climbing", "--evidence", "looked at", "--key", h.KeyFile("ada")}
		if n+2 < len(levels) {
			said := h.CLI(ctx, "", append(promote, "--to", levels[n+2], "--for", "30d")...)
			w.unless(said.Code != 0 && trustOf(ctx, h, "climbing") == level, "two levels at once: %s", said.Out)
		}
		if levels[n+1] == "certified" {
			promote = append(promote, "--for", "30d")
		}
		said := h.CLI(ctx, "", promote...)
		w.unless(said.Code == 0, "from %s it does not climb: %s", level, said.Err)
	}
	w.unless(trustOf(ctx, h, "climbing") == "certified", "it is %s at last", trustOf(ctx, h, "climbing"))
	for _, start := range []string{"community_reviewed", "certified"} {
		said := h.CLI(ctx, "", "agent", "add", "high", "--trust", start, "--key", h.KeyFile("ada"))
		w.unless(said.Code != 0, "an agent begins as %s", start)
	}
	return "from untested to certified in four orders, two levels at once are refused, and nobody begins above validated", w.err()
}

func demotions(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return "", err
	}
	if err := h.Agent(ctx, "falling"); err != nil {
		return "", err
	}
	var w wrong
	_, down := h.Order(ctx, "ada", "trust", "demote", "falling", "--to", "untested", "--reason", "it lied about herons")
	w.error(down)
	w.unless(trustOf(ctx, h, "falling") == "untested", "it is %s", trustOf(ctx, h, "falling"))
	events := h.Events(ctx, "TRUST_CHANGE")
	w.unless(strings.Contains(events, "falling") && strings.Contains(events, "it lied about herons") && strings.Contains(events,
		"untested"),
		"the log holds %s", events)
	return "a demotion is recorded with its reason: TRUST_CHANGE", w.err()
}

func expiry(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, h); err != nil {
		return "", err
	}
	var w wrong
	c := remote{ctx, h, "certified"}
	before := comesTo(begin(c, "forbidden"))
	h.Pass(31 * 24 * time.Hour)
	after, lower := comesTo(begin(c, "forbidden")), comesTo(begin(c, "dangerous"))
	w.unless(before == "confirmed" && after == "denied" && lower == "confirmed",
		"what is forbidden is %s, after its time %s, what is dangerous then %s", before, after, lower)
	return "a certificate of 30 days is over after 31: what is forbidden is denied, what is dangerous confirmed", w.err()
}
