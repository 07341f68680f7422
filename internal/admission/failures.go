package admission

import (
	"context"
	"sync"
	"time"

	"interlock"
	"interlock/internal/limit"
	"interlock/internal/strictjson"
)

// The bounds of what is remembered of failures: so many actions, and so many calls that a new process looks back on.
const (
	maxFailures = 4096
	recallCalls = 256
)

// failures remembers which actions of which agents have failed lately, as far as a gateway carries them out. It is of this
// process: what others saw fail is known to it only if it was in the store when it began.
type failures struct {
	mu       sync.Mutex
	recalled bool
	known    map[failureKey]*failure
	order    []failureKey // of known, oldest first; keys that are gone are skipped
}

type failureKey struct {
	agent  string
	action interlock.Digest
}

type failure struct {
	interlock.Failures
	run string // that it was counted in
}

// any reports whether anything is known at all, which it mostly is not.
func (f *failures) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.known) > 0
}

// of returns what is known of an action, for a run.
func (f *failures) of(r interlock.Requester, action interlock.Digest) *interlock.Failures {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.known[failureKey{r.Agent, action}]
	if one == nil {
		return nil
	}
	known := one.Failures
	if one.run != r.Run {
		known.Count = 0 // the budget is the run's; the cooldown is not
	}
	return &known
}

// ended notes how a decided action ended, at a time.
func (f *failures) ended(r interlock.Requester, d interlock.Decision, status interlock.OutcomeStatus, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := failureKey{r.Agent, d.Action}
	switch status {
	case interlock.OutcomeFailure, interlock.OutcomeUnknown:
		one := f.known[key]
		if one == nil {
			one = f.add(key)
		}
		if one.run != r.Run {
			one.Count, one.run = 0, r.Run
		}
		one.Failures = limit.Failed(one.Failures, status, at)
	case interlock.OutcomeSuccess:
		delete(f.known, key)
		f.changed(r, d.Impacts)
	}
}

// changed notes that a run has changed something: what failed before in it may fare better now.
func (f *failures) changed(r interlock.Requester, impacts []interlock.Impact) {
	if len(f.known) == 0 || !changes(impacts) {
		return
	}
	for key, one := range f.known {
		if key.agent == r.Agent && one.run == r.Run {
			one.Changed = true
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

// add makes room for one more.
func (f *failures) add(key failureKey) *failure {
	if f.known == nil {
		f.known = map[failureKey]*failure{}
	}
	for len(f.known) >= maxFailures || len(f.order) >= 2*maxFailures {
		delete(f.known, f.order[0])
		f.order = f.order[1:]
	}
	one := &failure{}
	f.known[key], f.order = one, append(f.order, key)
	return one
}

// recall takes over, once, what the newest calls in the store ended with, oldest first, so that a failure outlives the process
// that saw it. It costs one read; if that fails, nothing is known, which is no reason to refuse anything.
func (a *Admission) recall(ctx context.Context) {
	a.failures.mu.Lock()
	done := a.failures.recalled
	a.failures.recalled = true
	a.failures.mu.Unlock()
	if done {
		return
	}
	calls, err := a.config.Store.Calls(ctx, recallCalls)
	if err != nil {
		return
	}
	for n := len(calls) - 1; n >= 0; n-- {
		if calls[n].Outcome != "" && a.config.Now().Sub(calls[n].At) < limit.RetryWindow {
			a.failures.ended(calls[n].Requester, calls[n].Decision, calls[n].Outcome, calls[n].At)
		}
	}
}

// failuresOf is what is known of how an action failed that a gateway would carry out; nil where it is no gateway's.
func (a *Admission) failuresOf(ctx context.Context, p interlock.Proposal) *interlock.Failures {
	if p.Upstream == nil {
		return nil
	}
	a.recall(ctx)
	if !a.failures.any() {
		return nil
	}
	digest, err := strictjson.ActionDigest(p.Action)
	if err != nil {
		return nil // the decision says so
	}
	return a.failures.of(p.Requester, digest)
}

// Ended tells how an action ended that a gateway carried out, before its agent hears of it, so that the next attempt is
// decided with that in mind however long the outcome takes to be recorded. [Admission.Report] records it.
func (a *Admission) Ended(r interlock.Requester, d interlock.Decision, status interlock.OutcomeStatus) {
	a.failures.ended(r, d, status, a.config.Now().UTC())
}
