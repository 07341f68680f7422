package console

import (
	"net/http"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/console/render"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
)

// A contained is something that is in another phase than primary, as its page shows it.
type contained struct {
	ledger.HoldBody
	Stricter []phase.Phase // to which it may be moved at once
	Down     *phase.Transition
	Needs    string // why nobody, or not the person who looks, may loosen it now; empty: the form is offered
	Rename   bool   // another agent may be named that goes on alone
	Cause    bool   // the person who looks may say what the emergency came of
}

// A guarded is a breaker that is not closed.
type guarded struct {
	ledger.HoldBody
	May     bool // it may be reset now
	Mending int  // actions that have to go well before a reset closes it
}

// phasesPage shows phases and breakers with the orders that the person who looks may give on them.
func (c *Console) phasesPage(w http.ResponseWriter, r *http.Request) {
	standing, err := c.config.Backend.Ground(r.Context(), ledger.Ref{Kind: ledger.Hold, Mark: ledger.All})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page := struct {
		Tier     int
		Phases   []phase.Phase
		Held     []contained
		Backups  []ledger.HoldBody
		Breakers []guarded
		Subject  string // that the form for a stricter phase is filled with
	}{Tier: c.config.Facts.Rules().Maso().Tier, Phases: phase.Phases()[1:], Subject: render.Shorten(r.URL.Query().Get("on"),
		render.MaxFilter)}
	now := c.config.Now()
	for _, h := range standing.Holds() {
		switch h = h.AsOf(now); {
		case !h.OnActors():
		case h.Breaker != nil:
			_, may := h.Breaker.Reset(now)
			page.Breakers = append(page.Breakers, guarded{h, may, phase.MendingProbes})
		case h.Backup != nil:
			page.Backups = append(page.Backups, h)
		default:
			page.Held = append(page.Held, c.contained(r, h))
		}
	}
	c.render(w, r, http.StatusOK, "phases.html", "Phases and breakers", page)
}

// contained says of a phase what the person who looks may order about it, and of what they may not, who may.
func (c *Console) contained(r *http.Request, h ledger.HoldBody) contained {
	one := contained{HoldBody: h}
	for _, p := range phase.Phases() {
		if p.Compare(h.Phase) > 0 {
			one.Stricter = append(one.Stricter, p)
		}
	}
	operator, _ := c.operator(r)
	down, known := phase.Down(h.Phase, c.tierOf(r, h.Name()))
	if !known {
		one.Needs = "nobody may loosen it"
		return one
	}
	one.Down = &down
	one.Cause = h.Phase == phase.Emergency && quorum.OfOrder(interlock.Order{Verb: interlock.VerbRootCause}, interlock.Requester{}).
		MayGive(operator, nil, c.config.Now()) == nil
	one.Rename = h.Phase == phase.Contingency && down.May(operator.Role) &&
		h.Scope != ledger.HoldAgent && h.Scope != ledger.HoldLayer
	switch {
	case !down.May(operator.Role):
		one.Needs = "the step back to phase " + down.To.Title() + " takes an operator with the role " + down.Who()
	case down.Owner && h.Hold.Cause == nil:
		one.Needs = "another person has to name its root cause first, then an operator with the role " + down.Who() + " may loosen it"
	case down.Owner && h.Hold.Cause.By == operator.Name:
		one.Needs = "you named its root cause; another person with the role " + down.Who() + " answers for loosening it"
	case h.Phase == phase.Contingency && c.config.Now().Before(h.Earliest):
		one.Needs = "it stays supervised until " + render.Clock(h.Earliest) + ", because it follows an emergency"
	}
	return one
}

// tierOf is the tier that a phase is loosened by, as it is looked up where an order is carried out.
func (c *Console) tierOf(r *http.Request, name string) int {
	rules := c.config.Facts.Rules()
	scope, whose, _ := ledger.Actors(name)
	switch scope {
	case ledger.HoldAgent:
		standing, err := c.config.Backend.Ground(r.Context(), ref(ledger.Agent, whose))
		if err != nil {
			return rules.HighestTier() // the longer way back is named
		}
		return rules.TierFor(standing.Agents[whose])
	case ledger.HoldType:
		return rules.TierFor(interlock.AgentRecord{Type: whose})
	}
	return rules.Maso().Tier
}

// takeActor reads an order about what a phase is on.
func takeActor(d *drafting) (string, interlock.Requester, error) {
	about, _, err := d.actor(d.subject)
	return "", about, err
}

// takeBreaker reads an order about a breaker.
func takeBreaker(d *drafting) (string, interlock.Requester, error) {
	about, _, err := d.actor(ledger.HoldName(ledger.HoldBreaker, d.subject))
	return "", about, err
}

// takePhase reads an order to go to a stricter phase.
func takePhase(d *drafting) (string, interlock.Requester, error) {
	about, _, err := d.actor(d.subject)
	if err != nil {
		return "", about, err
	}
	detail, err := d.phase()
	return detail.String(), about, err
}

// takeStepBack reads an order to loosen a phase. What would not count is refused before anybody signs it, with who may.
func takeStepBack(d *drafting) (string, interlock.Requester, error) {
	about, standing, err := d.actor(d.subject)
	if err != nil {
		return "", about, err
	}
	detail, err := d.phase()
	if err == nil {
		err = d.c.loosening(d.r, standing, d.subject, detail)
	}
	return detail.String(), about, err
}

// actor finds what a hold on somebody would be on, and whose freedom that is.
func (d *drafting) actor(name string) (about interlock.Requester, standing ledger.Standing, err error) {
	scope, whose, ok := ledger.Actors(name)
	if scope == ledger.HoldBreaker {
		scope, whose, _ = ledger.Actors(whose)
	} else if name != d.subject {
		ok = false
	}
	if !ok {
		return about, standing, interlock.Errorf(interlock.CodeInvalid, "subject", "name what it is on: agent:NAME, type:NAME, "+
			"run:NAME, system:all, or layer:gates, judge or people; a breaker is on an agent or a type")
	}
	if standing, err = d.c.config.Backend.Ground(d.r.Context(), ref(ledger.Hold, name), ref(ledger.Agent, whose)); err != nil {
		return about, standing, err
	}
	if scope == ledger.HoldAgent {
		about = interlock.Requester{Agent: whose, Principal: standing.Agents[whose].Principal}
	}
	return about, standing, nil
}

// phase reads the phase that an order names, and who goes on in it.
func (d *drafting) phase() (detail containment.PhaseDetail, err error) {
	to, known := phase.Parse(d.query.Get("to"))
	if !known {
		return detail, interlock.Errorf(interlock.CodeInvalid, "to", "name a phase: P, A, C or E")
	}
	detail = containment.PhaseDetail{To: to, Only: strings.TrimSpace(d.query.Get("agent")),
		Proof: strings.TrimSpace(d.query.Get("proof"))}
	if strings.ContainsAny(detail.Only, " \t\r\n") {
		err = interlock.Errorf(interlock.CodeInvalid, "agent", "is the name of one agent")
	}
	return detail, err
}

// loosening refuses a step back that is none, or that takes another role.
func (c *Console) loosening(r *http.Request, standing ledger.Standing, name string, d containment.PhaseDetail) error {
	holds := standing.Holds()
	at := slices.IndexFunc(holds, func(h ledger.HoldBody) bool { return h.Name() == name })
	if at < 0 {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "%.80s is in phase %s; there is nothing to loosen",
			name, phase.Primary.Title())
	}
	h, operator := holds[at].AsOf(c.config.Now()), c.visitor(r).Operator
	_, err := containment.StepBack(&h, d, c.tierOf(r, name), operator.Role)
	return err
}

// phaseSays says which phase an order names.
func phaseSays(order quorum.Given) string {
	letter, _, _ := strings.Cut(order.Detail, " ")
	to, _ := phase.Parse(letter)
	return to.Title()
}
