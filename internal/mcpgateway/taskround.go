package mcpgateway

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"interlock/internal/rpc"
)

// maxTaskRounds is how often the server of one task may ask for something.
const maxTaskRounds = 32

// A taskRun is a task's call while it is under way in this process, with what its server asks meanwhile. The task is asked and
// answered by tasks/get and tasks/update; to the call it is a client like any other, which comes back with what was answered.
type taskRun struct {
	cancel context.CancelFunc

	mu    sync.Mutex
	round int
	asks  map[string]json.RawMessage // what is not answered, under names that no other round has
	said  []byte                     // the answers, as members, by the names the call knows
	all   chan struct{}              // closed when nothing is left to answer
	late  bool                       // the user said no to a call that was under way already
}

// tooLate notes that the client's user said no after the approval was used, so that the task says what that did: nothing.
func (t *taskRun) tooLate(declined bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.late = t.late || declined
}

// stands says where a call is that was begun.
func (t *taskRun) stands() string {
	const begun = "approved and under way"
	if t == nil {
		return begun
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.late {
		return begun + "; the user declined after the approval was used, which does not take it back; tasks/cancel gives the call up"
	}
	return begun
}

// ask puts what a call asks to the task's client and waits until all of it is answered, or the call is over.
func (t *taskRun) ask(ctx context.Context, requests []byte, over <-chan struct{},
	longest time.Duration) (responses []byte, answered bool) {
	all := make(chan struct{})
	t.mu.Lock()
	t.round++
	t.asks, t.said, t.all = map[string]json.RawMessage{}, nil, all
	rpc.Members(requests, func(name, value []byte) { t.asks[t.named(string(name))] = value })
	nothing, tooMany := len(t.asks) == 0, t.round > maxTaskRounds
	t.mu.Unlock()
	if tooMany {
		return nil, false
	}
	if nothing { // it wants to be asked again, and that is no hurry
		longest = taskPoll
	}
	late := time.NewTimer(longest)
	defer late.Stop()
	select {
	case <-all:
		answered = true
	case <-over:
		answered = true
	case <-late.C:
		answered = nothing
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asks = nil
	return append(append([]byte{'{'}, t.said...), '}'), answered
}

// named is a question's name in the task. Names are not used twice in a task, and a server may.
func (t *taskRun) named(name string) string { return strconv.Itoa(t.round) + ":" + name }

// open is what is asked of the task's client now, as far as it said that it takes it.
func (t *taskRun) open(c Abilities) map[string]json.RawMessage {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	open := map[string]json.RawMessage{}
	for name, request := range t.asks {
		if c.takes != nil && c.takes(rpc.Unquoted(rpc.Member(request, "method")), rpc.Member(request, "params")) {
			open[name] = request
		}
	}
	return open
}

// deliver takes answers of the task's client. What answers nothing that is asked now is ignored.
func (t *taskRun) deliver(responses map[string]json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.asks) == 0 {
		return
	}
	for name := range t.asks {
		response := responses[name]
		if len(response) == 0 || response[0] != '{' {
			continue
		}
		if len(t.said) > 0 {
			t.said = append(t.said, ',')
		}
		t.said = append(append(rpc.AppendString(t.said, name[len(t.named("")):]), ':'), response...)
		delete(t.asks, name)
	}
	if len(t.asks) == 0 {
		close(t.all)
	}
}

// carry carries a task's call out, and comes back to it with what its server asks for.
func (s *Session) carry(ctx context.Context, r *request, run *taskRun) answer {
	call := r.params
	for {
		a := s.dispatch(ctx, r)
		if a.result == nil || rpc.Unquoted(rpc.Member(a.result, "resultType")) != typeInput {
			return a
		}
		var over <-chan struct{}
		if r.held != nil {
			over = r.held.over
		}
		responses, answered := run.ask(ctx, rpc.Member(a.result, "inputRequests"), over, s.gateway.config.Limits.Call)
		next := *r
		next.params = call
		if responses != nil {
			next.params = rpc.Appended(call, `"inputResponses":`+string(responses))
		}
		if state := rpc.Member(a.result, "requestState"); state != nil {
			next.params = rpc.Appended(next.params, `"requestState":`+string(state))
		}
		if r = &next; answered {
			continue
		}
		if ctx.Err() != nil && over != nil {
			return s.dispatch(ctx, r) // which cancels what is held
		}
		return faultOf(rpc.CodeInternal, "what the server asked was not answered in time", nil)
	}
}

// maxTasksHeard is how many tasks one listener is told of.
const maxTasksHeard = 64

// taskNow is the state of a task, as tasks/get tells the client of a request; nil: there is no such task of its agent.
func (s *Session) taskNow(ctx context.Context, r *request, id string) []byte {
	return s.taskAs(ctx, r, "tasks/get", append(rpc.AppendString([]byte(`{"taskId":`), id), '}')).result
}

// tasksOf is which of these tasks there are.
func (s *Session) tasksOf(ctx context.Context, r *request, ids []string) []string {
	var known []string
	for _, id := range ids {
		if len(known) < maxTasksHeard && !slices.Contains(known, id) && s.taskNow(ctx, r, id) != nil {
			known = append(known, id)
		}
	}
	return known
}

// hearTasks tells a listener how its tasks stand, and again whenever that has changed, until they have ended. It looks as a
// client would that polls, and what such a poll sets off it sets off too.
func (s *Session) hearTasks(ctx context.Context, l *listener, ids []string) {
	last := map[string]string{}
	for len(ids) > 0 {
		ids = slices.DeleteFunc(ids, func(id string) bool {
			now := s.taskNow(ctx, l.request, id)
			if ctx.Err() != nil || now == nil { // it can't be read just now, perhaps
				return false
			}
			if string(now) != last[id] {
				last[id] = string(now)
				task := without(now, "resultType")
				s.tell(l.request.reply, "notifications/tasks", l.marked(task[1:len(task)-1]))
			}
			switch rpc.Unquoted(rpc.Member(now, "status")) {
			case taskCompleted, taskFailed, taskCancelled:
				return true
			}
			return false
		})
		select {
		case <-ctx.Done():
			return
		case <-time.After(taskAtOnce):
		}
	}
}
