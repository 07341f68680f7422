// Package tune holds the commands about what is set and how much of it is used: limits, budgets, channels, trust and tools.
package tune

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/internal/store"
)

type LimitsCommand struct {
	List    limitsList    `cmd:"" default:"withargs" help:"List limits, who has used how much of them, and when there is room again."`
	Suggest limitsSuggest `cmd:"" help:"Propose limits from what the log says was used at most."`
}

type limitsList struct {
	Agent     string `help:"Only what is counted for this agent." placeholder:"NAME"`
	Monitored bool   `help:"The book of what was only watched, because nothing was enforced."`
	JSON      bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock limits --help` adds.
func (limitsList) Help() string {
	return "Limits stand in the rules (interlock rules; docs/rules.md says how). What was used is counted in the store and outlasts a change\n" +
		"of rules: another limit under the same name leaves other room for the same use."
}

// A limitLine is what one of those that a limit is counted for has used of it.
type limitLine struct {
	Limit    string    `json:"limit"`
	Per      string    `json:"per"`
	Of       []string  `json:"of,omitempty"` // who it is counted for; none: nobody has used anything of it yet
	Measure  string    `json:"measure"`
	Currency string    `json:"currency,omitempty"`
	Used     int64     `json:"used"`
	Most     int64     `json:"most"`
	Room     int64     `json:"room"`
	Within   string    `json:"within,omitempty"` // how long a use counts; for ever where there is none
	Back     time.Time `json:"back,omitzero"`    // when there is room for one more, where there is none
	Coarse   bool      `json:"coarse,omitempty"` // there are too many uses to count each exactly; then they count for a little longer

	limit *ruleset.Limit
}

// Run lists the limits that hold under the profile in force.
func (c *limitsList) Run(p *cli.Program) error {
	evaluator, _, err := p.Evaluator()
	if err != nil {
		return err
	}
	lines, err := c.lines(p, evaluator.Rules, evaluator.Profile)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, lines)
	}
	if len(lines) == 0 {
		_, err = fmt.Fprintf(p.Stdout, "no limit holds under the profile %s; docs/rules.md says how to write one\n", evaluator.Profile)
		return err
	}
	t, at := cli.NewTable("LIMIT", "FOR*", "USED", "OF", "ROOM", "WITHIN", "ROOM AGAIN IN"), cli.Now()
	for _, l := range lines {
		again := "-"
		if !l.Back.IsZero() {
			again = cli.Span(l.Back.Sub(at))
		} else if l.Room == 0 {
			again = "never"
		}
		t.Row(l.Limit, cli.Printable(l.who()), l.amount(l.Used), l.amount(l.Most), l.amount(l.Room), cmp.Or(l.Within, "ever"), again)
		if l.Room == 0 {
			t.Styled("ROOM", cli.Red)
		}
	}
	return t.Show(p)
}

// who says in words for whom it is counted.
func (l *limitLine) who() string {
	if l.Per == string(ruleset.PerEverything) {
		return "everything"
	}
	if l.Of == nil {
		return "each " + l.Per
	}
	return l.Per + " " + cmp.Or(strings.Join(l.Of, " "), "-")
}

func (l *limitLine) amount(n int64) string {
	if l.Measure == string(ruleset.MeasureMoney) {
		return interlock.Money(n, l.Currency)
	}
	return strconv.FormatInt(n, 10)
}

// lines are the limits that hold under a profile and what was used of them, the fullest first.
func (c *limitsList) lines(p *cli.Program, rules *ruleset.Ruleset, profile string) ([]limitLine, error) {
	used, err := c.usage(p)
	if err != nil {
		return nil, err
	}
	out := []limitLine{}
	for _, l := range rules.AllLimits() {
		if len(l.Profiles) > 0 && !slices.Contains(l.Profiles, profile) {
			continue
		}
		line := limitLine{Limit: l.ID, Per: string(l.Per), Measure: string(l.Measure), Currency: l.Currency, Most: l.Most, Room: l.Most, limit: l}
		if window := l.Window(); window > 0 {
			line.Within = cli.Span(window)
		}
		some := false
		for _, u := range used {
			if u.Limit == l.ID && u.Per == string(l.Per) {
				some, out = true, append(out, line.with(u))
			}
		}
		if !some && c.Agent == "" && !c.Monitored {
			out = append(out, line)
		}
	}
	slices.SortStableFunc(out, func(a, b limitLine) int {
		return cmp.Or(strings.Compare(a.Limit, b.Limit), cmp.Compare(a.Room, b.Room), slices.Compare(a.Of, b.Of))
	})
	return out, nil
}

// with is a line about those that have used something.
func (l limitLine) with(u ledger.CountedFor) limitLine {
	l.Of, l.Coarse = u.Of, u.Body.Coarse
	r := l.limit.Bound().Read(u.Body.Count, 1, cli.Now())
	if l.Used, l.Room = r.Used, r.Left; l.Room == 0 && l.Most > 0 {
		l.Back = r.Back
	}
	return l
}

// maxCounted is how many are read: those whose use ends last come first.
const maxCounted = 20_000

// usage reads what was used. A home without a store has used nothing.
func (c *limitsList) usage(p *cli.Program) (out []ledger.CountedFor, err error) {
	settings, err := p.Settings()
	if err != nil {
		return nil, err
	}
	if !store.Exists(settings.Home) {
		return nil, nil
	}
	opened, _, err := p.AuditStore()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return c.read(p, opened)
}

func (c *limitsList) read(p *cli.Program, opened *store.Store) (out []ledger.CountedFor, err error) {
	_, _, err = core.EachUse(p.Ctx, opened, maxCounted, func(u ledger.CountedFor) {
		ofAgent := u.Per == string(ruleset.PerAgent) || u.Per == string(ruleset.PerRun)
		if u.Monitored == c.Monitored && (c.Agent == "" || ofAgent && len(u.Of) > 0 && u.Of[0] == c.Agent) {
			out = append(out, u)
		}
	})
	return out, err
}

// What makes a cap questionable: it is more than so many times what was used at most, by so many decisions at least, within so long.
const (
	largeTimes = 3
	largeLeast = 100
	largeSince = 30 * 24 * time.Hour
)

// A capPeak is one limit, and what was used of it at most within its window.
type capPeak struct {
	limit *ruleset.Limit
	slots map[peakSlot]int64
	peak  int64
}

// LargeCaps questions the operator's own limits that are far above what was ever used, as far as this home's log says (EC-I-1): a cap of
// which nobody comes near stops nothing. Without a log there is nothing to question.
func LargeCaps(p *cli.Program, set *ruleset.Ruleset) ([]ruletest.Problem, error) {
	var caps []*capPeak
	for _, l := range set.AllLimits() {
		if l.User() && l.Window() > 0 && l.Per != ruleset.PerType { // which type an agent had is no part of a decision's record
			caps = append(caps, &capPeak{limit: l, slots: map[peakSlot]int64{}})
		}
	}
	settings, err := p.Settings()
	if err != nil || len(caps) == 0 || !store.Exists(settings.Home) {
		return nil, err
	}
	decisions, from := 0, cli.Now().Add(-largeSince)
	err = eachDecision(p, from, func(d auditlog.Decided) {
		if !d.Decision.Answer.Allowed() {
			return
		}
		decisions++
		for _, c := range caps {
			c.observe(&d)
		}
	})
	if err != nil || decisions < largeLeast {
		return nil, err
	}
	var problems []ruletest.Problem
	for _, c := range caps {
		if c.peak > 0 && c.limit.Most > largeTimes*c.peak {
			problems = append(problems, ruletest.Problem{Rule: c.limit.ID, Message: fmt.Sprintf("lets through %d, and the most that was used within "+
				"%s is %d, in %d decisions: a cap is two to three times the peak, or it stops nothing; `interlock limits suggest` proposes one",
				c.limit.Most, c.limit.Window(), c.peak, decisions)})
		}
	}
	return problems, nil
}

// observe counts what one decision let through.
func (c *capPeak) observe(d *auditlog.Decided) {
	r := d.Proposal.Requester
	who := ""
	switch c.limit.Per {
	case ruleset.PerAgent:
		who = r.Agent
	case ruleset.PerPrincipal:
		who = r.Principal
	case ruleset.PerRun:
		who = strings.Join([]string{r.Principal, r.Agent, r.Run}, "\x00")
	}
	slot := peakSlot{who, d.Event.Recorded.UnixNano() / int64(c.limit.Window())}
	c.slots[slot] += ruleset.Measured(c.limit.Measure, c.limit.Currency, d.Decision.Impacts)
	c.peak = max(c.peak, c.slots[slot])
}

type limitsSuggest struct {
	Since string `help:"Look from then on: a length of time ago (8h, 7d) or a time as 2006-01-02T15:04:05Z." default:"14d" placeholder:"TIME"`
	Agent string `help:"Only at what this agent did." placeholder:"NAME"`
}

// Help is what `interlock limits suggest --help` adds.
func (limitsSuggest) Help() string {
	return "For each thing that limits count it finds the agent that used most of it within an hour or a day, and proposes two and a half times\n" +
		"as much for each agent. What it prints is a document for the rules directory; read it before you put it there."
}

// times is how many times the most that was observed is proposed, in tenths: from two to three times is advised.
const times = 25

// A probe is one limit that might be proposed, and what was observed of it.
type probe struct {
	measure  ruleset.Measure
	currency string
	within   time.Duration

	slots map[peakSlot]int64
	peak  int64
	by    string
}

// A peakSlot is one agent's hour, or day.
type peakSlot struct {
	agent string
	at    int64
}

// Run prints a document of limits.
func (c *limitsSuggest) Run(p *cli.Program) error {
	from, err := p.Moment("--since", c.Since)
	if err != nil {
		return err
	}
	found := map[string]*probe{}
	decisions, agents := 0, map[string]bool{}
	if err := eachDecision(p, from, func(d auditlog.Decided) {
		if !d.Decision.Answer.Allowed() || c.Agent != "" && d.Proposal.Requester.Agent != c.Agent {
			return
		}
		decisions++
		agents[d.Proposal.Requester.Agent] = true
		observe(found, d)
	}); err != nil {
		return err
	}
	return suggest(p.Stdout, found, decisions, len(agents), from)
}

// eachDecision visits the decisions that the log holds from a time on, newest first.
func eachDecision(p *cli.Program, from time.Time, visit func(auditlog.Decided)) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	for before := int64(-1); before != 0; {
		entries, err := opened.Entries(p.Ctx, "", ledger.Before(before, HitsPage))
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			before = e.Index
			if auditlog.Released(&e) {
				continue
			}
			decided, err := auditlog.ReadDecision(e)
			if err == nil && decided.Event.Recorded.Before(from) {
				return nil
			}
			if err == nil && !decided.Canary {
				visit(decided)
			}
		}
	}
	return nil
}

// observe counts what one decision let through.
func observe(found map[string]*probe, d auditlog.Decided) {
	probes := []probe{{measure: ruleset.MeasureActions, within: time.Hour}, {measure: ruleset.MeasureCalls, within: time.Hour},
		{measure: ruleset.MeasureRecords, within: 24 * time.Hour}, {measure: ruleset.MeasureRecipients, within: 24 * time.Hour}}
	for n := range d.Decision.Impacts {
		if minor, currency := d.Decision.Impacts[n].Sum(); minor > 0 && currency != "" {
			probes = append(probes, probe{measure: ruleset.MeasureMoney, currency: currency, within: 24 * time.Hour})
		}
	}
	for _, try := range probes {
		name := string(try.measure) + try.currency
		one := found[name]
		if one == nil {
			try.slots = map[peakSlot]int64{}
			one = &try
			found[name] = one
		}
		amount := ruleset.Measured(try.measure, try.currency, d.Decision.Impacts)
		slot := peakSlot{d.Proposal.Requester.Agent, d.Event.Recorded.UnixNano() / int64(try.within)}
		if one.slots[slot] += amount; one.slots[slot] > one.peak {
			one.peak, one.by = one.slots[slot], slot.agent
		}
	}
}

// suggest writes the document.
func suggest(w io.Writer, found map[string]*probe, decisions, agents int, from time.Time) error {
	if decisions == 0 {
		_, err := fmt.Fprintf(w, "# nothing was let through since %s, so there is nothing to go by\n", from.Format("2006-01-02 15:04"))
		return err
	}
	text := fmt.Sprintf("# From %d actions of %d agents since %s. For each agent it is %d.%d times the most that one of them used.\nlimits:\n",
		decisions, agents, from.Format("2006-01-02 15:04"), times/10, times%10)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		one := found[name]
		if one.peak == 0 {
			continue
		}
		l := ruleset.Limit{ID: "suggested." + strings.ToLower(strings.Trim(string(one.measure)+"-"+one.currency, "-")), Measure: one.measure,
			Currency: one.currency, Most: min((one.peak*times+9)/10, ruleset.MaxMost), Per: ruleset.PerAgent, Within: ruleset.Span(one.within)}
		text += fmt.Sprintf("  - {id: %s, per: agent, measure: %s, %smost: %d, within: %dh%s} # at most %d, by %s\n", l.ID, l.Measure,
			orNothing("currency: ", one.currency, ", "), l.Most, int(one.within.Hours()), assumed(one.measure), one.peak, cli.Printable(one.by))
	}
	_, err := io.WriteString(w, text)
	return err
}

func orNothing(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}

// assumed has what does not say how much it is counted as one, where that is what it mostly is.
func assumed(m ruleset.Measure) string {
	if m == ruleset.MeasureRecords || m == ruleset.MeasureRecipients {
		return ", unknown: 1"
	}
	return ""
}

// HitsPage is how many events are read at once.
const HitsPage = 500
