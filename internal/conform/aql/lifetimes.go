package aql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"interlock/internal/conform"
)

func lifetimeChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-C-4"}, Drives: "MCP, clock, settings beyond the bounds", Do: tokenLives},
		{IDs: []string{"AQL-C-5"}, Drives: "introspect, MCP, clock, settings", Do: tolerance},
		{IDs: []string{"AQL-C-9"}, Drives: "MCP with a thousand tokens, clock", Do: thousand},
	}
}

// lives is how long a token lives, by what its question says.
func lives(h *conform.House, r conform.Reply) time.Duration {
	at, err := time.Parse(time.RFC3339, r.Member("error.details.expires_at"))
	if err != nil {
		return 0
	}
	return at.Sub(h.Now()).Round(2 * time.Second)
}

func tokenLives(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	with, err := declared(ctx, d)
	if err != nil {
		return "", err
	}
	if err := trusted(ctx, with); err != nil {
		return "", err
	}
	// The clock tolerance of thirty seconds is on top of what a token lives.
	const within, beyond, beyondForbidden = 4*time.Minute + 50*time.Second, 5*time.Minute + 31*time.Second, 2*time.Minute +
		31*time.Second
	var w wrong
	c := connect(ctx, h, "living")
	defer c.Close()
	e := params{"element_name": "e"}
	r := do(c, "execute_agent", e)
	w.unless(lives(h, r) == 5*time.Minute, "a token lives %s", lives(h, r))
	h.Pass(within)
	w.unless(do(c, "execute_agent", confirming(e, asked(r))).Member("success") == "true", "it does not live so long")
	r = do(c, "execute_agent", e)
	h.Pass(beyond)
	w.unless(failsBy(do(c, "execute_agent", confirming(e, asked(r))), "TOKEN_EXPIRED"), "it lives longer")
	f, agent := params{"element_name": "forbidden"}, remote{ctx, with, "certified"}
	r = do(agent, "execute_agent", f)
	w.unless(lives(with, r) == 2*time.Minute, "one of a forbidden operation lives %s: %s", lives(with, r), r.Text)
	with.Pass(beyondForbidden)
	w.unless(failsBy(do(agent, "execute_agent", confirming(f, asked(r))), "TOKEN_EXPIRED"),
		"one of a forbidden operation lives longer")
	w.error(outOfBounds(ctx, d, "mcp_token_ttl: 16m", "mcp_forbidden_token_ttl: 6m"))
	return "five minutes, of a forbidden operation two; settings of 16 and 6 are refused", w.err()
}

// outOfBounds is a fault unless servers refuse each setting.
func outOfBounds(ctx context.Context, d *conform.Driver, settings ...string) error {
	for n, setting := range settings {
		h, err := d.House(ctx, conform.Plan{Name: fmt.Sprintf("aql-bounds-%d-%s", n, strings.SplitN(setting, ":", 2)[0]),
			Settings: setting + "\n"})
		if err == nil {
			return fmt.Errorf("a server starts with %s at %s", setting, h.API)
		}
		if !strings.Contains(err.Error(), "may") {
			return fmt.Errorf("with %s: %w", setting, err)
		}
	}
	return nil
}

func tolerance(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	long, err := d.House(ctx, conform.Plan{Name: "aql-tolerant", Clocked: true,
		Settings: "mcp_acknowledge: true\nmcp_clock_tolerance: 5m\n"})
	if err != nil {
		return "", err
	}
	var w wrong
	e := params{"element_name": "e"}
	for _, tc := range []struct {
		h      *conform.House
		told   string
		late   time.Duration
		passes bool
		warns  bool
	}{{h, "30", 25 * time.Second, true, false}, {h, "30", 32 * time.Second, false, false}, {long, "300", 295 * time.Second, true,
		true},
		{long, "300", 302 * time.Second, false, true}} {
		c := connect(ctx, tc.h, "tolerant")
		told := do(c, "introspect", params{"query": "operations"}).Member("data._protocol.safety_loop.confirmation_tokens.clock_tolerance_seconds")
		r := do(c, "execute_agent", e)
		late := 5*time.Minute + tc.late
		tc.h.Pass(late)
		passed := do(c, "execute_agent", confirming(e, asked(r)))
		w.unless(told == tc.told && (passed.Member("success") == "true") == tc.passes, "told as %s, %s late: %s", told, tc.late,
			passed.Text)
		c.Close()
		w.unless(strings.Contains(c.Diagnostics(), "tolerance") == tc.warns, "with %s it says %q", tc.told, c.Diagnostics())
	}
	w.error(outOfBounds(ctx, d, "mcp_clock_tolerance: 301s"))
	return "30 s by default, 300 s where it is set so, with a warning, and not 301", w.err()
}

func thousand(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "thousand")
	defer c.Close()
	var w wrong
	first := params{"element_name": "e0"}
	token := asked(do(c, "execute_agent", first))
	fitted := 1
	for n := 1; n < 1000 && ctx.Err() == nil; n++ {
		if asked(begin(c, fmt.Sprintf("e%d", n))) == "" {
			break
		}
		fitted++
	}
	w.unless(fitted == 1000, "%d tokens fit", fitted)
	w.unless(do(c, "execute_agent", confirming(first, token)).Member("success") == "true",
		"the first of them does not count any more")
	spare := asked(do(c, "execute_agent", first))
	w.unless(spare == "" || fitted < 1000, "one more than a thousand fits")
	h.Pass(time.Hour)
	gone := do(c, "execute_agent", confirming(params{"element_name": "e1"}, token))
	w.unless(asked(do(c, "execute_agent", first)) != "", "after an hour there is no room")
	gone = do(c, "execute_agent", confirming(first, token))
	w.unless(failsBy(gone, "TOKEN_INVALID"), "after an hour an expired token is still known: %s", gone.Text)
	return "a thousand live tokens fit, and an hour later they are forgotten", w.err()
}
