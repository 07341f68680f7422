package console

import (
	"context"
	"math"
	"net/http"
	"sort"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
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
	Counts     tallies
	Week       *spark
}

// tallies count answers.
type tallies struct{ Allow, Ask, Deny, Halt int }

func (t *tallies) add(v interlock.Verdict) {
	switch v {
	case interlock.Allow:
		t.Allow++
	case interlock.Ask:
		t.Ask++
	case interlock.Halt:
		t.Halt++
	default:
		t.Deny++
	}
}

// A run is one execution of an agent, as far as the newest events tell.
type run struct {
	Agent, Run string
	Began      time.Time // of what was looked at
	Seen       time.Time
	Counts     tallies
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
)

// agentsPage lists agents with what stands about them, and their newest runs.
func (c *Console) agentsPage(w http.ResponseWriter, r *http.Request) {
	entries, err := c.config.Log.Entries(r.Context(), "", ledger.Before(-1, agentReads))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	var lately []auditlog.Decided
	for _, e := range entries {
		if !auditlog.IsDecision(e.Type) {
			continue
		}
		if d, err := auditlog.ReadDecision(e); err == nil && !d.Canary { // the audit pages name damaged entries
			lately = append(lately, d)
		}
	}
	agents, more, err := c.agents(r.Context(), lately)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	var runs []*run
	known := map[[2]string]*run{}
	for _, d := range lately {
		by := d.Proposal.Requester
		a := agents[by.Agent]
		a.Counts.add(answerOf(d))
		if a.Seen.IsZero() {
			a.Seen = d.Event.Recorded
		}
		one := known[[2]string{by.Agent, by.Run}]
		if one == nil {
			one = &run{Agent: by.Agent, Run: by.Run, Seen: d.Event.Recorded, Last: d.Event.ID}
			known[[2]string{by.Agent, by.Run}] = one
			runs = append(runs, one)
		}
		one.Began, one.Risk = d.Event.Recorded, max(one.Risk, d.Decision.Risk)
		one.Counts.add(answerOf(d))
		if l := d.Loop; one.Loop == nil && l != nil && l.Execution != "" {
			one.Loop = l
		}
	}
	c.counter.view(r.Context(), func(rolled *rollup) {
		for id, a := range agents { // any order: each is told alike
			a.Week = rolled.week(id, c.config.Now())
		}
	})
	list := make([]*agent, 0, len(agents))
	for _, a := range agents {
		list = append(list, a)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seen.After(list[j].Seen) || list[i].Seen.Equal(list[j].Seen) && list[i].ID < list[j].ID
	})
	c.render(w, r, http.StatusOK, "agents.html", "Agents and runs", struct {
		Agents []*agent
		Runs   []*run
		Looked int
		More   int
	}{list, runs[:min(len(runs), agentRuns)], len(entries), more})
}

// agents are those that decided something lately and, as far as a page lists them, the others that are registered, with what
// stands about each. more says how many are registered besides.
func (c *Console) agents(ctx context.Context, lately []auditlog.Decided) (agents map[string]*agent, more int, err error) {
	backend := c.config.Backend
	registered, err := admission.Listed[interlock.AgentRecord](ctx, backend, ledger.Agent, newest(math.MinInt64))
	if err != nil {
		return nil, 0, err
	}
	seen, err := agentsOf(ctx, c, lately, func(d auditlog.Decided) string { return d.Proposal.Requester.Agent })
	if err != nil {
		return nil, 0, err
	}
	agents = map[string]*agent{}
	put := func(record interlock.AgentRecord, registered bool) {
		if agents[record.ID] == nil {
			agents[record.ID] = &agent{AgentRecord: record, InForce: record.TrustAt(c.config.Now()), Registered: registered}
		}
	}
	for _, record := range registered.Rows {
		put(record, true)
	}
	more = registered.More()
	for id, record := range seen.Agents { // any order: fills a map
		if agents[id] == nil && more < admission.MostMore { // beyond it is not known how many there are
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
	for id, a := range agents { // any order: what is read of each is told apart by its name
		mention(id, a.Principal)
		about = append(about, under(ledger.Challenge, ledger.Of(id)))
	}
	standing, err := backend.Ground(ctx, about...)
	c.tell(agents, standing)
	return agents, max(more, 0), err
}

// tell adds what stands about agents.
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
		if a := agents[request.Requester.Agent]; a != nil && request.Waits(now) {
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
