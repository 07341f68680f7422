package admission

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
	"interlock/internal/auditlog"
	"interlock/internal/contract"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// The bounds of messages.
const (
	maxFollows   = 16
	maxSteps     = 64
	maxWaiting   = 1000           // that nobody has acknowledged, of one receiver
	messageLives = 24 * time.Hour // that nobody has received, or acknowledged
)

// A post is a message while it is decided whether it is sent or received.
type post struct {
	sends  bool
	m      ledger.MessageBody          // as it would be sent, or as it stood when its receiver asked for it
	before []interlock.StepAttestation // of the messages that it is made of
	broken *interlock.Violation        // it is no JSON that reads in one way only

	wrong *interlock.Violation // what the decision found, as it was made last
	taken int                  // turns that agents which drive each other have taken with it
	most  int
	again bool // it had been sent already
}

// other is the agent at the message's other end.
func (p *post) other() string {
	if p.sends {
		return p.m.To
	}
	return p.m.From
}

// refs names what a decision about a message reads besides what every decision of its requester does: the message, the agent at its
// other end and whether that is isolated, and what is counted of the orchestration.
func (p *post) refs() []ledger.Ref {
	if p == nil {
		return nil
	}
	other := p.other()
	return []ledger.Ref{key(ledger.Message, p.m.ID), key(ledger.Agent, other), under(ledger.Hold, ledger.Over(ledger.HoldAgent, other)),
		key(ledger.Breaker, ledger.HoldName(ledger.HoldAgent, other)), key(ledger.RunCount, ledger.RunTally(p.m.Orchestration))}
}

// SendMessage decides whether an agent may send another a message, and puts it down for its receiver with the event that says so. It is
// held against what the sender's type publishes and what the receiver's accepts before anything of it is kept. An error is of a request
// that is none; what is refused is an answer.
func (a *Admission) SendMessage(ctx context.Context, by interlock.Requester, q interlock.MessageRequest) (interlock.MessageAnswer, error) {
	if err := checkMessage(by, q); err != nil {
		return interlock.MessageAnswer{}, a.refuseMessage(ctx, by, err)
	}
	m, err := a.letter(ctx, by, q)
	if err != nil {
		return interlock.MessageAnswer{}, a.refuseMessage(ctx, by, err)
	}
	p := &post{sends: true, m: m, before: m.Steps}
	if q.Body != nil {
		var canonical []byte
		if canonical, p.broken = asViolation(contract.Read(q.Body)); p.broken == nil {
			p.m.Content = canonical
		}
	}
	p.m.Bytes, p.m.Digest = len(p.m.Content), auditlog.BlobDigest(p.m.Content)
	by.Run = p.m.Run
	if p.m.Status != "" { // it was sent before
		if p.m.To != q.To || p.m.Type != q.Type || p.m.Digest != p.m.Steps[len(p.m.Steps)-1].Content {
			return interlock.MessageAnswer{}, a.refuseMessage(ctx, by,
				interlock.Errorf(interlock.CodeConflict, "/key", "names another message already; choose another"))
		}
		p.before = p.m.Steps[:len(p.m.Steps)-1]
	}
	return a.deliver(ctx, by, p, map[string]any{"to": p.m.To, "type": p.m.Type, "version": p.m.Version, "media": p.m.Media, "bytes": p.m.Bytes,
		"digest": string(p.m.Digest)})
}

// ReceiveMessage decides whether an agent may receive a message that was sent to it, and hands it over with the event that says so.
func (a *Admission) ReceiveMessage(ctx context.Context, by interlock.Requester, id string) (interlock.MessageAnswer, error) {
	m, err := a.messageTo(ctx, by, id)
	if err != nil {
		return interlock.MessageAnswer{}, a.refuseMessage(ctx, by, err)
	}
	return a.deliver(ctx, by, &post{m: m}, map[string]any{"message": m.ID, "from": m.From, "type": m.Type, "version": m.Version,
		"media": m.Media, "bytes": m.Bytes, "digest": string(m.Digest)})
}

// deliver proposes to send or to receive a message.
func (a *Admission) deliver(ctx context.Context, by interlock.Requester, p *post, arguments map[string]any) (interlock.MessageAnswer, error) {
	tool := interlock.ToolMessageReceive
	if p.sends {
		tool = interlock.ToolMessageSend
	}
	text, err := strictjson.Marshal(arguments)
	if err != nil {
		return interlock.MessageAnswer{}, err
	}
	answer := a.propose(ctx, Case{post: p, Proposal: interlock.Proposal{Requester: by, Door: "messages",
		Action: interlock.Action{Kind: interlock.KindTool, Tool: tool, Arguments: text}}})
	out := interlock.MessageAnswer{Answer: answer, Violation: p.wrong}
	out.Repeated = out.Repeated || p.again
	if !answer.Answer.Allowed() || answer.Event == "" {
		return out, nil
	}
	out.Message, out.Violation = &p.m.Message, nil
	if !p.sends {
		out.Content = p.m.Content
	}
	// it is done: a half-open breaker that let this run may hear so
	return out, a.probed(ctx, by, answer.Decision, interlock.OutcomeSuccess)
}

// AcknowledgeMessage ends a message that its receiver has received: its content is kept no longer.
func (a *Admission) AcknowledgeMessage(ctx context.Context, by interlock.Requester, id string) error {
	_, err := a.commitOn(ctx, false, a.rows(key(ledger.Message, id), key(ledger.Agent, by.Agent)),
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
			return change, a.append(&change, interlock.EventMessage, by, "agent",
				auditlog.MessageRecord{What: auditlog.MessageAcknowledged, Message: m.Message})
		})
	if err != nil {
		return a.refuseMessage(ctx, by, err)
	}
	return nil
}

func noSuchMessage() error {
	return interlock.Errorf(interlock.CodeNotFound, "/id", "no message of this id waits for this agent")
}

// messageTo is a message that was sent to an agent.
func (a *Admission) messageTo(ctx context.Context, by interlock.Requester, id string) (m ledger.MessageBody, err error) {
	if !ledger.MessageID(id) {
		return m, noSuchMessage()
	}
	g, err := a.rows(key(ledger.Message, id))(ctx, a.config.Store.Load)
	if err != nil {
		return m, err
	}
	m, there := g.Message(id)
	if !there || m.To != by.Agent || !a.config.Now().Before(m.Until) {
		return m, noSuchMessage()
	}
	return m, nil
}

// checkMessage refuses a request that says too much or too little.
func checkMessage(by interlock.Requester, q interlock.MessageRequest) error {
	if err := checkAgent(by, "every message has a sender"); err != nil {
		return err
	}
	for _, one := range []struct{ field, text string }{{"/to", q.To}, {"/type", q.Type}, {"/media", q.Media}, {"/key", q.Key}} {
		if err := plainName(one.field, one.text); err != nil {
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

// letter is the message that a request asks to send, as far as it can be said before it is decided: whose it is, in which run, and what
// was attested of what it was made of. One that was sent under the same key has a status.
func (a *Admission) letter(ctx context.Context, by interlock.Requester, q interlock.MessageRequest) (m ledger.MessageBody, err error) {
	id, err := a.messageID(by, q)
	if err != nil {
		return m, err
	}
	refs := []ledger.Ref{key(ledger.RunCount, ledger.AgentTally(by.Agent)), key(ledger.Agent, q.To), key(ledger.Agent, by.Agent),
		key(ledger.Message, id)}
	if ledger.Registered(by.Run) {
		refs = append(refs, key(ledger.Run, ledger.RunKey(by.Agent, by.Run)))
	}
	for _, before := range q.Follows {
		refs = append(refs, key(ledger.Message, before))
	}
	g, err := a.rows(refs...)(ctx, a.config.Store.Load)
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
	now := a.config.Now().UTC().Truncate(time.Microsecond)
	if !known || to.Observer || !to.Revoked.IsZero() && !now.Before(to.Revoked) {
		return m, interlock.Errorf(interlock.CodeNotFound, "/to", "no agent of this name receives messages; `interlock agent list` says which there are")
	}
	waiting, _, err := a.config.Store.Scan(ctx, under(ledger.Message, ledger.MessagesTo(q.To)), ledger.Every(maxWaiting))
	if err != nil {
		return m, err
	}
	if len(waiting) >= maxWaiting {
		return m, interlock.Errorf(interlock.CodeLimited, "/to", "has %d messages that it has not acknowledged; wait until it has", maxWaiting)
	}
	m.Message = interlock.Message{ID: id, From: by.Agent, FromType: ruleset.TypeName(agentOf(by, g.Standing)), Principal: owned(by,
		g.Standing).Principal,
		To: q.To, Run: run.ID, Orchestration: run.Orchestration, Type: q.Type, Version: q.Version, Media: strings.ToLower(q.Media), Key: q.Key,
		Sent: now, Until: now.Add(messageLives)}
	content(&m, q)
	if m.Version == 0 {
		if latest := a.force.Load().typeOf(by.Agent, &g.Standing).Publishes(m.Type, 0, m.Media); latest != nil {
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

// runOfMessage is the registered run that a message is sent in. Nothing is sent outside of one: it is what says in which orchestration
// agents drive each other, and on whose behalf.
func (a *Admission) runOfMessage(ctx context.Context, by interlock.Requester, g *ground) (run interlock.Run, err error) {
	id := g.RunOf(by)
	if id == "" {
		return run, interlock.Errorf(interlock.CodeInvalid, "/run", "is missing; messages are sent within a registered run (POST /v1/runs)")
	}
	run, open := g.Run(by.Agent, id)
	if !open && id != by.Run { // of a session that is bound to it
		of, err := a.rows(key(ledger.Run, ledger.RunKey(by.Agent, id)))(ctx, a.config.Store.Load)
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
func (a *Admission) messageID(by interlock.Requester, q interlock.MessageRequest) (string, error) {
	if q.Key == "" {
		id, err := a.random(12)
		return "msg_" + id, err
	}
	sum := sha256.Sum256([]byte("interlock/message/v1\x00" + by.Agent + "\x00" + q.Key))
	return "msg_" + hex.EncodeToString(sum[:12]), nil
}

// refuseMessage records that a request about messages was none.
func (a *Admission) refuseMessage(ctx context.Context, by interlock.Requester, cause error) error {
	refused := (*interlock.Error)(nil)
	if !errors.As(cause, &refused) || by.Agent == "" {
		return cause
	}
	if _, err := a.event(ctx, interlock.EventRefusal, by, "agent",
		auditlog.RefusalRecord{Door: "messages", Code: string(refused.Code), Reason: reason(refused)}); err != nil {
		return err
	}
	return cause
}

// asViolation turns what a contract says into what an answer says.
func asViolation(canonical []byte, wrong *contract.Violation) ([]byte, *interlock.Violation) {
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

// WaitingMessages lists what was sent to an agent and is not acknowledged, oldest first and without contents. It says which of it waits for
// a person.
func (a *Admission) WaitingMessages(ctx context.Context, by interlock.Requester) ([]interlock.Message, error) {
	if err := checkAgent(by, ""); err != nil {
		return nil, err
	}
	return a.MessagesUnder(ctx, ledger.MessagesTo(by.Agent), maxListed)
}

// maxListed is how many messages a list holds at most.
const maxListed = 100

// MessagesUnder lists messages under one of their marks.
func (a *Admission) MessagesUnder(ctx context.Context, mark string, most int) ([]interlock.Message, error) {
	rows, _, err := a.config.Store.Scan(ctx, under(ledger.Message, mark), ledger.Every(most))
	if err != nil {
		return nil, err
	}
	list, now := []interlock.Message{}, a.config.Now()
	for _, row := range rows {
		m, ok := row.Value.(ledger.MessageBody)
		if !ok || !now.Before(m.Until) {
			continue
		}
		p := &post{m: m}
		g, err := a.rows(append(p.refs(), key(ledger.Agent, m.To))...)(ctx, a.config.Store.Recall)
		if err != nil {
			return nil, err
		}
		if m.Status == interlock.MessageWaiting && len(p.waits(a.force.Load().typeOf(m.To, &g.Standing), &g.Standing, now)) > 0 {
			m.Status = interlock.MessageQuarantined
		}
		list = append(list, m.Message)
	}
	return list, nil
}

// expireMessages ends the messages that nobody has received, or acknowledged, in time.
func (a *Admission) expireMessages(ctx context.Context, now time.Time) (recorded int, err error) {
	rows, _, err := a.config.Store.Scan(ctx, under(ledger.Message, ledger.MessagesDue), ledger.UpTo(now.UnixNano(), maxAtOnce))
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		m, ok := row.Value.(ledger.MessageBody)
		if !ok {
			continue
		}
		change := ledger.Change{Writes: []ledger.Row{ledger.Ended(ledger.Message, m.ID)}}
		if err := a.append(&change, interlock.EventMessage, interlock.Requester{Agent: "interlock"}, "system",
			auditlog.MessageRecord{What: auditlog.MessageExpired, Message: m.Message}); err != nil {
			return recorded, err
		}
		if _, err := a.config.Store.Commit(ctx, change); errors.Is(err, ledger.ErrConflict) {
			continue
		} else if err != nil {
			return recorded, err
		}
		recorded++
	}
	return recorded, nil
}
