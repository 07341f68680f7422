package admission

import (
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// loopLooks are of monitored executions.
var loopLooks = []look{
	{writes: (*pendingDecision).writeExecution, late: true},
}

// What monitored executions have done is in the ledger, by principal, agent and run, so that a step which is one too many
// of its kind is known as that by the process that decides it, and a restart forgets nothing.

// executions keep the steps of one run apart: of two at once one would be decided again, and of many some never. Runs that share
// a lock wait for each other, which costs time and nothing else; those of other processes are held apart by their rows.
type executions struct {
	seed  maphash.Seed
	locks [64]sync.Mutex
}

// of is the lock of a run.
func (e *executions) of(key string) *sync.Mutex {
	return &e.locks[maphash.String(e.seed, key)%uint64(len(e.locks))]
}

// executionOf names what is known of a requester's run.
func executionOf(r interlock.Requester) ledger.Ref {
	return core.Key(ledger.Execution, ledger.ExecutionKey(r.Principal, r.Agent, r.Run))
}

// loop completes what a door says of a step with what is configured for the agent and what the execution has done.
func loop(past ledger.Done, said interlock.Loop, set ruleset.LoopSetting, counters []ruleset.Counter,
	now time.Time) *interlock.Loop {
	l := said
	l.Limit, l.Tolerance, l.Risk = set.Steps, set.Tolerance, past.Risk
	l.Deny, l.RequiresApproval, l.AutoApprove = set.Policy.Deny, set.Policy.RequiresApproval, set.Policy.AutoApprove
	l.Counts = nil
	for _, c := range counters {
		if times := past.Counts[c.Name].Since(now, c.Within).Number; times > 0 {
			l.Counts = append(l.Counts, interlock.Count{Name: c.Name, Seconds: int(c.Within / time.Second), Times: times})
		}
	}
	return &l
}

// maxCounted bounds what is counted of one kind: no rule asks for more.
const maxCounted = 10_000

// did is what an execution has done after a step, which counts where it was allowed. Of what belongs to no execution, such as
// beginning one, only what a cooldown asks about is remembered: a server begins thousands, and they add up to nothing.
func did(past ledger.Done, r interlock.Requester, l interlock.Loop, action interlock.Action, d interlock.Decision,
	counters []ruleset.Counter, now time.Time) (ledger.Row, error) {
	past.Principal, past.Agent, past.Run, past.Seen = r.Principal, r.Agent, r.Run, now
	past.Steps++
	past.Counts = maps.Clone(past.Counts)
	if past.Counts == nil {
		past.Counts = map[string]ledger.Times{}
	}
	if d.Answer.Allowed() && l.Execution != "" {
		past.Risk += d.Risk
	}
	for _, c := range counters {
		times := past.Counts[c.Name].Since(now, c.Within)
		if d.Answer.Allowed() && (l.Execution != "" || c.Pause) && c.Counts(action, d.Impacts) {
			times = times.With(now, c.Within, maxCounted)
		}
		if delete(past.Counts, c.Name); times.Number > 0 {
			past.Counts[c.Name] = times
		}
	}
	return ledger.Put(ledger.Execution, ledger.ExecutionKey(r.Principal, r.Agent, r.Run), past)
}

// writeExecution counts a step of a monitored execution.
func (w *pendingDecision) writeExecution() error {
	if w.said == nil {
		return nil
	}
	row, err := did(w.done, w.by, *w.said, w.Action, w.answer.Decision, w.under.Counters, w.now)
	if err == nil {
		w.change.Writes = append(w.change.Writes, row)
	}
	return err
}
