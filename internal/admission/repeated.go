package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// sameCall is how long a second event about an undone call is taken for the same call.
const sameCall = time.Minute

// anywhere is the digest of an action with its directory left out, for an outcome that is reported from another one.
func anywhere(p interlock.Proposal) interlock.Digest {
	if p.Requester.Call == "" {
		return ""
	}
	p.Action.Dir = ""
	digest, err := strictjson.ActionDigest(p.Action)
	if err != nil {
		return "" // unreachable: with its directory it has one
	}
	return digest
}

// repeated finds the answer of a call that was judged a moment ago and is now seen again through another event, or by the
// same id and content. An answer that a human may have changed meanwhile is not repeated.
func (a *Admission) repeated(ctx context.Context, p Case) (interlock.Answer, bool) {
	if p.Requester.Call == "" && p.Event == "" || p.Unseen {
		return interlock.Answer{}, false
	}
	digest, err := strictjson.ActionDigest(p.Action)
	if err != nil {
		return interlock.Answer{}, false
	}
	call, found, err := a.findCall(ctx, p.Requester, digest)
	if err != nil || !found || call.Action != digest || call.Outcome != "" {
		return interlock.Answer{}, false
	}
	now := a.config.Now()
	// The same id asked again gets the same answer, but one yes is one allow: who asks again can't prove that the first never
	// arrived. Only a harness that shows one call to its hooks twice, by two events, hears it twice.
	if spent(call) && (p.Event == "" || len(call.Events) != 1) {
		return interlock.Answer{}, false
	}
	sameID := p.Requester.Call != "" && call.Requester.Call == p.Requester.Call && !spent(call)
	if seen(call.Events, p.Event) && !sameID || now.Sub(call.At) > sameCall || call.Decision.Ruleset != p.under.Rules.Digest() ||
		call.Decision.Mode != a.config.Mode {
		return interlock.Answer{}, false
	}
	if able := p.Sandboxed || p.Handover.Boxes(); call.Decision.Owes(interlock.ObligationSandbox) &&
		able == lackedSandbox(call.Decision) {
		return interlock.Answer{}, false // the answer was to another door, which has one, or has none
	}
	if call.Gateway && p.Handover != interlock.HandoverGateway {
		return interlock.Answer{}, false // a question is left to the gateway only where this event, too, was seen to go there
	}
	ground, err := a.groundOf(ctx, a.config.Store.Load, p.Requester, alsoRead(p)...)
	standing := ground.Standing
	if err != nil {
		return interlock.Answer{}, false
	}
	if _, any := a.killed(&standing, now); any {
		return interlock.Answer{}, false // no permit is given again while everything is stopped
	}
	for _, h := range holdsOver(standing, owned(p.Requester, standing), now) {
		if !h.Since.Before(call.At) {
			return interlock.Answer{}, false // what it was told before was under another phase
		}
	}
	if _, blocked := blockOf(standing, owned(p.Requester, standing)); blocked {
		return interlock.Answer{}, false // whatever it was told before
	}
	if snapshot := (interlock.Snapshot{Upstream: p.Upstream, Pin: pinOf(standing, p.Upstream)}); len(gate.Pin(nil, snapshot,
		p.Action, impact.Analysis{})) > 0 {
		return interlock.Answer{}, false
	}
	if call.Request != "" {
		if standing.Requests[call.Request].Status != interlock.RequestPending {
			return interlock.Answer{}, false
		}
	}
	if spent(call) {
		if err := a.heardAgain(ctx, call.EventID); err != nil {
			return interlock.Answer{}, false
		}
	}
	if !seen(call.Events, p.Event) {
		if err := a.seeCall(ctx, call.EventID, p.Event); err != nil {
			return interlock.Answer{}, false
		}
	}
	answer := interlock.Answer{Decision: call.Decision, Event: call.EventID, Request: call.Request,
		Gateway: call.Gateway, Repeated: true, Always: inAdvance(call.Request, call.Decision, p.Action)}
	if answer.Answer == interlock.Ask && !p.CanAsk && !call.Gateway {
		answer.Answer = interlock.Deny // this event of the call has nobody to ask
	}
	return answer, true
}

// spent reports whether an operator's yes was used up for a call.
func spent(call ledger.CallBody) bool {
	return call.Decision.Approval != "" || call.Decision.Grant != ""
}

func lackedSandbox(d interlock.Decision) bool {
	for _, f := range d.Findings {
		if f.Rule == "sandbox.needed" {
			return true
		}
	}
	return false
}

func seen(events []string, event string) bool {
	for _, e := range events {
		if e == event {
			return true
		}
	}
	return false
}
