package console

import (
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"interlock"
)

// An agentsFilter says which agents the page lists. Empty fields say nothing.
type agentsFilter struct {
	Q        string // part of the name, the type or the owner
	Standing string
	dated    // those that proposed something within these times
	page     int64
}

// standings are what agents can be looked for by, with what people call it.
func standings() [][2]string {
	return [][2]string{{"held", "paused or blocked"}, {"waiting", "waiting for an answer"}, {"granted", "with a grant"},
		{"registered", "registered"}, {"unregistered", "not registered"}, {"revoked", "revoked"}}
}

func agentsFilterOf(query url.Values) (f agentsFilter, err error) {
	f = agentsFilter{Q: query.Get("q"), Standing: query.Get("standing")}
	if len(f.Q) > maxFilter {
		return f, interlock.Errorf(interlock.CodeInvalid, "q", "is longer than %d bytes", maxFilter)
	}
	if f.Standing != "" && !slices.ContainsFunc(standings(), func(s [2]string) bool { return s[0] == f.Standing }) {
		return f, interlock.Errorf(interlock.CodeInvalid, "standing", "%.40q is nothing that agents are looked for by", f.Standing)
	}
	if f.dated, err = datedOf(query); err != nil {
		return f, err
	}
	return f, indexed(query, "page", &f.page)
}

// Any reports whether the filter leaves anything out.
func (f agentsFilter) Any() bool {
	f.page = 0
	return f != agentsFilter{}
}

// at is the address of a page of the list.
func (f agentsFilter) at(page int64) string {
	query := url.Values{}
	for _, field := range [][2]string{{"q", f.Q}, {"standing", f.Standing}, {"since", f.Since}, {"until", f.Until}} {
		if field[1] != "" {
			query.Set(field[0], field[1])
		}
	}
	if page > 0 {
		query.Set("page", strconv.FormatInt(page, 10))
	}
	return address("/agents", query)
}

func (f agentsFilter) holds(a *agent) bool {
	switch f.Standing {
	case "held":
		if a.Block == "" && a.Pause == "" {
			return false
		}
	case "waiting":
		if a.Pending == 0 {
			return false
		}
	case "granted":
		if a.Grants == 0 {
			return false
		}
	case "registered", "unregistered":
		if a.Registered != (f.Standing == "registered") {
			return false
		}
	case "revoked":
		if a.Revoked.IsZero() {
			return false
		}
	}
	text := strings.ToLower(a.ID + "\n" + a.Type + "\n" + a.Principal)
	return (a.active || !f.Dated()) && strings.Contains(text, strings.ToLower(f.Q))
}

// An agentsList is what the page of agents shows.
type agentsList struct {
	Filter    agentsFilter
	Standings [][2]string
	Agents    []*agent
	Runs      []*run
	Looked    int // at so many events
	More      int // that are registered and not listed
	All       int
	Passed    int  // by the filter
	Whole     bool // all of the month is counted
	Newer     string
	Older     string
}

// list takes the agents that pass the filter, those that were active last first, as many as a page shows.
func (p *agentsList) list(agents map[string]*agent) {
	f := p.Filter
	for _, a := range agents { // any order: sorted below
		if f.holds(a) {
			p.Agents = append(p.Agents, a)
		}
	}
	sort.Slice(p.Agents, func(i, j int) bool {
		a, b := p.Agents[i], p.Agents[j]
		return a.Seen.After(b.Seen) || a.Seen.Equal(b.Seen) && a.ID < b.ID
	})
	p.Passed = len(p.Agents)
	if f.page > 0 {
		p.Newer = f.at(f.page - 1)
	}
	p.Agents = p.Agents[min(int(min(f.page, maxWaiting))*agentRows, len(p.Agents)):]
	if len(p.Agents) > agentRows {
		p.Agents, p.Older = p.Agents[:agentRows], f.at(f.page+1)
	}
}

// A weekOf is what was counted of an agent lately.
type weekOf struct {
	*spark
	active bool
	last   time.Time
}

// weeks is what was counted of each agent that is counted by name.
func (c *Console) weeks(r *http.Request, f agentsFilter) (weeks map[string]weekOf, come counting) {
	weeks = map[string]weekOf{}
	now := c.config.Now()
	come = c.counter.view(r.Context(), func(rolled *rollup) {
		for id, one := range rolled.agents { // any order: fills a map
			if id == "" { // all others
				continue
			}
			from, to := f.bounds(now)
			times, _ := rolled.between(one, from, to)
			all, last := rolled.between(one, now.AddDate(0, 0, -monthSteps), now)
			if all > 0 {
				weeks[id] = weekOf{rolled.week(id, now), times > 0, last}
			}
		}
	})
	return weeks, come
}
