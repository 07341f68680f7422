package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/pinning"
	"interlock/internal/gate"
	"interlock/internal/impact"
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
	call, found, err := a.FindCall(ctx, p.Requester, digest)
	if err != nil || !found || call.Action != digest || call.Outcome != "" {
		return interlock.Answer{}, false
	}
	now := a.Config.Now()
	// The same id asked again gets the same answer, but one yes is one allow: who asks again can't prove that the first never
	// arrived. Only a harness that shows one call to its hooks twice, by two events, hears it twice.
	if core.Spent(call) && (p.Event == "" || len(call.Events) != 1) {
		return interlock.Answer{}, false
	}
	sameID := p.Requester.Call != "" && call.Requester.Call == p.Requester.Call && !core.Spent(call)
	if core.Seen(call.Events, p.Event) && !sameID || now.Sub(call.At) > sameCall || call.Decision.Ruleset != p.under.Rules.Digest() ||
		call.Decision.Mode != a.Config.Mode {
		return interlock.Answer{}, false
	}
	if able := p.Sandboxed || p.Handover.Boxes(); call.Decision.Owes(interlock.ObligationSandbox) &&
		able == lackedSandbox(call.Decision) {
		return interlock.Answer{}, false // the answer was to another door, which has one, or has none
	}
	if call.Gateway && p.Handover != interlock.HandoverGateway {
		return interlock.Answer{}, false // a question is left to the gateway only where this event, too, was seen to go there
	}
	ground, err := a.GroundOf(ctx, a.Config.Store.Load, p.Requester, alsoRead(p)...)
	standing := ground.Standing
	if err != nil {
		return interlock.Answer{}, false
	}
	if _, any := a.KilledIn(&standing, now); any {
		return interlock.Answer{}, false // no permit is given again while everything is stopped
	}
	for _, h := range core.HoldsOver(standing, core.Owned(p.Requester, standing), now) {
		if !h.Since.Before(call.At) {
			return interlock.Answer{}, false // what it was told before was under another phase
		}
	}
	if _, blocked := core.BlockOf(standing, core.Owned(p.Requester, standing)); blocked {
		return interlock.Answer{}, false // whatever it was told before
	}
	if snapshot := (interlock.Snapshot{Upstream: p.Upstream, Pin: pinning.PinOf(standing, p.Upstream)}); len(gate.Pin(nil, snapshot,
		p.Action, impact.Analysis{})) > 0 {
		return interlock.Answer{}, false
	}
	if call.Request != "" {
		if standing.Requests[call.Request].Status != interlock.RequestPending {
			return interlock.Answer{}, false
		}
	}
	if core.Spent(call) {
		if err := a.HeardAgain(ctx, call.EventID); err != nil {
			return interlock.Answer{}, false
		}
	}
	if !core.Seen(call.Events, p.Event) {
		if err := a.SeeCall(ctx, call.EventID, p.Event); err != nil {
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

func lackedSandbox(d interlock.Decision) bool {
	for _, f := range d.Findings {
		if f.Rule == "sandbox.needed" {
			return true
		}
	}
	return false
}
