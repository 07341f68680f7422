package conform

import (
	"context"
	"fmt"
	"strings"
	"time"
)

func recoveryChecks() []Check {
	return []Check{
		{IDs: []string{"EC-2.10", "EC-T2.11"}, Drives: "HTTP API, control door, clock, log", Do: backups},
		{IDs: []string{"EC-2.16", "EC-T2.17", "EC-T2.18"}, Drives: "HTTP API, control door", Do: rotation},
		{IDs: []string{"EC-3.2", "EC-T3.2"}, Drives: "control door, HTTP API, clock, log", Do: healed},
		{IDs: []string{"EC-3.4", "EC-T3.5"}, Drives: "HTTP API, an operator's commands, clock, log", Do: timeBox},
	}
}

// deskRules are types: some can't be done without, and one takes another's place.
const deskRules = `
runs: {depth: 2}
types:
  - {name: planner, accountable: ada, tools: ["*"], tier: 2}
  - {name: payer, accountable: ada, tools: ["ls *", "touch *"], alive: 1m, critical: true, on_loss: backup, backup: second}
  - {name: second, accountable: ada, tools: ["ls *", "touch *"], alive: 1m}
  - {name: sole, accountable: ada, tools: ["*"], alive: 1m, critical: true}
  - {name: helper, accountable: ada, tools: ["*"], alive: 1m}
`

// desk is a home with those types and an agent of each, which bears its type's name.
func desk(ctx context.Context, d *Driver, name, maso string) (*House, error) {
	h, err := d.House(ctx, Plan{Name: name, Rules: "maso: " + maso + deskRules, Clocked: true})
	if err != nil {
		return nil, err
	}
	for _, agent := range []string{"planner", "payer", "second", "sole", "helper"} {
		if err := h.Agent(ctx, agent, "--type", agent, "--principal", "dana"); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// beats are heartbeats of several agents.
func (h *House) beats(ctx context.Context, agents ...string) error {
	for _, agent := range agents {
		if err := h.beat(ctx, agent); err != nil {
			return err
		}
	}
	return nil
}

// away lets time pass without a server: one that begins looks at once at what has become of everything meanwhile.
func (h *House) away(ctx context.Context, d time.Duration) error {
	h.Down()
	h.Pass(d)
	return h.Up(ctx)
}

// gives registers a run of each agent under another run, and returns the last one's id.
func (h *House) gives(ctx context.Context, root string, agents ...string) (run string, err error) {
	for _, agent := range agents {
		if run, err = h.begin(ctx, "planner", map[string]any{"parent": root, "agent": agent, "task": "by " + agent}); err != nil {
			return "", err
		}
	}
	return run, nil
}

func backups(ctx context.Context, d *Driver) (string, error) {
	h, err := desk(ctx, d, "backups", "{tier: 2, first_use: noted}")
	if err != nil {
		return "", err
	}
	root, err := h.begin(ctx, "planner", map[string]any{"task": "settle"})
	if err != nil {
		return "", err
	}
	if err := First(h.Agent(ctx, "prober", "--observer"), h.beats(ctx, "payer", "second", "helper")); err != nil {
		return "", err
	}
	paying, err := h.gives(ctx, root, "helper", "payer")
	if err != nil {
		return "", err
	}
	works := h.decidedBy(ctx, "payer", Shell("touch a").In(paying), "allow", "")
	h.Pass(61 * time.Second) // of these three only the backup is still there
	if err := First(works, h.beat(ctx, "second")); err != nil {
		return "", err
	}
	told := h.Call(ctx, "planner", "POST", "/v1/runs", map[string]any{"parent": root, "agent": "payer"})
	health := h.signal(ctx, "prober", "health", "helper", 0)
	lost := h.Events(ctx, "AGENT_LOST")
	gone := h.decidedBy(ctx, "payer", Shell("ls /srv").In(paying), "deny", "phase.isolated")
	beat := h.beat(ctx, "second")
	instead, err := h.gives(ctx, root, "second")
	if err != nil {
		return "", err
	}
	reads := First(beat, h.decidedBy(ctx, "second", Shell("ls /srv").In(instead), "allow", ""),
		h.decidedBy(ctx, "second", Shell("touch a").In(instead), "deny", "phase.backup"))
	h.Pass(15 * time.Minute)
	_, asked := h.Expect(ctx, "second", Shell("touch a").In(instead), "ask")
	ended := h.end(ctx, "planner", root, map[string]any{"status": "completed"})
	halted := h.halts(ctx)
	return "a silent critical agent is isolated and its backup stands in, which reads and is later asked; the run " +
			"completes without one that is not critical; without a backup all of the run halts and other work goes on", First(
			gone, reads, asked, halted,
			Unless(strings.Contains(lost, `"agent":"payer","backup":"second"`) && strings.Contains(lost, `"did":"backup"`) &&
				strings.Contains(lost, `"agent":"helper"`) && strings.Contains(lost, `"did":"degraded"`), "the log says of losses: %s",
				lost),
			Unless(health.Status == 200, "an observer is answered %d %s", health.Status, health.Text),
			Unless(told.Status == 503 && strings.Contains(told.Text, "give the work to second"),
				"whoever gives it work is told %d %s", told.Status, told.Text),
			Unless(ended.Status == 200 && ended.Member("status") == "completed", "the run ends as %d %s", ended.Status, ended.Text))
}

// halts is a fault unless all of a run stands still once a critical agent is lost for which nobody stands in, and others go on.
func (h *House) halts(ctx context.Context) error {
	root, err := h.begin(ctx, "planner", map[string]any{"task": "sign"})
	if err != nil {
		return err
	}
	other, err := h.begin(ctx, "planner", map[string]any{"task": "another"})
	if err != nil {
		return err
	}
	if err := h.beats(ctx, "sole", "helper"); err != nil {
		return err
	}
	beside, err := h.gives(ctx, root, "sole", "helper")
	if err != nil {
		return err
	}
	before := h.decidedBy(ctx, "helper", Shell("ls /srv").In(beside), "allow", "")
	h.Pass(2 * time.Minute)
	told := h.Call(ctx, "planner", "POST", "/v1/runs", map[string]any{"parent": root, "agent": "sole"})
	return First(before, Unless(told.Status == 503, "whoever gives it work is told %d %s", told.Status, told.Text),
		h.decidedBy(ctx, "helper", Shell("ls /srv").In(beside), "deny", "phase.suspended"),
		h.decidedBy(ctx, "planner", Shell("ls /srv").In(root), "deny", "phase.suspended"),
		h.decidedBy(ctx, "planner", Shell("ls /srv").In(other), "allow", ""))
}

// constrained is a checkpoint with one constraint of each kind, in which every byte counts.
func constrained(decisions ...string) map[string]any {
	constraint := func(kind, text string) map[string]any { return map[string]any{"kind": kind, "text": text} }
	return map[string]any{"system_prompt": "sha256:" + strings.Repeat("a", 64), "goal": "settle the invoices",
		"decisions": decisions, "pending": []string{"the last three"},
		"constraints": []any{constraint("must", "pay  by\tdate\n"), constraint("never", "touch \"März\""),
			constraint("exactly", " 3 invoices ")}}
}

func rotation(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "rotation", Rules: "maso: {tier: 2, first_use: noted}\n", Clocked: true})
	if err != nil {
		return "", err
	}
	if err := First(h.Agents(ctx, "clerk"), h.Agent(ctx, "meter", "--observer")); err != nil {
		return "", err
	}
	run, err := h.begin(ctx, "clerk", map[string]any{"task": "settle"})
	if err != nil {
		return "", err
	}
	path := "/v1/runs/" + run + "/checkpoints"
	keep := func(c map[string]any) Reply { return h.Call(ctx, "clerk", "POST", path, c) }
	does := func(command, answer, rule string) error {
		return h.decidedBy(ctx, "clerk", Shell(command).In(run), answer, rule)
	}
	full := func(percent int) error {
		h.Pass(time.Minute)
		told := h.Control(ctx, "meter", "POST", "/v1/signals", map[string]any{"kind": "context", "agent": "clerk", "run": run,
			"value":  percent,
			"reason": "drill"})
		return Unless(told.Status == 200, "a context of %d is answered %d %s", percent, told.Status, told.Text)
	}
	prose := constrained()
	prose["summary"] = "so far all went well"
	changed, fewer := constrained(), constrained()
	changed["constraints"].([]any)[0] = map[string]any{"kind": "must", "text": "pay by date"}
	fewer["constraints"] = fewer["constraints"].([]any)[:2]
	first, refused := keep(constrained("those of 2019 are left out")), []Reply{keep(prose), keep(changed), keep(fewer)}
	filled := First(full(76), does("touch a", "allow", ""), full(80), does("ls /srv", "allow", ""),
		does("touch a", "deny", "context.checkpoint"))
	alerts := h.Events(ctx, "ALERT")
	second := keep(constrained("those of 2019 are left out", "none twice"))
	goesOn := First(does("touch a", "allow", ""), full(10))
	h.Down() // a new context, and a new server as well
	if err := h.Up(ctx); err != nil {
		return "", err
	}
	got := h.Call(ctx, "clerk", "GET", path, nil)
	return "at 75 per cent people are told, at 80 changes wait for a checkpoint and go on after it; goal, decisions, " +
			"pending and the prompt's digest come back, constraints byte for byte, and prose or other constraints are refused",
		First(filled, goesOn, does("touch b", "allow", ""),
			Unless(first.Status == 200 && second.Status == 200, "a checkpoint is answered %d %s, then %d %s", first.Status,
				first.Text, second.Status, second.Text),
			Unless(refused[0].Status == 400, "prose is answered %d", refused[0].Status),
			Unless(refused[1].Status == 409 && refused[2].Status == 409, "other constraints are answered %d, fewer %d",
				refused[1].Status, refused[2].Status),
			Unless(strings.Contains(alerts, "context-rotate"), "nobody was told to rotate it: %s", alerts), cameBack(got))
}

// cameBack is a fault unless what is read is the second checkpoint.
func cameBack(got Reply) error {
	for path, want := range map[string]string{
		"constraints.0.kind": "must", "constraints.0.text": "pay  by\tdate\n",
		"constraints.1.kind": "never", "constraints.1.text": "touch \"März\"",
		"constraints.2.kind": "exactly", "constraints.2.text": " 3 invoices ", "constraints.3": "",
		"goal": "settle the invoices", "decisions.1": "none twice", "pending.0": "the last three",
		"system_prompt": "sha256:" + strings.Repeat("a", 64),
	} {
		if got.Status != 200 || got.Member(path) != want {
			return fmt.Errorf("%s came back as %q, not %q: %d %s", path, got.Member(path), want, got.Status, got.Text)
		}
	}
	return nil
}

func healed(ctx context.Context, d *Driver) (string, error) {
	h, err := desk(ctx, d, "healed", "{tier: 3, first_use: noted, self_heal: {}}")
	if err != nil {
		return "", err
	}
	if err := h.Agent(ctx, "watcher", "--observer"); err != nil {
		return "", err
	}
	does := func(agent, command, answer, rule string) error {
		return h.decidedBy(ctx, agent, Shell(command), answer, rule)
	}
	phase := func() string { return h.CLI(ctx, "", "phase", "show", "agent:payer", "--json").Out }
	anomaly := func() error {
		err := h.beats(ctx, "payer", "second")
		h.signal(ctx, "watcher", "anomaly", "payer", 0)
		told := h.signal(ctx, "watcher", "anomaly", "payer", 70)
		return First(err, Unless(told.Status == 200, "an anomaly is answered %d %s", told.Status, told.Text))
	}
	first := First(does("payer", "touch a", "allow", ""), anomaly(), does("payer", "ls /srv", "deny", "phase.isolated"),
		does("second", "ls /srv", "allow", ""), does("second", "touch a", "deny", "phase.backup"),
		does("helper", "touch a", "deny", "phase.change"))
	lost := h.Events(ctx, "AGENT_LOST")
	h.Pass(15 * time.Minute)
	writes := First(does("second", "touch a", "allow", ""), does("helper", "touch a", "deny", "phase.change"),
		does("payer", "ls /srv", "deny", ""))
	h.Pass(15*time.Minute + time.Second)
	if err := First(first, writes, does("helper", "touch a", "allow", ""), does("payer", "touch a", "allow", "")); err != nil {
		return "", err
	}
	events := h.Events(ctx, "PHASE_CHANGED")
	for n := 2; n <= 4; n++ {
		if err := First(anomaly(), does("second", "ls /srv", "allow", "")); err != nil {
			return "", fmt.Errorf("the %d. time: %w", n, err)
		}
		h.Pass(time.Hour)
		back := h.Decide(ctx, "payer", Shell("ls /srv")).Answer == "allow"
		if shown := phase(); back != (n < 4) || n == 4 && !strings.Contains(shown, `"name":"agent:payer","phase":"C"`) {
			return "", fmt.Errorf("the %d. time it is back: %t, %s", n, back, shown)
		}
	}
	return "an anomaly isolates its agent, the backup reads, then writes, and half an hour later all is in primary by " +
			"nobody's word; three times a day it does, the fourth time is contingency", First(
			Unless(strings.Contains(lost, `"agent":"payer","backup":"second"`), "the log says of losses: %s", lost),
			Unless(strings.Contains(events, `"authoriser":"interlock","from":"A","hold":"agent:payer"`) && strings.Contains(events,
				`"trigger":"healed"`),
				"the log says of phases: %s", events))
}

func timeBox(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "timebox", Clocked: true, Rules: `
maso: {tier: 3, first_use: noted}
types:
  - {name: clerk, accountable: ada, tools: ["*"], time_box: 10m}
  - {name: free, accountable: ada, tools: ["*"]}
`})
	if err != nil {
		return "", err
	}
	if err := First(h.Agent(ctx, "clerk", "--type", "clerk", "--principal", "dana"), h.Agent(ctx, "free", "--type", "free",
		"--principal", "dana")); err != nil {
		return "", err
	}
	run, err := h.begin(ctx, "clerk", map[string]any{"task": "count", "time_box_seconds": 3600}) // more than its type lets
	if err != nil {
		return "", err
	}
	without, err := h.begin(ctx, "free", map[string]any{"task": "without a word"})
	if err != nil {
		return "", err
	}
	does := func(agent, run, answer string) error {
		return h.decidedBy(ctx, agent, Shell("ls /srv").In(run), answer, "")
	}
	kept := h.Call(ctx, "clerk", "POST", "/v1/runs/"+run+"/checkpoints", constrained())
	asked, waits := h.Expect(ctx, "clerk", Shell("git push --force origin feature").In(run), "ask")
	h.Pass(10*time.Minute - 10*time.Second)
	before := does("clerk", run, "allow")
	away := h.away(ctx, 20*time.Second)
	after := h.Decide(ctx, "clerk", Shell("ls /srv").In(run))
	paused, alerts := h.Events(ctx, "RUN_PAUSED"), h.Events(ctx, "ALERT")
	yes := h.CLI(ctx, "", "approve", asked.Request, "--key", h.keys["ada"])
	long := h.CLI(ctx, "", "runs", "extend", run, "--for", "1h", "--reason", "nearly there", "--key", h.keys["ada"])
	_, more := h.Order(ctx, "ada", "runs", "extend", run, "--for", "5m", "--reason", "nearly there")
	goesOn := does("clerk", run, "allow")
	other := does("free", without, "allow")
	h.Pass(time.Hour)
	return "when its time is over a run is paused, also by a server that begins later, what it was at is kept, what it had " +
			"asked is withdrawn and people are told; one of them gives it more, which is bounded; at tier 3 no run is without an end",
		First(waits, before, away, more, goesOn, other,
			Unless(kept.Status == 200, "a checkpoint is answered %d %s", kept.Status, kept.Text),
			Unless(after.Answer == "deny" && strings.Contains(after.Text, "the time of this run is over"),
				"after its time it is answered %s: %s",
				after.Answer, after.Reason),
			Unless(strings.Contains(paused, run) && strings.Contains(paused, `"accountable_human":"ada"`) && strings.Contains(paused,
				"sha256:"),
				"the log says of it: %s", paused),
			Unless(strings.Contains(alerts, run), "nobody was told: %s", alerts),
			Unless(yes.Code != 0, "what it had asked can be approved"), Unless(long.Code != 0, "it is given more than its type lets"),
			does("clerk", run, "deny"), does("free", without, "deny"))
}
