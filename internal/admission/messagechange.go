package admission

import (
	"slices"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// posted adds to a change what a decision means for the message that it is about: the message itself, what is counted of the orchestration,
// and the event that attests how the message is built, or says where it is not as it has to be and whose fault that is.
func (a *Admission) posted(p *Case, change *ledger.Change, standing ledger.Standing, d interlock.Decision, now time.Time) error {
	if p.post == nil {
		return nil
	}
	o := p.post
	if !d.Answer.Allowed() {
		return a.returned(p, change, standing, d)
	}
	if known, there := standing.Message(o.m.ID); o.sends && there { // the same again
		o.m, o.again = known, true
		return nil
	}
	record := auditlog.MessageRecord{What: auditlog.MessageReceived}
	if o.sends {
		record.What = auditlog.MessageSent
		o.attest()
		o.m.Status, o.m.Sent, o.m.Until = interlock.MessageWaiting, now, now.Add(messageLives)
		if o.m.Orchestration != "" {
			t, _, fits := standing.Tally(ledger.RunTally(o.m.Orchestration)).Drive(o.m.From, o.m.To)
			if fits {
				t.Seq++
				change.Writes = append(change.Writes, ledger.Rows(t)...)
			}
		}
	} else if o.m.Status != interlock.MessageReceived {
		o.m.Status, o.m.Received = interlock.MessageReceived, now
	}
	record.Message = o.m.Message
	change.Writes = append(change.Writes, ledger.Rows(o.m)...)
	return a.append(change, interlock.EventMessage, p.Requester, "agent", record)
}

// attest has a message carry an attestation of its own, also where nothing is enforced and it was let through in spite of what it is.
func (p *post) attest() {
	if len(p.m.Steps) > 0 {
		return
	}
	p.m.Steps = append(slices.Clone(p.before), interlock.StepAttestation{Step: p.step(), Agent: p.m.From, Message: p.m.ID,
		Type: p.m.Type, Version: p.m.Version,
		Content: p.m.Digest})
}

// returned records of a message that was not let through what was wrong with it. At tier 3 the first one in an orchestration ends what
// follows in it: no message passes there any more.
func (a *Admission) returned(p *Case, change *ledger.Change, standing ledger.Standing, d interlock.Decision) error {
	o := p.post
	if o.sends && o.taken > o.most {
		return a.alarm(change, p.Requester, "message-cycle", "agents drive each other in a circle and may take no more turns; "+
			decides(p.under.Rules.Runs())+" decides")
	}
	if o.wrong == nil || d.Mode != interlock.Enforcing {
		return nil
	}
	record := auditlog.MessageRecord{What: auditlog.MessageRefused, Message: o.m.Message, Violation: o.wrong}
	record.Message.Status = ""
	if t := standing.Tally(ledger.RunTally(o.m.Orchestration)); a.tier() >= 3 && t.Halted == nil {
		t.Seq, t.Halted, record.Halted = t.Seq+1, o.wrong, true
		change.Writes = append(change.Writes, ledger.Rows(t)...)
		if err := a.alarm(change, p.Requester, "pipeline-halted", "no message passes any more in "+o.m.Orchestration+": a step of the agent "+
			o.wrong.Agent+" is not built as it has to be"); err != nil {
			return err
		}
	}
	return a.append(change, interlock.EventMessage, p.Requester, "agent", record)
}
