package core

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// ActiveRules is what decides: an evaluator with its rules, and what goes with these. It is replaced as a whole and never
// changed, so that a decision is made, recorded and counted under one ruleset from its beginning to its end.
type ActiveRules struct {
	Evaluator
	number   int64 // of the renewal it came with
	Counters []ruleset.Counter
	Manifest interlock.Digest // of the snapshots that are decided under, once they have been declared
}

func newForce(e Evaluator, number int64) *ActiveRules {
	return &ActiveRules{Evaluator: e, number: number, Counters: e.Rules.Counters()}
}

// lookForOrder is how often rules that nobody has ordered are looked at again: an order is given in another process.
const lookForOrder = 2 * time.Second

// InForce is what decides from now on. Where the operator's rules have become others, or somebody has ordered them, it puts these
// into force first, for everybody at once: they are declared in the log before anything is decided under them. Rules that can't be
// used change nothing but that an alert is written to the log and raised; those of before decide on.
func (a *Core) InForce(ctx context.Context) (*ActiveRules, error) {
	have := a.Active.Load()
	if a.Config.Renew == nil || a.Config.Renew().Number == have.number && !a.orderDue(have) {
		return have, nil
	}
	select {
	case a.renewing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-a.renewing }()
	renewal := a.Config.Renew()
	have = a.Active.Load()
	due := a.orderDue(have)
	if renewal.Number == have.number && !due { // somebody else has just done it
		return have, nil
	}
	next, err := a.renewed(ctx, have, renewal)
	if err != nil {
		return nil, err
	}
	a.Active.Store(next)
	a.ordersLooked.Store(a.Config.Now().UnixNano())
	return next, nil
}

// orderDue reports whether it is time to look whether rules that nobody had ordered are somebody's order by now.
func (a *Core) orderDue(f *ActiveRules) bool {
	return !f.Ordered.settled() && a.Config.Now().UnixNano()-a.ordersLooked.Load() >= int64(lookForOrder)
}

// renewed is what is in force after a renewal, once that is declared.
func (a *Core) renewed(ctx context.Context, have *ActiveRules, renewal Renewal) (*ActiveRules, error) {
	next := *have
	next.number = renewal.Number
	if renewal.Rules == nil {
		if renewal.Number == have.number { // it was recorded; what is in force stays
			return &next, nil
		}
		return &next, a.keepRules(ctx, renewal.Err)
	}
	evaluator := have.Evaluator
	evaluator.Rules, evaluator.Own = renewal.Rules, renewal.Own
	if a.Config.OrderRules != nil {
		if err := a.Config.OrderRules(ctx, &evaluator); err != nil {
			return &next, a.keepRules(ctx, err)
		}
	}
	made := newForce(evaluator, renewal.Number)
	if made.Rules.Digest() == have.Rules.Digest() && made.Ordered == have.Ordered {
		return &next, nil
	}
	return made, a.Declared(ctx, made)
}

// keepRules records that the operator's rules can't be used, and that those of before stay in force.
func (a *Core) keepRules(ctx context.Context, cause error) error {
	why := "they can't be used"
	var refusal *interlock.Error
	if errors.As(cause, &refusal) {
		why = a.Redact(refusal.Error())
	}
	var change ledger.Change
	if err := a.Raise(&change, interlock.Requester{Agent: "interlock"}, "rules-unread",
		"the rules were changed and can't be used, so those of before stay in force: "+why); err != nil {
		return err
	}
	if _, err := a.Config.Store.Commit(ctx, change); err != nil {
		return err
	}
	return a.Unread(ctx)
}

// lookWithin bounds how long a caller that only wants to know the rules waits for them to be put into force.
const lookWithin = time.Second

// Rules returns the ruleset in force.
func (a *Core) Rules() *ruleset.Ruleset {
	ctx, cancel := context.WithTimeout(context.Background(), lookWithin)
	defer cancel()
	if now, err := a.InForce(ctx); err == nil {
		return now.Rules
	}
	return a.Active.Load().Rules // until others are declared
}
