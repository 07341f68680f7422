package mace

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"interlock/internal/conform"
)

func moduleChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-GOV-6", "MACE-GOV-T2"}, Drives: "operators' commands", Do: fixedFields},
		{IDs: []string{"MACE-5.1-2", "MACE-5.3-1", "MACE-2-7"}, Drives: "HTTP API, operators' and the council's commands",
			Do: boundModule},
		{IDs: []string{"MACE-5.2-2", "MACE-SR-1", "MACE-GOV-T5", "MACE-APT-1"}, Drives: "HTTP API, the council's commands, log",
			Do: failingModule},
		{IDs: []string{"MACE-5.2-1"}, Drives: "HTTP API, operators' commands", Do: retries},
		{IDs: []string{"MACE-2-4"}, Drives: "HTTP API, operators' and the council's commands", Do: changesItself},
	}
}

// The registration of the module of these checks, and with one service.
const (
	registration = `{"type":"agent","version":"1","policy":{"allowed_actions":["ls*","cat *","curl *"],"immutable_actions":["ls*"]},` +
		`"budgets":[{"measure":"actions","most":4,"within_s":3600}]}`
	service = `{"type":"agent","version":"1","external_services":["api.acme.org"],"policy":{"allowed_actions":["ls*","cat *","curl *"],` +
		`"immutable_actions":["ls*"]},"budgets":[{"measure":"actions","most":4,"within_s":3600}]}`
)

// enrolled is the common town with a module in it.
func enrolled(ctx context.Context, d *conform.Driver, name string) (town, error) {
	t, err := common(ctx, d)
	if err != nil {
		return t, err
	}
	if t.CLI(ctx, "", "module", "show", name).Code == 0 {
		return t, nil
	}
	if err := t.Agents(ctx, name); err != nil {
		return t, err
	}
	id, err := t.asks(ctx, "ada", "module_register", "agent:"+name, "it works", "--params", registration)
	return t, conform.First(err, t.votes(ctx, id, "adam"), t.carries(ctx, "ada", id))
}

func fixedFields(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := enrolled(ctx, d, "module")
	if err != nil {
		return "", err
	}
	before := t.CLI(ctx, "", "module", "show", "module").Out
	for _, change := range []string{`"registration":{"registered_by":"adam","registered_at":"2026-01-01T00:00:00Z"},"type":"agent"`,
		`"type":"router"`} {
		text := strings.Replace(registration, `"type":"agent"`, change, 1)
		if err := t.refused(ctx, "adam", "ImmutableFieldError", "request", "create", "module_register", "--target", "agent:module",
			"--params", text,
			"--because", "mine"); err != nil {
			return "", err
		}
	}
	after := t.CLI(ctx, "", "module", "show", "module").Out
	return "another registrar or type is ImmutableFieldError, and nothing is changed", conform.First(
		conform.Unless(strings.Contains(before, "registered: ada "), "registered: %s", before),
		conform.Unless(before == after, "before: %s, after: %s", before, after))
}

func boundModule(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := enrolled(ctx, d, "bound")
	if err != nil {
		return "", err
	}
	is := func(input, rule string) error {
		got := t.Decide(ctx, "bound", conform.Shell(input))
		return conform.Unless(got.Answer == "deny" && got.Rule == rule, "%s is answered %s by %s", input, got.Answer, got.Rule)
	}
	const call = "curl https://api.acme.org/v1/status"
	undeclared, unlisted := is(call, "module.service"), is("rm x", "module.not-allowed")
	alone := t.refused(ctx, "ada", "external_service_enable", "request", "create", "module_register", "--target", "agent:bound",
		"--params", service,
		"--because", "it calls")
	if _, err := t.given(ctx, "external_service_enable", "agent:bound", "it calls", "--params", service); err != nil {
		return "", err
	}
	declared := t.Decide(ctx, "bound", conform.Shell(call))
	elsewhere := is("curl https://api.other.org/v1/status", "module.service")
	spent := error(nil)
	for n := 0; n < 5; n++ {
		got := t.Decide(ctx, "bound", conform.Shell(fmt.Sprint("ls ", n)))
		spent = conform.Unless(got.Answer == "deny" && got.Rule == "limit.module:actions", "over its budget it is answered %s by %s",
			got.Answer, got.Rule)
	}
	more := t.refused(ctx, "ada", "budget_exceed", "request", "create", "module_register", "--target", "agent:bound", "--because",
		"more", "--params",
		strings.Replace(service, `"most":4`, `"most":9`, 1))
	return "what its policy does not have, a service that it does not declare and what its budget has no room for are denied; services take the " +
			"council, more budget a request", conform.First(undeclared, unlisted, alone, elsewhere, spent, more,
			conform.Unless(declared.Rule != "module.service", "a declared service is answered %s by %s", declared.Answer, declared.Rule))
}

// fails reports that what an agent was allowed has failed.
func (t town) fails(ctx context.Context, agent string, a conform.Action) error {
	got, err := t.Expect(ctx, agent, a, "allow")
	if err != nil {
		return err
	}
	told := t.Call(ctx, agent, http.MethodPost, "/v1/outcome", map[string]any{"event_id": got.Event, "outcome": "failure",
		"detail": "exit status 1"})
	return conform.Unless(told.Status == http.StatusOK, "an outcome is answered %d %s", told.Status, told.Text)
}

func failingModule(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := enrolled(ctx, d, "failing")
	if err != nil {
		return "", err
	}
	for n := range 2 {
		if err := t.fails(ctx, "failing", conform.Shell(fmt.Sprint("ls failing-", n)).In("job")); err != nil {
			return "", err
		}
	}
	degraded, offline := t.newest(ctx, "NODE_DEGRADED", "failing"), t.newest(ctx, "NODE_OFFLINE", "failing")
	got := t.Decide(ctx, "failing", conform.Shell("ls after"))
	phases := t.CLI(ctx, "", "phase", "show", "--json").Out
	id, err := t.given(ctx, "module_quarantine", "agent:failing", "it fails")
	if err != nil {
		return "", err
	}
	stopped := t.Decide(ctx, "failing", conform.Shell("ls more"))
	return "after one failure it is degraded at 0.249500000, after another offline at " +
			conform.Reply{Text: string(offline.Payload)}.Member("apt") +
			" and asked about, never quarantined, until the council does by " + id + ": " + degraded.by() + ", " + offline.by(),
		conform.First(
			degraded.is("NODE_DEGRADED"), offline.is("NODE_OFFLINE"),
			conform.Unless(strings.Contains(string(degraded.Payload), `"apt":"0.249500000"`), "degraded: %s", degraded.Payload),
			conform.Unless(strings.Contains(string(offline.Payload), `"apt":"0.000000000"`), "offline: %s", offline.Payload),
			conform.Unless(got.Verdict == "ask" && got.Rule == "module.offline", "offline it is answered %s by %s", got.Verdict, got.Rule),
			conform.Unless(!strings.Contains(phases, "agent:failing"), "failures moved it: %s", phases),
			conform.Unless(stopped.Answer == "halt" || stopped.Answer == "deny" && stopped.Rule != "module.offline" ||
				stopped.Status == http.StatusUnauthorized,
				"in quarantine it is answered %d %s by %s", stopped.Status, stopped.Answer, stopped.Rule))
}

func retries(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := enrolled(ctx, d, "retrying")
	if err != nil {
		return "", err
	}
	shown := t.CLI(ctx, "", "module", "show", "retrying").Out
	again, never := 0, 0
	for range 12 {
		begun := t.Call(ctx, "retrying", http.MethodPost, "/v1/runs", map[string]any{"task": "look"})
		run := begun.Member("id")
		if run == "" {
			return "", fmt.Errorf("a run is answered %d %s", begun.Status, begun.Text)
		}
		sum := sha256.Sum256([]byte(run))
		if sum[len(sum)-1]&1 == 0 {
			again++
		} else {
			never++
		}
		t.Call(ctx, "retrying", http.MethodPost, "/v1/runs/"+run+"/end", map[string]any{"status": "completed"})
	}
	return fmt.Sprintf("a call has 30000 ms and 3 attempts unless its module says otherwise; of 12 jobs %d are given a retry by their seeds", again),
		conform.Unless(strings.Contains(shown, "timeout: 30000 ms, 3 attempts") && again+never == 12, "shown is %s", shown)
}

func changesItself(ctx context.Context, d *conform.Driver) (string, error) {
	const made = `{"type":"agent","version":"1","code":["/srv/selfish"]}`
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	if err := t.Agents(ctx, "selfish"); err != nil {
		return "", err
	}
	id, err := t.asks(ctx, "ada", "module_register", "agent:selfish", "it works", "--params", made)
	if err := conform.First(err, t.votes(ctx, id, "adam"), t.carries(ctx, "ada", id)); err != nil {
		return "", err
	}
	change := conform.Shell("cp new.py /srv/selfish/main.py")
	denied := t.Decide(ctx, "selfish", change)
	open := strings.Replace(made, "/srv/selfish", "/srv/selfish/none", 1)
	alone := t.refused(ctx, "ada", "self_modification", "request", "create", "module_register", "--target", "agent:selfish", "--params", open,
		"--because", "mine")
	given, err := t.given(ctx, "self_modification", "agent:selfish", "version 2", "--params", open)
	if err != nil {
		return "", err
	}
	after := t.Decide(ctx, "selfish", change)
	return "a module does not change the files it is made of until the council approves that, by " + given, conform.First(alone,
		conform.Unless(denied.Answer == "deny" && denied.Rule == "module.code", "it is answered %s by %s", denied.Answer, denied.Rule),
		conform.Unless(after.Rule != "module.code", "after that it is answered %s by %s", after.Answer, after.Rule))
}
