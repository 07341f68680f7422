package admission

import (
	"context"

	"interlock"
	"interlock/internal/admission/messages"
	"interlock/internal/auditlog"
	"interlock/internal/contract"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// messageLooks are of messages between agents.
var messageLooks = []look{
	{gates: []string{gate.NameMessage, gate.NameDelivery}, finds: (*pendingDecision).messageFindings,
		writes: (*pendingDecision).writeMessage, late: true},
}

// SendMessage decides whether an agent may send another a message, and puts it down for its receiver with the event that says so. It is
// held against what the sender's type publishes and what the receiver's accepts before anything of it is kept. An error is of a request
// that is none; what is refused is an answer.
func (a *Admission) SendMessage(ctx context.Context, by interlock.Requester, q interlock.MessageRequest) (interlock.MessageAnswer, error) {
	if err := messages.CheckMessage(by, q); err != nil {
		return interlock.MessageAnswer{}, a.RefuseMessage(ctx, by, err)
	}
	m, err := a.Letter(ctx, by, q)
	if err != nil {
		return interlock.MessageAnswer{}, a.RefuseMessage(ctx, by, err)
	}
	p := &messages.MessageCheck{Sends: true, M: m, Before: m.Steps}
	if q.Body != nil {
		var canonical []byte
		if canonical, p.Broken = messages.AsViolation(contract.Read(q.Body)); p.Broken == nil {
			p.M.Content = canonical
		}
	}
	p.M.Bytes, p.M.Digest = len(p.M.Content), auditlog.BlobDigest(p.M.Content)
	by.Run = p.M.Run
	if p.M.Status != "" { // it was sent before
		if p.M.To != q.To || p.M.Type != q.Type || p.M.Digest != p.M.Steps[len(p.M.Steps)-1].Content {
			return interlock.MessageAnswer{}, a.RefuseMessage(ctx, by,
				interlock.Errorf(interlock.CodeConflict, "/key", "names another message already; choose another"))
		}
		p.Before = p.M.Steps[:len(p.M.Steps)-1]
	}
	return a.deliver(ctx, by, p, map[string]any{"to": p.M.To, "type": p.M.Type, "version": p.M.Version, "media": p.M.Media,
		"bytes":  p.M.Bytes,
		"digest": string(p.M.Digest)})
}

// ReceiveMessage decides whether an agent may receive a message that was sent to it, and hands it over with the event that says so.
func (a *Admission) ReceiveMessage(ctx context.Context, by interlock.Requester, id string) (interlock.MessageAnswer, error) {
	m, err := a.MessageTo(ctx, by, id)
	if err != nil {
		return interlock.MessageAnswer{}, a.RefuseMessage(ctx, by, err)
	}
	return a.deliver(ctx, by, &messages.MessageCheck{M: m}, map[string]any{"message": m.ID, "from": m.From, "type": m.Type,
		"version": m.Version,
		"media":   m.Media, "bytes": m.Bytes, "digest": string(m.Digest)})
}

// deliver proposes to send or to receive a message.
func (a *Admission) deliver(ctx context.Context, by interlock.Requester, p *messages.MessageCheck,
	arguments map[string]any) (interlock.MessageAnswer, error) {
	tool := interlock.ToolMessageReceive
	if p.Sends {
		tool = interlock.ToolMessageSend
	}
	text, err := strictjson.Marshal(arguments)
	if err != nil {
		return interlock.MessageAnswer{}, err
	}
	answer := a.propose(ctx, &Case{post: p, Proposal: interlock.Proposal{Requester: by, Door: "messages",
		Action: interlock.Action{Kind: interlock.KindTool, Tool: tool, Arguments: text}}})
	out := interlock.MessageAnswer{Answer: answer, Violation: p.Wrong}
	out.Repeated = out.Repeated || p.Again
	if !answer.Answer.Allowed() || answer.Event == "" {
		return out, nil
	}
	out.Message, out.Violation = &p.M.Message, nil
	if !p.Sends {
		out.Content = p.M.Content
	}
	// it is done: a half-open breaker that let this run may hear so
	return out, a.Probed(ctx, by, answer.Decision, interlock.OutcomeSuccess)
}

// writeMessage adds to a change what a decision means for the message that it is about: the message itself, what is counted of
// the orchestration, and the event that attests how the message is built, or says where it is not as it has to be and whose fault
// that is.
func (w *pendingDecision) writeMessage() error {
	a, p, change, standing, d, now := w.a, w.Case, &w.change, w.standing, w.answer.Decision, w.now
	if p.post == nil {
		return nil
	}
	o := p.post
	if !d.Answer.Allowed() {
		return a.returned(p, change, standing, d)
	}
	if known, there := standing.Message(o.M.ID); o.Sends && there { // the same again
		o.M, o.Again = known, true
		return nil
	}
	record := auditlog.MessageRecord{What: auditlog.MessageReceived}
	if o.Sends {
		record.What = auditlog.MessageSent
		o.Attest()
		o.M.Status, o.M.Sent, o.M.Until = interlock.MessageWaiting, now, now.Add(messages.MessageLives)
		if o.M.Orchestration != "" {
			t, _, fits := standing.Tally(ledger.RunTally(o.M.Orchestration)).Drive(o.M.From, o.M.To)
			if fits {
				t.Seq++
				change.Writes = append(change.Writes, ledger.Rows(t)...)
			}
		}
	} else if o.M.Status != interlock.MessageReceived {
		o.M.Status, o.M.Received = interlock.MessageReceived, now
	}
	record.Message = o.M.Message
	change.Writes = append(change.Writes, ledger.Rows(o.M)...)
	return a.Append(change, interlock.EventMessage, p.Requester, "agent", record)
}

// returned records of a message that was not let through what was wrong with it. At tier 3 the first one in an orchestration ends
// what follows in it: no message passes there any more.
func (a *Admission) returned(p *Case, change *ledger.Change, standing ledger.Standing, d interlock.Decision) error {
	o := p.post
	if o.Sends && o.Taken > o.Most {
		return a.Raise(change, p.Requester, "message-cycle", "agents drive each other in a circle and may take no more turns; "+
			messages.Decides(p.under.Rules.Runs())+" decides")
	}
	if o.Wrong == nil || d.Mode != interlock.Enforcing {
		return nil
	}
	record := auditlog.MessageRecord{What: auditlog.MessageRefused, Message: o.M.Message, Violation: o.Wrong}
	record.Message.Status = ""
	if t := standing.Tally(ledger.RunTally(o.M.Orchestration)); a.Tier() >= 3 && t.Halted == nil {
		t.Seq, t.Halted, record.Halted = t.Seq+1, o.Wrong, true
		change.Writes = append(change.Writes, ledger.Rows(t)...)
		if err := a.Raise(change, p.Requester, "pipeline-halted", "no message passes any more in "+o.M.Orchestration+
			": a step of the agent "+
			o.Wrong.Agent+" is not built as it has to be"); err != nil {
			return err
		}
	}
	return a.Append(change, interlock.EventMessage, p.Requester, "agent", record)
}

func (d *pendingDecision) messageFindings() []interlock.Finding {
	return d.post.Objects(d.a.Messages, d.under, &d.begun, d.now)
}
