package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/console/stats"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
)

// hitReads is how many of the newest events the pages about rules count hits in.
const hitReads = 2000

// lately is what was decided in the newest events.
type lately struct {
	Decisions int
	rules     map[string]*auditlog.Hits
	kinds     map[string]*rate
	gates     map[string]*rate
}

// A rate is how the decisions about one kind of action came out, or those in which one gate was the one that is named.
type rate struct {
	Name   string
	Counts stats.Tallies
	All    int
}

// Denied is the share of denials, in percent.
func (r rate) Denied() int { return (r.Denials()*100 + r.All/2) / max(r.All, 1) }

// Denials is how many were denied or halted.
func (r rate) Denials() int { return r.Counts.Deny + r.Counts.Halt }

// Asked is the share of questions, in percent.
func (r rate) Asked() int { return (r.Counts.Ask*100 + r.All/2) / max(r.All, 1) }

func (l *lately) add(d auditlog.Decided) {
	l.Decisions++
	gate := "nothing objected"
	if f := d.Decision.Decisive(); f != nil {
		gate = f.Gate
	}
	count(l.kinds, string(d.Proposal.Action.Kind), answerOf(d))
	count(l.gates, gate, answerOf(d))
}

func count(by map[string]*rate, name string, answer interlock.Verdict) {
	one := by[name]
	if one == nil {
		one = &rate{Name: name}
		by[name] = one
	}
	one.All++
	one.Counts.Add(answer)
}

// titled is what the template of rates gets.
func titled(title string, list []*rate) any {
	return struct {
		Title string
		Rates []*rate
	}{title, list}
}

// rates lists rates, the most frequent first.
func rates(by map[string]*rate) []*rate {
	list := make([]*rate, 0, len(by))
	for _, one := range by {
		list = append(list, one)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].All > list[j].All || list[i].All == list[j].All && list[i].Name < list[j].Name
	})
	return list
}

// Kinds lists the rates by kind of action.
func (l *lately) Kinds() []*rate { return rates(l.kinds) }

// Gates lists the rates by the gate that was named.
func (l *lately) Gates() []*rate { return rates(l.gates) }

// lately counts what was decided in the newest events.
func (c *Console) lately(r *http.Request) (*lately, error) {
	entries, err := c.config.Log.Entries(r.Context(), "", ledger.Before(-1, hitReads))
	if err != nil {
		return nil, err
	}
	l := &lately{rules: map[string]*auditlog.Hits{}, kinds: map[string]*rate{}, gates: map[string]*rate{}}
	for _, e := range entries {
		if !auditlog.IsDecision(e.Type) {
			continue
		}
		if d, err := auditlog.ReadDecision(e); err == nil && !d.Canary {
			auditlog.Tally(l.rules, d.Decision, d.Event.Recorded)
			l.add(d)
		}
	}
	return l, nil
}

// A ruled is one rule in a list.
type ruled struct {
	*ruleset.Rule
	Hits   *auditlog.Hits // nil: none lately
	Tests  int
	Trend  *stats.Spark // nil: it was not the one that is named in the last month
	Spoke  int          // how often it was, within the times that are looked at
	Silent int          // orders that keep it silent somewhere
}

// rulesPage lists the rules in force, those that spoke most first.
func (c *Console) rulesPage(w http.ResponseWriter, r *http.Request) {
	f, err := rulesFilterOf(r.URL.Query())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	counted, err := c.lately(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	orders, err := c.suppressions(r, "")
	if err != nil {
		c.fail(w, r, err)
		return
	}
	silent := map[string]int{}
	for i := range orders {
		silent[orders[i].Rule]++
	}
	rules := c.config.Facts.Rules()
	now := c.config.Now()
	var list []ruled
	come := c.counter.View(r.Context(), func(rolled *stats.Rollup) {
		for _, rule := range rules.Rules() {
			if times, listed := f.spoke(rolled, rule.ID, now); listed && f.about(rule, silent[rule.ID] > 0) {
				list = append(list, ruled{rule, counted.rules[rule.ID], testsOf(rule), rolled.Month(rule.ID, now), times, silent[rule.ID]})
			}
		}
	})
	drawn := 0
	sort.SliceStable(list, func(i, j int) bool {
		return list[i].Spoke > list[j].Spoke || list[i].Spoke == list[j].Spoke && hits(list[i].Hits) > hits(list[j].Hits)
	})
	for i := range list {
		if list[i].Trend == nil {
			continue
		}
		if drawn++; drawn > maxDrawn {
			list[i].Trend = nil // its number is enough
		}
	}
	c.render(w, r, http.StatusOK, "rules.html", "Rules", struct {
		*lately
		Filter rulesFilter
		Rules  []ruled
		Digest interlock.Digest
		All    int
		Whole  bool // all of the month is counted
		Silent []silenced

		Verdicts []string
	}{counted, f, list, rules.Digest(), len(rules.Rules()), come.Whole, orders,
		[]string{interlock.Ask.String(), interlock.Deny.String(), interlock.Halt.String()}})
}

// maxDrawn is how many trends the list of rules draws; the others are numbers.
const maxDrawn = 40

// hits is how often a rule objected.
func hits(h *auditlog.Hits) int {
	if h == nil {
		return 0
	}
	return h.Asked + h.Denied + h.Suppressed
}

func testsOf(r *ruleset.Rule) int {
	tests, _ := r.Tests.Read() // those that ship were read when they were put into the program
	return len(tests.Block) + len(tests.Ask) + len(tests.Pass)
}

// rulePage shows one rule, runs its tests now, and says how often it objected lately.
func (c *Console) rulePage(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	facts := c.config.Facts
	rules := facts.Rules()
	rule, known := rules.Rule(id)
	if !known {
		page := ruleDetail{Missing: render.Shorten(id, render.MaxFilter)}
		_, none := rules.Suppressible(id)
		page.Row = none == nil
		c.counter.View(r.Context(), func(rolled *stats.Rollup) { page.Trend = ruleTrend(rolled, id, c.config.Now()) })
		c.render(w, r, http.StatusNotFound, "rule.html", "Rule "+render.Shorten(id, 80), &page)
		return
	}
	counted, err := c.lately(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	results, err := ruletest.RunRule(rules, facts.Analyser, rule)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	match, err := render.AsWritten(struct {
		Kinds []interlock.Kind `json:"kinds,omitempty"`
		Match ruleset.Match    `json:"match"`
		After *ruleset.After   `json:"after,omitempty"`
	}{rule.Kinds, rule.Match, rule.After})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page := ruleDetail{Rule: rule, Hits: counted.rules[rule.ID], Decisions: counted.Decisions, Results: results, Match: match,
		LooksFor: render.LooksFor(rule), May: c.may(r, answering), Kinds: interlock.Kinds()}
	for _, result := range results {
		if result.Fault != "" {
			page.Failed++
		}
	}
	if page.Silent, err = c.suppressions(r, rule.ID); err != nil {
		c.fail(w, r, err)
		return
	}
	if page.Denies, err = rules.Suppressible(rule.ID); err != nil {
		page.Firm = "This rule protects systems or Interlock itself: nobody can keep it silent."
	} else if page.Denies && !c.may(r, governing) {
		page.Firm = "This rule denies: only an admin can keep it silent."
	}
	c.counter.View(r.Context(), func(rolled *stats.Rollup) { page.Trend = ruleTrend(rolled, rule.ID, c.config.Now()) })
	c.render(w, r, http.StatusOK, "rule.html", "Rule "+rule.ID, &page)
}

// A ruleDetail is what the page of one rule shows.
type ruleDetail struct {
	*ruleset.Rule
	Missing   string // the id, where no rule has it: what objected is a gate of its own
	Row       bool   // or a row of a profile that can be kept silent
	Hits      *auditlog.Hits
	Decisions int
	Results   []ruletest.Result
	Failed    int
	Match     string
	LooksFor  []render.Clause
	Trend     render.Plot
	Silent    []silenced // orders that keep it silent somewhere
	Denies    bool
	Firm      string // why nobody who looks can keep it silent; empty: they can
	May       bool   // they may give orders at all
	Kinds     []interlock.Kind
}

// ruleTrend draws how often a rule was the one that is named, day by day.
func ruleTrend(r *stats.Rollup, rule string, now time.Time) render.Plot {
	one := r.Rules[rule]
	last := (stats.HourOf(now)/stats.MonthStep + 1) * stats.MonthStep
	p := render.Plot{ID: "trend", Title: "When it spoke", Href: address("/feed", url.Values{"rule": {rule}}),
		Wide: stats.MonthSteps * render.StepWide}
	only, sums := render.Lane{}, make([]stats.Hourly, stats.MonthSteps)
	all, put := make([]int, stats.MonthSteps), make([]int, stats.MonthSteps)
	asked, others := 0, 0
	for i := range sums {
		sums[i].Hour = last - int64(stats.MonthSteps-i)*stats.MonthStep
		for h := sums[i].Hour; one != nil && h >= 0 && h < sums[i].Hour+stats.MonthStep; h++ {
			n, questions := r.In(one, h)
			all[i], put[i] = all[i]+n, put[i]+questions
		}
		asked, others, only.Most = asked+put[i], others+all[i]-put[i], max(only.Most, all[i])
	}
	only.Most = render.RoundUp(only.Most)
	for i := range sums {
		if all[i] == 0 {
			continue
		}
		from := time.Unix(sums[i].Hour*3600, 0).UTC()
		href := address("/feed", url.Values{"rule": {rule}, "since": {from.Format(time.RFC3339)},
			"until": {from.Add(stats.MonthStep * time.Hour).Format(time.RFC3339)}})
		only.Bars = append(only.Bars, render.PlotBar{X: i*render.StepWide + 2, Wide: render.StepWide - 4, Href: href,
			Says:  fmt.Sprintf("%d asked, %d denied", put[i], all[i]-put[i]),
			Parts: render.Stacked(only.Most, []string{"ask", "deny"}, []int{put[i], all[i] - put[i]})})
		p.Rows = append(p.Rows, render.PlotRow{At: from, Href: href, Counts: []int{put[i], all[i] - put[i]}})
	}
	p.Lanes, p.Axis = []render.Lane{only}, axis(sums)
	p.Series = []render.Measure{{Name: "asked", Class: "ask", Href: "", All: asked}, {Name: "denied", Class: "deny", Href: "",
		All: others}}
	p.Says = "In 30 days it was the one that is named in " + render.Numbered(asked+others, "decision", "decisions") + ": " +
		render.Comma(int64(asked)) + " asked and " + render.Comma(int64(others)) + " denied or halted."
	slices.Reverse(p.Rows)
	return p
}

// A rulesFilter says which rules the page lists. Empty fields say nothing.
type rulesFilter struct {
	Q       string // part of the id, the reason or a tag
	Verdict string
	From    string // "yours", "shipped" or "silent": those that an operator keeps silent
	dated          // those that were the one that is named within these times
}

func rulesFilterOf(query url.Values) (f rulesFilter, err error) {
	f = rulesFilter{Q: query.Get("q"), Verdict: query.Get("verdict"), From: query.Get("from")}
	if len(f.Q) > render.MaxFilter {
		return f, interlock.Errorf(interlock.CodeInvalid, "q", "is longer than %d bytes", render.MaxFilter)
	}
	if f.Verdict != "" {
		var v interlock.Verdict
		if err := v.UnmarshalText([]byte(f.Verdict)); err != nil {
			return f, interlock.Errorf(interlock.CodeInvalid, "verdict", "%v", err)
		}
	}
	if f.From != "" && !slices.Contains([]string{"yours", "shipped", "silent"}, f.From) {
		return f, interlock.Errorf(interlock.CodeInvalid, "from", "%.40q is none of yours, shipped and silent", f.From)
	}
	f.dated, err = datedOf(query)
	return f, err
}

// Any reports whether the filter leaves anything out.
func (f rulesFilter) Any() bool { return f != rulesFilter{} }

// about reports whether a rule passes, but for the times.
func (f rulesFilter) about(r *ruleset.Rule, silent bool) bool {
	switch {
	case f.Verdict != "" && r.Verdict.String() != f.Verdict,
		f.From == "yours" && !r.User(), f.From == "shipped" && r.User(), f.From == "silent" && !silent:
		return false
	}
	text := strings.ToLower(r.ID + "\n" + r.Reason + "\n" + strings.Join(r.Tags, "\n"))
	return strings.Contains(text, strings.ToLower(f.Q))
}

// spoke reports how often a rule was the one that is named within the filter's times, and whether that is enough to be listed.
func (f rulesFilter) spoke(r *stats.Rollup, rule string, now time.Time) (times int, listed bool) {
	from, to := f.bounds(now)
	times, _ = r.Between(r.Rules[rule], from, to)
	return times, times > 0 || !f.Dated()
}
