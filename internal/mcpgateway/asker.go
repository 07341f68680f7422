package mcpgateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// Approvals is what the gateway needs of admission in order to propose a call and to follow what a human says to it.
type Approvals interface {
	ProposeBy(ctx context.Context, way admission.Way, p interlock.Proposal) interlock.Answer
	// Refuse records that what a client sent was refused before it became an action.
	Refuse(ctx context.Context, r interlock.Requester, door string, cause error) interlock.Answer
	// Ground returns what refs name of what is in force, as it is now.
	Ground(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error)
	// Watch tells that some of what is named may have changed.
	core.Watcher
	// Asked is a request of this requester as it is now, whatever has become of it.
	Asked(ctx context.Context, r interlock.Requester, id string) (interlock.ApprovalRequest, error)
	// Forgo takes a request back for the side that asked, also one that was approved, if the approval was not used yet.
	Forgo(ctx context.Context, r interlock.Requester, id, why string) error
}

// Abilities are what a client has declared for one request, as far as asking its user goes.
type Abilities struct {
	Revision string // of MCP, that the request speaks
	URL      bool   // it opens addresses for its user: elicitation.url
	Tasks    bool   // the extension io.modelcontextprotocol/tasks
	takes    func(method string, params []byte) bool
}

// A Question is one request of a client that has to be decided, with what is needed to wait for a human's answer to it.
type Question struct {
	Proposal  interlock.Proposal
	Way       admission.Way              // how the gateway brings it
	Method    string                     // of the client's request, e.g. "tools/call"
	Client    Abilities                  // of the client, for this request
	Shaped    bool                       // the tool it calls declares an outputSchema, so what is refused is in _meta
	State     string                     // the requestState it brought; see [OwnState]
	Responses map[string]json.RawMessage // the inputResponses it brought

	// Progress tells the client that its request is still held; nil where it gave no progress token.
	Progress func(ctx context.Context, step int, message string)
	// Elicit sends elicitation/create to the client and returns its result; nil where the client can't be asked so.
	Elicit func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)
	// Notify sends a notification to the client; nil where nothing can be sent.
	Notify func(ctx context.Context, method string, params json.RawMessage)
}

// Settled is what becomes of a question: exactly one of Forward, Result and Error is set.
type Settled struct {
	Answer  interlock.Answer // the last that was given; Allow with a durable event if Forward
	Forward bool             // what was proposed may be forwarded, once
	Weighed bool             // nothing is enforced or recorded: Answer names no event
	Result  json.RawMessage  // the result of the client's request
	Error   *RPCError        // its error
}

// AskConfig configures an [Asker]. Only Approvals and Key are required.
type AskConfig struct {
	Approvals Approvals
	Key       []byte        // [KeyBytes] random bytes that outlive the process
	Patience  time.Duration // how long a call is held for a human; 0 means 20 s
	Console   string        // where browsers reach the console, e.g. "https://interlock.example"; empty: no address is named
	Shelf     Shelf         // where calls are kept that wait as tasks; nil: no tasks are made
	Now       func() time.Time
}

const (
	defaultPatience = 20 * time.Second
	// untold is how long a call is held at most whose client can't be told that it is: most give up after a minute.
	untold = 50 * time.Second
	// progressEvery is how often a client that gave a progress token is told that its call is held.
	progressEvery = 5 * time.Second
	// maxRounds is how often a client is told to come back for the same question by a requestState. Clients stop by
	// themselves after about as many.
	maxRounds = 8
)

// An Asker decides what clients ask for and holds what a human has to answer. It decides nothing itself: every call it lets
// through, it lets through on an Allow of [Approvals]. It is safe for concurrent use.
type Asker struct {
	config AskConfig
	sealer *Sealer
	watch  *watch
	tasks  *tasks
}

// NewAsker returns an Asker, or an error that names the missing field.
func NewAsker(c AskConfig) (*Asker, error) {
	if c.Approvals == nil {
		return nil, errors.New("mcpgateway: AskConfig.Approvals is missing")
	}
	if c.Patience <= 0 {
		c.Patience = defaultPatience
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Console = strings.TrimSuffix(c.Console, "/")
	sealer, err := NewSealer(c.Key)
	if err != nil {
		return nil, err
	}
	return &Asker{config: c, sealer: sealer, watch: newWatch(c.Approvals, c.Now), tasks: newTasks()}, nil
}

// Close ends what waits: every held call is answered as if its patience were over.
func (a *Asker) Close() { a.watch.close() }

// Decide proposes what a client asks for and, if a human has to answer, waits for that within the client's patience. If
// nobody has answered by then, what comes back is a handle on the durable request, in the form the client understands best.
func (a *Asker) Decide(ctx context.Context, q Question) Settled {
	round := 0
	if OwnState(q.State) {
		settled, known, done := a.resume(ctx, q)
		if done {
			return settled
		}
		round = known
	}
	answer := a.config.Approvals.ProposeBy(ctx, q.Way, q.Proposal)
	if answer.Answer.Allowed() { // nearly always
		return Settled{Forward: true, Answer: answer}
	}
	return a.settle(ctx, q, answer, round)
}

// settle waits for a human where an answer asks one.
func (a *Asker) settle(ctx context.Context, q Question, answer interlock.Answer, round int) Settled {
	until, shown := time.Now().Add(a.patience(q)), ""
	for {
		switch {
		case answer.Answer.Allowed():
			return Settled{Forward: true, Answer: answer}
		case answer.Answer != interlock.Ask || answer.Request == "":
			return a.refuse(q, answer, refused(answer))
		}
		if !a.hold(ctx, q, answer.Request, until) {
			if shown == answer.Request || !a.canElicit(q) || ctx.Err() != nil {
				return a.unanswered(ctx, q, answer, round)
			}
			shown = answer.Request
			said := a.elicit(ctx, q, answer.Request)
			if said == "decline" {
				return a.decline(ctx, q, answer)
			}
			on := false
			if until, on = a.afterElicit(q, said); !on {
				return a.unanswered(ctx, q, answer, round)
			}
			continue
		}
		if shown == answer.Request {
			elicited(ctx, q, shown)
		}
		next, done := a.answered(ctx, q, answer)
		if done {
			return next
		}
		answer = next.Answer
	}
}

// answered acts on what has become of a request that is no longer pending. If it is not done, the answer is a new one:
// another call has used the approval up, or something else has changed meanwhile.
func (a *Asker) answered(ctx context.Context, q Question, answer interlock.Answer) (settled Settled, done bool) {
	request, err := a.config.Approvals.Asked(ctx, q.Proposal.Requester, answer.Request)
	switch {
	case err != nil:
		return a.refuse(q, answer, unavailable(answer)), true
	case request.Status == interlock.RequestDenied:
		return a.refuse(q, answer, denied(answer, request)), true
	case request.Status == interlock.RequestExpired:
		return a.refuse(q, answer, lapsed(answer)), true
	}
	answer = a.config.Approvals.ProposeBy(ctx, q.Way, q.Proposal)
	if answer.Answer.Allowed() {
		return Settled{Forward: true, Answer: answer}, true
	}
	return Settled{Answer: answer}, false
}

// patience is how long a question may be held.
func (a *Asker) patience(q Question) time.Duration {
	if q.Progress == nil {
		return min(a.config.Patience, untold)
	}
	return a.config.Patience
}

// hold waits until a request is no longer pending; false if it still is when the time or the call is over.
func (a *Asker) hold(ctx context.Context, q Question, request string, until time.Time) bool {
	changed, stop := a.watch.follow(request)
	defer stop()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	var tick <-chan time.Time
	if q.Progress != nil {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		tick = ticker.C
		q.Progress(ctx, 0, "waiting for a human to answer request "+request)
	}
	for step := 1; ; step++ {
		select {
		case <-changed:
			return true
		case <-tick:
			q.Progress(ctx, step, "still waiting for a human to answer request "+request)
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		case <-a.watch.closed:
			return false
		}
	}
}

// resume acts on a requestState of ours and on what the client's user said to the question in it. It is done if there is
// nothing left to decide; otherwise the request is decided like any other, in the round it is in.
func (a *Asker) resume(ctx context.Context, q Question) (settled Settled, round int, done bool) {
	state, err := a.sealer.openState(sealState, q.State, q.Proposal.Requester, a.config.Now())
	if err != nil {
		return a.badState(ctx, q, err), 0, true
	}
	digest, err := strictjson.ActionDigest(q.Proposal.Action)
	if err != nil || digest != state.Action || q.Method != state.Method {
		return Settled{}, 0, false // other arguments are another question
	}
	answer := asking(state)
	request, err := a.config.Approvals.Asked(ctx, q.Proposal.Requester, state.Request)
	if err != nil {
		return a.badState(ctx, q, errForeign), 0, true
	}
	switch request.Status {
	case interlock.RequestDenied:
		return a.refuse(q, answer, denied(answer, request)), 0, true
	case interlock.RequestExpired:
		return a.refuse(q, answer, lapsed(answer)), 0, true
	}
	switch what := said(q.Responses[inputKey(state.Request)]); {
	case what == "decline":
		return a.decline(ctx, q, answer), 0, true
	case what == "cancel" && request.Status == interlock.RequestPending:
		return a.refuse(q, answer, a.pending(request)), 0, true
	}
	return Settled{}, state.Round, false
}

// asking is the answer that a state means: an Ask about this request.
func asking(s requestState) interlock.Answer {
	return interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Ask, Answer: interlock.Ask, Action: s.Action},
		Request: s.Request}
}

// badState refuses a requestState and records that it was brought. The client goes on; only this request is refused.
func (a *Asker) badState(ctx context.Context, q Question, cause error) Settled {
	answer := a.config.Approvals.Refuse(ctx, q.Proposal.Requester, q.Proposal.Door, cause)
	return a.refuse(q, answer, Refused{Status: statusDenied, Code: ReasonState, Reason: cause.Error(), Event: answer.Event})
}

// decline takes a question back that the client's user does not want answered.
func (a *Asker) decline(ctx context.Context, q Question, answer interlock.Answer) Settled {
	refused, err := a.declined(ctx, q.Proposal.Requester, answer.Request)
	if err != nil {
		return a.refuse(q, answer, unavailable(answer))
	}
	return a.refuse(q, answer, refused)
}

// declined takes a request back because the client's user said no, and with it an approval that was given meanwhile: the one who is
// there wants it no more. Where the approval was used already it says that instead.
func (a *Asker) declined(ctx context.Context, r interlock.Requester, id string) (Refused, error) {
	out := Refused{Status: statusDenied, Code: ReasonDeclined, Reason: "the user declined to have this approved", Request: id}
	err := a.config.Approvals.Forgo(ctx, r, id, "the client's user declined")
	if !answeredAlready(err) {
		return out, err
	}
	request, err := a.config.Approvals.Asked(ctx, r, id)
	if err == nil && request.Status == interlock.RequestSpent {
		out.Reason = "the user declined, but too late: an identical call has used the approval, and is not undone by this"
	}
	return out, err
}

// unanswered renders a question that nobody has answered within the client's patience.
func (a *Asker) unanswered(ctx context.Context, q Question, answer interlock.Answer, round int) Settled {
	ctx = context.WithoutCancel(ctx) // a client that has gone away finds the same handle when it comes back
	request, err := a.config.Approvals.Asked(ctx, q.Proposal.Requester, answer.Request)
	if err != nil {
		return a.refuse(q, answer, unavailable(answer))
	}
	if a.takesTask(q) {
		if result, err := a.create(ctx, q, request); err == nil {
			return Settled{Answer: answer, Result: result}
		} // where nothing can be kept the client gets another handle
	}
	pending := a.pending(request)
	stateless := q.Client.Revision >= RevisionStateless
	switch {
	case !stateless || !q.Client.URL || pending.URL == "" || round >= maxRounds || !asksByResult(q.Method):
		return a.refuse(q, answer, pending)
	}
	state, err := a.state(q, answer, request, round+1)
	if err != nil {
		return a.refuse(q, answer, pending)
	}
	return Settled{Answer: answer, Result: inputRequired(pending, state)}
}

// state seals what the client has to bring back.
func (a *Asker) state(q Question, answer interlock.Answer, request interlock.ApprovalRequest, round int) (string, error) {
	return a.sealer.sealState(sealState,
		requestState{Agent: q.Proposal.Requester.Agent, Principal: q.Proposal.Requester.Principal, Method: q.Method,
			Action: answer.Action, Request: request.ID, Expires: request.Expires.Unix(), Nonce: rand.Text(), Round: round})
}

// refuse renders a refusal as the method's clients expect it.
func (a *Asker) refuse(q Question, answer interlock.Answer, r Refused) Settled {
	if q.Method == "tools/call" {
		return Settled{Answer: answer, Result: r.result(q.Client.Revision, q.Shaped)}
	}
	return Settled{Answer: answer, Error: r.failure()}
}

// pending renders a request that waits.
func (a *Asker) pending(r interlock.ApprovalRequest) Refused {
	out := Refused{Status: statusPending, Code: ReasonPending, Reason: r.Reason, Request: r.ID,
		Expires: r.Expires.UTC().Format(time.RFC3339), Retry: retrySame}
	if out.Reason == "" {
		out.Reason = "this needs a human's yes"
	}
	if a.config.Console != "" {
		out.URL = fmt.Sprintf("%s/pending/%s", a.config.Console, r.ID)
	}
	return out
}

func denied(a interlock.Answer, r interlock.ApprovalRequest) Refused {
	out := Refused{Status: statusDenied, Code: ReasonDenied, Reason: "a human was asked and said no",
		Event: a.Event, Request: r.ID}
	if r.Approval != nil && r.Approval.Method == interlock.MethodRequester {
		out.Code, out.Reason = ReasonDeclined, "the question was taken back before a human answered it"
	}
	return out
}

func lapsed(a interlock.Answer) Refused {
	return Refused{Status: statusDenied, Code: ReasonExpired, Reason: "no human has answered in time", Event: a.Event,
		Request: a.Request}
}

func unavailable(a interlock.Answer) Refused {
	return Refused{Status: statusDenied, Code: ReasonUnavailable,
		Reason: "what became of the question can't be read; `interlock doctor` says what is wrong",
		Event:  a.Event, Request: a.Request}
}
