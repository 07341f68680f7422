package console

import (
	"math"
	"net/http"
	"sort"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

// A trusted is a registered agent on the page about trust.
type trusted struct {
	interlock.AgentRecord
	InForce interlock.Trust
	Lapsed  bool              // the certificate has expired
	Next    string            // the level above; empty at the top
	Lower   []interlock.Trust // the levels below
	Rungs   []rung
	Takes   string // what the next step takes
}

// trustPage shows how far each registered agent is trusted, and what changed lately.
func (c *Console) trustPage(w http.ResponseWriter, r *http.Request) {
	now, only := c.config.Now(), r.URL.Query().Get("agent")
	agents, err := c.registered(r, only)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	var list []trusted
	for _, record := range agents.Rows {
		if !record.Revoked.IsZero() {
			continue
		}
		one := trusted{AgentRecord: record, InForce: record.TrustAt(now), Lapsed: record.TrustAt(now) != record.Trust}
		if one.InForce < interlock.TrustCertified {
			one.Next, one.Takes = (one.InForce + 1).String(), takes(one.InForce+1)
		}
		for level := interlock.TrustUntested; level < one.InForce; level++ {
			one.Lower = append(one.Lower, level)
		}
		one.Rungs = rungs(c.config.Facts.Rules(), c.config.Facts.Profile, one.InForce)
		list = append(list, one)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	var changes []line
	_, err = c.back(r.Context(), -1, func(e interlock.Entry) bool {
		if e.Type == interlock.EventTrust {
			changes = append(changes, c.lineFor(r, e))
		}
		return len(changes) < 20
	})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "trust.html", "Trust", struct {
		Agents    []trusted
		Changes   []line
		Certified interlock.Trust
		Now       time.Time
		More      int
		One       string // the agent that alone is shown
		Levels    []rung
		Briefly   bool // there are so many that each is a line, and leads to a page of its own
	}{list, changes, interlock.TrustCertified, now, agents.More(), only,
		rungs(c.config.Facts.Rules(), c.config.Facts.Profile, interlock.TrustCertified), len(list) > maxWhole})
}

// maxWhole is how many agents the page about trust shows with their forms.
const maxWhole = 25

// registered are the agents that are registered, as far as a page lists them, or the one that is named.
func (c *Console) registered(r *http.Request, only string) (list admission.List[interlock.AgentRecord], err error) {
	if only == "" {
		return admission.Listed[interlock.AgentRecord](r.Context(), c.config.Backend, ledger.Agent, newest(math.MinInt64))
	}
	standing, err := c.config.Backend.Ground(r.Context(), ref(ledger.Agent, only))
	if record, known := standing.Agents[only]; known {
		list.Rows, list.All = []interlock.AgentRecord{record}, 1
	}
	return list, err
}
