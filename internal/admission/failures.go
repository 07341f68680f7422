package admission

import (
	"context"
	"slices"
	"sync"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// Which actions of which agents have failed lately, as far as a gateway carries them out, stands in the ledger and is written
// with the outcome.

// endings are those that agents may have been told of and whose outcomes are not recorded yet: an agent is faster than a
// commit. It is no memory of its own, only what is on its way to the ledger; whatever is recorded leaves it.
type endings struct {
	mu   sync.Mutex
	some []ending // as they came
}

type ending struct {
	who interlock.Requester
	ledger.Ending
}

// maxEndings bounds how many may be under way. The oldest goes first.
const maxEndings = 4096

func (e *endings) add(one ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.some) > 0 && (len(e.some) >= maxEndings || one.At.Sub(e.some[0].At) >= interlock.RetryWindow) {
		e.some = slices.Delete(e.some, 0, 1)
	}
	e.some = append(e.some, one)
}

// any reports whether anything of an agent's is under way: what went well is kept only behind what did not.
func (e *endings) any(r interlock.Requester) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.some, func(one ending) bool { return one.Agent == r.Agent && one.Principal == r.Principal })
}

// with is what is known of an agent's failures, and what of them is under way.
func (e *endings) with(known ledger.FailedBody, r interlock.Requester) ledger.FailedBody {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.some {
		if one.Agent == r.Agent && one.Principal == r.Principal {
			known, _ = known.With(one.Ending)
		}
	}
	return known
}

// of adds to a change that is to record an outcome the ending of the action, if a gateway has told it.
func (e *endings) of(change *ledger.Change, r interlock.Requester, action interlock.Digest, status interlock.OutcomeStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.some {
		if one.who == r && one.Action == action && one.Status == status {
			change.Writes = append(change.Writes, ledger.Rows(one.Ending)...)
			return
		}
	}
}

// recorded forgets what a change has written.
func (e *endings) recorded(change *ledger.Change) {
	if len(change.Writes) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range change.Writes {
		at := slices.IndexFunc(e.some, func(one ending) bool { return row.Value == one.Ending })
		if at >= 0 {
			e.some = slices.Delete(e.some, at, at+1)
		}
	}
}

func changes(impacts []interlock.Impact) bool {
	for i := range impacts {
		if impacts[i].Reversibility != interlock.Readonly {
			return true
		}
	}
	return false
}

// failedOf names what is known of a requester's failures.
func failedOf(r interlock.Requester) ledger.Ref {
	return key(ledger.Failed, ledger.FailedKey(r.Principal, r.Agent))
}

// failuresOf is what is known of how an action failed that a gateway would carry out; nil where it is no gateway's. who is its
// requester as the door names it.
func (a *Admission) failuresOf(p interlock.Proposal, who interlock.Requester, known ledger.FailedBody) *interlock.Failures {
	if p.Upstream == nil {
		return nil
	}
	if known = a.endings.with(known, who); len(known.Actions) == 0 {
		return nil
	}
	digest, err := strictjson.ActionDigest(p.Action)
	if err != nil {
		return nil // the decision says so
	}
	return known.Of(who.Run, digest)
}

// Ended tells how an action ended that a gateway carried out, before its agent hears of it, so that the next attempt is
// decided with that in mind however long the outcome takes to be recorded. [Admission.Report] records it. What went well where
// nothing of the agent's has failed says nothing new and is not kept: of a door that records no outcomes nobody would take it
// away again.
func (a *Admission) Ended(r interlock.Requester, d interlock.Decision, status interlock.OutcomeStatus) {
	if status == interlock.OutcomeSuccess && !a.hasFailed(r) {
		return
	}
	a.endings.add(ending{who: r, Ending: ledger.Ending{Principal: r.Principal, Agent: r.Agent, Run: r.Run, Action: d.Action,
		At: a.config.Now().UTC(), Status: status, Changes: changes(d.Impacts)}})
}

// hasFailed reports whether something of an agent's has failed lately, or nobody can tell.
func (a *Admission) hasFailed(r interlock.Requester) bool {
	if a.endings.any(r) {
		return true
	}
	rows, _, err := a.config.Store.Recall(context.Background(), failedOf(r))
	if err != nil {
		return true
	}
	for _, row := range rows {
		if known, ok := row.Value.(ledger.FailedBody); !ok || len(known.Actions) > 0 {
			return true
		}
	}
	return false
}
