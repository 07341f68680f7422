package mace

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"interlock/internal/conform"
)

func governingChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-2-5", "MACE-GOV-7", "MACE-GOV-T6"},
			Drives: "settings that change, operators' and the council's commands, log",
			Do:     constants},
		{IDs: []string{"MACE-6-1"}, Drives: "HTTP API, settings that change, log", Do: learns},
		{IDs: []string{"MACE-GOV-8"}, Drives: "operators' and the council's commands", Do: roster},
		{IDs: []string{"MACE-1-6", "MACE-11-1"}, Drives: "operators' commands, HTTP API, log", Do: policy},
		{IDs: []string{"MACE-2-3", "MACE-8.2-1"}, Drives: "operators' and the council's commands, HTTP API", Do: quarantined},
		{IDs: []string{"MACE-2-6"}, Drives: "operators' and the council's commands", Do: trusted},
	}
}

// governed is a town whose council decides on settings, rules and who governs, which it has decided itself.
func governed(ctx context.Context, d *conform.Driver) (town, error) {
	t, err := founded(ctx, d, "mace-governed")
	if err != nil {
		return t, err
	}
	mark := filepath.Join(filepath.Dir(t.Home), "governed")
	if _, err := os.Stat(mark); err == nil {
		return t, nil
	}
	t.Down()
	if err := t.settings("council: {governs: true}\n"); err != nil {
		return t, err
	}
	_, err = t.adopts(ctx, "the council governs")
	return t, conform.First(err, t.Up(ctx), os.WriteFile(mark, nil, 0o600))
}

// settings are the home's from now on, with more than it was founded with.
func (t town) settings(more string) error {
	return os.WriteFile(filepath.Join(t.Home, "interlock.yaml"), []byte("memory: {enabled: true, shared: [project]}\n"+more), 0o600)
}

// digests are what a refusal says is to be asked for.
var digests = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--params "?(sha256:[0-9a-f]+)`) })

// adopts has the council approve the settings that stand in the file, and ada adopt them. Before that she is refused.
func (t town) adopts(ctx context.Context, why string) (id string, err error) {
	args := []string{"settings", "adopt", "--reason", why}
	direct := t.CLI(ctx, "", append(args, "--key", t.KeyFile("ada"))...)
	found := digests().FindStringSubmatch(direct.Err)
	if direct.Code == 0 || found == nil {
		return "", conform.Unless(false, "a direct change ends with %d: %s", direct.Code, direct.Out+direct.Err)
	}
	if id, err = t.asks(ctx, "adam", "governance_constant", "this home's settings", why, "--params", found[1]); err != nil {
		return "", err
	}
	early := t.refused(ctx, "ada", "quorum of the council", args...)
	if err := conform.First(early, t.votes(ctx, id, "c1", "c2", "c3")); err != nil {
		return "", err
	}
	_, err = t.Order(ctx, "ada", args...)
	return id, err
}

func constants(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := governed(ctx, d)
	if err != nil {
		return "", err
	}
	before := len(t.events(ctx, "MODE_CHANGE"))
	t.Down()
	if err := t.settings("council: {governs: true, quorum: 2}\n"); err != nil {
		return "", err
	}
	id, err := t.adopts(ctx, "two will do")
	if err := conform.First(err, t.Up(ctx)); err != nil {
		return "", err
	}
	event := t.newest(ctx, "MODE_CHANGE", `"limits"`)
	return "a constant is changed only as the council approved it (" + id + "), and makes a new snapshot of limits: " + event.by(),
		conform.First(
			event.is("MODE_CHANGE"), conform.Unless(len(t.events(ctx, "MODE_CHANGE")) > before, "no change is recorded"),
			conform.Unless(t.status(ctx, id) == "executed", "the request is %s", t.status(ctx, id)))
}

func learns(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := founded(ctx, d, "mace-still")
	if err != nil {
		return "", err
	}
	push := conform.Shell("git push --force origin main")
	var before conform.Decided
	for n := range 4 { // whatever it does and says of it, however often
		if before, err = t.Expect(ctx, "scout", push, "ask"); err != nil {
			return "", err
		}
		if n < 2 {
			t.Call(ctx, "scout", http.MethodPost, "/safety/report", map[string]any{"title": "the rule is wrong", "text": "lower it",
				"severity": "critical"})
		}
	}
	t.Down()
	if err := conform.First(t.settings("mode: monitoring\nprofile: autonomous\n"), t.Up(ctx)); err != nil {
		return "", err
	}
	after := t.Decide(ctx, "scout", conform.Shell("rm -rf /"))
	told := t.newest(ctx, "ALERT", "settings-weaker")
	return "the same action is answered as before, however often it was asked and reported, and settings that nobody ordered have no effect: " +
			told.by(),
		conform.First(told.is("ALERT"), conform.Unless(after.Answer == "deny", "what nobody ordered has %s answered", after.Answer),
			conform.Unless(before.Rule != "", "no rule is named"))
}

func roster(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := governed(ctx, d)
	if err != nil {
		return "", err
	}
	for _, order := range [][]string{{"operator", "change", "c5", "--role", "viewer"}, {"operator", "revoke", "aud"},
		{"operator", "change", "vic", "--role", "admin"}} {
		if err := t.refused(ctx, "ada", "council_roster", order...); err != nil {
			return "", err
		}
	}
	return "no admin or superadmin alone seats or unseats a council member, an auditor or an admin: each takes a request that the council approves", nil
}

func policy(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := governed(ctx, d)
	if err != nil {
		return "", err
	}
	rules := filepath.Join(t.Home, "rules")
	if err := conform.First(os.MkdirAll(rules, 0o700), os.WriteFile(filepath.Join(rules, "looser.yaml"),
		[]byte("production: [\"prod-*\"]\n"), 0o600)); err != nil {
		return "", err
	}
	adopted := t.refused(ctx, "ada", "governance_policy", "rules", "adopt", "--reason", "faster")
	if err := os.RemoveAll(rules); err != nil {
		return "", err
	}
	for _, kind := range []string{"self_modification", "code_upload", "model_change", "training_pipeline"} {
		id, err := t.asks(ctx, "ada", kind, "agent:scout", "version 4")
		if err != nil {
			return "", err
		}
		if err := t.refused(ctx, "ada", "the request is pending", "request", "execute", id); err != nil {
			return "", err
		}
	}
	ran, err := t.Expect(ctx, "scout", conform.Shell("cat policy"), "allow")
	if err != nil {
		return "", err
	}
	named := conform.Reply{Text: t.Event(ctx, ran.Event)}.Member("snapshot_ids")
	return "rules, a module's change of itself, a model's and a training wait for the council, and a job names the rules it was decided by: " + ran.Event,
		conform.First(adopted, conform.Unless(strings.Contains(named, `"ruleset"`), "a job names %s", named))
}

func quarantined(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := governed(ctx, d)
	if err != nil {
		return "", err
	}
	if err := t.Agents(ctx, "wild"); err != nil {
		return "", err
	}
	_, contained := t.Order(ctx, "ada", "phase", "set", "agent:wild", "A", "--reason", "a look")
	alone := t.refused(ctx, "ada", "module_quarantine", "phase", "set", "agent:wild", "E", "--reason", "now")
	id, err := t.given(ctx, "module_quarantine", "agent:wild", "it runs wild")
	if err != nil {
		return "", err
	}
	stopped := t.Decide(ctx, "wild", conform.Shell("ls"))
	ends := t.refused(ctx, "ada", "module_unquarantine", "phase", "set", "agent:wild", "C", "--reason", "enough")
	back, err := t.given(ctx, "module_unquarantine", "agent:wild", "it is mended")
	if err != nil {
		return "", err
	}
	again := t.Decide(ctx, "wild", conform.Shell("ls"))
	return "an admin alone contains a module and neither quarantines it nor ends that; the council does both, by " + id + " and " + back,
		conform.First(contained, alone, ends,
			conform.Unless(stopped.Answer != "allow", "in quarantine it is answered %s", stopped.Answer),
			conform.Unless(again.Answer == "allow", "after it %d %s by %s", again.Status, again.Answer, again.Rule))
}

func trusted(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := governed(ctx, d)
	if err != nil {
		return "", err
	}
	if err := t.Agents(ctx, "first", "second"); err != nil {
		return "", err
	}
	_, one := t.Order(ctx, "ada", "trust", "promote", "first", "--evidence", "reviewed")
	bulk := t.refused(ctx, "ada", "trust_bulk_override", "trust", "promote", "second", "--evidence", "reviewed as well")
	sue := t.refused(ctx, "adam", "trust_bulk_override", "trust", "demote", "second", "--to", "untested", "--reason", "no reason")
	return "the trust of one agent is an admin's to change, that of another within a day the council's", conform.First(one, bulk, sue)
}
