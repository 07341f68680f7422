package mace

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"interlock/internal/conform"
)

func alarmChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-10-2", "MACE-12-9"}, Drives: "HTTP API, log", Do: alarms},
		{IDs: []string{"MACE-10-1"}, Drives: "HTTP API, a running server, log", Do: toldOf},
		{IDs: []string{"MACE-12-15"}, Drives: "HTTP API and control door under mace-stage1, log", Do: lookedAt},
		{IDs: []string{"MACE-12-13"}, Drives: "control door, operators' commands, log", Do: oneEvent},
	}
}

func alarms(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	if err := t.Agents(ctx, "stubborn"); err != nil {
		return "", err
	}
	for n := range 3 { // people are told of what is denied again and again
		action := conform.Shell("rm -rf /")
		action["call_id"] = fmt.Sprint("call-", n)
		t.Decide(ctx, "stubborn", action)
	}
	var alert event
	for _, e := range t.events(ctx, "ALERT") {
		if strings.HasPrefix(e.Trace, "call-") {
			alert = e
		}
	}
	return "people are told by " + alert.by() + ", which has the seed, snapshots, trace and signature of what it is about",
		conform.First(alert.is("ALERT"),
			conform.Unless(alert.Seed != "" && len(alert.Snapshots) > 0, "it has the seed %q and the snapshots %v", alert.Seed,
				alert.Snapshots))
}

func toldOf(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := d.House(ctx, conform.Plan{Name: "mace-told", Clocked: true, Settings: "profile: mace-stage1\n"})
	if err != nil {
		return "", err
	}
	t := town{h}
	if err := t.Agents(ctx, "scout"); err != nil {
		return "", err
	}
	denied, err := t.Expect(ctx, "scout", conform.Shell("rm -rf /"), "deny")
	if err != nil {
		return "", err
	}
	var told event
	t.waits(ctx, func() bool {
		told = t.newest(ctx, "ALERT", "1 SAFETY_BLOCK_EVENT; the newest is the event "+denied.Event)
		return told.ID != ""
	})
	_, err = t.Order(ctx, "ada", "hold", "set", "event:"+denied.Event, "--reason", "what it was made from is in doubt")
	held := t.newest(ctx, "ALERT", "event:"+denied.Event)
	return "a running server tells people of what was blocked, and of an incident the change that records it: " + told.by() + ", " + held.by(),
		conform.First(err, told.is("ALERT"), held.is("ALERT"), conform.Unless(told.Actor == "scout", "the alert is of %s", told.Actor))
}

func oneEvent(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	id, err := t.asks(ctx, "adam", "code_upload", "agent:scout", "heron is why")
	if err != nil {
		return "", err
	}
	asked := t.newest(ctx, "ACTION_REQUEST", id)
	redacted := t.Control(ctx, "", http.MethodGet, "/safety/events/"+asked.ID, nil)
	agents := t.Call(ctx, "scout", http.MethodGet, "/safety/events/"+asked.ID, nil)
	member := t.refused(ctx, "c1", "admin or the auditor role", "audit", "access", asked.ID, "--reason", "a look")
	whole, err := t.Order(ctx, "adam", "audit", "access", asked.ID, "--reason", "a look")
	access := t.newest(ctx, "admin_access_event", asked.ID)
	return "an event is told without what people wrote, to agents only their own, and whole on an admin's order, which is recorded: " + access.by(),
		conform.First(err, member, access.is("admin_access_event"),
			conform.Unless(redacted.Status == http.StatusOK && !strings.Contains(redacted.Text, "heron"), "%d %s", redacted.Status,
				redacted.Text),
			conform.Unless(agents.Status == http.StatusNotFound, "an agent is answered %d", agents.Status),
			conform.Unless(strings.Contains(whole.Out, "heron is why"), "an admin is answered %s", whole.Out))
}

func lookedAt(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := d.House(ctx, conform.Plan{Name: "mace-told", Clocked: true, Settings: "profile: mace-stage1\n"})
	if err != nil {
		return "", err
	}
	t := town{h}
	if err := t.Agents(ctx, "looker"); err != nil {
		return "", err
	}
	events := t.Call(ctx, "looker", http.MethodGet, "/v1/events", nil)
	head := t.Call(ctx, "looker", http.MethodGet, "/v1/checkpoint", nil)
	state := t.Control(ctx, "", http.MethodGet, "/v1/kill", nil)
	one, two := t.newest(ctx, "admin_access_event", "GET /v1/events"), t.newest(ctx, "admin_access_event", "GET /v1/checkpoint")
	three := t.newest(ctx, "admin_access_event", "GET /v1/kill")
	return "a look at events, at the head and at the switch leaves a signed event each: " + one.by() + ", " + two.by() + ", " + three.by(),
		conform.First(one.is("admin_access_event"), two.is("admin_access_event"), three.is("admin_access_event"),
			conform.Unless(one.Actor == "looker", "the look is %s's", one.Actor),
			conform.Unless(events.Status == http.StatusOK && head.Status == http.StatusOK && state.Status == http.StatusOK, "%d, %d and %d",
				events.Status, head.Status, state.Status))
}
