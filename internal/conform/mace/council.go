package mace

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"interlock/internal/conform"
)

func councilChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-GOV-T1", "MACE-GOV-2", "MACE-SIG-2"}, Drives: "operators' and the council's commands, log",
			Do: approvedAndExecuted},
		{IDs: []string{"MACE-GOV-5", "MACE-GOV-T4", "MACE-12-12"}, Drives: "the council's commands, control door", Do: cheated},
		{IDs: []string{"MACE-GOV-4", "MACE-GOV-3"}, Drives: "the council's commands, clock, log", Do: counted},
		{IDs: []string{"MACE-GOV-1", "MACE-2-8"}, Drives: "operators' and the council's commands, clock", Do: classes},
		{IDs: []string{"MACE-11-2", "MACE-12-4"}, Drives: "HTTP API, the council's commands, log", Do: setAside},
	}
}

// about counts the events of a type that hold a text.
func (t town) about(ctx context.Context, kind, holds string) (n int) {
	for _, e := range t.events(ctx, kind) {
		if strings.Contains(string(e.Payload), holds) && e.Signature != "" {
			n++
		}
	}
	return n
}

func approvedAndExecuted(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	id, err := t.asks(ctx, "adam", "code_upload", "agent:scout", "version 2", "--params", "sha256:01")
	if err != nil {
		return "", err
	}
	early := t.refused(ctx, "adam", "the request is pending", "request", "execute", id)
	if err := t.settled(ctx, id); err != nil {
		return "", err
	}
	twice := t.refused(ctx, "c4", "the request is executing", "request", "execute", id)
	_, told := t.Order(ctx, "adam", "request", "execute", id, "--executed")
	asked, votes, steps := t.about(ctx, "ACTION_REQUEST", id), t.about(ctx, "COUNCIL_VOTE", id), t.about(ctx,
		"ACTION_REQUEST_STATUS", id)
	done, alert := t.newest(ctx, "executed_event", "code_upload"), t.newest(ctx, "ALERT", "code_upload")
	return fmt.Sprintf("asked, told, voted on with %d signatures in events of their own, counted in %d steps and executed once: %s",
			votes, steps,
			done.by()), conform.First(early, twice, told, done.is("executed_event"), alert.is("ALERT"),
			conform.Unless(asked == 1 && votes == 3 && steps >= 2, "%d requests, %d votes and %d steps are in the log", asked, votes,
				steps),
			conform.Unless(t.status(ctx, id) == "executed", "it is %s", t.status(ctx, id)))
}

func cheated(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	id, err := t.asks(ctx, "adam", "code_upload", "agent:scout", "version 3")
	if err != nil {
		return "", err
	}
	own := t.refused(ctx, "adam", "can't answer its own request", "request", "vote", id, "--approve")
	if err := t.votes(ctx, id, "c1"); err != nil {
		return "", err
	}
	again := t.refused(ctx, "c1", "this member has voted", "request", "vote", id, "--reject", "--reason", "I changed my mind")
	viewer := t.refused(ctx, "vic", "who votes", "request", "vote", id, "--approve")
	signed, err := t.Order(ctx, "c2", "request", "vote", id, "--approve", "--signed")
	if err != nil {
		return "", err
	}
	path := "/actionrequest/" + id + "/vote"
	var order map[string]any
	if err := json.Unmarshal([]byte(signed.Out), &order); err != nil {
		return "", fmt.Errorf("a signed vote is no JSON: %w", err)
	}
	bare := map[string]any{}
	for name, value := range order {
		if text, is := value.(string); !is || len(text) < 60 { // signatures, statements and codes are longer
			bare[name] = value
		}
	}
	unsigned := t.Control(ctx, "", http.MethodPost, path, bare)
	agents := t.Control(ctx, "scout", http.MethodPost, path, order)
	taken, once := t.Control(ctx, "", http.MethodPost, path, order), t.Control(ctx, "", http.MethodPost, path, order)
	if err := t.votes(ctx, id, "c3"); err != nil {
		return "", err
	}
	late := t.refused(ctx, "c4", "the request is approved already", "request", "vote", id, "--approve")
	return "a vote counts once, of a member, signed, while voting is open: by who asks, again, without a signature, by an agent's token, handed in " +
			"twice or late it is refused", conform.First(own, again, viewer, late,
			conform.Unless(unsigned.Status >= 400, "without a signature: %d %s", unsigned.Status, unsigned.Text),
			conform.Unless(agents.Status == http.StatusUnauthorized, "by an agent: %d %s", agents.Status, agents.Text),
			conform.Unless(taken.Status == http.StatusOK && once.Status == http.StatusConflict, "once: %d %s, twice: %d", taken.Status,
				taken.Text, once.Status))
}

func counted(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := founded(ctx, d, "mace-late")
	if err != nil {
		return "", err
	}
	tied, err := t.asks(ctx, "adam", "code_upload", "agent:scout", "a tie")
	if err != nil {
		return "", err
	}
	short, err := t.asks(ctx, "adam", "code_upload", "agent:scout", "too few")
	if err != nil {
		return "", err
	}
	abstains := func(id string, who ...string) error {
		for _, m := range who {
			if _, err := t.Order(ctx, m, "request", "vote", id, "--abstain"); err != nil {
				return err
			}
		}
		return nil
	}
	if err := conform.First(t.votes(ctx, tied, "c1", "c2"), t.rejects(ctx, tied, "c3", "c4"), abstains(tied, "c5"),
		t.votes(ctx, short, "c1"), abstains(short, "c3", "c4")); err != nil {
		return "", err
	}
	t.Pass(25 * time.Hour)
	late := t.refused(ctx, "c5", "the time to vote is over", "request", "vote", short, "--approve")
	t.waits(ctx, func() bool { return t.status(ctx, short) == "expired" })
	event := t.newest(ctx, "ACTION_REQUEST_STATUS", `"expired"`)
	return "two against two is rejected; one approval and two abstentions are no quorum of three, and it expires: " + event.by(),
		conform.First(late,
			event.is("ACTION_REQUEST_STATUS"), conform.Unless(t.status(ctx, tied) == "rejected", "the tie is %s", t.status(ctx, tied)),
			conform.Unless(t.status(ctx, short) == "expired", "without a quorum it is %s", t.status(ctx, short)))
}

func classes(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := founded(ctx, d, "mace-late")
	if err != nil {
		return "", err
	}
	one, err := t.asks(ctx, "ada", "maintenance_toggle", "all", "an hour")
	if err != nil {
		return "", err
	}
	two, err := t.asks(ctx, "ada", "module_register", "agent:scout", "it scouts", "--params",
		`{"type":"agent","version":"1","policy":{"allowed_actions":["cat *"]}}`)
	if err != nil {
		return "", err
	}
	less := t.refused(ctx, "ada", "council_quorum", "request", "create", "code_upload", "--target", "agent:scout", "--because", "x",
		"--approval",
		"admin_single")
	member := t.refused(ctx, "c1", "", "request", "vote", one, "--approve")
	if err := conform.First(t.votes(ctx, one, "adam"), t.votes(ctx, two, "adam"), t.carries(ctx, "ada", two)); err != nil {
		return "", err
	}
	three, err := t.asks(ctx, "ada", "module_allow_action", "agent:scout", "it looks", "--params",
		`{"type":"agent","version":"1","policy":{"allowed_actions":["cat *","ls*"]}}`)
	if err != nil {
		return "", err
	}
	noticed := t.votes(ctx, three, "adam")
	early := t.refused(ctx, "ada", "which counts from", "request", "execute", three)
	t.Pass(25 * time.Hour)
	return "an admin's vote does for class 1; for class 2 it counts after the council had a day to object; class 3 takes a quorum and can't ask for less",
		conform.First(less, member, noticed, early, t.carries(ctx, "ada", three),
			conform.Unless(t.status(ctx, one) == "approved", "class 1 is %s", t.status(ctx, one)))
}

// upload is what the rule that is set aside asks about.
const upload = "scp out.txt backup.example.com:/data/"

func setAside(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	asks := func(run string) error {
		got := t.Decide(ctx, "scout", conform.Shell(upload).In(run))
		return conform.Unless(got.Answer == "deny" && got.Rule == "net.upload", "in the run %s it is answered %s by %s", run,
			got.Answer, got.Rule)
	}
	before := asks("job-1")
	fixed := t.refused(ctx, "adam", "can't be suppressed", "request", "create", "safety_override", "--target", "agent:scout",
		"--params",
		"rule=fs.delete-root run=job-1 for=1h", "--because", "x")
	id, err := t.given(ctx, "safety_override", "agent:scout", "the release waits", "--params", "rule=net.upload run=job-1 for=1h")
	if err != nil {
		return "", err
	}
	inside := t.Decide(ctx, "scout", conform.Shell(upload).In("job-1"))
	event, elsewhere := t.newest(ctx, "SAFETY_OVERRIDE", "net.upload"), asks("job-2")
	review := ""
	for line := range strings.Lines(t.CLI(ctx, "", "request", "list").Out) {
		if strings.Contains(line, "emergency_review") {
			review = patterns()["request"].FindString(line)
		}
	}
	if err := t.rejects(ctx, review, "c1", "c2", "c3"); err != nil {
		return "", err
	}
	return fmt.Sprintf("by three of the council one rule is silent in one job, and when their review %s rejects it no more: %s",
			review, event.by()),
		conform.First(before, fixed, elsewhere, asks("job-1"), event.is("SAFETY_OVERRIDE"),
			conform.Unless(inside.Rule != "net.upload", "in its job it is answered by %s", inside.Rule),
			conform.Unless(strings.Count(string(event.Payload), `"signature":`) >= 3, "the event of %s holds %s", id, event.Payload))
}
