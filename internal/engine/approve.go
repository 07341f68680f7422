package engine

import (
	"slices"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// approved returns the id of the approval request that answers the Ask with yes. It must be approved and not spent,
// unexpired at now, and bound to this action, this ruleset and this requester. Where several qualify, the one that
// expires first is used, so that none is kept longer than it must.
//
// One operator's signature answers a question and nothing more: what layer 1 asks without wanting an admin, and obligations that want a fresh
// challenge, a delay or several people, are not answered by it, and one that wants a dry run only where it names the one that
// was shown. One that wants an admin is answered by a request that carried it, because package quorum then took the answer from
// nobody else.
func approved(d interlock.Decision, agent interlock.AgentRecord, approvals []interlock.ApprovalRequest,
	now time.Time) (string, bool) {
	if !answerable(d) {
		return "", false
	}
	var chosen *interlock.ApprovalRequest
	for n := range approvals {
		r := &approvals[n]
		if !answers(r, d, agent, now) || !discharges(r, d.Obligations) {
			continue
		}
		if chosen == nil || r.Expires.Before(chosen.Expires) || r.Expires.Equal(chosen.Expires) && r.ID < chosen.ID {
			chosen = r
		}
	}
	if chosen == nil {
		return "", false
	}
	return chosen.ID, true
}

func answers(r *interlock.ApprovalRequest, d interlock.Decision, agent interlock.AgentRecord, now time.Time) bool {
	return r.ID != "" && r.Status == interlock.RequestApproved &&
		r.Approval != nil && r.Approval.Request == r.ID && r.Approval.Verdict == interlock.Allow &&
		d.Action != "" && r.Action == d.Action && r.Ruleset == d.Ruleset &&
		agent.ID != "" && r.Requester.Agent == agent.ID && r.Requester.Principal == agent.Principal &&
		!now.Before(r.Created) && now.Before(r.Expires)
}

// answerable reports whether a human's yes can lower the verdict at all. Of what is at layer 1 only a question that wants an
// admin can be answered: what can't be undone waits for the operator's explicit confirmation (ASA 6.1, A.2). That the obligation
// is in the finding itself matters: one that another rule brought along says nothing of what layer 1 asks.
func answerable(d interlock.Decision) bool {
	for n := range d.Findings {
		f := &d.Findings[n]
		if f.Layer == 1 && !(f.Verdict == interlock.Ask && hasObligation(f.Obligations, interlock.ObligationAdmin)) {
			return false
		}
	}
	return true
}

// inAdvance reports whether a yes that was given before may answer at all: nothing of layer 1, which is confirmed each time.
func inAdvance(d interlock.Decision) bool {
	for n := range d.Findings {
		if d.Findings[n].Layer == 1 {
			return false
		}
	}
	return true
}

// discharges reports whether one answered request discharges everything a decision wants. What says who may answer must
// have stood in the request, because package quorum held the answer to it then.
func discharges(r *interlock.ApprovalRequest, obligations []interlock.Obligation) bool {
	for _, o := range obligations {
		switch o.Type {
		case interlock.ObligationConfirm, interlock.ObligationRedact, interlock.ObligationSandbox, interlock.ObligationWithin:
		case interlock.ObligationVerify:
			if r.Approval.Method != interlock.MethodCode && r.Approval.Method != interlock.MethodPasskey {
				return false // both need a human who is there now
			}
		case interlock.ObligationDryRun:
			if r.Approval.DryRun == "" {
				return false // nobody has seen what it does
			}
		case interlock.ObligationDual:
			if (!r.NeedsTwo() || r.First == nil) && !byCouncil(r) {
				return false
			}
		case interlock.ObligationCouncil:
			if !byCouncil(r) {
				return false
			}
		case interlock.ObligationAdmin, interlock.ObligationApprovers:
			if !slices.Contains(r.Obligations, o) &&
				!(o.Type == interlock.ObligationAdmin && hasObligation(r.Obligations, o.Type)) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// byCouncil reports whether it is the council that said yes; package quorum counts its votes where that is used.
func byCouncil(r *interlock.ApprovalRequest) bool {
	return r.Approval.Method == interlock.MethodCouncil && r.Ballot != nil && hasObligation(r.Obligations, interlock.ObligationCouncil)
}

// granted returns the id of the standing grant that answers the Ask. It must be in force for this agent under this ruleset,
// and cover the kind, the tool or every executed text (of a hint the hint itself as well), the rules that ask and the
// arguments. It answers nothing that wants more than an ordinary yes. Where several qualify, the one that expires
// first is drawn.
func granted(gates gate.Table, d interlock.Decision, snapshot interlock.Snapshot, action interlock.Action, analysis impact.Analysis,
	now time.Time) string {
	if len(snapshot.Grants) == 0 || !inAdvance(d) {
		return ""
	}
	for n := range d.Findings {
		if f := &d.Findings[n]; f.Verdict == interlock.Ask && gates.Of(f.Gate).Each {
			return ""
		}
	}
	for _, o := range d.Obligations {
		if o.Type != interlock.ObligationConfirm && o.Type != interlock.ObligationRedact &&
			o.Type != interlock.ObligationSandbox {
			return ""
		}
	}
	var chosen *interlock.Grant
	for n := range snapshot.Grants {
		g := &snapshot.Grants[n]
		if !grants(gates, g, d, snapshot.Agent, action, analysis, now) {
			continue
		}
		if chosen == nil || sooner(g, chosen) {
			chosen = g
		}
	}
	if chosen == nil {
		return ""
	}
	return chosen.ID
}

func grants(gates gate.Table, g *interlock.Grant, d interlock.Decision, agent interlock.AgentRecord, action interlock.Action,
	analysis impact.Analysis, now time.Time) bool {
	if g.ID == "" || !g.InForce(now) || g.Kind != action.Kind || agent.ID == "" || g.Agent != agent.ID ||
		g.Principal != agent.Principal {
		return false
	}
	if g.Range != nil {
		return false // see inRange
	}
	if g.Scope != nil {
		return always(gates, g, d, action)
	}
	if g.Ruleset != d.Ruleset || !ruleset.Hold(g.Conditions, action.Arguments) {
		return false
	}
	for n := range d.Findings {
		f := &d.Findings[n]
		if f.Verdict == interlock.Ask && gates.Of(f.Gate).Each {
			return false
		}
		if len(g.Rules) == 0 || f.Verdict == interlock.Allow || gates.OfPause(f) { // that it was asked about before is no rule
			continue
		}
		if !slices.Contains(g.Rules, f.Rule) {
			return false
		}
	}
	if g.Tool == "" {
		return len(g.Rules) > 0 // a grant names a tool or the asks it answers
	}
	if action.Kind.TakesObject() {
		return action.Tool != "" && ruleset.Glob(g.Tool, action.Tool)
	}
	if action.Kind == interlock.KindHint && !ruleset.Glob(g.Tool, action.Input) {
		return false // what prose says beside a command would ride along
	}
	for _, t := range analysis.Texts {
		if !ruleset.Glob(g.Tool, t.Value) {
			return false
		}
	}
	return len(analysis.Texts) > 0 || action.Kind == interlock.KindHint
}
