package admission

import (
	"sync"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

// The bounds of what is remembered of executions.
const (
	maxExecutions = 4096      // at once; the one longest silent is forgotten first
	idleExecution = time.Hour // without a step; then nothing of it is known any more
)

// executions remember what monitored executions have done, by principal, agent and run, so that a step which is one too many
// of its kind is known as that. They end with the process, as executions do (MCP-AQL 2.3).
type executions struct {
	guard sync.Mutex
	known map[string]*execution
}

// An execution is one run's past. Its steps are decided one after the other: of two at once neither would see the other.
type execution struct {
	sync.Mutex
	seen   time.Time
	risk   int
	counts map[string][]time.Time // by counter; without a window, times are zero and only their number counts
}

// of returns an execution's past, which the caller locks.
func (e *executions) of(r interlock.Requester, now time.Time) *execution {
	e.guard.Lock()
	defer e.guard.Unlock()
	key := r.Principal + "\x00" + r.Agent + "\x00" + r.Run
	if e.known == nil {
		e.known = map[string]*execution{}
	}
	if len(e.known) >= maxExecutions {
		e.sweep(now)
	}
	past := e.known[key]
	if past == nil {
		past = &execution{counts: map[string][]time.Time{}}
		e.known[key] = past
	}
	past.seen = now
	return past
}

// sweep forgets idle executions and, if there are none, the one longest silent.
func (e *executions) sweep(now time.Time) {
	oldest := ""
	for key, past := range e.known {
		if now.Sub(past.seen) > idleExecution {
			delete(e.known, key)
		} else if oldest == "" || past.seen.Before(e.known[oldest].seen) {
			oldest = key
		}
	}
	if len(e.known) >= maxExecutions {
		delete(e.known, oldest)
	}
}

// loop completes what a door says of a step with what is configured for the agent and what the execution has done.
func (past *execution) loop(said interlock.Loop, set ruleset.LoopSetting, counters []ruleset.Counter,
	now time.Time) *interlock.Loop {
	l := said
	l.Limit, l.Tolerance, l.Risk = set.Steps, set.Tolerance, past.risk
	l.Deny, l.RequiresApproval, l.AutoApprove = set.Policy.Deny, set.Policy.RequiresApproval, set.Policy.AutoApprove
	l.Counts = nil
	for _, c := range counters {
		times := past.counts[c.Name]
		if c.Within > 0 {
			for len(times) > 0 && now.Sub(times[0]) > c.Within {
				times = times[1:]
			}
			past.counts[c.Name] = times
		}
		if len(times) > 0 {
			l.Counts = append(l.Counts, interlock.Count{Name: c.Name, Seconds: int(c.Within / time.Second), Times: len(times)})
		}
	}
	return &l
}

// maxCounted bounds what is counted of one kind: no rule asks for more.
const maxCounted = 10_000

// did remembers a step that was allowed. Of what belongs to no execution, such as beginning one, only what a cooldown asks
// about is remembered: a server begins thousands, and they add up to nothing.
func (past *execution) did(l interlock.Loop, action interlock.Action, d interlock.Decision,
	counters []ruleset.Counter, now time.Time) {
	if l.Execution != "" {
		past.risk += d.Risk
	}
	for _, c := range counters {
		if l.Execution == "" && !c.Pause {
			continue
		}
		if times := past.counts[c.Name]; len(times) < maxCounted && c.Counts(action, d.Impacts) {
			past.counts[c.Name] = append(times, now)
		}
	}
}
