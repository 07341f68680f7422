package console

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/console/render"
	"interlock/internal/console/stats"
	"interlock/internal/judgments"
)

// A judgeShown is one judge on the page.
type judgeShown struct {
	render.JudgeState
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
	return render.Comma(c.Denied[gate-1]) + ", " + render.PercentWords((c.Denied[gate-1]*100+of/2)/of)
}

// A judgesShown is the page about judges.
type judgesShown struct {
	Stretches []stretch
	Stretch   stretch
	Reading   *stats.Counting
	Failed    bool
	Ground    render.JudgeGround
	List      []judgeShown
	Classes   []classShown
	Costs     []classCost
	Budgets   []render.SpentBar
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
	var known render.Judges
	if c.config.Judges != nil {
		var err error
		if known, err = c.config.Judges(r.Context()); err != nil {
			c.fail(w, r, err)
			return
		}
	}
	var counts judgments.Counts
	if len(known.List) > 0 {
		come := c.counter.View(r.Context(), func(rolled *stats.Rollup) { counts = rolled.Judged(c.config.Now(), page.Stretch.Hours) })
		if page.Failed = come.Failed != nil; page.Failed || !come.Whole {
			page.Reading = &come
		}
	}
	page.fill(known, &counts, c.may(r, reading))
	c.render(w, r, http.StatusOK, "judges.html", "Judges", page)
}

// fill makes the page of what is known and counted. Who may not read what agents propose is not told a judge's words about it either.
func (p *judgesShown) fill(known render.Judges, counts *judgments.Counts, mayRead bool) {
	p.Ground, p.Shared = known.Ground, counts.Shared
	for _, state := range known.List {
		of := counts.Of(state.Name)
		one := judgeShown{JudgeState: state, Count: of, Costs: render.Amounts(of.Cost), Median: of.Within(50), Tail: of.Within(95)}
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
		row := classCost{Judge: key.Judge, Class: key.Class, Count: *one, Median: one.Within(50), Tail: one.Within(95),
			Costs: render.Amounts(one.Cost)}
		for _, n := range one.Outcomes { // any order: they are summed up
			row.Asked += n
		}
		p.Costs = append(p.Costs, row)
	}
	for _, spent := range known.Budgets {
		if !mayRead && spent.Per == core.JudgePerAgent && spent.Of != "" {
			spent.Of = "one of them"
		}
		p.Budgets = append(p.Budgets, render.SpentBar{JudgeSpent: spent})
	}
}
