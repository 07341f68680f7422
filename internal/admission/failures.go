package admission

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// What actions of what agents have failed lately, as far as a gateway carries them out, is in the ledger and is written
// with the outcome.

// endings are those that agents may have been told of and whose outcomes are not recorded yet: an agent is faster than a
// commit. It is no memory of its own, only what is on its way to the ledger; whatever is recorded leaves it. Where a door records
// no outcomes they stay until they are too old to matter.
type endings struct {
	mu   sync.Mutex
	some list.List // of ending, as they came
	by   map[string]*told
}

type ending struct {
	who interlock.Requester
	ledger.Ending
}

func (e ending) key() string { return ledger.FailedKey(e.Principal, e.Agent) }

// told is what one agent was told of, and what the ledger knows of it with that, so that a decision adds only what came since the
// last one.
type told struct {
	some    []*list.Element   // as they came
	added   int               // so many of them are in sum already
	known   ledger.FailedBody // what the ledger knew
	sum     ledger.FailedBody // with those that are added, and with those that were since too many or too old
	unknown bool              // what the ledger knows is to be asked again
}

// maxEndings bounds how many may be under way. The oldest goes first.
const maxEndings = 4096

func (e *endings) add(one ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for first := e.some.Front(); first != nil; first = e.some.Front() {
		if e.some.Len() < maxEndings && one.At.Sub(first.Value.(ending).At) < interlock.RetryWindow {
			break
		}
		e.remove(first.Value.(ending).key(), 0)
	}
	if e.by == nil {
		e.by = map[string]*told{}
	}
	of := e.by[one.key()]
	if of == nil {
		of = &told{unknown: true}
		e.by[one.key()] = of
	}
	of.some = append(of.some, e.some.PushBack(one))
}

// remove forgets one of an agent's.
func (e *endings) remove(key string, at int) {
	of := e.by[key]
	e.some.Remove(of.some[at])
	if of.some = slices.Delete(of.some, at, at+1); len(of.some) == 0 {
		delete(e.by, key)
	}
	if at < of.added {
		of.added--
	}
}

// any reports whether anything of an agent's is under way: what went well is kept only behind what did not.
func (e *endings) any(r interlock.Requester) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.by[ledger.FailedKey(r.Principal, r.Agent)] != nil
}

// with is what is known of an agent's failures, and what of them is under way; looked is how many had to be looked at for that.
func (e *endings) with(known ledger.FailedBody, r interlock.Requester) (sum ledger.FailedBody, looked int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	of := e.by[ledger.FailedKey(r.Principal, r.Agent)]
	if of == nil {
		return known, 0
	}
	if of.unknown || !of.known.Seen.Equal(known.Seen) || !slices.Equal(of.known.Actions, known.Actions) {
		of.unknown, of.known, of.sum, of.added = false, known, known, 0
	}
	for _, one := range of.some[of.added:] {
		of.sum, _ = of.sum.With(one.Value.(ending).Ending)
		looked++
	}
	of.added = len(of.some)
	return of.sum, looked
}

// of adds to a change that is to record an outcome the ending of the action, if a gateway has told it.
func (e *endings) of(change *ledger.Change, r interlock.Requester, action interlock.Digest, status interlock.OutcomeStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	of := e.by[ledger.FailedKey(r.Principal, r.Agent)]
	if of == nil {
		return
	}
	for _, element := range of.some {
		if one := element.Value.(ending); one.who == r && one.Action == action && one.Status == status {
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
		written, is := row.Value.(ledger.Ending)
		if !is {
			continue
		}
		key := ledger.FailedKey(written.Principal, written.Agent)
		of := e.by[key]
		if of == nil {
			continue
		}
		at := slices.IndexFunc(of.some, func(one *list.Element) bool { return one.Value.(ending).Ending == written })
		if at >= 0 {
			of.unknown = true // from here on the ledger says it
			e.remove(key, at)
		}
	}
}

// failedOf names what is known of a requester's failures.
func failedOf(r interlock.Requester) ledger.Ref {
	return core.Key(ledger.Failed, ledger.FailedKey(r.Principal, r.Agent))
}

// failuresOf is what is known of how an action failed that a gateway would carry out; nil where it is no gateway's. who is its
// requester as the door names it.
func (a *Admission) failuresOf(p *Case, who interlock.Requester, known ledger.FailedBody) *interlock.Failures {
	if p.Upstream == nil {
		return nil
	}
	if known, _ = a.endings.with(known, who); len(known.Actions) == 0 {
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
		At: a.Config.Now().UTC(), Status: status, Changes: core.Changes(d.Impacts)}})
}

// hasFailed reports whether something of an agent's has failed lately, or nobody can tell.
func (a *Admission) hasFailed(r interlock.Requester) bool {
	if a.endings.any(r) {
		return true
	}
	rows, _, err := a.Config.Store.Recall(context.Background(), failedOf(r))
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
