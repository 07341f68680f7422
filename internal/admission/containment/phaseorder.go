package containment

import (
	"context"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// A PhaseDetail is what an order about a phase says beside what it is on: in an order's detail, the phase's letter and then, one word
// each, what there is of the rest.
type PhaseDetail struct {
	To    phase.Phase
	Only  string // agent=NAME: the one that goes on in contingency
	Proof string // proof=REFERENCE: what shows that nothing tainted lives on
}

// String writes the detail.
func (d PhaseDetail) String() string {
	text := string(d.To)
	if d.Only != "" {
		text += " agent=" + d.Only
	}
	if d.Proof != "" {
		text += " proof=" + d.Proof
	}
	return text
}

// ParsePhase reads it. A proof goes to the end, because it is somebody's words.
func ParsePhase(text string) (d PhaseDetail, err error) {
	letter, rest, _ := strings.Cut(text, " ")
	to, known := phase.Parse(letter)
	if !known || string(to) != letter {
		return d, interlock.Errorf(interlock.CodeInvalid, "detail", "%.20q is no phase; name P, A, C or E", letter)
	}
	d.To = to
	if only, is := strings.CutPrefix(rest, "agent="); is {
		d.Only, rest, _ = strings.Cut(only, " ")
	}
	if proof, is := strings.CutPrefix(rest, "proof="); is {
		d.Proof, rest = strings.TrimSpace(proof), ""
	}
	if rest != "" {
		return d, interlock.Errorf(interlock.CodeInvalid, "detail", "%.40q is no part of an order about a phase", rest)
	}
	return d, nil
}

// readMoved reads what an order about a phase or a breaker is made from.
func readMoved(o interlock.Order) []ledger.Ref {
	name := o.Subject
	if o.Verb == interlock.VerbTripBreaker || o.Verb == interlock.VerbResetBreaker {
		name = ledger.HoldName(ledger.HoldBreaker, o.Subject)
	}
	scope, whose, ok := ledger.Actors(name)
	if !ok {
		return nil // and it is refused
	}
	refs := core.MoveRefs(name)
	if scope == ledger.HoldBreaker {
		scope, whose, _ = ledger.Actors(whose)
	}
	if scope == ledger.HoldAgent {
		refs = append(refs, core.Key(ledger.Agent, whose))
	}
	return refs
}

// findActor finds whose phase or breaker an order is about, and whose freedom that is.
func findActor(c *core.PendingOrder) error {
	name, what := c.Subject, "agent:NAME, type:NAME, run:NAME, system:all or layer:gates, judge or people"
	if c.Verb == interlock.VerbTripBreaker || c.Verb == interlock.VerbResetBreaker {
		name, what = ledger.HoldName(ledger.HoldBreaker, c.Subject), "agent:NAME or type:NAME"
	}
	scope, whose, ok := ledger.Actors(name)
	if scope == ledger.HoldBreaker {
		scope, whose, _ = ledger.Actors(whose)
	} else if c.Verb == interlock.VerbTripBreaker || c.Verb == interlock.VerbResetBreaker {
		ok = false
	}
	if !ok || len(c.Subject) > 200 {
		return interlock.Errorf(interlock.CodeInvalid, "subject", "name what it is on: %s", what)
	}
	if scope == ledger.HoldAgent {
		c.About = interlock.Requester{Agent: whose, Principal: c.Standing.Agents[whose].Principal}
	}
	return nil
}

// BeginTransition is the change of an order about phases or breakers.
func BeginTransition(c *core.PendingOrder, ctx context.Context, a *Containment) (m *HoldTransition, kept interlock.Order) {
	m = a.Moving(ctx, &c.Change, c.Standing, c.Now)
	m.Tier = a.TierOver(c.Subject, c.Standing)
	return m, a.OrderKept(c.Order)
}

// tightenPhase moves something to a stricter phase on an operator's word. Anyone who answers requests may: a stop that was not
// needed costs time, and one that came late costs more.
func (a *Containment) tightenPhase(ctx context.Context, c *core.PendingOrder) error {
	d, err := ParsePhase(c.Detail)
	if err != nil {
		return err
	}
	m, kept := BeginTransition(c, ctx, a)
	scope, whose, _ := ledger.Actors(c.Subject)
	before := m.Holds[c.Subject].Phase
	switch {
	case d.To.Compare(before) <= 0:
		return interlock.Errorf(interlock.CodeConflict, "detail", "%s is in phase %s, which is as strict; one that is less strict is "+
			"reached one step at a time, by %s", c.Subject, before.Title(), roleThatLoosens(before, m.Tier))
	case d.Only != "" && (d.To != phase.Contingency || scope == ledger.HoldAgent || scope == ledger.HoldLayer):
		return interlock.Errorf(interlock.CodeInvalid, "detail", "one agent is named where a type, a run or the system goes to contingency")
	case d.Proof != "":
		return interlock.Errorf(interlock.CodeInvalid, "detail", "nothing has to be proved to go to a stricter phase")
	}
	m.Tighten(Tightening{Scope: scope, Key: whose, To: d.To, Only: d.Only, Trigger: phase.TriggerOrder, Why: kept.Reason}, &kept)
	return m.Done(interlock.Requester{Agent: c.Operator})
}

func roleThatLoosens(p phase.Phase, tier int) string {
	down, known := phase.Down(p, tier)
	if !known {
		return "nobody"
	}
	return "a person with the role " + down.Who()
}

// loosenPhase moves something one step back. Nobody but a person does.
func (a *Containment) loosenPhase(ctx context.Context, c *core.PendingOrder) error {
	d, err := ParsePhase(c.Detail)
	if err != nil {
		return err
	}
	m, kept := BeginTransition(c, ctx, a)
	before, stands := m.Holds[c.Subject]
	if !stands {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "%s is in phase %s; there is nothing to loosen", c.Subject,
			phase.Primary.Title())
	}
	step, err := StepBack(&before, d, m.Tier, c.Standing.Operators[c.Operator].Role)
	if err != nil {
		return err
	}
	if err := mayLoosen(c, step, before, d); err != nil {
		return err
	}
	after := ledger.HoldBody{Scope: before.Scope, Key: before.Key, Cause: interlock.EventPhase, Why: kept.Reason, Since: m.Now,
		Hold: phase.Hold{Phase: d.To, Trigger: phase.TriggerOrder, Instead: before.Instead}}
	switch d.To {
	case phase.Contingency:
		if after.Only, after.Earliest = d.Only, before.Earliest; before.Phase == phase.Emergency && m.Tier >= 2 {
			after.Earliest = m.Now.Add(a.Active.Load().Rules.Supervised())
		}
	case phase.Alternate:
		if after.Only = before.Only; m.Tier >= 2 {
			after.Deadline = m.Now.Add(phase.MaxAlternate)
		}
	}
	m.Moved(after, before.Phase, &kept, a.Redact(d.Proof))
	return m.Done(interlock.Requester{Agent: c.Operator})
}

// StepBack is the step by which an order loosens a phase, if there is one and an operator with this role may take it. Pages ask it before
// anything is signed; what counts is asked again where the order is carried out.
func StepBack(before *ledger.HoldBody, d PhaseDetail, tier int, role string) (phase.Transition, error) {
	step, known := phase.Find(before.Phase, d.To, tier)
	if names := d.To == phase.Contingency && before.Phase == phase.Contingency && d.Only != "" && d.Only != before.Only; names {
		if step, known = phase.Down(before.Phase, tier); known {
			step.Proof = ""
		}
	} else if d.To.Compare(before.Phase) >= 0 {
		known = false
	}
	if !known {
		down, _ := phase.Down(before.Phase, tier)
		return step, interlock.Errorf(interlock.CodeInvalid, "detail", "from phase %s the one step back is to %s, by %s",
			before.Phase.Title(), down.To.Title(), roleThatLoosens(before.Phase, tier))
	}
	if !step.May(role) {
		return step, interlock.Errorf(interlock.CodeUnauthorized, "operator", "from phase %s to %s takes an operator with the role %s",
			before.Phase.Title(), step.To.Title(), step.Who())
	}
	return step, nil
}

// mayLoosen holds a step back to what it takes beside the role: the proof, and out of emergency a second person who has named the cause.
func mayLoosen(c *core.PendingOrder, step phase.Transition, before ledger.HoldBody, d PhaseDetail) error {
	switch {
	case step.From == phase.Contingency && step.To == phase.Alternate && c.Now.Before(before.Earliest) && d.To != phase.Contingency:
		return interlock.Errorf(interlock.CodeConflict, "subject", "it was begun again after an emergency and stays supervised until %s "+
			"(maso.supervised); until then one agent goes on", before.Earliest.UTC().Format(time.RFC3339))
	case step.Owner && before.Hold.Cause == nil:
		return interlock.Errorf(interlock.CodeConflict, "subject",
			"nobody has said what this emergency came of; another person does, with `interlock phase cause %s`", before.Name())
	case step.Owner && before.Hold.Cause.By == c.Operator:
		return interlock.Errorf(interlock.CodeUnauthorized, "operator",
			"whoever answers for leaving an emergency is another person than the one who named its cause")
	case step.To == phase.Primary && d.Proof == "":
		return interlock.Errorf(interlock.CodeInvalid, "detail", "name what shows that nothing tainted lives on: --proof")
	case step.To != phase.Primary && d.Proof != "":
		return interlock.Errorf(interlock.CodeInvalid, "detail", "only the step to phase %s names a proof", phase.Primary.Title())
	case d.Only != "" && d.To != phase.Contingency:
		return interlock.Errorf(interlock.CodeInvalid, "detail", "one agent is named in phase %s only", phase.Contingency.Title())
	}
	return nil
}

// nameCause takes the first of the two words by which an emergency is left.
func (a *Containment) nameCause(ctx context.Context, c *core.PendingOrder) error {
	m, kept := BeginTransition(c, ctx, a)
	h, stands := m.Holds[c.Subject]
	if !stands || h.Phase != phase.Emergency {
		return interlock.Errorf(interlock.CodeConflict, "subject", "%s is not in phase %s", c.Subject, phase.Emergency.Title())
	}
	h.Hold.Cause = &phase.Cause{By: c.Operator, What: kept.Reason, Order: c.ID}
	c.Change.Writes = append(c.Change.Writes, h.Row())
	return a.Append(&c.Change, interlock.EventRootCause, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.CauseRecord{On: h.Name(), Cause: *h.Hold.Cause, Order: kept})
}

// tripBreaker opens a breaker on an operator's word. One that somebody opened is half-opened by somebody and never by itself.
func (a *Containment) tripBreaker(ctx context.Context, c *core.PendingOrder) error {
	m, kept := BeginTransition(c, ctx, a)
	if b := m.Holds[ledger.HoldName(ledger.HoldBreaker, c.Subject)].Breaker; b != nil && b.State == phase.Open {
		return interlock.Errorf(interlock.CodeConflict, "subject", "the breaker of %s is open already", c.Subject)
	}
	m.trip(c.Subject, phase.TriggerOrder, kept.Reason, &kept)
	return m.Done(interlock.Requester{Agent: c.Operator})
}

// resetBreaker half-opens an open breaker, and closes a half-open one under which enough went well; any other begins again, such
// as where nobody will ever hear how its one action ended.
func (a *Containment) resetBreaker(ctx context.Context, c *core.PendingOrder) error {
	m, kept := BeginTransition(c, ctx, a)
	b := m.Holds[ledger.HoldName(ledger.HoldBreaker, c.Subject)].Breaker
	if b == nil {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "the breaker of %s is closed", c.Subject)
	}
	after, may := b.Reset(m.Now)
	if !may {
		return interlock.Errorf(interlock.CodeConflict, "subject", "the breaker of %s may be half-opened from %s on", c.Subject,
			b.Until.UTC().Format("2006-01-02T15:04:05Z"))
	}
	m.breaker(c.Subject, after, b.State, phase.TriggerOrder, kept.Reason, interlock.EventBreakerReset, &kept)
	return m.Done(interlock.Requester{Agent: c.Operator})
}
