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
}

// trustPage shows how far each registered agent is trusted, and what changed lately.
func (c *Console) trustPage(w http.ResponseWriter, r *http.Request) {
	agents, err := admission.Listed[interlock.AgentRecord](r.Context(), c.config.Backend, ledger.Agent, newest(math.MinInt64))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	now := c.config.Now()
	var list []trusted
	for _, record := range agents.Rows {
		if !record.Revoked.IsZero() {
			continue
		}
		one := trusted{AgentRecord: record, InForce: record.TrustAt(now), Lapsed: record.TrustAt(now) != record.Trust}
		if one.InForce < interlock.TrustCertified {
			one.Next = (one.InForce + 1).String()
		}
		for level := interlock.TrustUntested; level < one.InForce; level++ {
			one.Lower = append(one.Lower, level)
		}
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
	}{list, changes, interlock.TrustCertified, now, agents.More()})
}
