package mcpgateway

import (
	"context"
	"encoding/json"
	"time"

	"interlock"
	"interlock/internal/rpc"
)

// A taskView is a task as the extension's clients see it.
type taskView struct {
	Type    string                     `json:"resultType"`
	ID      string                     `json:"taskId"`
	Status  string                     `json:"status"`
	Message string                     `json:"statusMessage,omitempty"`
	Created string                     `json:"createdAt"`
	Updated string                     `json:"lastUpdatedAt"`
	TTL     int64                      `json:"ttlMs"`
	Poll    int64                      `json:"pollIntervalMs"`
	Inputs  map[string]json.RawMessage `json:"inputRequests,omitempty"`
}

// show renders a task. What it ended with is put in as it came, because nothing may be changed about it.
func (a *Asker) show(t *task, kind string, inputs map[string]json.RawMessage, message string) json.RawMessage {
	view := taskView{Type: kind, ID: t.id(), Status: "working", Message: message,
		Created: t.Created.Format(time.RFC3339), Inputs: inputs,
		Updated: t.Updated.Format(time.RFC3339), TTL: t.Expires.Sub(t.Created).Milliseconds(), Poll: taskPoll.Milliseconds()}
	switch {
	case t.State == taskCompleted, t.State == taskFailed, t.State == taskCancelled:
		view.Status = t.State
	case len(inputs) > 0:
		view.Status = "input_required"
	}
	text := encode(view)
	switch t.State {
	case taskCompleted:
		return rpc.Appended(text, `"result":`+string(t.Result))
	case taskFailed:
		return rpc.Appended(text, `"error":`+string(t.Fault))
	}
	return text
}

// shown renders a task for tasks/get, with the question its client's user may be asked.
func (a *Asker) shown(ctx context.Context, t *task, r interlock.Requester, c Abilities) (json.RawMessage, error) {
	switch t.State {
	case taskWaiting:
	case taskBegun:
		run := a.tasks.running[t.id()]
		return a.show(t, "complete", run.open(c), run.stands()), nil
	default:
		return a.show(t, "complete", nil, ""), nil
	}
	message := "waiting for a human to answer request " + t.Request
	if t.Shown || !c.URL {
		return a.show(t, "complete", nil, message), nil
	}
	request, err := a.config.Approvals.Asked(ctx, r, t.Request)
	if err != nil {
		return nil, err
	}
	pending := a.pending(request)
	if pending.URL == "" {
		return a.show(t, "complete", nil, message), nil
	}
	return a.show(t, "complete", map[string]json.RawMessage{inputKey(t.Request): encode(inputRequest{"elicitation/create",
		elicitationOf(pending)})}, message), nil
}

// task serves a method of the tasks extension.
func (s *Session) task(ctx context.Context, r *request) answer {
	return s.taskAs(ctx, r, r.method, r.params)
}

// taskAs serves such a method for a request. A call that is set off by it belongs to the session, not to the request
// that asked for its state.
func (s *Session) taskAs(ctx context.Context, r *request, method string, params json.RawMessage) answer {
	carry := func(params json.RawMessage, run *taskRun, done func(result, fault json.RawMessage)) (begun bool) {
		s.mu.Lock()
		if s.ctx.Err() != nil {
			s.mu.Unlock()
			return false
		}
		s.working.Add(1)
		s.mu.Unlock()
		var own context.Context
		own, run.cancel = context.WithCancel(s.ctx)
		kept := &request{method: "tools/call", params: params, revision: r.revision, client: r.client, ctx: own,
			cancel: run.cancel, reply: Nowhere{}, begun: s.gateway.config.Now()}
		kept.client.tasks = false // it is one
		go func() {
			defer s.working.Done()
			defer run.cancel()
			a := s.carry(own, kept, run)
			if a.result != nil {
				a.result = kept.typed(a.result)
			}
			done(a.result, a.fault)
		}()
		return true
	}
	return s.gateway.config.Asker.Task(ctx, method, params, s.requester(),
		Abilities{Revision: r.revision, URL: r.client.url, Tasks: r.client.tasks, takes: r.client.take}, carry).answer()
}

// capabilities adds to what a stateless server offers that it makes tasks, where it does.
func (a *Asker) capabilities(offered []byte) []byte {
	if a == nil || a.config.Shelf == nil {
		return offered
	}
	return rpc.Appended(offered, `"extensions":{"`+tasksExtension+`":{}}`)
}
