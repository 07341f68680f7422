package console

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/console/render"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// gauges are what holds here, without anybody's use.
func (c *Console) gauges() (list []render.Gauge) {
	now, rules := c.config.Now(), c.config.Facts.Rules()
	holds := func(profiles []string) bool {
		return len(profiles) == 0 || slices.Contains(profiles, c.config.Facts.Profile)
	}
	for _, l := range rules.AllLimits() {
		if holds(l.Profiles) {
			list = append(list, render.LimitGauge(l, now))
		}
	}
	for _, b := range rules.AllBudgets() {
		if holds(b.Profiles) {
			list = append(list, render.BudgetGauge(b, now))
		}
	}
	return list
}

// fullest are the uses that are nearest to what they may be, of those that were looked through.
func (c *Console) fullest(r *http.Request, most int) (list []render.Gauge, looked int, all bool, err error) {
	kinds := c.gauges()
	looked, all, err = core.EachUse(r.Context(), c.config.Backend, render.GaugeReads, func(u ledger.CountedFor) {
		if g, is := c.counts(kinds, u); is {
			list = append(list, g)
		}
	})
	if err != nil {
		return nil, looked, false, err
	}
	slices.SortStableFunc(list, func(a, b render.Gauge) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.ID, b.ID), slices.Compare(a.Of, b.Of))
	})
	return list[:min(len(list), most)], looked, all, nil
}

// counts is the gauge that a row of uses belongs to. What was only watched counts where nothing is enforced.
func (c *Console) counts(kinds []render.Gauge, u ledger.CountedFor) (render.Gauge, bool) {
	id, budget := ruleset.BudgetOf(u.Limit)
	if !budget && u.Monitored != c.watches() {
		return render.Gauge{}, false
	}
	for _, g := range kinds {
		if g.ID == id && g.Budget == budget && g.Per == u.Per {
			g = g.With(u.Of, u.Body.Count)
			return g, g.Used > 0
		}
	}
	return render.Gauge{}, false
}

// watches reports whether limits are counted in the book of what is only watched.
func (c *Console) watches() bool { return c.config.Facts.Mode == interlock.Monitoring }

// gaugesOf are the limits and budgets of one agent, type, run or orchestration, also those that are unused.
func (c *Console) gaugesOf(r *http.Request, of render.CountedFor) (list []render.Gauge, err error) {
	now, rules, profile := c.config.Now(), c.config.Facts.Rules(), c.config.Facts.Profile
	var keys []string
	put := func(g render.Gauge, whose []string) {
		if slices.Contains(of.Per, ruleset.Per(g.Per)) {
			g.Of = whose
			list, keys = append(list, g), append(keys, g.Key(whose, c.watches()))
		}
	}
	for _, l := range rules.Limits(profile, &of.Record) {
		put(render.LimitGauge(l, now), l.Of(of.Requester, &of.Record, of.Tree))
	}
	for _, b := range rules.Budgets(profile, &of.Record) {
		put(render.BudgetGauge(b, now), b.Taken(of.Requester, &of.Record, 0).Of)
	}
	used, err := c.config.Backend.Counted(r.Context(), keys...)
	for n := range list {
		list[n] = list[n].With(list[n].Of, used[n])
	}
	slices.SortStableFunc(list, func(a, b render.Gauge) int { return cmp.Compare(b.Share, a.Share) })
	return list[:min(len(list), render.MaxGauges)], err
}

// limitsPage shows how much of the limits, caps and budgets is used: the fullest, or those of one that is named.
func (c *Console) limitsPage(w http.ResponseWriter, r *http.Request) {
	page := struct {
		Of      *subject
		Gauges  []render.Gauge
		Looked  int
		All     bool
		Without []render.Gauge // that nobody has used anything of
		Watched bool
	}{Watched: c.watches()}
	of, named, err := c.subjectOf(r)
	if err == nil && named {
		page.Of, page.All = &of, true
		page.Gauges, err = c.gaugesOf(r, of.counted)
	} else if err == nil {
		page.Gauges, page.Looked, page.All, err = c.fullest(r, render.MaxGauges)
		if page.All && len(page.Gauges) < render.MaxGauges { // or some that are used would be among them
			page.Without = slices.DeleteFunc(c.gauges(), func(g render.Gauge) bool {
				return slices.ContainsFunc(page.Gauges, func(o render.Gauge) bool { return o.ID == g.ID && o.Budget == g.Budget })
			})
		}
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "limits.html", "Limits and budgets", page)
}
