package core

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
	"interlock/internal/memory"
	"interlock/internal/privacy"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// Orders of operators, whatever their verb, take one way: what they are about is found, they are held to what package quorum
// says of their verb, what they do is added to a change with its event, and that is committed if they were not carried out
// before. What does not count changes nothing, is recorded as APPROVAL_REFUSED and comes back as an *interlock.Error.

// A OrderHandler is what carrying out an order of one verb does. What it takes to count is in [quorum.Verbs].
type OrderHandler struct {
	// reads names what the order is about, besides its operator; agents and challenges among it bring their operators along
	Reads func(o interlock.Order) []ledger.Ref
	// find looks it up and says whose freedom the order is about, before anything of the order is checked; nil: nothing to find
	Find func(c *PendingOrder) error
	// do adds what the order does to the change, with its event
	Do func(ctx context.Context, c *PendingOrder) error
	// last does what is left to do once the order is durable; nil: nothing is
	Last func(ctx context.Context, c *PendingOrder) error
	// after is told that it was tried; nil: nobody has to know
	After func()
}

// Carried is what came of an order.
type Carried struct {
	ledger.Receipt
	Code      string               // of [interlock.VerbNewCode], for the operator who gave the order and nobody else
	Expires   time.Time            // when it does
	Candidate ledger.CandidateBody // of [interlock.VerbPromoteRules]: what was put into force

	Request  interlock.ActionRequest   // of orders about requests: what it is now
	Question interlock.ApprovalRequest // of a vote on a question of an agent's: likewise
	Ended    []string                  // of [interlock.VerbBeginRollback]: the runs that were delegated downstream and are ended
	Opened   map[string]string         // of [interlock.VerbDataRequest]: what is kept of the person, opened, by id
}

// PendingOrder is an order that is being carried out.
type PendingOrder struct {
	quorum.Given
	Standing ledger.Standing // what it is about, its operator and theirs
	Now      time.Time
	Change   ledger.Change
	Done     Carried

	Permitted []ledger.Row   // the request that the council approved, which the order uses up
	Steps     []ledger.Draft // its events
}

// CarryOut carries out an operator's order. A door for orders of one kind names it, so that no other comes through.
func (a *Core) CarryOut(ctx context.Context, given quorum.Given, only ...interlock.Verb) (Carried, error) {
	if len(only) > 0 && !slices.Contains(only, given.Verb) {
		return Carried{}, a.RefusedOrder(ctx, given.Operator, given.Subject,
			interlock.Errorf(interlock.CodeInvalid, "verb", "this order is for something else than %s", words(only)))
	}
	verb, _ := quorum.VerbOf(given.Verb)
	deed, known := a.Handlers[given.Verb]
	var c *PendingOrder
	receipt, err := a.CommitOn(ctx, false, a.orderGround(deed, given), func(standing ledger.Standing) (ledger.Change, error) {
		c = &PendingOrder{Given: given, Standing: standing, Now: a.Config.Now().UTC(),
			Change: ledger.Change{Version: standing.Version}}
		if !known || verb.Stands != (given.Terms != nil) {
			return c.Change, interlock.Errorf(interlock.CodeInvalid, "verb", "there is no such order")
		}
		err := a.carry(ctx, verb, deed, c)
		return c.Change, err
	})
	if deed.After != nil {
		deed.After()
	}
	if about := given.Subject; err != nil {
		if verb.Stands {
			about = given.ID
		}
		return Carried{}, a.RefusedOrder(ctx, given.Operator, about, err)
	}
	c.Done.Receipt = receipt
	if deed.Last != nil {
		err = deed.Last(ctx, c)
	}
	return c.Done, err
}

// carry fills the change of an order, or says why it does not count.
func (a *Core) carry(ctx context.Context, verb quorum.Verb, deed OrderHandler, c *PendingOrder) error {
	if verb.Reason && strings.TrimSpace(c.Reason) == "" {
		return interlock.Errorf(interlock.CodeInvalid, "reason", "say why, for the record")
	}
	if deed.Find != nil {
		if err := deed.Find(c); err != nil {
			return err
		}
	}
	if err := c.Counts(c.Standing.Operators, c.Standing.Agents, a.Config.Verify, c.Now); err != nil {
		return err
	}
	if err := a.MayBeWeak(ctx, c.Weak); err != nil {
		return err
	}
	if err := a.Permit(ctx, c); err != nil {
		return err
	}
	if err := deed.Do(ctx, c); err != nil {
		return err
	}
	if len(c.Steps) > 0 { // that it was begun is written before what it did, and that it ended after it
		c.Change.Events = slices.Concat(c.Steps[:1], c.Change.Events, c.Steps[1:])
	}
	c.Change.Writes = append(c.Change.Writes, c.Permitted...)
	c.Change.Writes = append(c.Change.Writes, ledger.Once(c.Order))
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

// RefusedOrder records that an operator's order did not count.
func (a *Core) RefusedOrder(ctx context.Context, operator, subject string, err error) error {
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		if _, recordErr := a.RefuseApproval(ctx, "operator", operator, subject, refusal); recordErr != nil {
			return fmt.Errorf("%w (and the attempt could not be recorded)", err)
		}
	}
	return err
}

// OrderKept is an order as the log keeps it: without secrets, and then without the statement that holds them as well.
func (a *Core) OrderKept(o interlock.Order) interlock.Order {
	if reason := a.Redact(o.Reason); reason != o.Reason {
		o.Reason, o.Statement = reason, ""
	}
	return o
}

// orderGround loads what an order is about, its operator, the agents it gives freedom to, and the operators whose keys may not
// be its operator's: those agents' own and their owners'.
func (a *Core) orderGround(d OrderHandler, given quorum.Given) func(context.Context, LoadRows) (DecisionRows, error) {
	return func(ctx context.Context, load LoadRows) (DecisionRows, error) {
		var g DecisionRows
		more := func(kind string, names Names) error {
			var refs []ledger.Ref
			for _, name := range names {
				if ref := Key(kind, name); !slices.Contains(g.Reads, ref) {
					refs = append(refs, ref)
				}
			}
			g.Reads = append(g.Reads, refs...)
			return a.Extend(ctx, load, &g, new(names), refs)
		}
		if d.Reads != nil {
			g.Reads = d.Reads(given.Order)
		}
		if err := a.Extend(ctx, load, &g, new(Names), g.Reads); err != nil {
			return g, err
		}
		var agents, operators Names
		about := func(r interlock.Requester) {
			agents.Add(r.Agent)
			operators.Add(r.Agent)
			operators.Add(r.Principal)
		}
		operators.Add(given.Operator)
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
			refs = append(refs, EffectRefs(r)...)
		}
		if len(refs) > 0 {
			g.Reads = append(g.Reads, refs...)
			if err := a.Extend(ctx, load, &g, new(Names), refs); err != nil {
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

// ModuleRefs are what says in what state a target is, where that is an agent.
func ModuleRefs(target string) []ledger.Ref {
	name, is := strings.CutPrefix(target, string(ledger.HoldAgent)+":")
	if !is || name == "" {
		return nil
	}
	return []ledger.Ref{Key(ledger.Agent, name), Under(ledger.Hold, ledger.Over(ledger.HoldAgent, name))}
}

// EffectRefs are the rows that carrying a request out is made from.
func EffectRefs(r interlock.ActionRequest) []ledger.Ref {
	refs := ModuleRefs(r.Action.Target)
	if r.Origin == "agent" { // what becomes of it says how far its agent is to be trusted
		refs = append(refs, Key(ledger.Breaker, ledger.HoldName(ledger.HoldAgent, r.Requester.Agent)),
			Under(ledger.Hold, ledger.Over(ledger.HoldAgent, r.Requester.Agent)))
	}
	switch r.Action.Type {
	case quorum.ActQuarantine, quorum.ActQuarantineNow, quorum.ActUnquarantine:
		if _, _, ok := ledger.Actors(r.Action.Target); ok {
			refs = append(refs, MoveRefs(r.Action.Target)...)
		}
	case quorum.ActHaltReplays, quorum.ActFreezeSnapshots, quorum.ActClearHalt:
		refs = append(refs, Key(ledger.Hold, HaltName(r.Action)))
	case quorum.ActRegister, interlock.ActModuleAction, interlock.ActModuleBudget, interlock.ActModuleCode, interlock.ActService:
		if len(ModuleRefs(r.Action.Target)) > 0 {
			refs = append(refs, Key(ledger.Setting, SettingRegistry), Key(ledger.Breaker, r.Action.Target))
		}
	case quorum.ActDeletePerson:
		if subject, is := strings.CutPrefix(r.Action.Target, privacy.TargetPerson); is && subject != "" {
			refs = append(refs, append(PersonRefs(subject), memoryRefs()...)...)
		}
	case quorum.ActKeepPersonal:
		if id, is := strings.CutPrefix(r.Action.Target, privacy.TargetConsent); is && id != "" {
			refs = append(refs, Key(ledger.Consent, id))
		}
	case quorum.ActStable, quorum.ActPromotion, quorum.ActStableDelete:
		refs = append(append(refs, factRefs(r.Action.Target)...), memoryRefs()...)
		var shown memory.Shown
		if strictjson.Decode([]byte(r.Action.Params), &shown) == nil { // what an agent asked for otherwise waits for nothing
			refs = append(refs, ConsentRefs(shown.About...)...)
		}
	case quorum.ActReview:
		refs = append(refs, Under(ledger.ActionRequest, ledger.ActionReviewOf(r.Action.Target)))
	}
	return refs
}

// PersonRefs name all that is kept of a person.
func PersonRefs(subject string) []ledger.Ref {
	return append(ConsentRefs(subject), Under(ledger.Personal, ledger.OfPerson(subject)), Under(ledger.Memory, ledger.OfPerson(subject)))
}

// ConsentRefs name what people permit to be kept of them.
func ConsentRefs(subjects ...string) (refs []ledger.Ref) {
	for _, subject := range subjects {
		refs = append(refs, Key(ledger.Person, subject), Under(ledger.Consent, ledger.OfPerson(subject)))
	}
	return refs
}

// factRefs are the rows that writing or deleting a stable fact is made from, or taking back what derives from a source.
func factRefs(target string) []ledger.Ref {
	if source, is := strings.CutPrefix(target, string(ledger.HoldMemory)+":"); is {
		return []ledger.Ref{Key(ledger.Hold, ledger.HoldName(ledger.HoldCut, source))}
	}
	holder, key, _ := memory.ParseTarget(target)
	return []ledger.Ref{Key(ledger.Memory, memory.Place(memory.Waiting, holder, key)),
		Key(ledger.Memory, memory.Place(memory.Semantic, holder, key)), Under(ledger.Hold, ledger.MemoryHolds)}
}

// memoryRefs are what a new snapshot of the memory is made from, beside the facts themselves.
func memoryRefs() []ledger.Ref {
	return []ledger.Ref{Key(ledger.Setting, SettingMemory), Under(ledger.Hold, ledger.MemoryHolds)}
}

// HaltName is the hold that an action makes or ends.
func HaltName(action interlock.GovernedAction) string {
	switch action.Type {
	case quorum.ActHaltReplays:
		return ledger.HoldName(ledger.HoldReplays, ledger.HoldAll)
	case quorum.ActFreezeSnapshots:
		return ledger.HoldName(ledger.HoldSnapshots, ledger.HoldAll)
	}
	return action.Target
}

// MoveRefs names what a change of one hold on actors is made from.
func MoveRefs(name string) []ledger.Ref {
	on := name
	if scope, key, _ := ledger.Actors(name); scope == ledger.HoldBreaker {
		on = key
	}
	scope, whose, _ := ledger.Actors(on)
	refs := []ledger.Ref{Under(ledger.Hold, ledger.OverAll), Key(ledger.Breaker, on), Key(ledger.Tally, on)}
	if scope == ledger.HoldAgent {
		refs = append(refs, Key(ledger.Agent, whose)) // whose type may have a tier of its own
	}
	if scope != ledger.HoldSystem && scope != ledger.HoldLayer {
		refs = append(refs, Under(ledger.Hold, ledger.Over(scope, whose)))
	}
	return refs
}
