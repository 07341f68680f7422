package mcpaql

import (
	"encoding/hex"
	"fmt"
	"io"
	"sort"
	"sync"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// A State is how far an execution has come. Completed, failed and cancelled are terminal.
type State string

// The states. A paused execution is a running one to clients that know the core states only.
const (
	Pending   State = "pending"
	Running   State = "running"
	Paused    State = "paused"
	Completed State = "completed"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

func (s State) terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// core is the state that s is in the published lifecycle.
func (s State) core() State {
	if s == Paused {
		return Running
	}
	return s
}

// An execution is one monitored run of an agent. It belongs to the agent's credential, and each call is held against that
// again; the handle alone opens nothing. It lives in the memory of this server and ends with it.
type execution struct {
	id         string
	element    string
	goal       string
	requester  interlock.Requester // Run is the execution's id
	connection string
	started    time.Time

	mu         sync.Mutex // held for a whole call: the steps of one execution come one after another
	state      State
	finished   time.Time
	touched    time.Time
	steps      int    // reported and recorded
	autonomous int    // let through since a human last answered
	last       string // event of the step whose outcome is not reported yet
	reason     string // why it ended
}

// executionState is an execution as answers show it (core 8.4.3).
type executionState struct {
	Execution string    `json:"execution_id"`
	Status    State     `json:"status"`
	Core      State     `json:"core_status,omitempty"` // where Status is none of the published states
	Element   string    `json:"element_name,omitempty"`
	Started   string    `json:"started_at"`
	Finished  string    `json:"finished_at,omitempty"`
	Progress  *progress `json:"progress"`
}

type progress struct {
	Current int    `json:"current"`
	Message string `json:"message"`
}

func (e *execution) show() executionState {
	out := executionState{Execution: e.id, Status: e.state, Element: e.element, Started: stamp(e.started),
		Progress: &progress{Current: e.steps, Message: fmt.Sprintf("steps reported: %d", e.steps)}}
	if e.state.core() != e.state {
		out.Core = e.state.core()
	}
	if !e.finished.IsZero() {
		out.Finished = stamp(e.finished)
	}
	if e.state == Paused {
		out.Progress.Message += "; waiting for a human"
	}
	return out
}

// executions holds the executions of one server.
type executions struct {
	perOwner int
	idle     time.Duration
	random   io.Reader

	mu      sync.Mutex // before any execution's
	byID    map[string]*execution
	byOwner map[string]map[string]*execution
}

// maxKept bounds all executions, those that have ended included.
const maxKept = 10_000

// ownerOf names whom an execution belongs to: agent and principal, as a block is bound.
func ownerOf(r interlock.Requester) string { return ledger.AttemptsKey(r.Agent, r.Principal) }

// start makes a running execution.
func (x *executions) start(r interlock.Requester, connection, element, goal string, now time.Time) (*execution, error) {
	var secret [16]byte
	if _, err := io.ReadFull(x.random, secret[:]); err != nil {
		return nil, fmt.Errorf("drawing an execution's id: %w", err)
	}
	e := &execution{id: "exec_" + hex.EncodeToString(secret[:]), element: element, goal: goal, requester: r,
		connection: connection, state: Running, started: now, touched: now}
	e.requester.Run = e.id
	x.mu.Lock()
	defer x.mu.Unlock()
	own := x.byOwner[ownerOf(r)]
	open := 0
	for _, other := range own {
		if !other.ended() {
			open++
		}
	}
	if open >= x.perOwner {
		return nil, &Failure{Code: CodeQuotaExhausted,
			Message: fmt.Sprintf("This agent has %d executions open, which is the most; end one with complete_execution or abort_execution", open),
			Details: map[string]any{"maximum": x.perOwner}}
	}
	if len(x.byID) >= maxKept && !x.forgetOldest() {
		return nil, &Failure{Code: CodeQuotaExhausted, Message: "This server holds as many executions as it can; try again later"}
	}
	if own == nil {
		own = map[string]*execution{}
		x.byOwner[ownerOf(r)] = own
	}
	x.byID[e.id], own[e.id] = e, e
	return e, nil
}

// ended reports whether an execution is over, without waiting for a call that is under way on it: such a one is not.
func (e *execution) ended() bool {
	if !e.mu.TryLock() {
		return false
	}
	defer e.mu.Unlock()
	return e.state.terminal()
}

// forgetOldest drops the execution that ended first.
func (x *executions) forgetOldest() bool {
	var oldest *execution
	for _, e := range x.byID {
		if e.ended() && (oldest == nil || e.finished.Before(oldest.finished)) {
			oldest = e
		}
	}
	if oldest == nil {
		return false
	}
	x.forget(oldest)
	return true
}

func (x *executions) forget(e *execution) {
	owner := ownerOf(e.requester)
	delete(x.byID, e.id)
	if delete(x.byOwner[owner], e.id); len(x.byOwner[owner]) == 0 {
		delete(x.byOwner, owner)
	}
}

// find returns the caller's execution by handle or, without one, the only open one of that name. Another agent's handle
// and no handle at all look alike.
func (x *executions) find(r interlock.Requester, id, element string) (*execution, *Failure) {
	x.mu.Lock()
	defer x.mu.Unlock()
	own := x.byOwner[ownerOf(r)]
	if id != "" {
		e := own[id]
		if e == nil || element != "" && e.element != element {
			return nil, &Failure{Code: CodeNoResource,
				Message: "Execution '" + short(id) + "' is not known; start one with execute_agent",
				Details: map[string]any{"resource_type": "execution", "resource_id": short(id)}}
		}
		return e, nil
	}
	if element == "" {
		return nil, missing("execution_id", "string", "")
	}
	var open []*execution
	over := false
	for _, e := range own {
		switch {
		case e.element != element:
		case e.ended():
			over = true
		default:
			open = append(open, e)
		}
	}
	switch {
	case len(open) == 1:
		return open[0], nil
	case len(open) > 1:
		return nil, &Failure{Code: CodeMissingParam,
			Message: "Several executions of '" + short(element) + "' run; name one with 'execution_id'",
			Details: map[string]any{"param_name": "execution_id", "expected_type": "string"}}
	case over:
		return nil, &Failure{Code: CodeConflict,
			Message: "The execution of '" + short(element) + "' has ended; start a new one with execute_agent",
			Details: map[string]any{"resource_type": "execution", "element_name": short(element)}}
	default:
		return nil, &Failure{Code: CodeNoResource,
			Message: "No execution of '" + short(element) + "' runs; start one with execute_agent",
			Details: map[string]any{"resource_type": "execution", "element_name": short(element)}}
	}
}

// all returns the executions for which is holds, in the order of their handles.
func (x *executions) all(is func(*execution) bool) []*execution {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []*execution
	for _, e := range x.byID {
		if is(e) {
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}

// drop forgets executions that ended long ago.
func (x *executions) drop(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.byID {
		if e.ended() && now.Sub(e.finished) > x.idle {
			x.forget(e)
		}
	}
}
