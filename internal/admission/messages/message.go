package messages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/contract"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// The bounds of messages.
const (
	maxFollows   = 16
	maxSteps     = 64
	maxWaiting   = 1000           // that nobody has acknowledged, of one receiver
	MessageLives = 24 * time.Hour // that nobody has received, or acknowledged
)

// A MessageCheck is a message while it is decided whether it is sent or received.
type MessageCheck struct {
	Sends  bool
	M      ledger.MessageBody          // as it would be sent, or as it stood when its receiver asked for it
	Before []interlock.StepAttestation // of the messages that it is made of
	Broken *interlock.Violation        // it is no JSON that reads in one way only

	Wrong *interlock.Violation // what the decision found, as it was made last
	Taken int                  // turns that agents which drive each other have taken with it
	Most  int
	Again bool // it had been sent already
}

// other is the agent at the message's other end.
func (p *MessageCheck) other() string {
	if p.Sends {
		return p.M.To
	}
	return p.M.From
}

// Refs names what a decision about a message reads besides what every decision of its requester does: the message, the agent at
// its other end and whether that is isolated, and what is counted of the orchestration.
func (p *MessageCheck) Refs() []ledger.Ref {
	if p == nil {
		return nil
	}
	other := p.other()
	return []ledger.Ref{core.Key(ledger.Message, p.M.ID), core.Key(ledger.Agent, other),
		core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, other)),
		core.Key(ledger.Breaker, ledger.HoldName(ledger.HoldAgent, other)),
		core.Key(ledger.RunCount, ledger.RunTally(p.M.Orchestration))}
}

// AcknowledgeMessage ends a message that its receiver has received: its content is kept no longer.
func (a *Messages) AcknowledgeMessage(ctx context.Context, by interlock.Requester, id string) error {
	_, err := a.CommitOn(ctx, false, a.Rows(core.Key(ledger.Message, id), core.Key(ledger.Agent, by.Agent)),
		func(standing ledger.Standing) (ledger.Change, error) {
			m, there := standing.Message(id)
			if !there || m.To != by.Agent {
				return ledger.Change{}, noSuchMessage()
			}
			if m.Status != interlock.MessageReceived {
				return ledger.Change{}, interlock.Errorf(interlock.CodeConflict, "/id", "was not received yet; receive it first")
			}
			m.Status = interlock.MessageAcknowledged
			change := ledger.Change{Version: standing.Version, Writes: []ledger.Row{ledger.Ended(ledger.Message, id)}}
			return change, a.Append(&change, interlock.EventMessage, by, "agent",
				auditlog.MessageRecord{What: auditlog.MessageAcknowledged, Message: m.Message})
		})
	if err != nil {
		return a.RefuseMessage(ctx, by, err)
	}
	return nil
}

func noSuchMessage() error {
	return interlock.Errorf(interlock.CodeNotFound, "/id", "no message of this id waits for this agent")
}

// MessageTo is a message that was sent to an agent.
func (a *Messages) MessageTo(ctx context.Context, by interlock.Requester, id string) (m ledger.MessageBody, err error) {
	if !ledger.MessageID(id) {
		return m, noSuchMessage()
	}
	g, err := a.Rows(core.Key(ledger.Message, id))(ctx, a.Config.Store.Load)
	if err != nil {
		return m, err
	}
	m, there := g.Message(id)
	if !there || m.To != by.Agent || !a.Config.Now().Before(m.Until) {
		return m, noSuchMessage()
	}
	return m, nil
}

// CheckMessage refuses a request that says too much or too little.
func CheckMessage(by interlock.Requester, q interlock.MessageRequest) error {
	if err := core.CheckAgent(by, "every message has a sender"); err != nil {
		return err
	}
	for _, one := range []struct{ field, text string }{{"/to", q.To}, {"/type", q.Type}, {"/media", q.Media}, {"/key", q.Key}} {
		if err := core.PlainName(one.field, one.text); err != nil {
			return err
		}
	}
	contents := 0
	for _, there := range []bool{len(q.Body) > 0, q.Text != "", len(q.Data) > 0} {
		if there {
			contents++
		}
	}
	switch {
	case q.To == "":
		return interlock.Errorf(interlock.CodeInvalid, "/to", "is missing; name the agent that receives it")
	case q.To == by.Agent:
		return interlock.Errorf(interlock.CodeInvalid, "/to", "is the sender itself")
	case q.Type == "":
		return interlock.Errorf(interlock.CodeInvalid, "/type", "is missing; say what sort of message it is, e.g. invoice")
	case q.Version < 0:
		return interlock.Errorf(interlock.CodeInvalid, "/version", "is a number from 1 up")
	case contents != 1:
		return interlock.Errorf(interlock.CodeInvalid, "/body", "give one of body (JSON), text, and data (base64)")
	case len(q.Body)+len(q.Text)+len(q.Data) > ruleset.MaxMessageBytes:
		return interlock.Errorf(interlock.CodeInvalid, "/body", "is larger than %d bytes", ruleset.MaxMessageBytes)
	case len(q.Body) > 0 && q.Media != "" && q.Media != ruleset.MediaJSON:
		return interlock.Errorf(interlock.CodeInvalid, "/media", "a body is %s; send anything else as text or data", ruleset.MediaJSON)
	case len(q.Body) == 0 && q.Media == ruleset.MediaJSON:
		return interlock.Errorf(interlock.CodeInvalid, "/media", "JSON is sent as body, so that it is read strictly")
	case len(q.Data) > 0 && q.Media == "":
		return interlock.Errorf(interlock.CodeInvalid, "/media", "is missing; say what the data is, e.g. image/png")
	case q.Text != "" && q.Media != "" && !strings.HasPrefix(q.Media, "text/"):
		return interlock.Errorf(interlock.CodeInvalid, "/media", "a text is text/plain, text/markdown or another text")
	case len(q.Follows) > maxFollows:
		return interlock.Errorf(interlock.CodeInvalid, "/follows", "names more than %d messages", maxFollows)
	}
	for n, id := range q.Follows {
		if !ledger.MessageID(id) || slices.Contains(q.Follows[:n], id) {
			return interlock.Errorf(interlock.CodeInvalid, fmt.Sprintf("/follows/%d", n), "is no message, or is named twice")
		}
	}
	return nil
}

// Letter is the message that a request asks to send, as far as it can be said before it is decided: whose it is, in which run,
// and what was attested of what it was made of. One that was sent under the same key has a status.
func (a *Messages) Letter(ctx context.Context, by interlock.Requester, q interlock.MessageRequest) (m ledger.MessageBody,
	err error) {
	id, err := a.messageID(by, q)
	if err != nil {
		return m, err
	}
	refs := []ledger.Ref{core.Key(ledger.RunCount, ledger.AgentTally(by.Agent)), core.Key(ledger.Agent, q.To),
		core.Key(ledger.Agent, by.Agent), core.Key(ledger.Message, id)}
	if ledger.Registered(by.Run) {
		refs = append(refs, core.Key(ledger.Run, ledger.RunKey(by.Agent, by.Run)))
	}
	for _, before := range q.Follows {
		refs = append(refs, core.Key(ledger.Message, before))
	}
	g, err := a.Rows(refs...)(ctx, a.Config.Store.Load)
	if err != nil {
		return m, err
	}
	if known, there := g.Message(id); there {
		known.Content = nil
		content(&known, q)
		return known, nil
	}
	run, err := a.runOfMessage(ctx, by, &g)
	if err != nil {
		return m, err
	}
	to, known := g.Agents[q.To]
	now := a.Config.Now().UTC().Truncate(time.Microsecond)
	if !known || to.Observer || !to.Revoked.IsZero() && !now.Before(to.Revoked) {
		return m, interlock.Errorf(interlock.CodeNotFound, "/to", "no agent of this name receives messages; `interlock agent list` "+
			"says which there are")
	}
	waiting, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Message, ledger.MessagesTo(q.To)), ledger.Every(maxWaiting))
	if err != nil {
		return m, err
	}
	if len(waiting) >= maxWaiting {
		return m, interlock.Errorf(interlock.CodeLimited, "/to", "has %d messages that it has not acknowledged; wait until it has",
			maxWaiting)
	}
	m.Message = interlock.Message{ID: id, From: by.Agent, FromType: ruleset.TypeName(core.AgentOf(by, g.Standing)),
		Principal: core.Owned(by,
			g.Standing).Principal,
		To: q.To, Run: run.ID, Orchestration: run.Orchestration, Type: q.Type, Version: q.Version, Media: strings.ToLower(q.Media),
		Key: q.Key, Sent: now, Until: now.Add(MessageLives)}
	content(&m, q)
	if m.Version == 0 {
		if latest := typeOfAgent(a.Active.Load(), by.Agent, &g.Standing).Publishes(m.Type, 0, m.Media); latest != nil {
			m.Version = latest.Version
		}
	}
	m.Steps, err = follows(by, q.Follows, &g.Standing)
	return m, err
}

// content fills in what is in a message.
func content(m *ledger.MessageBody, q interlock.MessageRequest) {
	switch {
	case len(q.Body) > 0:
		m.Media, m.Content = ruleset.MediaJSON, q.Body
	case q.Text != "":
		m.Content = []byte(q.Text)
		if m.Media == "" {
			m.Media = "text/plain"
		}
	default:
		m.Content = q.Data
	}
}

// runOfMessage is the registered run that a message is sent in. Nothing is sent outside of one: it is what says in which
// orchestration agents drive each other, and on whose behalf.
func (a *Messages) runOfMessage(ctx context.Context, by interlock.Requester, g *core.DecisionRows) (run interlock.Run,
	err error) {
	id := g.RunOf(by)
	if id == "" {
		return run, interlock.Errorf(interlock.CodeInvalid, "/run", "is missing; messages are sent within a registered run "+
			"(POST /v1/runs)")
	}
	run, open := g.Run(by.Agent, id)
	if !open && id != by.Run { // of a session that is bound to it
		of, err := a.Rows(core.Key(ledger.Run, ledger.RunKey(by.Agent, id)))(ctx, a.Config.Store.Load)
		if err != nil {
			return run, err
		}
		run, open = of.Run(by.Agent, id)
	}
	if !open {
		return run, interlock.Errorf(interlock.CodeUnauthorized, "/run", "is no open run of this agent")
	}
	return run, nil
}

// follows are the attestations of the messages that another is made of, each once.
func follows(by interlock.Requester, ids []string, standing *ledger.Standing) (steps []interlock.StepAttestation, err error) {
	for n, id := range ids {
		before, there := standing.Message(id)
		if !there || before.To != by.Agent || before.Status != interlock.MessageReceived {
			return nil, interlock.Errorf(interlock.CodeNotFound, fmt.Sprintf("/follows/%d", n),
				"is no message that this agent has received and not yet acknowledged")
		}
		for _, step := range before.Steps {
			if !slices.ContainsFunc(steps, func(s interlock.StepAttestation) bool { return s.Message == step.Message }) {
				steps = append(steps, step)
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b interlock.StepAttestation) int { return a.Step - b.Step })
	if len(steps) >= maxSteps {
		return nil, interlock.Errorf(interlock.CodeLimited, "/follows", "a pipeline has at most %d steps", maxSteps)
	}
	return steps, nil
}

// messageID makes a message's id: out of the caller's key, so that the same one is the same message, or out of nothing.
func (a *Messages) messageID(by interlock.Requester, q interlock.MessageRequest) (string, error) {
	if q.Key == "" {
		id, err := a.Random(12)
		return "msg_" + id, err
	}
	sum := sha256.Sum256([]byte("interlock/message/v1\x00" + by.Agent + "\x00" + q.Key))
	return "msg_" + hex.EncodeToString(sum[:12]), nil
}

// RefuseMessage records that a request about messages was none.
func (a *Messages) RefuseMessage(ctx context.Context, by interlock.Requester, cause error) error {
	refused := (*interlock.Error)(nil)
	if !errors.As(cause, &refused) || by.Agent == "" {
		return cause
	}
	if _, err := a.Event(ctx, interlock.EventRefusal, by, "agent",
		auditlog.RefusalRecord{Door: "messages", Code: string(refused.Code), Reason: core.Reason(refused)}); err != nil {
		return err
	}
	return cause
}

// AsViolation turns what a contract says into what an answer says.
func AsViolation(canonical []byte, wrong *contract.Violation) ([]byte, *interlock.Violation) {
	if wrong == nil {
		return canonical, nil
	}
	return nil, &interlock.Violation{At: wrong.At, Keyword: wrong.Keyword, Why: wrong.Why}
}

// textOf is what of a message is text that an agent reads: of JSON its strings and names, one after the other.
func textOf(m *ledger.MessageBody) string {
	if m.Media != ruleset.MediaJSON {
		return string(m.Content)
	}
	var value any
	if json.Unmarshal(m.Content, &value) != nil {
		return string(m.Content)
	}
	var out strings.Builder
	said(value, &out)
	return out.String()
}

func said(value any, to *strings.Builder) {
	switch v := value.(type) {
	case string:
		to.WriteString(v)
		to.WriteByte('\n')
	case []any:
		for _, item := range v {
			said(item, to)
		}
	case map[string]any:
		for _, name := range sortedNames(v) {
			to.WriteString(name)
			to.WriteString(": ")
			said(v[name], to)
		}
	}
}

// WaitingMessages lists what was sent to an agent and is not acknowledged, oldest first and without contents. It says which of it
// waits for a person.
func (a *Messages) WaitingMessages(ctx context.Context, by interlock.Requester) ([]interlock.Message, error) {
	if err := core.CheckAgent(by, ""); err != nil {
		return nil, err
	}
	return a.MessagesUnder(ctx, ledger.MessagesTo(by.Agent), maxListed)
}

// maxListed is how many messages a list holds at most.
const maxListed = 100

// MessagesUnder lists messages under one of their marks.
func (a *Messages) MessagesUnder(ctx context.Context, mark string, most int) ([]interlock.Message, error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Message, mark), ledger.Every(most))
	if err != nil {
		return nil, err
	}
	list, now := []interlock.Message{}, a.Config.Now()
	for _, row := range rows {
		m, ok := row.Value.(ledger.MessageBody)
		if !ok || !now.Before(m.Until) {
			continue
		}
		p := &MessageCheck{M: m}
		g, err := a.Rows(append(p.Refs(), core.Key(ledger.Agent, m.To))...)(ctx, a.Config.Store.Recall)
		if err != nil {
			return nil, err
		}
		if m.Status == interlock.MessageWaiting && len(p.waits(typeOfAgent(a.Active.Load(), m.To, &g.Standing), &g.Standing, now)) > 0 {
			m.Status = interlock.MessageQuarantined
		}
		list = append(list, m.Message)
	}
	return list, nil
}

// ExpireMessages ends the messages that nobody has received, or acknowledged, in time.
func (a *Messages) ExpireMessages(ctx context.Context, now time.Time) (recorded int, err error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Message, ledger.MessagesDue),
		ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		m, ok := row.Value.(ledger.MessageBody)
		if !ok {
			continue
		}
		change := ledger.Change{Writes: []ledger.Row{ledger.Ended(ledger.Message, m.ID)}}
		if err := a.Append(&change, interlock.EventMessage, interlock.Requester{Agent: "interlock"}, "system",
			auditlog.MessageRecord{What: auditlog.MessageExpired, Message: m.Message}); err != nil {
			return recorded, err
		}
		if _, err := a.Config.Store.Commit(ctx, change); errors.Is(err, ledger.ErrConflict) {
			continue
		} else if err != nil {
			return recorded, err
		}
		recorded++
	}
	return recorded, nil
}
