package auditlog

import (
	"sort"
	"time"

	"interlock"
)

// Hits is how often one rule objected.
type Hits struct {
	Rule       string    `json:"rule"`
	Asked      int       `json:"asked"`      // its findings that argued for asking
	Denied     int       `json:"denied"`     // for denying or halting
	Decisive   int       `json:"decisive"`   // how often it was the one that was named
	Suppressed int       `json:"suppressed"` // how often an operator's order kept it silent
	Last       time.Time `json:"last,omitzero"`
}

// Tally adds a decision's findings to what was counted before, by rule.
func Tally(byRule map[string]*Hits, d interlock.Decision, at time.Time) {
	for i := range d.Findings {
		f := &d.Findings[i]
		h := byRule[f.Rule]
		if h == nil {
			h = &Hits{Rule: f.Rule}
			byRule[f.Rule] = h
		}
		switch f.Verdict {
		case interlock.Allow:
			h.Suppressed++
		case interlock.Ask:
			h.Asked++
		default:
			h.Denied++
		}
		if i == 0 && f.Verdict != interlock.Allow {
			h.Decisive++
		}
		if at.After(h.Last) {
			h.Last = at
		}
	}
}

// Ranked lists what was counted, most hits first and equal ones by name.
func Ranked(byRule map[string]*Hits) []*Hits {
	list := make([]*Hits, 0, len(byRule))
	for _, h := range byRule {
		list = append(list, h)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if n, m := a.Asked+a.Denied+a.Suppressed, b.Asked+b.Denied+b.Suppressed; n != m {
			return n > m
		}
		return a.Rule < b.Rule
	})
	return list
}
