package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/internal/store"
)

type BudgetsCommand struct {
	Agent string `help:"Only what is counted for this agent." placeholder:"NAME"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock budgets --help` adds.
func (BudgetsCommand) Help() string {
	return "Budgets stand in the rules. What counts towards them is what harnesses and services report as used, see docs/budgets.md."
}

// A budgetLine is what one of those that a budget is counted for has used of it.
type budgetLine struct {
	Budget   string    `json:"budget"`
	Per      string    `json:"per"`
	Of       []string  `json:"of,omitempty"`
	Measure  string    `json:"measure"`
	Currency string    `json:"currency,omitempty"`
	Used     int64     `json:"used"`
	Most     int64     `json:"most"`
	Share    int64     `json:"share"` // in percent
	Step     string    `json:"step,omitempty"`
	Within   string    `json:"within,omitempty"`
	Back     time.Time `json:"back,omitzero"` // when there is room again, where there is none
}

// A meterLine is what was reported of one agent.
type meterLine struct {
	Agent   string    `json:"agent"`
	Measure string    `json:"measure"`
	Service string    `json:"service"`
	Last    time.Time `json:"last"`
}

// Run lists the budgets that hold under the profile in force.
func (c *BudgetsCommand) Run(p *cli.Program) error {
	evaluator, _, err := p.Evaluator()
	if err != nil {
		return err
	}
	used, heard, err := c.Read(p)
	if err != nil {
		return err
	}
	lines := c.lines(evaluator.Rules, evaluator.Profile, used)
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			Budgets  []budgetLine `json:"budgets"`
			Reported []meterLine  `json:"reported"`
		}{lines, heard})
	}
	s, at := p.Screen(), cli.Now()
	if len(lines) == 0 {
		fmt.Fprintf(s, "no budget holds under the profile %s; docs/budgets.md says how to write one\n", evaluator.Profile)
	} else {
		t := cli.NewTable("BUDGET", "FOR*", "USED", "OF", "", "", "STEP", "WITHIN", "ROOM AGAIN IN")
		for _, l := range lines {
			l.print(t, at)
		}
		t.Print(s)
	}
	for _, m := range heard {
		fmt.Fprintf(s, "%s reports %s by %s, %s ago\n", cli.Printable(m.Agent), m.Measure, cli.Printable(m.Service),
			cli.Span(at.Sub(m.Last)))
	}
	if len(heard) == 0 && len(lines) > 0 {
		fmt.Fprintln(s, "nobody has reported any use lately; interlock install claude --telemetry has Claude Code do so")
	}
	return s.Show()
}

func (l *budgetLine) print(t *cli.Table, at time.Time) {
	amount := limitLine{Measure: l.Measure, Currency: l.Currency, Per: l.Per, Of: l.Of}
	again := "-"
	if !l.Back.IsZero() {
		again = cli.Span(l.Back.Sub(at))
	} else if l.Used >= l.Most {
		again = "never"
	}
	t.Row(l.Budget, cli.Printable(amount.who()), amount.amount(l.Used), amount.amount(l.Most), bar(l.Share), fmt.Sprintf("%d%%", l.Share),
		cmp.Or(l.Step, "-"), cmp.Or(l.Within, "ever"), again)
	switch l.Step {
	case ruleset.StepThrottle, ruleset.StepDegrade, ruleset.StepStop:
		t.Styled("STEP", cli.Red)
	}
}

// barLength is how long a whole budget is drawn.
const barLength = 20

// bar draws a share.
func bar(share int64) string {
	full := int(min(share, 100) * barLength / 100)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barLength-full) + "]"
}

// lines are the budgets that hold under a profile, and what was used of them, the fullest of each first.
func (c *BudgetsCommand) lines(rules *ruleset.Ruleset, profile string, used []ledger.CountedFor) []budgetLine {
	out, at := []budgetLine{}, cli.Now()
	for _, b := range rules.AllBudgets() {
		if len(b.Profiles) > 0 && !slices.Contains(b.Profiles, profile) {
			continue
		}
		line := budgetLine{Budget: b.ID, Per: string(b.Per), Measure: string(b.Measure), Currency: b.Currency, Most: b.Most}
		if window := b.Window(); window > 0 {
			line.Within = cli.Span(window)
		}
		some := false
		for _, u := range used {
			if id, is := ruleset.BudgetOf(u.Limit); !is || id != b.ID || u.Per != string(b.Per) {
				continue
			}
			one := line
			r := b.Bound().Read(u.Body.Count, 1, at)
			one.Of, one.Used = u.Of, r.Used
			one.Share, one.Step = b.Used(one.Used), b.Step(one.Used).Name
			if one.Used >= b.Most {
				one.Back = r.Back
			}
			some, out = true, append(out, one)
		}
		if !some && c.Agent == "" {
			out = append(out, line)
		}
	}
	slices.SortStableFunc(out, func(a, b budgetLine) int {
		return cmp.Or(strings.Compare(a.Budget, b.Budget), cmp.Compare(b.Used, a.Used), slices.Compare(a.Of, b.Of))
	})
	return out
}

// Read reads what was used, and who has reported anything. A home without a store has used nothing.
func (c *BudgetsCommand) Read(p *cli.Program) (used []ledger.CountedFor, heard []meterLine, err error) {
	settings, err := p.Settings()
	if err != nil {
		return nil, nil, err
	}
	heard = []meterLine{}
	if !store.Exists(settings.Home) {
		return nil, heard, nil
	}
	opened, _, err := p.AuditStore()
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close()
	list := limitsList{Agent: c.Agent}
	if used, err = list.read(p, opened); err != nil {
		return nil, nil, err
	}
	meters, err := metersOf(p, opened, c.Agent)
	return used, append(heard, meters...), err
}

// metersOf are those who have reported something, each agent's last report of a measure; all agents' without a name.
func metersOf(p *cli.Program, opened *store.Store, agent string) (heard []meterLine, err error) {
	span := ledger.Span{From: math.MinInt64, UpTo: math.MaxInt64, Newest: true, Limit: 500}
	for range 20 {
		rows, next, err := opened.Scan(p.Ctx, ledger.Ref{Kind: ledger.Meter, Mark: ledger.Until}, span)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			b, is := row.Value.(ledger.MeterBody)
			known := slices.ContainsFunc(heard, func(m meterLine) bool { return m.Agent == b.Agent && m.Measure == b.Measure })
			if is && !known && (agent == "" || b.Agent == agent) {
				heard = append(heard, meterLine{Agent: b.Agent, Measure: b.Measure, Service: b.Service, Last: b.At})
			}
		}
		if next == (ledger.Place{}) {
			break
		}
		span.After = next
	}
	return heard, nil
}

// largeReports is how many reports have to be known for a budget to be questioned.
const largeReports = 20

// A budgetPeak is what was charged to one budget, by whom it is counted for and when.
type budgetPeak struct {
	slots   map[peakSlot]int64
	peak    int64
	reports int
}

// budgetPeaks are what was charged to budgets within their windows, by their ids.
type budgetPeaks map[string]*budgetPeak

// observe counts what one report charged.
func (p budgetPeaks) observe(at int64, charged []interlock.Taken) {
	for _, t := range charged {
		id, is := ruleset.BudgetOf(t.Limit)
		if !is || t.Window <= 0 {
			continue
		}
		b := p[id]
		if b == nil {
			b = &budgetPeak{slots: map[peakSlot]int64{}}
			p[id] = b
		}
		slot := peakSlot{strings.Join(t.Of, "\x00"), at / int64(t.Window)}
		b.slots[slot] += t.Take
		b.peak, b.reports = max(b.peak, b.slots[slot]), b.reports+1
	}
}

// large are the budgets that are far above what was ever used of them.
func (p budgetPeaks) large(set *ruleset.Ruleset) (problems []ruletest.Problem) {
	for _, b := range set.AllBudgets() {
		seen := p[b.ID]
		if seen == nil || seen.reports < largeReports || seen.peak <= 0 || b.Most/largeTimes <= seen.peak {
			continue
		}
		problems = append(problems, ruletest.Problem{Rule: b.ID, Message: fmt.Sprintf("lets %d be used, and the most that was within %s is %d, in %d "+
			"reports: none of its steps is ever reached; two to three times the peak is a budget that warns", b.Most, b.Window(), seen.peak, seen.reports)})
	}
	return problems
}

// LargeBudgets questions budgets that are far above what was ever reported, as far as this home's log says.
func LargeBudgets(p *cli.Program, set *ruleset.Ruleset) ([]ruletest.Problem, error) {
	settings, err := p.Settings()
	if err != nil || len(set.AllBudgets()) == 0 || !store.Exists(settings.Home) {
		return nil, err
	}
	opened, _, err := p.AuditStore()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	peaks := budgetPeaks{}
	err = cli.Newest(p, opened, interlock.EventUsage, p.Now().Add(-largeSince), func(_ interlock.Entry, e auditlog.Event, payload []byte) error {
		var said struct {
			Charged []interlock.Taken `json:"charged"`
		}
		if json.Unmarshal(payload, &said) == nil {
			peaks.observe(e.Recorded.UnixNano(), said.Charged)
		}
		return nil
	})
	return peaks.large(set), err
}
