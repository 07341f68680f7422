package conform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func maturityChecks() []Check {
	return []Check{
		{IDs: []string{"EC-M-1", "EC-M-2"}, Drives: "interlock maso report over a home in which work was done", Do: levels},
		{IDs: []string{"EC-M-3"}, Drives: "interlock maso report, operators' commands, clock", Do: graduation},
	}
}

// report is what `interlock maso report` says.
func (h *House) report(ctx context.Context) Reply {
	said := h.CLI(ctx, "", "maso", "report", "--json")
	return Reply{Status: said.Code, Text: said.Out}
}

func levels(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "levels", Profile: "supervised", Clocked: true, Rules: "maso: {tier: 1}\n"})
	if err != nil {
		return "", err
	}
	empty := h.report(ctx)
	if err := h.Agent(ctx, "builder", "--principal", "dana", "--allow", "*"); err != nil {
		return "", err
	}
	_, reads := h.Expect(ctx, "builder", Shell("cat notes.txt"), "allow")
	asked, writes := h.Expect(ctx, "builder", Shell("touch a"), "ask")
	_, yes := h.Order(ctx, "ada", "approve", asked.Request)
	once := h.Decide(ctx, "builder", Shell("touch a"))
	other, more := h.Expect(ctx, "builder", Shell("touch b"), "ask")
	_, no := h.Order(ctx, "ada", "deny", other.Request)
	if err := First(reads, writes, yes, more, no, refusals(ctx, h, "builder", 3)); err != nil {
		return "", err
	}
	got := h.report(ctx)
	numbers := []string{`"agent":"builder"`, `"yes":1`, `"no":1`, `"denied":3`, `"trips":1`, `"limit":"maso.actions-an-hour"`}
	var lacks []string
	for _, n := range numbers {
		if !strings.Contains(got.Text, n) {
			lacks = append(lacks, n)
		}
	}
	return "a home without a record is Initial; one with lists, approval of every write, a rate and a log is Managed, and Defined is " +
			"not claimed without " +
			"a judge; per agent the answers of people, trips and use of caps are counted", First(
			Unless(once.Answer == "allow", "the yes was not used: %s", once.Answer),
			Unless(empty.Member("level") == "Initial", "without a record the level is %q", empty.Member("level")),
			Unless(got.Member("level") == "Managed" && strings.Contains(got.Text, `"no judge is configured"`), "the level is %q: %s",
				got.Member("level"), got.Text),
			Unless(len(lacks) == 0, "the report lacks %s: %s", strings.Join(lacks, ", "), got.Member("agents")))
}

func graduation(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "graduation", Clocked: true, Rules: "maso: {tier: 1}\n"})
	if err != nil {
		return "", err
	}
	if err := First(h.Operator(ctx, "bob", "admin"), h.Agents(ctx, "builder")); err != nil {
		return "", err
	}
	for n := range 2 { // on the first day, and on the ninety-first
		asked, err := h.Expect(ctx, "builder", Shell(fmt.Sprintf("git push --force origin f%d", n)), "ask")
		if err != nil {
			return "", err
		}
		if _, err := h.Order(ctx, "ada", "approve", asked.Request); err != nil {
			return "", err
		}
		if n == 0 {
			h.Pass(91 * 24 * time.Hour)
		}
	}
	adopt := func(operator, room string) error {
		rules := fmt.Sprintf("maso: {tier: 2}\nlimits:\n  - {id: team.actions, per: agent, measure: actions, most: %s, within: 1h}\n", room)
		if err := os.WriteFile(filepath.Join(h.Home, "rules", "team.yaml"), []byte(rules), 0o600); err != nil {
			return fmt.Errorf("writing the rules: %w", err)
		}
		_, err := h.Order(ctx, operator, "rules", "adopt", "--reason", "tier 2: the risk is accepted")
		return err
	}
	const gate = "gates.0.open"
	unsigned := h.report(ctx)
	admin := adopt("bob", "90")
	byAdmin := h.report(ctx)
	owner := adopt("ada", "80")
	signed := h.report(ctx)
	stop := h.Control(ctx, "", "POST", "/v1/kill", map[string]any{"reason": "cards were tested"})
	stopped := h.report(ctx)
	return "after 91 days without a stop, with no refusal among the answers and a risk owner's signature the gate to tier 2 is open; without the " +
			"signature, with an admin's, and after a stop it is closed", First(admin, owner,
			Unless(unsigned.Member(gate) == "false" && byAdmin.Member(gate) == "false",
				"it is open without a risk owner's signature: %s", byAdmin.Member("gates.0")),
			Unless(signed.Member(gate) == "true", "it is closed: %s", signed.Member("gates.0")),
			Unless(stop.Status == 200 && stopped.Member(gate) == "false", "after a stop (%d) it is open: %s", stop.Status, stopped.Member("gates.0")),
			Unless(signed.Member("gates.1.open") == "false", "the gate to tier 3 is open without a judge"))
}
