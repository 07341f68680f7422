package mace

import (
	"context"
	"net/http"
	"strings"

	"interlock/internal/conform"
)

func emergencyChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-8.1-1"}, Drives: "operators' commands, HTTP API, log", Do: paused},
		{IDs: []string{"MACE-S-04", "MACE-GOV-T3", "MACE-8.1-2", "MACE-12-8"},
			Drives: "operators' and the council's commands, replay, log",
			Do:     overridden},
		{IDs: []string{"MACE-8.3-1", "MACE-9.3-1", "MACE-12-6", "MACE-12-14"},
			Drives: "HTTP API, operators' and the council's commands, replay, log",
			Do:     incidentHalts},
	}
}

func paused(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	viewer := t.refused(ctx, "vic", "role", "hold", "pause", "--reason", "x")
	if _, err := t.Order(ctx, "adam", "hold", "pause", "--reason", "maintenance"); err != nil {
		return "", err
	}
	got := t.Decide(ctx, "scout", conform.Shell("ls"))
	if _, err := t.Order(ctx, "adam", "hold", "resume", "--reason", "done"); err != nil {
		return "", err
	}
	_, after := t.Expect(ctx, "scout", conform.Shell("ls"), "allow")
	event := t.newest(ctx, "SYSTEM_PAUSE", "maintenance")
	return "an admin's order stops all new actions, and nothing else does, until an admin's order lets them go on: " + event.by(),
		conform.First(viewer,
			after, event.is("SYSTEM_PAUSE"), conform.Unless(got.Answer == "deny" || got.Answer == "halt",
				"during the pause ls is answered %s", got.Answer))
}

func overridden(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := founded(ctx, d, "mace-emergency")
	if err != nil {
		return "", err
	}
	if _, err := t.Expect(ctx, "scout", conform.Shell("ls"), "allow"); err != nil {
		return "", err
	}
	id, err := t.asks(ctx, "ada", "halt_replays", "all", "the log looks wrong")
	if err != nil {
		return "", err
	}
	first := t.votes(ctx, id, "ada")
	waits := t.status(ctx, id)
	second := t.votes(ctx, id, "adam")
	event, review := t.newest(ctx, "EMERGENCY_OVERRIDE", id), t.newest(ctx, "EMERGENCY_REVIEW", id)
	replay := t.CLI(ctx, "", "replay", "run")
	alone := t.refused(ctx, "adam", "the council clears it", "hold", "clear", "replays:all", "--reason", "x")
	return "one signature does nothing, a superadmin's and an admin's halt all replays, which an admin can't clear; the council's review is pending: " +
			event.by() + ", " + review.by(), conform.First(first, second, alone, event.is("EMERGENCY_OVERRIDE"),
			review.is("EMERGENCY_REVIEW"),
			conform.Unless(waits == "pending", "after one signature it is %s", waits),
			conform.Unless(strings.Count(string(event.Payload), `"signature":`) == 2, "the event holds %s", event.Payload),
			conform.Unless(strings.Contains(string(review.Payload), "pending"), "the review is %s", review.Payload),
			conform.Unless(replay.Code != 0 && strings.Contains(replay.Out, "FORCE_HALT_REPLAY"), "replay says %s", replay.Out))
}

func incidentHalts(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := founded(ctx, d, "mace-emergency")
	if err != nil {
		return "", err
	}
	reported := t.Call(ctx, "scout", http.MethodPost, "/safety/report", map[string]any{"title": "a way past the gate",
		"severity": "high", "text": "so"})
	id := reported.Member("event_id")
	if len(id) < 12 {
		return "", conform.Unless(false, "a report is answered %d %s", reported.Status, reported.Text)
	}
	if _, err := t.Order(ctx, "adam", "report", "triage", id[:12], "--state", "confirmed", "--reason", "seen here"); err != nil {
		return "", err
	}
	halt, incident := t.newest(ctx, "FORCE_HALT_REPLAY", "manifest:"), t.newest(ctx, "SECURITY_INCIDENT", "a way past")
	held := conform.Reply{Text: string(halt.Payload)}.Member("hold")
	during, replay := t.Decide(ctx, "scout", conform.Shell("ls")), t.CLI(ctx, "", "replay", "run")
	alone := t.refused(ctx, "adam", "quorum of the council", "hold", "clear", held, "--reason", "mended")
	if _, err := t.given(ctx, "force_halt_clear", held, "mended"); err != nil {
		return "", err
	}
	_, after := t.Expect(ctx, "scout", conform.Shell("ls"), "allow")
	return "a confirmed report is an incident: under the snapshots in force nothing is decided or made again until the council clears the hold: " +
			incident.by() + ", " + halt.by(), conform.First(incident.is("SECURITY_INCIDENT"), halt.is("FORCE_HALT_REPLAY"), alone, after,
			conform.Unless(during.Answer == "deny" || during.Answer == "halt", "during it ls is answered %s", during.Answer),
			conform.Unless(replay.Code != 0 && strings.Contains(replay.Out, "FORCE_HALT_REPLAY"), "replay says %s", replay.Out))
}
