package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"interlock"
	"interlock/internal/rpc"
	"interlock/internal/strictjson"
)

// tasksExtension is the extension by which a client takes a handle instead of a result.
const tasksExtension = "io.modelcontextprotocol/tasks"

// A Shelf keeps sealed calls that wait as tasks. What Put returned nil for survives the loss of the process, and replaces what
// was there as a whole.
type Shelf interface {
	Put(ctx context.Context, id string, sealed []byte) error
	Get(ctx context.Context, id string) (sealed []byte, found bool, err error)
}

// The states of a task. The durable request says whether a waiting one may go on.
const (
	taskWaiting   = "waiting" // for a human
	taskBegun     = "begun"   // forwarded, once
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// The rest of what clients are told of a task's course.
const (
	taskKept     = time.Hour // after its request's time
	taskPoll     = 2 * time.Second
	taskAtOnce   = 500 * time.Millisecond // how long a poll waits for what it has just set off
	taskPrefix   = "interlock-"
	taskIsOwn    = "there is no such task of this agent"
	unknownFault = "the call was begun and nobody knows how it ended; find out what it did before it is tried again"
)

// A task is a call that waits for a human, as the shelf keeps it. It holds everything needed to forward the call once; whether
// that may be done is the request's to say.
type task struct {
	Agent     string    `json:"agent"`
	Principal string    `json:"principal"`
	Params    []byte    `json:"params"` // of the tools/call: the name and the judged arguments
	Request   string    `json:"request"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Expires   time.Time `json:"expires"`
	State     string    `json:"state"`
	Shown     bool      `json:"shown"`            // the client's user has seen the question
	Shaped    bool      `json:"shaped,omitempty"` // as in the Question it came from
	Result    []byte    `json:"result,omitempty"`
	Fault     []byte    `json:"fault,omitempty"`
}

func (t *task) id() string { return taskPrefix + t.Request }

// tasks are the tasks of one process. The lock covers reading a task, changing it and putting it back.
type tasks struct {
	mu      sync.Mutex
	running map[string]*taskRun
}

func newTasks() *tasks { return &tasks{running: map[string]*taskRun{}} }

// takesTask reports whether the client of a question takes a task for an answer.
func (a *Asker) takesTask(q Question) bool {
	return a.config.Shelf != nil && q.Client.Tasks && q.Client.Revision >= RevisionStateless && q.Method == "tools/call" &&
		q.Proposal.Action.Kind == interlock.KindTool
}

// create makes a task of a question that nobody has answered. Of one request there is one task, however often it is asked for.
func (a *Asker) create(ctx context.Context, q Question, request interlock.ApprovalRequest) (json.RawMessage, error) {
	a.tasks.mu.Lock()
	defer a.tasks.mu.Unlock()
	t, err := a.load(ctx, taskPrefix+request.ID, q.Proposal.Requester)
	if err != nil {
		now := a.config.Now().UTC()
		t = &task{Agent: q.Proposal.Requester.Agent, Principal: q.Proposal.Requester.Principal, Request: request.ID,
			State: taskWaiting, Shaped: q.Shaped,
			Created: now, Expires: request.Expires.UTC().Add(taskKept),
			Params: encode(struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			}{q.Proposal.Action.Tool, q.Proposal.Action.Arguments})}
		if err := a.save(ctx, t); err != nil {
			return nil, err
		}
	}
	return a.show(t, "task", nil, "waiting for a human to answer request "+request.ID), nil
}

// load reads a task of a requester. The error is an *interlock.Error that says nothing of others' tasks.
func (a *Asker) load(ctx context.Context, id string, r interlock.Requester) (*task, error) {
	none := interlock.Errorf(interlock.CodeNotFound, "taskId", "%s", taskIsOwn)
	if len(id) > 64 {
		return nil, none
	}
	sealed, found, err := a.config.Shelf.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, none
	}
	text, err := a.sealer.purposes[sealTask].Open(nil, nil, sealed, []byte(sealTask))
	var t task
	if err != nil || strictjson.DecodeTrusted(text, &t) != nil || t.id() != id || t.Agent != r.Agent ||
		t.Principal != r.Principal ||
		!a.config.Now().Before(t.Expires) {
		return nil, none
	}
	return &t, nil
}

func (a *Asker) save(ctx context.Context, t *task) error {
	t.Updated = a.config.Now().UTC()
	sealed, err := a.sealer.seal(sealTask, t)
	if err != nil {
		return err
	}
	return a.config.Shelf.Put(ctx, t.id(), sealed)
}

// A carrier forwards a kept call in the session that asks for it, puts what its server asks to the run, and hands on what came of
// it. It returns false if nothing can be begun any more.
type carrier func(params json.RawMessage, run *taskRun, done func(result, fault json.RawMessage)) (begun bool)

// Task serves one of the methods of the extension for a requester.
func (a *Asker) Task(ctx context.Context, method string, params json.RawMessage, r interlock.Requester, c Abilities,
	carry carrier) Settled {
	if !c.Tasks {
		return Settled{Error: &RPCError{Code: rpc.CodeMissingCapability,
			Message: "these methods need the extension " + tasksExtension,
			Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)}}
	}
	var p struct {
		ID        string                     `json:"taskId"`
		Responses map[string]json.RawMessage `json:"inputResponses"`
	}
	if err := strictjson.DecodeLenient(params, &p); err != nil {
		return Settled{Error: &RPCError{Code: rpc.CodeInvalidParams, Message: "params" + err.Error()}}
	}
	if a == nil || a.config.Shelf == nil {
		return Settled{Error: &RPCError{Code: rpc.CodeInvalidParams, Message: taskIsOwn}}
	}
	result, err := a.serveTask(ctx, method, p.ID, p.Responses, r, c, carry)
	var known *interlock.Error
	switch {
	case errors.As(err, &known) && known.Code == interlock.CodeNotFound:
		return Settled{Error: &RPCError{Code: rpc.CodeInvalidParams, Message: known.Error()}}
	case err != nil:
		return Settled{Error: &RPCError{Code: rpc.CodeInternal, Message: "the task can't be read or kept now"}}
	}
	return Settled{Result: result}
}

func (a *Asker) serveTask(ctx context.Context, method, id string, responses map[string]json.RawMessage, r interlock.Requester,
	c Abilities, carry carrier) (json.RawMessage, error) {
	switch method {
	case "tasks/update":
		return acknowledged, a.updateTask(ctx, id, responses, r)
	case "tasks/cancel":
		return acknowledged, a.cancelTask(ctx, id, r)
	}
	done, err := a.advance(ctx, id, r, carry)
	if err != nil {
		return nil, err
	}
	if done != nil { // begun just now: most calls end soon
		wait, cancel := context.WithTimeout(ctx, taskAtOnce)
		defer cancel()
		select {
		case <-done:
		case <-wait.Done():
		}
	}
	a.tasks.mu.Lock()
	defer a.tasks.mu.Unlock()
	t, err := a.load(ctx, id, r)
	if err != nil {
		return nil, err
	}
	return a.shown(ctx, t, r, c)
}

var acknowledged = json.RawMessage(`{"resultType":"complete"}`)

// advance moves a task on as far as its request allows, and forwards its call if a human has said yes. done is closed when
// what it has begun has ended.
func (a *Asker) advance(ctx context.Context, id string, r interlock.Requester, carry carrier) (done chan struct{}, err error) {
	a.tasks.mu.Lock()
	defer a.tasks.mu.Unlock()
	t, err := a.load(ctx, id, r)
	if err != nil {
		return nil, err
	}
	if t.State == taskBegun && a.tasks.running[id] == nil { // the process that began it is gone
		t.State, t.Fault = taskFailed, encode(&RPCError{Code: rpc.CodeInternal, Message: unknownFault})
		return nil, a.save(ctx, t)
	}
	if t.State != taskWaiting {
		return nil, nil
	}
	request, err := a.config.Approvals.Asked(ctx, r, t.Request)
	if err != nil {
		return nil, err
	}
	answer := interlock.Answer{Request: t.Request}
	switch request.Status {
	case interlock.RequestPending:
		return nil, nil
	case interlock.RequestApproved:
		return a.begin(ctx, t, carry)
	case interlock.RequestDenied:
		return nil, a.finish(ctx, t, denied(answer, request).result(RevisionStateless, t.Shaped), nil)
	case interlock.RequestExpired:
		return nil, a.finish(ctx, t, lapsed(answer).result(RevisionStateless, t.Shaped), nil)
	default:
		used := Refused{Status: statusDenied, Code: ReasonExpired, Reason: "an identical call has used the approval",
			Request: t.Request}
		return nil, a.finish(ctx, t, used.result(RevisionStateless, t.Shaped), nil)
	}
}

// begin forwards a task's call. That it is begun is durable before it is: so a process that is lost meanwhile leaves an
// outcome nobody knows, and never a call that is made twice.
func (a *Asker) begin(ctx context.Context, t *task, carry carrier) (chan struct{}, error) {
	t.State = taskBegun
	if err := a.save(ctx, t); err != nil {
		return nil, err
	}
	id, done, run := t.id(), make(chan struct{}), &taskRun{}
	begun := carry(t.Params, run, func(result, fault json.RawMessage) {
		defer close(done)
		a.tasks.mu.Lock()
		defer a.tasks.mu.Unlock()
		delete(a.tasks.running, id)
		_ = a.finish(context.WithoutCancel(ctx), t, result, fault) // what is not kept is told as unknown, which it is then
	})
	if !begun {
		t.State = taskWaiting
		return nil, a.save(ctx, t)
	}
	a.tasks.running[id] = run
	return done, nil
}

// finish keeps what came of a task.
func (a *Asker) finish(ctx context.Context, t *task, result, fault json.RawMessage) error {
	t.State, t.Result, t.Fault = taskCompleted, result, fault
	if fault != nil || result == nil {
		t.State = taskFailed
		if fault == nil {
			t.Fault = encode(&RPCError{Code: rpc.CodeInternal, Message: unknownFault})
		}
	}
	return a.save(ctx, t)
}

// updateTask takes what the client's user said to our question, or to those of the server. What answers none is ignored.
func (a *Asker) updateTask(ctx context.Context, id string, responses map[string]json.RawMessage, r interlock.Requester) error {
	a.tasks.mu.Lock()
	defer a.tasks.mu.Unlock()
	t, err := a.load(ctx, id, r)
	if err != nil {
		return err
	}
	what := said(responses[inputKey(t.Request)])
	if run := a.tasks.running[id]; run != nil {
		run.tooLate(what == "decline")
		run.deliver(responses)
		return nil
	}
	if what == "" || t.State != taskWaiting || t.Shown && what != "decline" {
		return nil
	}
	t.Shown = true
	if what != "decline" {
		return a.save(ctx, t)
	}
	refused, err := a.declined(ctx, r, t.Request)
	if err != nil {
		return err
	}
	return a.finish(ctx, t, refused.result(RevisionStateless, t.Shaped), nil)
}

// cancelTask gives a task up: one that waits takes its question back, and with it an approval that was given meanwhile and that
// an identical call would have used; one that is under way is cancelled like a request.
func (a *Asker) cancelTask(ctx context.Context, id string, r interlock.Requester) error {
	a.tasks.mu.Lock()
	defer a.tasks.mu.Unlock()
	t, err := a.load(ctx, id, r)
	if err != nil {
		return err
	}
	if run := a.tasks.running[id]; run != nil {
		run.cancel()
	}
	if t.State != taskWaiting {
		return nil
	}
	if err := a.config.Approvals.Forgo(ctx, r, t.Request, "the client cancelled the task"); err != nil &&
		!answeredAlready(err) {
		return err
	}
	t.State = taskCancelled
	return a.save(ctx, t)
}

// answeredAlready reports whether a question could not be taken back because it is none any more.
func answeredAlready(err error) bool {
	var known *interlock.Error
	return errors.As(err, &known) && known.Code == interlock.CodeConflict
}
