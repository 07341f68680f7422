package admission

import (
	"interlock"
	"interlock/internal/admission/messages"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// writeMessage adds to a change what a decision means for the message that it is about: the message itself, what is counted of the orchestration,
// and the event that attests how the message is built, or says where it is not as it has to be and whose fault that is.
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

// returned records of a message that was not let through what was wrong with it. At tier 3 the first one in an orchestration ends what
// follows in it: no message passes there any more.
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
		if err := a.Raise(change, p.Requester, "pipeline-halted", "no message passes any more in "+o.M.Orchestration+": a step of the agent "+
			o.Wrong.Agent+" is not built as it has to be"); err != nil {
			return err
		}
	}
	return a.Append(change, interlock.EventMessage, p.Requester, "agent", record)
}

func (d *pendingDecision) messageFindings() []interlock.Finding {
	return d.post.Objects(d.a.Messages, d.under, &d.begun, d.now)
}
