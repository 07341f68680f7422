package admission

import (
	"context"

	"interlock"
	"interlock/internal/admission/messages"
	"interlock/internal/auditlog"
	"interlock/internal/contract"
	"interlock/internal/strictjson"
)

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
	return a.deliver(ctx, by, p, map[string]any{"to": p.M.To, "type": p.M.Type, "version": p.M.Version, "media": p.M.Media, "bytes": p.M.Bytes,
		"digest": string(p.M.Digest)})
}

// ReceiveMessage decides whether an agent may receive a message that was sent to it, and hands it over with the event that says so.
func (a *Admission) ReceiveMessage(ctx context.Context, by interlock.Requester, id string) (interlock.MessageAnswer, error) {
	m, err := a.MessageTo(ctx, by, id)
	if err != nil {
		return interlock.MessageAnswer{}, a.RefuseMessage(ctx, by, err)
	}
	return a.deliver(ctx, by, &messages.MessageCheck{M: m}, map[string]any{"message": m.ID, "from": m.From, "type": m.Type, "version": m.Version,
		"media": m.Media, "bytes": m.Bytes, "digest": string(m.Digest)})
}

// deliver proposes to send or to receive a message.
func (a *Admission) deliver(ctx context.Context, by interlock.Requester, p *messages.MessageCheck, arguments map[string]any) (interlock.MessageAnswer, error) {
	tool := interlock.ToolMessageReceive
	if p.Sends {
		tool = interlock.ToolMessageSend
	}
	text, err := strictjson.Marshal(arguments)
	if err != nil {
		return interlock.MessageAnswer{}, err
	}
	answer := a.propose(ctx, Case{post: p, Proposal: interlock.Proposal{Requester: by, Door: "messages",
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
