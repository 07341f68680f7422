package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"interlock"
	"interlock/internal/rpc"
	"interlock/internal/strictjson"
)

// InlineConfig configures an [Inline]. Only Backend and Server are required.
type InlineConfig struct {
	Backend Backend
	Asker   *Asker                          // holds what a human has to answer; nil: it is refused at once
	Server  string                          // what the server is called in decisions; see [CheckServerName]
	View    func(dir string) interlock.View // what is known of the world; nil: nothing
	Run     string                          // names this process in the record
}

// An Inline decides what clients ask of one MCP server that runs in the same program and carries it out itself. It is the
// gateway's way of deciding without the gateway's way of carrying: nothing is started, renamed or pinned.
type Inline struct {
	config InlineConfig

	mu       sync.Mutex
	attempts int64
	hints    map[string]*interlock.Annotations // of tools, as the server has listed them
	shaped   map[string]bool                   // tools that declare an outputSchema
}

// NewInline returns an Inline, or an error that names the field at fault.
func NewInline(c InlineConfig) (*Inline, error) {
	if c.Backend == nil {
		return nil, errors.New("mcpgateway: InlineConfig.Backend is missing")
	}
	if err := CheckServerName(c.Server); err != nil {
		return nil, err
	}
	if c.View == nil {
		c.View = func(string) interlock.View { return interlock.View{} }
	}
	return &Inline{config: c, hints: map[string]*interlock.Annotations{}, shaped: map[string]bool{}}, nil
}

// A Leave says that a request may be carried out, once, with exactly these params. Ended reports how that ended.
type Leave struct {
	Params json.RawMessage
	Ended  func(status interlock.OutcomeStatus, detail string)
}

// Decide decides one request of a client. q's Method and Client say what was asked and by whom; its Proposal is filled in
// here. Without leave, what is returned beside it is the whole answer. What is not gated, such as listing, has leave as it is.
func (i *Inline) Decide(ctx context.Context, c Caller, q Question, params json.RawMessage) (Leave, *Settled) {
	action, forward, gated, err := i.action(q.Method, params, c.Dir)
	if err != nil {
		return i.unreadable(ctx, c, q, err)
	}
	if !gated {
		return Leave{Params: params, Ended: func(interlock.OutcomeStatus, string) {}}, nil
	}
	view := i.config.View(c.Dir)
	view.Annotations, q.Shaped = i.known(action)
	q.Proposal = interlock.Proposal{Action: action, View: view, Door: door, CanAsk: i.config.Asker != nil,
		Requester: interlock.Requester{Principal: c.Principal, Agent: c.Agent, Run: i.config.Run, Call: i.attempt()}}
	settled := i.settle(ctx, q)
	if !settled.Forward || settled.Answer.Event == "" {
		return Leave{}, &settled
	}
	begun := time.Now()
	return Leave{Params: forward, Ended: func(status interlock.OutcomeStatus, detail string) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		// An outcome that can't be recorded is the store's alert to raise; the call has happened either way.
		_ = i.config.Backend.Report(ctx, q.Proposal.Requester,
			interlock.Outcome{Action: settled.Answer.Action, Event: settled.Answer.Event,
				Status: status, Detail: detail, Duration: time.Since(begun)})
	}}, nil
}

func (i *Inline) settle(ctx context.Context, q Question) Settled {
	if i.config.Asker != nil {
		return i.config.Asker.Decide(ctx, q)
	}
	answer := i.config.Backend.ProposeBy(ctx, q.Way, q.Proposal)
	if answer.Answer.Allowed() {
		return Settled{Forward: true, Answer: answer}
	}
	return (&Asker{}).refuse(q, answer, refused(answer))
}

// unreadable refuses what is no action, and records that.
func (i *Inline) unreadable(ctx context.Context, c Caller, q Question, cause error) (Leave, *Settled) {
	answer := i.config.Backend.Refuse(ctx,
		interlock.Requester{Principal: c.Principal, Agent: c.Agent, Run: i.config.Run}, door, cause)
	return Leave{}, &Settled{Answer: answer, Error: &RPCError{Code: rpc.CodeInvalidParams, Message: "params" + cause.Error()}}
}

func (i *Inline) attempt() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.attempts++
	return fmt.Sprintf("%s-%d", i.config.Run, i.attempts)
}

// Listed takes note of what the server says of its tools, from the result of a tools/list.
func (i *Inline) Listed(tools []json.RawMessage) {
	for _, raw := range tools {
		var tool struct {
			Name string `json:"name"`
		}
		hints, shaped := annotationsOf(raw), declaresOutput(raw)
		if hints == nil && !shaped || strictjson.DecodeLenient(raw, &tool) != nil {
			continue
		}
		name := i.config.Server + "." + tool.Name
		i.mu.Lock()
		if hints != nil && len(i.hints) < maxHints {
			i.hints[name] = hints
		}
		if shaped && len(i.shaped) < maxHints {
			i.shaped[name] = true
		}
		i.mu.Unlock()
	}
}

// maxHints bounds how many tools' hints are kept.
const maxHints = 10_000

func (i *Inline) known(action interlock.Action) (hints *interlock.Annotations, shaped bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.hints[action.Tool], i.shaped[action.Tool]
}

// action is what a request is judged as, and its params as they may be carried out: the judged arguments, and nothing that was
// said to us.
func (i *Inline) action(method string, params json.RawMessage,
	dir string) (action interlock.Action, forward json.RawMessage, gated bool, err error) {
	switch method {
	case "tools/call", "resources/read", "resources/subscribe", "prompts/get", "completion/complete":
	default:
		return action, params, false, nil
	}
	var p struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := strictjson.DecodeLenient(params, &p); err != nil {
		return action, nil, true, err
	}
	if string(p.Arguments) == "null" {
		p.Arguments = nil
	}
	switch method {
	case "tools/call":
		action, err = toolAction(i.config.Server, p.Name, p.Arguments, dir)
		if err == nil {
			forward, err = rewritten(params, action.Arguments)
		}
		return action, forward, true, err
	case "prompts/get":
		action, err = promptAction(i.config.Server, p.Name, p.Arguments, dir)
	case "completion/complete":
		forward, err = rewritten(params, nil)
		if err == nil {
			action, err = completionAction(i.config.Server, forward, dir)
		}
		return action, forward, true, err
	default:
		action, err = resourceAction(i.config.Server, method, p.URI, dir)
	}
	if err == nil {
		forward, err = rewritten(params, nil)
	}
	return action, forward, true, err
}

// rewritten is params with the judged arguments in place of those that came, in canonical form, without a state of ours.
func rewritten(params, arguments json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if err := strictjson.Decode(params, &members); err != nil {
		return nil, err
	}
	if arguments != nil {
		members["arguments"] = arguments
	}
	var state string
	if raw, brought := members["requestState"]; brought && json.Unmarshal(raw, &state) == nil && OwnState(state) {
		delete(members, "requestState")
		delete(members, "inputResponses")
	}
	return strictjson.Marshal(members)
}
