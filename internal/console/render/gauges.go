package render

import (
	"cmp"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/meter"
	"interlock/internal/ruleset"
)

// The bounds of what a page shows of limits and budgets.
const (
	GaugeReads = 2000 // uses that are looked through for the fullest, those that end last first
	MaxGauges  = 100
	TopGauges  = 8 // on the page about the system
)

// A Gauge is how much of a limit or a budget one of those that it is counted for has used.
type Gauge struct {
	ID       string
	Budget   bool
	Per      string
	Of       []string
	Measure  string
	Currency string
	Used     int64
	Most     int64
	Share    int64 // in percent, and what is more than the whole of it too
	Step     string
	Within   string // for how long a use counts, in words
	Back     time.Time
	Never    bool // all of it is used, and no time gives room again

	bound   meter.Bound
	verdict interlock.Verdict // of a limit that has no room
	now     time.Time
}

func LimitGauge(l *ruleset.Limit, now time.Time) Gauge {
	g := Gauge{ID: l.ID, Per: string(l.Per), Measure: string(l.Measure), Currency: l.Currency, Most: l.Most, bound: l.Bound(),
		now: now, verdict: interlock.Deny}
	if l.Verdict == interlock.Ask {
		g.verdict = interlock.Ask
	}
	return g.lasting()
}

func BudgetGauge(b *ruleset.Budget, now time.Time) Gauge {
	g := Gauge{ID: b.ID, Budget: true, Per: string(b.Per), Measure: string(b.Measure), Currency: b.Currency, Most: b.Most,
		bound: b.Bound(), now: now}
	return g.lasting()
}

func (g Gauge) lasting() Gauge {
	if g.Within = "in all"; g.bound.Window > 0 {
		g.Within = "in " + InWords(g.bound.Window)
	}
	return g
}

// Key is where what one of those it is counted for has used is kept.
func (g Gauge) Key(of []string, monitored bool) string {
	taken := interlock.Taken{Limit: g.ID, Per: g.Per, Of: of, Monitored: monitored && !g.Budget}
	if g.Budget {
		b := ruleset.Budget{ID: g.ID, Per: ruleset.Per(g.Per)}
		taken.Limit = b.Taken(interlock.Requester{}, &interlock.AgentRecord{}, 0).Limit
	}
	return ledger.TakenFrom(taken)
}

// With is the gauge of somebody who has used something.
func (g Gauge) With(of []string, count meter.Count) Gauge {
	r := g.bound.Read(count, 1, g.now)
	g.Of, g.Used = of, r.Used
	b := ruleset.Budget{Most: g.Most}
	g.Share, g.Step = b.Used(g.Used), b.Step(g.Used).Name
	if g.Used >= g.Most {
		g.Back, g.Never = r.Back, r.Back.IsZero()
	}
	return g
}

// Who says for whom it is counted.
func (g Gauge) Who() string {
	if g.Per == string(ruleset.PerEverything) {
		return "everything"
	}
	return g.Per + " " + cmp.Or(strings.Join(g.Of, " "), "without a name")
}

func (g Gauge) amount(n int64) string {
	if g.Measure == string(ruleset.MeasureMoney) {
		return interlock.Money(n, g.Currency)
	}
	return Comma(n)
}

// Says is the text beside the bar, which a screen reader reads in place of it.
func (g Gauge) Says() string {
	unit := " " + g.Measure
	if g.Measure == string(ruleset.MeasureMoney) {
		unit = ""
	}
	return g.amount(g.Used) + " of " + g.amount(g.Most) + unit + ", " + PercentWords(g.Share)
}

// MostSays is how much there is in all.
func (g Gauge) MostSays() string {
	if g.Measure == string(ruleset.MeasureMoney) {
		return g.amount(g.Most)
	}
	return g.amount(g.Most) + " " + g.Measure
}

func PercentWords(share int64) string {
	if share >= 999 {
		return "999 % or more"
	}
	return Comma(share) + " %"
}

// Label is the name of the bar.
func (g Gauge) Label() string { return g.ID + " for " + inPlain(g.Who()) }

// Now is where the bar ends.
func (g Gauge) Now() int64 { return min(max(g.Share, 0), 100) }

// Marks are where the steps of the ladder are.
func (g Gauge) Marks() (at []int) {
	for _, s := range ruleset.Steps() {
		if s.At < 100 {
			at = append(at, int(s.At))
		}
	}
	return at
}

// Fill is the colour of the bar: which step of the ladder is reached. A limit has no ladder; its bar is coloured the same.
func (g Gauge) Fill() string { return "step-" + cmp.Or(g.Step, "free") }

// Tone is how loud the word beside it is.
func (g Gauge) Tone() string {
	switch g.Step {
	case ruleset.StepThrottle, ruleset.StepDegrade, ruleset.StepStop:
		return "bad"
	case ruleset.StepWarn:
		return "warn"
	}
	return "muted"
}

// Standing says what is so at the step that is reached.
func (g Gauge) Standing() string {
	if g.Budget || g.Used < g.Most {
		if !g.Budget {
			return ""
		}
		return map[string]string{ruleset.StepNotice: "notice", ruleset.StepWarn: "warn",
			ruleset.StepThrottle: "throttle: changes are asked about",
			ruleset.StepDegrade:  "degrade: changes are denied", ruleset.StepStop: "stop: everything is denied" + g.again()}[g.Step]
	}
	if g.verdict == interlock.Ask {
		return "no room: more is asked about" + g.again()
	}
	return "no room: more is denied" + g.again()
}

func (g Gauge) again() string {
	if g.Never {
		return ", for good"
	}
	if g.Back.IsZero() {
		return ""
	}
	return ", room again " + Clock(g.Back)
}

// A CountedFor is whose limits are looked at: what is counted for an agent, a type, a run or an orchestration is kept under their
// names.
type CountedFor struct {
	Requester interlock.Requester
	Record    interlock.AgentRecord
	Tree      string
	Per       []ruleset.Per // for whom
}
