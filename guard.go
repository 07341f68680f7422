package interlock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// An Answer is what comes back for a Proposal: the decision, the proof that it is recorded, and, for an Ask, what a human
// has to answer. An answer whose Decision.Answer is Allow always names a durable event.
type Answer struct {
	Decision
	// the durable event; empty if none could be written, and then the answer is never Allow
	Event      string    `json:"event_id,omitempty"`
	Index      int64     `json:"index,omitempty"`      // its leaf number
	Checkpoint []byte    `json:"checkpoint,omitempty"` // the signed head that covers it
	Request    string    `json:"request,omitempty"`    // id of the approval request that waits for a human
	Challenge  string    `json:"challenge,omitempty"`  // id of the challenge that holds the agent back
	Channels   []string  `json:"channels,omitempty"`   // that took the challenge's code; none: nobody could be told
	Gateway    bool      `json:"gateway,omitempty"`    // the question is left to Interlock's own gateway, to which the call goes
	Decided    time.Time `json:"-"`                    // when
	// nothing was recorded: propose it again, saying whether it goes to that gateway
	Unsure   bool    `json:"unsure,omitempty"`
	Repeated bool    `json:"repeated,omitempty"` // the call had been judged and recorded before; this is that answer again
	Uses     []Taken `json:"-"`                  // what it took from limits, for the one that carries it out
	// how long the one that carries it out may take, where it is a module's; 0: its own bounds hold
	Within time.Duration `json:"-"`
	Always bool          `json:"always,omitempty"` // an operator's standing yes could answer the question from now on: `interlock allow`
	// of an action that is a text: what the classifier says of it, and what of it may go on
	Text *Classified `json:"classified,omitempty"`
}

// Backend decides and records. Package interlock/embedded makes one from a directory. Implementations are safe for
// concurrent use.
type Backend interface {
	// Propose decides and records one action. It has no error: what can't be decided or recorded is a Deny that says why.
	Propose(ctx context.Context, p Proposal) Answer
	// Report records what executing an action did. An outcome nobody decided on is recorded as an alert.
	Report(ctx context.Context, r Requester, o Outcome) error
	// Close ends the backend after what is under way has been answered.
	Close() error
}

// Config configures a [Guard].
type Config struct {
	Backend   Backend   // required
	Requester Requester // who the embedding program's proposals come from, where a proposal names nobody
	View      View      // used for proposals that bring no view of their own
}

// A Guard is Interlock inside another Go program: Propose before acting, act only on [Verdict.Allowed], Report after.
// It is safe for concurrent use.
type Guard struct{ config Config }

// New returns a guard over a backend, or an error that names the missing field.
func New(c Config) (*Guard, error) {
	if c.Backend == nil {
		return nil, errors.New("interlock: Config.Backend is missing; interlock/embedded.Open makes one")
	}
	if c.Requester.Agent == "" {
		return nil, errors.New("interlock: Config.Requester.Agent is missing; name the agent this program acts as")
	}
	return &Guard{config: c}, nil
}

// Propose decides one action. It never panics and never returns Allow without a durable event.
func (g *Guard) Propose(ctx context.Context, p Proposal) (answer Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = Refusal("backend-panic", "the decision could not be completed")
		}
	}()
	if p.Requester.Agent == "" {
		run, call := p.Requester.Run, p.Requester.Call
		p.Requester = g.config.Requester
		if run != "" {
			p.Requester.Run = run
		}
		p.Requester.Call = call
	}
	if p.View.Home == "" && p.View.Workspace == "" {
		p.View = g.config.View
	}
	if p.Door == "" {
		p.Door = "library"
	}
	answer = g.config.Backend.Propose(ctx, p)
	if answer.Answer.Allowed() && answer.Event == "" {
		return Refusal("not-recorded", "the decision was not recorded")
	}
	return answer
}

// Report records what executing a proposed action did.
func (g *Guard) Report(ctx context.Context, r Requester, o Outcome) error {
	if r.Agent == "" {
		run, call := r.Run, r.Call
		r = g.config.Requester
		r.Run, r.Call = run, call
	}
	if err := g.config.Backend.Report(ctx, r, o); err != nil {
		return fmt.Errorf("interlock: reporting an outcome: %w", err)
	}
	return nil
}

// Close closes the backend.
func (g *Guard) Close() error { return g.config.Backend.Close() }

// Refusal is the answer when no decision could be made: a Deny at layer 1 with a stable rule id and a reason an agent may
// read. It names no event.
func Refusal(rule, reason string) Answer {
	return Answer{Decision: Decision{
		Verdict:  Deny,
		Answer:   Deny,
		Findings: []Finding{{Gate: "admission", Rule: "admission." + rule, Layer: 1, Verdict: Deny, Reason: reason}},
	}}
}
