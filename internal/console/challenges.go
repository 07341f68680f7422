package console

import (
	"math"
	"net/http"
	"sort"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// A held is a challenge that stands, as a list shows it.
type held struct {
	interlock.Challenge
	Live    bool // a code is in force
	Failed  int  // wrong answers of this agent within the window
	Until   time.Time
	Refused string // why this operator's orders about it would not count
}

// challengesPage lists the pauses and blocks that stand, newest first, with what may be ordered about them.
func (c *Console) challengesPage(w http.ResponseWriter, r *http.Request) {
	challenges, err := admission.Listed[interlock.Challenge](r.Context(), c.config.Backend, ledger.Challenge,
		newest(math.MinInt64))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	var about []ledger.Ref
	for _, challenge := range challenges.Rows {
		who := challenge.Requester
		about = append(about, ref(ledger.Agent, who.Agent),
			ref(ledger.Attempts, ledger.AttemptsKey(who.Agent, who.Principal)))
	}
	standing, err := c.config.Backend.Ground(r.Context(), about...)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	now := c.config.Now()
	operator, _ := c.operator(r)
	var list []held
	for _, challenge := range challenges.Rows {
		one := held{Challenge: challenge, Live: challenge.CodeHash != "" && now.Before(challenge.Expires)}
		attempts := standing.Attempts[ledger.AttemptsKey(challenge.Requester.Agent, challenge.Requester.Principal)]
		one.Failed = len(attempts.Failed)
		if now.Before(attempts.Until) {
			one.Until = attempts.Until
		}
		if !c.may(r, reading) {
			one.Display, one.Reason = "", interlock.GeneralReason(one.Reason)
		}
		newCode := quorum.OfOrder(interlock.Order{Verb: interlock.VerbNewCode}, challenge.Requester)
		if err := newCode.MayGive(operator, standing.Agents, now); err != nil {
			one.Refused = err.Error()
		}
		list = append(list, one)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Created.After(list[j].Created) || list[i].Created.Equal(list[j].Created) && list[i].ID < list[j].ID
	})
	c.render(w, r, http.StatusOK, "challenges.html", "Challenges and blocks",
		admission.List[held]{Rows: list, All: challenges.All})
}

// grantsPage lists the standing grants.
func (c *Console) grantsPage(w http.ResponseWriter, r *http.Request) {
	grants, err := admission.Ordered[interlock.Grant](r.Context(), c.config.Backend, interlock.VerbGrant,
		ledger.Every(maxListed))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	type one struct {
		interlock.Grant
		InForce bool
		Other   bool // given under other rules, so that it answers nothing
	}
	var list []one
	for _, g := range grants.Rows {
		if !c.may(r, reading) {
			g.Conditions, g.Tool, g.Scope, g.Statement = nil, "", nil, ""
			if g.Range != nil {
				g.Range = &interlock.Range{Type: g.Range.Type}
			}
		}
		list = append(list, one{Grant: g, InForce: g.InForce(c.config.Now()), Other: g.Range == nil && g.Ruleset != c.config.Facts.Rules().Digest()})
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Created.After(list[j].Created) || list[i].Created.Equal(list[j].Created) && list[i].ID < list[j].ID
	})
	c.render(w, r, http.StatusOK, "grants.html", "Standing grants", admission.List[one]{Rows: list, All: grants.All})
}
