package main

import (
	"fmt"
	"strings"
	"time"

	"interlock/internal/auditlog"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/internal/store"
)

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

// largeCaps questions the operator's own limits that are far above what was ever used, as far as this home's log says (EC-I-1): a cap of
// which nobody comes near stops nothing. Without a log there is nothing to question.
func (p *program) largeCaps(set *ruleset.Ruleset) ([]ruletest.Problem, error) {
	var caps []*capPeak
	for _, l := range set.AllLimits() {
		if l.User() && l.Window() > 0 && l.Per != ruleset.PerType { // which type an agent had is no part of a decision's record
			caps = append(caps, &capPeak{limit: l, slots: map[peakSlot]int64{}})
		}
	}
	settings, err := p.settings()
	if err != nil || len(caps) == 0 || !store.Exists(settings.Home) {
		return nil, err
	}
	decisions, from := 0, now().Add(-largeSince)
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
