package console

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ruleset"
)

// A trace is how one decision came about, step by step.
type trace struct {
	Gates   []gated
	Silent  []string // gates that looked and found nothing, in the order of the table
	Judge   verdictOf
	Charged []charged
}

// A gated is one gate with what it found.
type gated struct {
	Name     string
	Findings []interlock.Finding
}

// A verdictOf is what one of the two gates of the record said: the rules', and the judge's.
type verdictOf struct {
	Result string `json:"result"` // not_run where nobody was asked
	Rule   string `json:"rule"`
	Layer  int    `json:"layer"`
	Reason string `json:"reason"`
}

// Asked reports whether there was a judge.
func (v verdictOf) Asked() bool { return v.Result != "" && v.Result != "not_run" }

// A charged is what the decision took from one limit.
type charged struct {
	interlock.Taken
	Most int64 // of the limit as the rules have it now; 0: they have it no more
}

// Amount says how much, in the limit's measure.
func (c charged) Amount() string {
	if c.Measure == string(ruleset.MeasureMoney) {
		return interlock.Money(c.Take, c.Currency)
	}
	return comma(c.Take) + " " + c.Measure
}

// OfAll says what there is in all; empty where nobody knows.
func (c charged) OfAll() string {
	switch {
	case c.Most == 0:
		return ""
	case c.Measure == string(ruleset.MeasureMoney):
		return "of " + interlock.Money(c.Most, c.Currency)
	}
	return "of " + comma(c.Most)
}

// Who says for whom it is counted.
func (c charged) Who() string { return gauge{Per: c.Per, Of: c.Taken.Of}.Who() }

// On is whose limits show it; empty for what is counted for everything or somebody.
func (c charged) On() string {
	switch ruleset.Per(c.Per) {
	case ruleset.PerAgent, ruleset.PerType:
		return c.Per + ":" + strings.Join(c.Taken.Of, " ")
	case ruleset.PerRun, ruleset.PerTree:
		if len(c.Taken.Of) == 0 {
			return ""
		}
		return c.Per + ":" + c.Taken.Of[len(c.Taken.Of)-1]
	}
	return ""
}

// traced puts together how a decision came about. The record names the gates that objected; the others are those of this version's table.
func (c *Console) traced(d auditlog.Decided, veiled bool) (t trace) {
	table := gate.Gates()
	found := map[string][]interlock.Finding{}
	for _, f := range d.Decision.Findings {
		found[f.Gate] = append(found[f.Gate], f)
	}
	for _, row := range table {
		if list := found[row.Name]; len(list) > 0 {
			t.Gates = append(t.Gates, gated{row.Name, list})
		} else if row.Check != nil {
			t.Silent = append(t.Silent, row.Name)
		}
	}
	for _, f := range d.Decision.Findings { // of a gate that this version knows no more
		if table.Place(f.Gate) == len(table) && !slices.ContainsFunc(t.Gates, func(g gated) bool { return g.Name == f.Gate }) {
			t.Gates = append(t.Gates, gated{f.Gate, found[f.Gate]})
		}
	}
	var wire struct {
		Second verdictOf `json:"gate_2"`
	}
	if json.Unmarshal(d.Event.Payload, &wire) == nil {
		t.Judge = wire.Second
	}
	if veiled {
		t.Judge.Reason = interlock.GeneralReason(t.Judge.Reason)
	}
	for _, taken := range d.Uses {
		one := charged{Taken: taken}
		if l, known := c.config.Facts.Rules().Limit(taken.Limit); known {
			one.Most = l.Most
		}
		t.Charged = append(t.Charged, one)
	}
	return t
}
