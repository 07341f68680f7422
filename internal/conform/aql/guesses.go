package aql

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock/internal/conform"
)

func guessChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-8.8.5"}, Drives: "MCP, another server, clock, log", Do: tenAttempts},
		{IDs: []string{"AQL-8.8.5p"}, Drives: "MCP, clock", Do: lockoutDoubles},
	}
}

// guess hands in a wrong code, and returns how it was answered.
func guess(c caller, id string, n int) conform.Reply {
	return verify(c, id, strings.Repeat(fmt.Sprintf("%04d-", n), 7)+"0000")
}

// guesses hands in so many wrong codes, and returns how many were looked at.
func guesses(c caller, id string, most int) (looked int) {
	for n := range most {
		if failsBy(guess(c, id, n+1), "RATE_LIMIT_EXCEEDED") {
			return looked
		}
		looked++
	}
	return looked
}

func tenAttempts(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	c := connect(ctx, h, "guessing")
	id := challenge(acts(c, disaster))
	looked := guesses(c, id, 14)
	w.unless(looked == 10, "%d wrong codes are looked at", looked)
	shown, err := code(ctx, h, id)
	w.error(err)
	w.unless(failsBy(verify(c, id, shown), "RATE_LIMIT_EXCEEDED"), "a right code is looked at as well")
	c.Close()
	again := connect(ctx, h, "guessing")
	defer again.Close()
	limited := guess(again, id, 20)
	w.unless(failsBy(limited, "RATE_LIMIT_EXCEEDED"), "after a restart: %s", limited.Text)
	wait, _ := strconv.Atoi(limited.Member("error.details.retry_after_seconds"))
	w.unless(wait > 50 && wait <= 60, "it is to wait %d seconds", wait)
	events := 0
	for line := range strings.Lines(h.Events(ctx, "VERIFICATION")) {
		if strings.Contains(line, id) {
			events++
		}
	}
	w.unless(events >= 13, "13 attempts left %d events", events)
	h.Pass(61 * time.Second)
	w.unless(!failsBy(guess(again, id, 21), "RATE_LIMIT_EXCEEDED"), "after a minute it is still closed")
	return "ten failed attempts in a minute are looked at, and then none, not even a right one, after a restart neither, until a minute has passed; each is an event",
		w.err()
}

func lockoutDoubles(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := clocked(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	c := connect(ctx, h, "guessing-on")
	defer c.Close()
	id := challenge(acts(c, disaster))
	var waits []int
	for range 2 {
		guesses(c, id, 14)
		wait, _ := strconv.Atoi(guess(c, id, 99).Member("error.details.retry_after_seconds"))
		waits = append(waits, wait)
		h.Pass(time.Duration(wait+1) * time.Second)
	}
	w.unless(waits[0] > 50 && waits[0] <= 60 && waits[1] > 110 && waits[1] <= 120, "it is to wait %v seconds", waits)
	return fmt.Sprintf("after the first ten failures it waits %d s, after the second ten %d s", waits[0], waits[1]), w.err()
}
