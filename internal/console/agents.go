package console

import (
	"context"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/console/stats"
	"interlock/internal/ledger"
)

// An agent is one that is registered or was seen lately.
type agent struct {
	interlock.AgentRecord
	Registered bool
	InForce    interlock.Trust
	Block      string // id of the challenge that blocks it
	Pause      string // id of a verify challenge
	Pending    int
	Grants     int
	Failed     int // wrong codes within the window
	Seen       time.Time
	Counts     stats.Tallies
	Week       *stats.Spark
	active     bool // within the times that are looked at
}

// Rungs are the levels below and at the agent's, for a small drawing.
func (a *agent) Rungs() (drawn []bool) {
	for level := interlock.TrustUntested; level <= interlock.TrustCertified; level++ {
		drawn = append(drawn, level <= a.InForce)
	}
	return drawn
}

// Held reports whether anything is in force about the agent.
func (a *agent) Held() bool {
	return !a.Revoked.IsZero() || a.Block != "" || a.Pause != "" || a.Pending > 0 || a.Grants > 0 || a.Failed > 0
}

// Next is the level above the agent's; empty at the top and for one that nobody registered.
func (a *agent) Next() string {
	if !a.Registered || a.InForce >= interlock.TrustCertified || !a.Revoked.IsZero() {
		return ""
	}
	return (a.InForce + 1).String()
}

// A run is one execution of an agent, as far as the newest events tell.
type run struct {
	Agent, Run string
	Began      time.Time // of what was looked at
	Seen       time.Time
	Counts     stats.Tallies
	Risk       int             // highest
	Loop       *interlock.Loop // where the newest monitored step stood
	Last       string          // id of the newest decision
}

// Left is how many steps the run may take without a human.
func (r run) Left() int { return max(r.Loop.Limit-r.Loop.Step, 0) }

// agentReads is how many events the page of agents looks back, and agentRuns how many runs it lists.
const (
	agentReads = 1000
	agentRuns  = 50
	agentRows  = 50 // agents on one page
)

// agentsPage lists agents with what is in force about them, and their newest runs.
func (c *Console) agentsPage(w http.ResponseWriter, r *http.Request) {
	f, err := agentsFilterOf(r.URL.Query())
	var lately []auditlog.Decided
	page := agentsList{Filter: f, Standings: standings()}
	if err == nil {
		lately, page.Looked, err = c.decidedLately(r)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	week, come := c.weeks(r, f)
	agents, more, err := c.agents(r.Context(), lately, week)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	runs := runsOf(lately, agents)
	page.Runs = slices.DeleteFunc(runs, func(one *run) bool { return !f.holds(agents[one.Agent]) })
	page.Runs = page.Runs[:min(len(page.Runs), agentRuns)]
	page.All, page.More, page.Whole = len(agents), more, come.Whole
	page.list(agents)
	c.render(w, r, http.StatusOK, "agents.html", "Agents and runs", page)
}

// decidedLately are the decisions among the newest events.
func (c *Console) decidedLately(r *http.Request) (lately []auditlog.Decided, looked int, err error) {
	entries, err := c.config.Log.Entries(r.Context(), "", ledger.Before(-1, agentReads))
	for _, e := range entries {
		if !auditlog.IsDecision(e.Type) {
			continue
		}
		if d, err := auditlog.ReadDecision(e); err == nil && !d.Canary { // the audit pages name damaged entries
			lately = append(lately, d)
		}
	}
	return lately, len(entries), err
}

// runsOf counts what was decided lately, for its agents and for their runs, the newest first.
func runsOf(lately []auditlog.Decided, agents map[string]*agent) (runs []*run) {
	known := map[[2]string]*run{}
	for _, d := range lately {
		by := d.Proposal.Requester
		a := agents[by.Agent]
		a.Counts.Add(answerOf(d))
		if d.Event.Recorded.After(a.Seen) {
			a.Seen = d.Event.Recorded
		}
		one := known[[2]string{by.Agent, by.Run}]
		if one == nil {
			one = &run{Agent: by.Agent, Run: by.Run, Seen: d.Event.Recorded, Last: d.Event.ID}
			known[[2]string{by.Agent, by.Run}] = one
			runs = append(runs, one)
		}
		one.Began, one.Risk = d.Event.Recorded, max(one.Risk, d.Decision.Risk)
		one.Counts.Add(answerOf(d))
		if l := d.Loop; one.Loop == nil && l != nil && l.Execution != "" {
			one.Loop = l
		}
	}
	return runs
}

// agents are those that decided something lately, or in the last month as far as that is counted, and, as far as a page lists
// them, the others that are registered, with what is in force about each. more says how many are registered besides.
func (c *Console) agents(ctx context.Context, lately []auditlog.Decided, weeks map[string]weekOf) (agents map[string]*agent, more int, err error) {
	backend := c.config.Backend
	registered, err := core.Listed[interlock.AgentRecord](ctx, backend, ledger.Agent, newest(math.MinInt64))
	if err != nil {
		return nil, 0, err
	}
	names := slices.Sorted(maps.Keys(weeks))
	for _, d := range lately {
		names = append(names, d.Proposal.Requester.Agent)
	}
	seen, err := agentsOf(ctx, c, names, func(name string) string { return name })
	if err != nil {
		return nil, 0, err
	}
	agents = map[string]*agent{}
	put := func(record interlock.AgentRecord, registered bool) {
		if agents[record.ID] == nil {
			agents[record.ID] = &agent{AgentRecord: record, InForce: c.trustHere(record, registered), Registered: registered}
		}
	}
	for _, record := range registered.Rows {
		put(record, true)
	}
	more = registered.More()
	for id, record := range seen.Agents { // any order: fills a map
		if agents[id] == nil && more < core.MostMore { // beyond it is not known how many there are
			more--
		}
		put(record, true)
	}
	var about []ledger.Ref
	asked := map[[2]string]bool{}
	mention := func(name, principal string) {
		if asked[[2]string{name, principal}] {
			return
		}
		asked[[2]string{name, principal}] = true
		of := ledger.Of(name, principal)
		about = append(about, under(ledger.Request, of), under(ledger.Order, of),
			ref(ledger.Attempts, ledger.AttemptsKey(name, principal)))
	}
	for _, d := range lately {
		by := d.Proposal.Requester
		put(interlock.AgentRecord{ID: by.Agent, Principal: by.Principal}, false)
		mention(by.Agent, by.Principal)
	}
	for id := range weeks { // any order: fills a map
		put(interlock.AgentRecord{ID: id}, false)
	}
	for id, a := range agents { // any order: each is told alike
		if one, counted := weeks[id]; counted {
			a.Week, a.active, a.Seen = one.Spark, one.active, one.last
		}
	}
	for id, a := range agents { // any order: what is read of each is told apart by its name
		mention(id, a.Principal)
		about = append(about, under(ledger.Challenge, ledger.Of(id)))
	}
	standing, err := backend.Ground(ctx, about...)
	c.tell(agents, standing)
	return agents, max(more, 0), err
}

// tell adds what is in force about agents.
func (c *Console) tell(agents map[string]*agent, standing ledger.Standing) {
	now := c.config.Now()
	for id, challenge := range standing.Challenges { // any order: of several of a kind one is as good as another
		a := agents[challenge.Requester.Agent]
		switch {
		case a == nil || !challenge.Ended.IsZero():
		case challenge.Kind == interlock.ChallengeBlock:
			a.Block = id
		case now.Before(challenge.Expires):
			a.Pause = id
		}
	}
	for _, request := range standing.Requests { // any order: counts
		if a := agents[request.Requester.Agent]; a != nil && request.Waits(now) && waitsHere(&request) {
			a.Pending++
		}
	}
	for _, g := range standing.Grants { // any order: counts
		if a := agents[g.Agent]; a != nil && g.InForce(now) {
			a.Grants++
		}
	}
	for _, attempts := range standing.Attempts { // any order: counts
		if a := agents[attempts.Agent]; a != nil {
			a.Failed += len(attempts.Failed)
		}
	}
}

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
	if len(f.Q) > render.MaxFilter {
		return f, interlock.Errorf(interlock.CodeInvalid, "q", "is longer than %d bytes", render.MaxFilter)
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
	*stats.Spark
	active bool
	last   time.Time
}

// weeks is what was counted of each agent that is counted by name.
func (c *Console) weeks(r *http.Request, f agentsFilter) (weeks map[string]weekOf, come stats.Counting) {
	weeks = map[string]weekOf{}
	now := c.config.Now()
	come = c.counter.View(r.Context(), func(rolled *stats.Rollup) {
		for id, one := range rolled.Agents { // any order: fills a map
			if id == "" { // all others
				continue
			}
			from, to := f.bounds(now)
			times, _ := rolled.Between(one, from, to)
			all, last := rolled.Between(one, now.AddDate(0, 0, -stats.MonthSteps), now)
			if all > 0 {
				weeks[id] = weekOf{rolled.Week(id, now), times > 0, last}
			}
		}
	})
	return weeks, come
}
