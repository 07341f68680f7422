package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

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
func (c *limitsSuggest) Run(p *program) error {
	from, err := p.moment("--since", c.Since)
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
	return suggest(p.stdout, found, decisions, len(agents), from)
}

// eachDecision visits the decisions that the log holds from a time on, newest first.
func eachDecision(p *program, from time.Time, visit func(auditlog.Decided)) error {
	opened, _, err := p.auditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	for before := int64(-1); before != 0; {
		entries, err := opened.Entries(p.ctx, "", ledger.Before(before, hitsPage))
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
			orNothing("currency: ", one.currency, ", "), l.Most, int(one.within.Hours()), assumed(one.measure), one.peak, printable(one.by))
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
