package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// Orders of operators, whatever their verb, take one way: what they are about is found, they are held to what package quorum
// says of their verb, what they do is added to a change with its event, and that is committed if they were not carried out
// before. What does not count changes nothing, is recorded as APPROVAL_REFUSED and comes back as an *interlock.Error.

// A deed is what carrying out an order of one verb does. What it takes to count stands in [quorum.Verbs].
type deed struct {
	// reads names what the order is about, besides its operator; agents and challenges among it bring their operators along
	reads func(o interlock.Order) []ledger.Ref
	// find looks it up and says whose freedom the order is about, before anything of the order is checked; nil: nothing to find
	find func(c *carrying) error
	// do adds what the order does to the change, with its event
	do func(ctx context.Context, c *carrying) error
	// last does what is left to do once the order is durable; nil: nothing is
	last func() error
	// after is told that it was tried; nil: nobody has to know
	after func()
}

// Carried is what came of an order.
type Carried struct {
	ledger.Receipt
	Code      string               // of [interlock.VerbNewCode], for whoever gave the order and nobody else
	Expires   time.Time            // when it does
	Candidate ledger.CandidateBody // of [interlock.VerbPromoteRules]: what was put into force

	Request  interlock.ActionRequest   // of orders about requests: what it is now
	Question interlock.ApprovalRequest // of a vote on a question of an agent's: likewise
}

// carrying is an order that is being carried out.
type carrying struct {
	quorum.Given
	standing ledger.Standing // what it is about, its operator and theirs
	now      time.Time
	change   ledger.Change
	done     Carried

	permitted []ledger.Row   // the request that the council approved, which the order uses up
	steps     []ledger.Draft // its events
}

// CarryOut carries out an operator's order. A door for orders of one kind names it, so that no other comes through.
func (a *Admission) CarryOut(ctx context.Context, given quorum.Given, only ...interlock.Verb) (Carried, error) {
	if len(only) > 0 && !slices.Contains(only, given.Verb) {
		return Carried{}, a.refusedOrder(ctx, given.Operator, given.Subject,
			interlock.Errorf(interlock.CodeInvalid, "verb", "this order is for something else than %s", words(only)))
	}
	verb, _ := quorum.VerbOf(given.Verb)
	deed, known := a.handlers[given.Verb]
	var c *carrying
	receipt, err := a.commitOn(ctx, false, a.orderGround(deed, given), func(standing ledger.Standing) (ledger.Change, error) {
		c = &carrying{Given: given, standing: standing, now: a.config.Now().UTC(),
			change: ledger.Change{Version: standing.Version}}
		if !known || verb.Stands != (given.Terms != nil) {
			return c.change, interlock.Errorf(interlock.CodeInvalid, "verb", "there is no such order")
		}
		err := a.carry(ctx, verb, deed, c)
		return c.change, err
	})
	if deed.after != nil {
		deed.after()
	}
	if about := given.Subject; err != nil {
		if verb.Stands {
			about = given.ID
		}
		return Carried{}, a.refusedOrder(ctx, given.Operator, about, err)
	}
	c.done.Receipt = receipt
	if deed.last != nil {
		err = deed.last()
	}
	return c.done, err
}

// carry fills the change of an order, or says why it does not count.
func (a *Admission) carry(ctx context.Context, verb quorum.Verb, deed deed, c *carrying) error {
	if verb.Reason && strings.TrimSpace(c.Reason) == "" {
		return interlock.Errorf(interlock.CodeInvalid, "reason", "say why, for the record")
	}
	if deed.find != nil {
		if err := deed.find(c); err != nil {
			return err
		}
	}
	if err := c.Counts(c.standing.Operators, c.standing.Agents, a.config.Verify, c.now); err != nil {
		return err
	}
	if err := a.mayBeWeak(ctx, c.Weak); err != nil {
		return err
	}
	if err := a.permit(ctx, c); err != nil {
		return err
	}
	if err := deed.do(ctx, c); err != nil {
		return err
	}
	if len(c.steps) > 0 { // that it was begun stands before what it did, and that it ended behind
		c.change.Events = slices.Concat(c.steps[:1], c.change.Events, c.steps[1:])
	}
	c.change.Writes = append(c.change.Writes, c.permitted...)
	c.change.Writes = append(c.change.Writes, ledger.Once(c.Order))
	return nil
}

// words lists verbs.
func words(verbs []interlock.Verb) string {
	var list []string
	for _, verb := range verbs {
		list = append(list, string(verb))
	}
	return strings.Join(list, " or ")
}

// refusedOrder records that an operator's order did not count.
func (a *Admission) refusedOrder(ctx context.Context, operator, subject string, err error) error {
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		if _, recordErr := a.RefuseApproval(ctx, "operator", operator, subject, refusal); recordErr != nil {
			return fmt.Errorf("%w (and the attempt could not be recorded)", err)
		}
	}
	return err
}

// orderKept is an order as the log keeps it: without secrets, and then without the statement that holds them as well.
func (a *Admission) orderKept(o interlock.Order) interlock.Order {
	if reason := a.redact(o.Reason); reason != o.Reason {
		o.Reason, o.Statement = reason, ""
	}
	return o
}

// orderGround loads what an order is about, its operator, the agents it gives freedom to, and the operators whose keys may not
// be its operator's: those agents' own and their owners'.
func (a *Admission) orderGround(d deed, given quorum.Given) func(context.Context, loader) (ground, error) {
	return func(ctx context.Context, load loader) (ground, error) {
		var g ground
		more := func(kind string, names names) error {
			var refs []ledger.Ref
			for _, name := range names {
				if ref := key(kind, name); !slices.Contains(g.reads, ref) {
					refs = append(refs, ref)
				}
			}
			g.reads = append(g.reads, refs...)
			return a.extend(ctx, load, &g, new(names), refs)
		}
		if d.reads != nil {
			g.reads = d.reads(given.Order)
		}
		if err := a.extend(ctx, load, &g, new(names), g.reads); err != nil {
			return g, err
		}
		var agents, operators names
		about := func(r interlock.Requester) {
			agents.add(r.Agent)
			operators.add(r.Agent)
			operators.add(r.Principal)
		}
		operators.add(given.Operator)
		about(given.About)
		for _, c := range g.Challenges { // in any order: all are loaded
			about(c.Requester)
		}
		for _, r := range g.Requests { // in any order: all are loaded
			about(r.Requester)
		}
		var refs []ledger.Ref
		for _, name := range slices.Sorted(maps.Keys(g.Others[ledger.ActionRequest])) {
			r, _ := g.Action(name)
			about(r.Requester)
			refs = append(refs, effectRefs(r)...)
		}
		if len(refs) > 0 {
			g.reads = append(g.reads, refs...)
			if err := a.extend(ctx, load, &g, new(names), refs); err != nil {
				return g, err
			}
		}
		if err := more(ledger.Agent, agents); err != nil {
			return g, err
		}
		for _, agent := range g.Agents {
			about(interlock.Requester{Agent: agent.ID, Principal: agent.Principal})
		}
		return g, more(ledger.Operator, operators)
	}
}
