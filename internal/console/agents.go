package console

import (
	"net/http"
	"sort"
	"time"

	"interlock"
	"interlock/internal/auditlog"
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
	standing, err := c.config.Backend.Standing(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	agents := c.registered(standing)
	entries, err := c.config.Log.Recent(r.Context(), "", -1, agentReads)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	var runs []*run
	known := map[[2]string]*run{}
	for _, e := range entries {
		if !auditlog.IsDecision(e.Type) {
			continue
		}
		d, err := auditlog.ReadDecision(e)
		if err != nil {
			continue // the audit pages name damaged entries
		}
		by := d.Proposal.Requester
		if agents[by.Agent] == nil {
			agents[by.Agent] = c.about(interlock.AgentRecord{ID: by.Agent, Principal: by.Principal}, standing)
		}
		a := agents[by.Agent]
		a.Counts.add(d.Decision.Answer)
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
		one.Counts.add(d.Decision.Answer)
		if l := d.Proposal.Loop; one.Loop == nil && l != nil && l.Execution != "" {
			one.Loop = l
		}
	}
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
	}{list, runs[:min(len(runs), agentRuns)], len(entries)})
}

// registered are the agents with a record.
func (c *Console) registered(standing interlock.Standing) map[string]*agent {
	agents := map[string]*agent{}
	for id, record := range standing.Agents {
		agents[id] = c.about(record, standing)
		agents[id].Registered = true
	}
	return agents
}

// about gathers what stands about an agent.
func (c *Console) about(record interlock.AgentRecord, standing interlock.Standing) *agent {
	now := c.config.Now()
	a := &agent{AgentRecord: record, InForce: record.TrustAt(now)}
	for id, challenge := range standing.Challenges {
		if challenge.Requester.Agent != record.ID || !challenge.Ended.IsZero() {
			continue
		}
		if challenge.Kind == interlock.ChallengeBlock {
			a.Block = id
		} else if now.Before(challenge.Expires) {
			a.Pause = id
		}
	}
	for _, request := range standing.Requests {
		if request.Requester.Agent == record.ID && request.Status == interlock.RequestPending && now.Before(request.Expires) {
			a.Pending++
		}
	}
	for _, g := range standing.Grants {
		if g.Agent == record.ID && g.InForce(now) {
			a.Grants++
		}
	}
	for _, attempts := range standing.Attempts {
		if attempts.Agent == record.ID {
			a.Failed += len(attempts.Failed)
		}
	}
	return a
}
