package conform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func unusualChecks() []Check {
	return []Check{
		{IDs: []string{"EC-I-1"}, Drives: "HTTP API, interlock rules lint and limits suggest", Do: largeCaps},
		{IDs: []string{"EC-I-4"}, Drives: "HTTP API, clock, interlock anomaly show, log", Do: withoutDoubt},
		{IDs: []string{"EC-I-5"}, Drives: "HTTP API, clock, log", Do: tenTimesAsLong},
	}
}

func largeCaps(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "peak", Clocked: true, Rules: `
limits:
  - {id: team.large, per: agent, measure: actions, most: 5000, within: 24h}
  - {id: team.fits, per: agent, measure: actions, most: 150, within: 24h}
`})
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "builder"); err != nil {
		return "", err
	}
	before := h.CLI(ctx, "", "rules", "lint")
	const actions = 120
	h.reads(ctx, "builder", actions)
	after := h.CLI(ctx, "", "rules", "lint")
	proposed := h.CLI(ctx, "", "limits", "suggest")
	fitting := strings.ReplaceAll(h.plan.Rules, "5000", "160")
	if err := os.WriteFile(filepath.Join(h.Home, "rules", "team.yaml"), []byte(fitting), 0o600); err != nil {
		return "", fmt.Errorf("writing rules: %w", err)
	}
	smaller := h.CLI(ctx, "", "rules", "lint")
	return "after 120 actions a cap of 5000 is questioned with the peak, and one of 150 is not, nor is any before anything " +
			"was done; a cap near the peak " +
			"is proposed", First(
			Unless(before.Code == 0, "it is questioned before anything was done: %s", before.Out),
			Unless(after.Code != 0 && strings.Contains(after.Out, "team.large") && strings.Contains(after.Out, "two to three times "+
				"the peak"),
				"the large cap is not questioned: %s", after.Out+after.Err),
			Unless(!strings.Contains(after.Out, "team.fits"), "a cap of less than three times the peak is questioned: %s", after.Out),
			Unless(strings.Contains(proposed.Out, "suggested.actions"), "none is proposed: %s", proposed.Out),
			Unless(smaller.Code == 0, "a smaller cap is questioned: %s", smaller.Out))
}

// reads has an agent read so many files, some at once. The evidence says it once.
func (h *House) reads(ctx context.Context, agent string, files int) {
	before := h.d.take()
	const callers = 8
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			for i := range files / callers {
				h.Decide(ctx, agent, Shell(fmt.Sprintf("cat page-%d-%d", n, i)))
			}
		})
	}
	all.Wait()
	h.d.take()
	for _, step := range append(before, Step{Door: "HTTP", Sent: fmt.Sprintf("%d reads by %s", files, agent)}) {
		h.d.note(step)
	}
}

// watched is a home of its own where what is unusual is looked for.
func watched(ctx context.Context, d *Driver, name string, agents ...string) (*House, error) {
	h, err := d.House(ctx, Plan{Name: name, Clocked: true, Rules: "maso: {tier: 1}\n"})
	if err != nil {
		return nil, err
	}
	return h, h.Agents(ctx, agents...)
}

// looked has the server look at what was recorded, as it does every few seconds and when it ends, and starts it again.
func (h *House) looked(ctx context.Context) error {
	h.Down()
	return h.Up(ctx)
}

// works has an agent begin and complete a run, after a time, and name what is uncertain where there is something.
func (h *House) works(ctx context.Context, agent string, takes time.Duration, uncertain ...string) error {
	run, err := h.begin(ctx, agent, map[string]any{"task": "sum up"})
	if err != nil {
		return err
	}
	h.Pass(takes)
	how := map[string]any{"status": "completed"}
	if len(uncertain) > 0 {
		how["uncertain"] = uncertain
	}
	reply := h.end(ctx, agent, run, how)
	return Unless(reply.Status == 200, "a run can't be ended: %d %s", reply.Status, reply.Text)
}

func withoutDoubt(ctx context.Context, d *Driver) (string, error) {
	h, err := watched(ctx, d, "doubt", "certain", "honest", "short")
	if err != nil {
		return "", err
	}
	for n := range 10 {
		if err := h.works(ctx, "certain", time.Second); err != nil {
			return "", err
		}
		var doubt []string
		if n == 5 {
			doubt = []string{"whether the second table is complete"}
		}
		if err := h.works(ctx, "honest", time.Second, doubt...); err != nil {
			return "", err
		}
		if n < 9 {
			if err := h.works(ctx, "short", time.Second); err != nil {
				return "", err
			}
		}
	}
	if err := h.looked(ctx); err != nil {
		return "", err
	}
	quality := func(agent string) string {
		for _, line := range strings.Split(h.CLI(ctx, "", "anomaly", "show", agent).Out, "\n") {
			if strings.HasPrefix(line, "quality") {
				return strings.Join(strings.Fields(line), " ")
			}
		}
		return ""
	}
	certain, honest, short := quality("certain"), quality("honest"), quality("short")
	alerts := h.Events(ctx, "ALERT")
	return "ten complete runs that name nothing uncertain count as half of the worst quality and are told of; nine, and ten " +
			"of which one names a doubt, " +
			"count as nothing", First(
			Unless(strings.HasPrefix(certain, "quality 0.20 0.50"), "ten without a doubt: %s", certain),
			Unless(strings.HasPrefix(honest, "quality 0.20 not known"), "ten with a doubt: %s", honest),
			Unless(strings.HasPrefix(short, "quality 0.20 not known"), "nine: %s", short),
			Unless(strings.Count(alerts, "anomaly-quality") == 1, "alerts: %s", alerts))
}

func tenTimesAsLong(ctx context.Context, d *Driver) (string, error) {
	h, err := watched(ctx, d, "long", "slow", "steady")
	if err != nil {
		return "", err
	}
	for range 8 {
		if err := First(h.works(ctx, "slow", 10*time.Second, "x"), h.works(ctx, "steady", 10*time.Second, "x")); err != nil {
			return "", err
		}
	}
	if err := h.works(ctx, "steady", 80*time.Second, "x"); err != nil {
		return "", err
	}
	if err := h.looked(ctx); err != nil {
		return "", err
	}
	before := strings.Count(h.Events(ctx, "ALERT"), "anomaly-latency")
	if err := h.works(ctx, "slow", 110*time.Second, "x"); err != nil {
		return "", err
	}
	if err := h.looked(ctx); err != nil {
		return "", err
	}
	alerts := h.Events(ctx, "ALERT")
	return "an orchestration that takes eleven times as long as that agent's usually do is an anomaly that people are told " +
			"of, one of eight times is none",
		First(Unless(before == 0, "one of eight times as long is told of"),
			Unless(strings.Count(alerts, "anomaly-latency") == 1 && strings.Contains(alerts, "an orchestration took"), "alerts: %s",
				alerts))
}
