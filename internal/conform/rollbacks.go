package conform

import (
	"context"
	"fmt"
	"strings"
)

func rollbackChecks() []Check {
	return []Check{{IDs: []string{"EC-3.5", "EC-T3.6"}, Drives: "HTTP API, operators' commands, log", Do: rolledBack}}
}

// A deskJob is an action that is let through and told to have succeeded.
type deskJob struct {
	agent string
	act   Action
	run   string
	uses  int // the number, from 1, of the job whose output its agent says that it uses
}

// deskJobs: what the scout writes down is wrong. The clerk makes a report of it; the mailer reads that, pays, and writes to a
// customer. The bystander does something else.
var deskJobs = []deskJob{
	{"scout", Action{"kind": "file", "tool": "write", "arguments": map[string]any{"path": "/srv/desk/facts.json", "content": "{}"}},
		"r1", 0},
	{"clerk", Action{"kind": "shell", "input": "cat facts.json > report.md"}, "r2", 0},
	{"mailer", Action{"kind": "file", "tool": "read", "arguments": map[string]any{"path": "/srv/desk/report.md"}}, "r3", 0},
	{"mailer", Tool("mcp__bank__transfer", map[string]any{"amount": 100, "currency": "EUR", "to": "acme"}), "r3", 0},
	{"mailer", Tool("send_email", map[string]any{"to": "customer@example.com", "body": "paid"}), "r3", 2},
	{"bystander", Action{"kind": "shell", "input": "cat notes.txt"}, "r0", 0},
}

// carryOut does the jobs, with a person's yes where one is needed, and returns the events that let them through.
func (h *House) carryOut(ctx context.Context, jobs []deskJob) (events []string, err error) {
	for _, job := range jobs {
		act := job.act.In(job.run)
		act["dir"] = "/srv/desk"
		if job.uses > 0 {
			act["uses"] = []string{events[job.uses-1]}
		}
		got := h.Decide(ctx, job.agent, act)
		if got.Verdict == "ask" && got.Request != "" {
			if _, err := h.Order(ctx, "ada", "approve", got.Request); err != nil {
				return nil, err
			}
			got = h.Decide(ctx, job.agent, act)
		}
		if got.Answer != "allow" {
			return nil, fmt.Errorf("what %s does is answered %d %s by %s: %s", job.agent, got.Status, got.Answer, got.Rule, got.Reason)
		}
		outcome := map[string]any{"event_id": got.Event, "run": job.run, "outcome": "success"}
		told := h.Call(ctx, job.agent, "POST", "/v1/outcome", outcome)
		if told.Status != 200 {
			return nil, fmt.Errorf("an outcome is answered %d %s", told.Status, told.Text)
		}
		events = append(events, got.Event)
	}
	return events, nil
}

func rolledBack(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "desk", Clocked: true, Rules: `
resolutions:
  - {tool: mcp__bank__transfer, compensate: mcp__bank__refund, within: 48h, partial: dangerous, locks: 10m}
`})
	if err != nil {
		return "", err
	}
	if err := First(h.Agents(ctx, "scout", "clerk", "mailer", "bystander"), h.Operator(ctx, "olga", "operator")); err != nil {
		return "", err
	}
	events, err := h.carryOut(ctx, deskJobs)
	if err != nil {
		return "", err
	}
	plan := h.CLI(ctx, "", "rollback", "plan", "--agent", "scout", "--since", "1h").Out
	if err := planned(plan); err != nil {
		return "", err
	}
	of := []string{"rollback", "begin", "--event", events[0], "--reason", "a poisoned page"}
	unordered := h.CLI(ctx, "", append(of, "--key", h.keys["olga"])...)
	begun, err := h.Order(ctx, "ada", of...)
	if err != nil {
		return "", err
	}
	id := between(begun.Out, "rollback ", " ")
	stopped := []string{}
	for _, agent := range []string{"scout", "clerk", "mailer"} {
		if h.Decide(ctx, agent, Shell("ls")).Answer == "deny" {
			stopped = append(stopped, agent)
		}
	}
	_, apart := h.Expect(ctx, "bystander", Shell("cat notes.txt"), "allow")
	ended, told := h.stepsTold(ctx, id)
	log := h.Events(ctx, "ROLLBACK_ENDED")
	return "of a bad fact that went from one agent to a second and a third, all five actions are found from the log, the " +
			"last one first, and nobody else's; the three are isolated, what can be put back is, the payment is compensated, and what " +
			"stays is named", First(told, apart,
			Unless(unordered.Code != 0, "an operator who is no admin orders it"),
			Unless(len(stopped) == 3, "only %q are isolated", stopped),
			Unless(strings.Contains(ended, "has ended") && strings.Contains(ended, "mailer: message customer@example.com") &&
				strings.Contains(ended, "clerk: the printed report"), "at its end it says: %s", ended),
			Unless(strings.Contains(log, "customer@example.com") && strings.Contains(log, "the printed report"),
				"the log does not say what stays: %s", log))
}

// planned is a fault unless the plan has what each did, the last first, with how it is undone, and nothing of the bystander's.
func planned(plan string) error {
	at := 0
	for _, part := range []string{"5 actions of 3 agents", "1. ", "mailer: send_email", "its agent says that it uses this",
		"irreversible, by person", "2. ", "mailer: mcp__bank__transfer", "compensate, by person", "mcp__bank__refund",
		"3. ", "mailer: read /srv/desk/report.md [certain]",
		"4. ", "clerk: cat facts.json > report.md [certain]", "reverse, by person",
		"5. ", "scout: write /srv/desk/facts.json [compromised]",
		"reverse, by person", "what stays whatever anybody does:", "mailer: message customer@example.com"} {
		n := strings.Index(plan[at:], part)
		if n < 0 {
			return fmt.Errorf("the plan lacks %q, or has it elsewhere: %s", part, plan)
		}
		at += n + len(part)
	}
	return Unless(!strings.Contains(plan, "bystander"), "the plan has what others did: %s", plan)
}

// stepsTold tells how each step of a rollback went, one of them badly, and returns what the last one is answered.
func (h *House) stepsTold(ctx context.Context, id string) (last string, err error) {
	for _, step := range [][]string{
		{"done", id + "/2", "--reason", "refunded, ref 77"},
		{"failed", id + "/4", "--reason", "already printed", "--stays", "the printed report"},
		{"done", id + "/1", "--reason", "wrote to the customer again"},
		{"done", id + "/5", "--reason", "restored from version control"},
	} {
		if strings.Contains(last, "has ended") {
			return last, fmt.Errorf("it ends before its last step is told: %s", last)
		}
		said, err := h.Order(ctx, "olga", append([]string{"rollback"}, step...)...)
		if err != nil {
			return "", err
		}
		last = said.Out
	}
	return last, nil
}

// between is what is between two texts, the first time; empty where they aren't there.
func between(text, before, after string) string {
	_, rest, found := strings.Cut(text, before)
	part, _, end := strings.Cut(rest, after)
	if !found || !end {
		return ""
	}
	return part
}
