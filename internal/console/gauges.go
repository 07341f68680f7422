package console

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// The bounds of what a page shows of limits and budgets.
const (
	gaugeReads = 2000 // uses that are looked through for the fullest, those that end last first
	maxGauges  = 100
	topGauges  = 8 // on the page about the system
)

// A gauge is how much of a limit or a budget one of those that it is counted for has used.
type gauge struct {
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

	window  time.Duration
	verdict interlock.Verdict // of a limit that has no room
	now     time.Time
}

func limitGauge(l *ruleset.Limit, now time.Time) gauge {
	g := gauge{ID: l.ID, Per: string(l.Per), Measure: string(l.Measure), Currency: l.Currency, Most: l.Most, window: l.Window(), now: now,
		verdict: interlock.Deny}
	if l.Verdict == interlock.Ask {
		g.verdict = interlock.Ask
	}
	return g.lasting()
}

func budgetGauge(b *ruleset.Budget, now time.Time) gauge {
	g := gauge{ID: b.ID, Budget: true, Per: string(b.Per), Measure: string(b.Measure), Currency: b.Currency, Most: b.Most, window: b.Window(), now: now}
	return g.lasting()
}

func (g gauge) lasting() gauge {
	if g.Within = "in all"; g.window > 0 {
		g.Within = "in " + inWords(g.window)
	}
	return g
}

// key is where what one of those it is counted for has used is kept.
func (g gauge) key(of []string, monitored bool) string {
	taken := interlock.Taken{Limit: g.ID, Per: g.Per, Of: of, Monitored: monitored && !g.Budget}
	if g.Budget {
		b := ruleset.Budget{ID: g.ID, Per: ruleset.Per(g.Per)}
		taken.Limit = b.Taken(interlock.Requester{}, &interlock.AgentRecord{}, 0).Limit
	}
	return ledger.TakenFrom(taken)
}

// with is the gauge of somebody who has used something.
func (g gauge) with(of []string, body ledger.UsageBody) gauge {
	g.Of, g.Used = of, body.Used(g.window, g.now)
	b := ruleset.Budget{Most: g.Most}
	g.Share, g.Step = b.Used(g.Used), b.Step(g.Used).Name
	if g.Used >= g.Most {
		g.Back = body.Back(ledger.Spend{Take: 1, Room: g.Most, Window: g.window}, g.now)
		g.Never = g.Back.IsZero()
	}
	return g
}

// Who says for whom it is counted.
func (g gauge) Who() string {
	if g.Per == string(ruleset.PerEverything) {
		return "everything"
	}
	return g.Per + " " + cmp.Or(strings.Join(g.Of, " "), "without a name")
}

func (g gauge) amount(n int64) string {
	if g.Measure == string(ruleset.MeasureMoney) {
		return interlock.Money(n, g.Currency)
	}
	return comma(n)
}

// Says is the text beside the bar, which a screen reader reads in place of it.
func (g gauge) Says() string {
	unit := " " + g.Measure
	if g.Measure == string(ruleset.MeasureMoney) {
		unit = ""
	}
	return g.amount(g.Used) + " of " + g.amount(g.Most) + unit + ", " + percentWords(g.Share)
}

// MostSays is how much there is in all.
func (g gauge) MostSays() string {
	if g.Measure == string(ruleset.MeasureMoney) {
		return g.amount(g.Most)
	}
	return g.amount(g.Most) + " " + g.Measure
}

func percentWords(share int64) string {
	if share >= 999 {
		return "999 % or more"
	}
	return comma(share) + " %"
}

// Label is the name of the bar.
func (g gauge) Label() string { return g.ID + " for " + inPlain(g.Who()) }

// Now is where the bar ends.
func (g gauge) Now() int64 { return min(max(g.Share, 0), 100) }

// Marks are where the steps of the ladder are.
func (g gauge) Marks() (at []int) {
	for _, s := range ruleset.Steps() {
		if s.At < 100 {
			at = append(at, int(s.At))
		}
	}
	return at
}

// Fill is the colour of the bar: which step of the ladder is reached. A limit has no ladder; its bar is coloured the same.
func (g gauge) Fill() string { return "step-" + cmp.Or(g.Step, "free") }

// Tone is how loud the word beside it is.
func (g gauge) Tone() string {
	switch g.Step {
	case ruleset.StepThrottle, ruleset.StepDegrade, ruleset.StepStop:
		return "bad"
	case ruleset.StepWarn:
		return "warn"
	}
	return "muted"
}

// Standing says what is so at the step that is reached.
func (g gauge) Standing() string {
	if g.Budget || g.Used < g.Most {
		if !g.Budget {
			return ""
		}
		return map[string]string{ruleset.StepNotice: "notice", ruleset.StepWarn: "warn", ruleset.StepThrottle: "throttle: changes are asked about",
			ruleset.StepDegrade: "degrade: changes are denied", ruleset.StepStop: "stop: everything is denied" + g.again()}[g.Step]
	}
	if g.verdict == interlock.Ask {
		return "no room: more is asked about" + g.again()
	}
	return "no room: more is denied" + g.again()
}

func (g gauge) again() string {
	if g.Never {
		return ", for good"
	}
	if g.Back.IsZero() {
		return ""
	}
	return ", room again " + clock(g.Back)
}

// gauges are what holds here, without anybody's use.
func (c *Console) gauges() (list []gauge) {
	now, rules := c.config.Now(), c.config.Facts.Rules()
	holds := func(profiles []string) bool {
		return len(profiles) == 0 || slices.Contains(profiles, c.config.Facts.Profile)
	}
	for _, l := range rules.AllLimits() {
		if holds(l.Profiles) {
			list = append(list, limitGauge(l, now))
		}
	}
	for _, b := range rules.AllBudgets() {
		if holds(b.Profiles) {
			list = append(list, budgetGauge(b, now))
		}
	}
	return list
}

// fullest are the uses that are nearest to what they may be, of those that were looked through.
func (c *Console) fullest(r *http.Request, most int) (list []gauge, looked int, all bool, err error) {
	kinds := c.gauges()
	span := ledger.Span{From: math.MinInt64, UpTo: math.MaxInt64, Newest: true, Limit: 500}
	for looked < gaugeReads && !all {
		rows, next, err := c.config.Backend.Scan(r.Context(), under(ledger.Usage, ledger.Until), span)
		if err != nil {
			return nil, looked, false, err
		}
		looked += len(rows)
		for _, row := range rows {
			if g, is := c.counts(kinds, row); is {
				list = append(list, g)
			}
		}
		span.After, all = next, next == (ledger.Place{})
	}
	slices.SortStableFunc(list, func(a, b gauge) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.ID, b.ID), slices.Compare(a.Of, b.Of))
	})
	return list[:min(len(list), most)], looked, all, nil
}

// counts is the gauge that a row of uses belongs to. What was only watched counts where nothing is enforced.
func (c *Console) counts(kinds []gauge, row ledger.Row) (gauge, bool) {
	u, is := ledger.ForWhom(row)
	if !is {
		return gauge{}, false
	}
	id, budget := ruleset.BudgetOf(u.Limit)
	if !budget && u.Monitored != c.watches() {
		return gauge{}, false
	}
	for _, g := range kinds {
		if g.ID == id && g.Budget == budget && g.Per == u.Per {
			g = g.with(u.Of, u.Body)
			return g, g.Used > 0
		}
	}
	return gauge{}, false
}

// watches reports whether limits are counted in the book of what is only watched.
func (c *Console) watches() bool { return c.config.Facts.Mode == interlock.Monitoring }

// A countedFor is whose limits are looked at: what is counted for an agent, a type, a run or an orchestration is kept under their names.
type countedFor struct {
	requester interlock.Requester
	record    interlock.AgentRecord
	tree      string
	per       []ruleset.Per // for whom
}

// gaugesOf are the limits and budgets of one agent, type, run or orchestration, also those of which nothing is used.
func (c *Console) gaugesOf(r *http.Request, of countedFor) (list []gauge, err error) {
	now, rules, profile := c.config.Now(), c.config.Facts.Rules(), c.config.Facts.Profile
	var keys []string
	put := func(g gauge, whose []string) {
		if slices.Contains(of.per, ruleset.Per(g.Per)) {
			g.Of = whose
			list, keys = append(list, g), append(keys, g.key(whose, c.watches()))
		}
	}
	for _, l := range rules.Limits(profile, &of.record) {
		put(limitGauge(l, now), l.Of(of.requester, &of.record, of.tree))
	}
	for _, b := range rules.Budgets(profile, &of.record) {
		put(budgetGauge(b, now), b.Taken(of.requester, &of.record, 0).Of)
	}
	used, err := c.config.Backend.Counted(r.Context(), keys...)
	for n := range list {
		list[n] = list[n].with(list[n].Of, used[keys[n]])
	}
	slices.SortStableFunc(list, func(a, b gauge) int { return cmp.Compare(b.Share, a.Share) })
	return list[:min(len(list), maxGauges)], err
}

// limitsPage shows how much of the limits, caps and budgets is used: the fullest, or those of one that is named.
func (c *Console) limitsPage(w http.ResponseWriter, r *http.Request) {
	page := struct {
		Of      *subject
		Gauges  []gauge
		Looked  int
		All     bool
		Without []gauge // that nobody has used anything of
		Watched bool
	}{Watched: c.watches()}
	of, named, err := c.subjectOf(r)
	if err == nil && named {
		page.Of, page.All = &of, true
		page.Gauges, err = c.gaugesOf(r, of.counted)
	} else if err == nil {
		page.Gauges, page.Looked, page.All, err = c.fullest(r, maxGauges)
		if page.All && len(page.Gauges) < maxGauges { // or some that are used would be among them
			page.Without = slices.DeleteFunc(c.gauges(), func(g gauge) bool {
				return slices.ContainsFunc(page.Gauges, func(o gauge) bool { return o.ID == g.ID && o.Budget == g.Budget })
			})
		}
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "limits.html", "Limits and budgets", page)
}
