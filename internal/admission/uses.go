package admission

import (
	"errors"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// A Use is what an action that is let through takes from a row of the ledger, such as one of a counter. Whoever uses it up does not
// read the row first, so that many who do at once neither race nor decide again: the store takes it with the event, one commit after
// another, and says what it met where there is too little. That is no error of the decision but something to object.
type Use struct {
	ledger.Spend
	Objects func(met *ledger.Met) interlock.Finding // where there is not as much left
}

// uses adds to a change what limits would have a decision use up, but for what it met too little of already.
func (a *Admission) uses(p *Case, d interlock.Decision, change *ledger.Change, now time.Time) {
	p.using = nil
	if a.config.Uses == nil || !d.Answer.Allowed() || p.Handover.Hands(d) { // what it is handed to decides it again
		return
	}
	for _, u := range a.config.Uses(p, d, now) {
		if !p.met[ledger.Ref{Kind: u.Kind, Key: u.Key}] {
			p.using = append(p.using, u)
			change.Spends = append(change.Spends, u.Spend)
		}
	}
}

// objects makes a finding of what a commit met that found too little, and reports whether the decision is to be made again with it.
// Each use is met once at most, so this comes to an end.
func (p *Case) objects(err error) bool {
	if err == nil { // nearly always
		return false
	}
	var met *ledger.Met
	if !errors.As(err, &met) || errors.Is(err, ledger.ErrConflict) {
		return false
	}
	for _, u := range p.using {
		if u.Spend == met.Spend {
			if p.met == nil {
				p.met = map[ledger.Ref]bool{}
			}
			p.met[ledger.Ref{Kind: u.Kind, Key: u.Key}] = true
			p.over = append(p.over, u.Objects(met))
			return true
		}
	}
	return false
}
