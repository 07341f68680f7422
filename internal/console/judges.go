package console

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/judgments"
	"interlock/internal/ruleset"
)

// Judges are who judges in this home, and how they do now in the process that serves the console.
type Judges struct {
	List    []JudgeState
	Ground  JudgeGround
	Budgets []admission.JudgeSpent
}

// A JudgeState is how one judge does.
type JudgeState struct {
	Name     string
	Model    string // with everything else that is pinned
	Breaker  string
	Until    time.Time // it is open
	Tested   time.Time // zero: not by this process
	Passed   bool
	Reason   string // why not
	InFlight int
	Waiting  int
}

// JudgeGround are the ground rules in force.
type JudgeGround struct {
	Digest interlock.Digest
	Rules  int
	Origin string // whose they are
	Note   string // what is to be known beside; empty: nothing
}

// A judgeShown is one judge on the page.
type judgeShown struct {
	JudgeState
	judgments.Count
	Asked   int64
	Said    []saidOften
	Costs   string
	Median  time.Duration
	Tail    time.Duration
	Average time.Duration
}

// A saidOften is how often something came of asking.
type saidOften struct {
	Outcome string
	Count   int64
}

// A classShown is how decisions about actions of one class went through the gates.
type classShown struct {
	Class string
	judgments.Gates
}

// Rate is the part of those that a gate looked at which it denied, in words.
func (c classShown) Rate(gate int) string {
	of := c.Decided
	if gate == 2 {
		of = c.Asked
	}
	if of == 0 {
		return "–"
	}
	return comma(c.Denied[gate-1]) + ", " + percentWords((c.Denied[gate-1]*100+of/2)/of)
}

// A judgesShown is the page about judges.
type judgesShown struct {
	Stretches []stretch
	Stretch   stretch
	Reading   *counting
	Failed    bool
	Ground    JudgeGround
	List      []judgeShown
	Classes   []classShown
	Costs     []classCost
	Budgets   []spentBar
	Shared    int64
}

// A classCost is what asking about actions of one class took and cost.
type classCost struct {
	Judge, Class string
	judgments.Count
	Asked  int64
	Median time.Duration
	Tail   time.Duration
	Costs  string
}

// judgesPage shows who judges, how they do, and what came of asking them.
func (c *Console) judgesPage(w http.ResponseWriter, r *http.Request) {
	page := judgesShown{Stretches: stretches()}
	for i := range page.Stretches {
		one := &page.Stretches[i]
		one.Here = r.URL.Query().Get("range") == one.Name || i == 0 && r.URL.Query().Get("range") == ""
		if one.Here {
			page.Stretch = *one
		}
	}
	if page.Stretch.Hours == 0 {
		c.fail(w, r, interlock.Errorf(interlock.CodeInvalid, "range", "is day, week or month"))
		return
	}
	var known Judges
	if c.config.Judges != nil {
		var err error
		if known, err = c.config.Judges(r.Context()); err != nil {
			c.fail(w, r, err)
			return
		}
	}
	var counts judgments.Counts
	if len(known.List) > 0 {
		come := c.counter.view(r.Context(), func(rolled *rollup) { counts = rolled.judged(c.config.Now(), page.Stretch.Hours) })
		if page.Failed = come.failed != nil; page.Failed || !come.Whole {
			page.Reading = &come
		}
	}
	page.fill(known, &counts, c.may(r, reading))
	c.render(w, r, http.StatusOK, "judges.html", "Judges", page)
}

// judged is what came of asking judges in the last hours.
func (r *rollup) judged(now time.Time, hours int64) (sum judgments.Counts) {
	last := hourOf(now)
	for n := range r.hours {
		if slot := &r.hours[n]; slot.hour > last-hours && slot.hour <= last {
			sum.Merge(&slot.judged)
		}
	}
	return sum
}

// fill makes the page of what is known and counted. Who may not read what agents propose is not told a judge's words about it either.
func (p *judgesShown) fill(known Judges, counts *judgments.Counts, mayRead bool) {
	p.Ground, p.Shared = known.Ground, counts.Shared
	for _, state := range known.List {
		of := counts.Of(state.Name)
		one := judgeShown{JudgeState: state, Count: of, Costs: amounts(of.Cost), Median: of.Within(50), Tail: of.Within(95)}
		if one.Timed > 0 {
			one.Average = time.Duration(of.Micros/of.Timed) * time.Microsecond
		}
		for _, outcome := range slices.Sorted(maps.Keys(of.Outcomes)) {
			one.Said = append(one.Said, saidOften{outcome, of.Outcomes[outcome]})
			one.Asked += of.Outcomes[outcome]
		}
		p.List = append(p.List, one)
	}
	for _, class := range counts.Classes() {
		p.Classes = append(p.Classes, classShown{class, *counts.Gates[class]})
	}
	slices.SortStableFunc(p.Classes, func(a, b classShown) int { return cmp.Compare(b.Decided, a.Decided) })
	for _, key := range counts.Keys() {
		one := counts.Judges[key]
		row := classCost{Judge: key.Judge, Class: key.Class, Count: *one, Median: one.Within(50), Tail: one.Within(95), Costs: amounts(one.Cost)}
		for _, n := range one.Outcomes { // any order: they are summed up
			row.Asked += n
		}
		p.Costs = append(p.Costs, row)
	}
	for _, spent := range known.Budgets {
		if !mayRead && spent.Per == admission.JudgePerAgent && spent.Of != "" {
			spent.Of = "one of them"
		}
		p.Budgets = append(p.Budgets, spentBar{spent})
	}
}

// amounts writes sums of money, each in millionths of one unit.
func amounts(of map[string]int64) string {
	var list []string
	for _, currency := range slices.Sorted(maps.Keys(of)) {
		list = append(list, millionths(of[currency], currency))
	}
	return strings.Join(list, ", ")
}

// millionths writes an amount in millionths of one unit of a currency.
func millionths(amount int64, currency string) string {
	text := strings.TrimRight(fmt.Sprintf("%d.%06d", amount/1e6, amount%1e6), "0")
	return strings.TrimSuffix(text, ".") + " " + currency
}

// A spentBar is a judges' budget as a bar: what [gauge] is to limits.
type spentBar struct{ admission.JudgeSpent }

// Budget says that it is one.
func (spentBar) Budget() bool { return true }

// share is how much is used, in percent, rounded down: only what is used up is full.
func (s spentBar) share() int64 {
	if s.Most <= 0 {
		return 100
	}
	return int64(float64(s.Used) / float64(s.Most) * 100)
}

// Who says whose questions it counts together.
func (s spentBar) Who() string {
	if s.Per == admission.JudgePerAll {
		return "all questions"
	}
	return "each " + string(s.Per) + map[bool]string{true: ", nobody yet", false: ": " + s.Of}[s.Of == ""]
}

// Says is the text beside the bar.
func (s spentBar) Says() string {
	return millionths(s.Used, s.Currency) + " of " + millionths(s.Most, s.Currency) + ", " + percentWords(s.share())
}

// Within is for how long a question counts.
func (s spentBar) Within() string { return gauge{window: s.Window}.lasting().Within }

// Label is the name of the bar.
func (s spentBar) Label() string { return s.ID + " for " + inPlain(s.Who()) }

// Now is where the bar ends.
func (s spentBar) Now() int64 { return min(max(s.share(), 0), 100) }

// Marks are none: there is no ladder.
func (spentBar) Marks() []int { return nil }

// Fill is the colour of the bar, by the same steps as those of other budgets.
func (s spentBar) Fill() string {
	b := ruleset.Budget{Most: 100}
	return "step-" + cmp.Or(b.Step(s.share()).Name, "free")
}

// Tone is how loud the word beside it is.
func (spentBar) Tone() string { return "bad" }

// Standing says what follows where nothing is left.
func (s spentBar) Standing() string {
	if s.Used >= s.Most {
		return "used up: what needs a judge is denied"
	}
	return ""
}

// judgeTook says how long an answer took.
func judgeTook(j interlock.Judgment) string {
	if j.Micros == 0 {
		return "nothing was sent"
	}
	return "in " + inWords(time.Duration(j.Micros)*time.Microsecond)
}

// judgeUsed says what an answer used; empty where that is not known. What was remembered used it the first time.
func judgeUsed(j interlock.Judgment) string {
	var list []string
	if j.TokensIn+j.TokensOut > 0 {
		list = append(list, comma(j.TokensIn)+" tokens in, "+comma(j.TokensOut)+" out")
	}
	if j.Cost > 0 {
		list = append(list, millionths(j.Cost, j.Currency))
	}
	if len(list) > 0 && j.Remembered {
		return "the first time " + strings.Join(list, " · ")
	}
	return strings.Join(list, " · ")
}
