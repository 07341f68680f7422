package admission

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// A Renewal says what an operator's rules are now.
type Renewal struct {
	Number int64                  // counts how often they have become others since the process began; 0: they are what it began with
	Rules  *ruleset.Ruleset       // what they are; nil where they can't be used
	Text   func() ([]byte, error) // what they can be made from again; see [Recorder]
	Err    error                  // why they can't be used
}

// force is what decides: an evaluator with its rules, and what goes with these. It is replaced as a whole and never changed, so
// that a decision is made, recorded and counted under one ruleset from its beginning to its end.
type force struct {
	Evaluator
	number   int64 // of the renewal it came with
	text     func() ([]byte, error)
	counters []ruleset.Counter
	manifest interlock.Digest // of the snapshots that are decided under, once they have been declared
}

func newForce(e Evaluator, number int64, text func() ([]byte, error)) *force {
	return &force{Evaluator: e, number: number, text: text, counters: e.Rules.Counters()}
}

// inForce is what decides from now on. Where the operator's rules have become others it puts these into force first, for
// everybody at once: they are declared in the log before anything is decided under them. Rules that can't be used change nothing
// but that an alert stands in the log and is raised; those of before decide on.
func (a *Admission) inForce(ctx context.Context) (*force, error) {
	have := a.force.Load()
	if a.config.Renew == nil || a.config.Renew().Number == have.number {
		return have, nil
	}
	select {
	case a.renewing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-a.renewing }()
	renewal := a.config.Renew()
	if have = a.force.Load(); renewal.Number == have.number { // somebody else has just done it
		return have, nil
	}
	next := *have
	next.number = renewal.Number
	if renewal.Rules == nil {
		if err := a.keepRules(ctx, renewal.Err); err != nil {
			return nil, err
		}
	} else {
		evaluator := have.Evaluator
		evaluator.Rules = renewal.Rules
		next = *newForce(evaluator, renewal.Number, renewal.Text)
		if err := a.declareForce(ctx, &next); err != nil {
			return nil, err
		}
	}
	a.force.Store(&next)
	return &next, nil
}

// keepRules records that the operator's rules can't be used, and that those of before stay in force.
func (a *Admission) keepRules(ctx context.Context, cause error) error {
	why := "they can't be used"
	var refusal *interlock.Error
	if errors.As(cause, &refusal) {
		why = a.redact(refusal.Error())
	}
	var change ledger.Change
	if err := a.alarm(&change, interlock.Requester{Agent: "interlock"}, "rules-unread",
		"the rules were changed and can't be used, so those of before stay in force: "+why); err != nil {
		return err
	}
	_, err := a.config.Store.Commit(ctx, change)
	return err
}

// lookWithin bounds how long whoever only wants to know the rules waits for them to be put into force.
const lookWithin = time.Second

// Rules returns the ruleset in force.
func (a *Admission) Rules() *ruleset.Ruleset {
	ctx, cancel := context.WithTimeout(context.Background(), lookWithin)
	defer cancel()
	if now, err := a.inForce(ctx); err == nil {
		return now.Rules
	}
	return a.force.Load().Rules // until others are declared
}
