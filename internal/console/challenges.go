package console

import (
	"math"
	"net/http"
	"sort"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// challengesPage lists the pauses and blocks that stand, newest first, with what may be ordered about them.
func (c *Console) challengesPage(w http.ResponseWriter, r *http.Request) {
	challenges, err := core.Listed[interlock.Challenge](r.Context(), c.config.Backend, ledger.Challenge,
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
	var list []render.Held
	for _, challenge := range challenges.Rows {
		one := render.Held{Challenge: challenge, Live: challenge.CodeHash != "" && now.Before(challenge.Expires)}
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
		core.List[render.Held]{Rows: list, All: challenges.All})
}

// grantsPage lists the standing grants.
func (c *Console) grantsPage(w http.ResponseWriter, r *http.Request) {
	grants, err := core.Ordered[interlock.Grant](r.Context(), c.config.Backend, interlock.VerbGrant,
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
	c.render(w, r, http.StatusOK, "grants.html", "Standing grants", core.List[one]{Rows: list, All: grants.All})
}

// probesWithin is how far back seeded errors are counted, as the command line counts them.
const probesWithin = 90 * 24 * time.Hour

// A seeding is one time that questions with errors were put to operators. Which of the questions that wait they are is not said:
// a person who sees that answers them knowingly.
type seeding struct {
	At      time.Time
	Event   string
	Put     int
	Found   int // answered with a no
	Missed  int // with a yes
	Waiting int // or not answered in time
}

// A probed is what became of seeded errors.
type probed struct {
	quorum.Probed
	Seedings []*seeding
	Counted  bool
	Share    int // in percent, of those answered
}

// probesPage says what seeded errors are for, and offers to count what became of them.
func (c *Console) probesPage(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "probes.html", "Seeded errors", probed{})
}

// countProbes reads the whole log and says how many of the seeded errors were found.
func (c *Console) countProbes(w http.ResponseWriter, r *http.Request) {
	if !c.long.TryLock() {
		c.fail(w, r, errBusy)
		return
	}
	defer c.long.Unlock()
	page := probed{Counted: true}
	since, put := c.config.Now().Add(-probesWithin), map[string]*seeding{} // by request
	var answers []interlock.ApprovalRequest
	err := c.config.Log.Walk(r.Context(), func(e interlock.Entry) error {
		switch {
		case auditlog.Released(&e):
		case e.Type == interlock.EventProbe:
			requests, at, err := auditlog.ProbesOf(e)
			if err != nil || !at.After(since) {
				return err
			}
			one := &seeding{At: at, Event: e.ID, Put: len(requests), Waiting: len(requests)}
			page.Seedings = append(page.Seedings, one)
			for _, id := range requests {
				put[id] = one
			}
		case e.Type == interlock.EventApproval:
			request, approval, err := auditlog.ApprovalOf(e)
			if err != nil {
				return err
			}
			if one := put[request.ID]; one != nil {
				one.answered(approval)
				request.Approval = &approval
				answers = append(answers, request)
			}
		}
		return nil
	})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	seeded := 0
	for _, one := range page.Seedings {
		seeded += one.Put
	}
	page.Probed = quorum.ProbedOf(seeded, answers)
	page.Share = int(page.Probed.Share*100 + .5)
	render.Patient(w).Extend() // reading took its own time
	c.render(w, r, http.StatusOK, "probes.html", "Seeded errors", page)
}

func (s *seeding) answered(approval interlock.Approval) {
	s.Waiting--
	if approval.Verdict == interlock.Allow {
		s.Missed++
	} else {
		s.Found++
	}
}
