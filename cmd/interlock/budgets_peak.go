package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
	"interlock/internal/store"
)

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

// largeBudgets questions budgets that are far above what was ever reported, as far as this home's log says.
func (p *program) largeBudgets(set *ruleset.Ruleset) ([]ruletest.Problem, error) {
	settings, err := p.settings()
	if err != nil || len(set.AllBudgets()) == 0 || !store.Exists(settings.Home) {
		return nil, err
	}
	opened, _, err := p.auditStore()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	peaks := budgetPeaks{}
	err = newest(p, opened, interlock.EventUsage, p.now().Add(-largeSince), func(_ interlock.Entry, e auditlog.Event, payload []byte) error {
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
