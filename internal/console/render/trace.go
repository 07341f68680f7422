package render

import (
	"strings"

	"interlock"
	"interlock/internal/ruleset"
)

// A Trace is how one decision came about, step by step.
type Trace struct {
	Gates   []Gated
	Silent  []string // gates that looked and found nothing, in the order of the table
	Judge   VerdictOf
	Charged []Charged
}

// A Gated is one gate with what it found.
type Gated struct {
	Name     string
	Findings []interlock.Finding
}

// A VerdictOf is what one of the two gates of the record said: the rules', and the judge's.
type VerdictOf struct {
	Result string `json:"result"` // not_run where nobody was asked
	Rule   string `json:"rule"`
	Layer  int    `json:"layer"`
	Reason string `json:"reason"`
}

// Asked reports whether there was a judge.
func (v VerdictOf) Asked() bool { return v.Result != "" && v.Result != "not_run" }

// A Charged is what the decision took from one limit.
type Charged struct {
	interlock.Taken
	Most int64 // of the limit as the rules have it now; 0: they have it no more
}

// Amount says how much, in the limit's measure.
func (c Charged) Amount() string {
	if c.Measure == string(ruleset.MeasureMoney) {
		return interlock.Money(c.Take, c.Currency)
	}
	return Comma(c.Take) + " " + c.Measure
}

// OfAll says what there is in all; empty where nobody knows.
func (c Charged) OfAll() string {
	switch {
	case c.Most == 0:
		return ""
	case c.Measure == string(ruleset.MeasureMoney):
		return "of " + interlock.Money(c.Most, c.Currency)
	}
	return "of " + Comma(c.Most)
}

// Who says for whom it is counted.
func (c Charged) Who() string { return Gauge{Per: c.Per, Of: c.Taken.Of}.Who() }

// On is whose limits show it; empty for what is counted for everything or somebody.
func (c Charged) On() string {
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
