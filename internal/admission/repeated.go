package admission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/pinning"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/strictjson"
)

// repeatedLooks are of calls and denials that come again.
var repeatedLooks = []look{
	{after: (*pendingDecision).denialRefs, writes: (*pendingDecision).countDenials, late: true},
	{writes: (*pendingDecision).writeCall},
}

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
func (a *Admission) repeated(ctx context.Context, p *Case) (interlock.Answer, bool) {
	if p.Requester.Call == "" && p.Event == "" || p.Unseen || p.Action.Kind == interlock.KindText { // a text's parts are not kept
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
	if core.Seen(call.Events, p.Event) && !sameID || now.Sub(call.At) > sameCall ||
		call.Decision.Ruleset != p.under.Rules.Digest() ||
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

// writeCall keeps how a call was decided, for when it is seen again.
func (d *pendingDecision) writeCall() error {
	if (d.Requester.Call != "" || d.Event != "") && !d.Unseen {
		d.change.Writes = append(d.change.Writes, ledger.Rows(ledger.CallBody{Requester: d.Requester, Action: d.made.Action,
			Anywhere: anywhere(d.Proposal), Events: events(d.Proposal), Decision: d.record, Request: d.answer.Request,
			Gateway: d.answer.Gateway, At: d.now})...)
	}
	return nil
}

// An agent that is denied the same thing again and again tries other spellings of it, and would do so for ever. After some
// denials in a row the agent is told to tell its user, and the operators are, once (ASA 16.5).

// denialRefs names the row of what an agent wants, where it counts how often that is denied it.
func (d *pendingDecision) denialRefs() []ledger.Ref {
	made := d.made.Decision
	if d.a.Config.TellUserAfter <= 0 || made.Mode != interlock.Enforcing || interlock.Canary(d.Proposal, made) ||
		!containment.RefusedFor(made) && made.Approval == "" && made.Grant == "" {
		return nil
	}
	return []ledger.Ref{core.Key(ledger.Tally, wish(d.Case, made))}
}

// countDenials counts one more denial of what an agent wants, and tells its answer to say so from some number on. What it wants
// is told by what it would do, and not by how it is written. An operator's yes ends the row.
func (d *pendingDecision) countDenials() error {
	a, answer := d.a, &d.answer
	for _, row := range d.denialRefs() {
		refused := containment.RefusedFor(answer.Decision)
		act := ledger.Act{At: d.now, Action: answer.Action, Verdict: answer.Verdict}
		if f := answer.Decisive(); f != nil {
			act.Rule = f.Rule
		}
		if !refused {
			act.Verdict = interlock.Allow
		}
		d.change.Writes = append(d.change.Writes, ledger.Rows(ledger.Counted{Name: row.Key, Refused: refused, Act: act})...)
		n := 1 + inARow(core.Found[ledger.TallyBody](&d.ground, row).Last, d.now)
		if !refused || n < a.Config.TellUserAfter {
			return nil
		}
		answer.Findings = slices.Clone(answer.Findings) // what is recorded is what was decided
		f := &answer.Findings[0]
		if f.Suggestion != "" {
			f.Suggestion += "; "
		}
		f.Suggestion += fmt.Sprintf("this was denied %d times in a row, whatever the spelling: stop trying, and tell the user that it "+
			"can't be achieved within the present safety constraints", n)
		if n > a.Config.TellUserAfter {
			return nil // people were told
		}
		return a.Raise(&d.change, d.Requester, "repeated-denials", fmt.Sprintf("the same was denied %d times in a row, the last "+
			"time by %s: "+"somebody probes, or the rules are too strict for the task", n, act.Rule))
	}
	return nil
}

// inARow is how many of the last actions were denied, back to the last that was not, or to a long time without any.
func inARow(last []ledger.Act, now time.Time) (n int) {
	for i := len(last) - 1; i >= 0 && last[i].Verdict != interlock.Allow && now.Sub(last[i].At) < phase.ShareWindow; i-- {
		n++
	}
	return n
}

// wish names what an agent wants in its run: what the impacts do and to what, as far as something objects to them, and the tool
// or rule where nothing is told by impacts.
func wish(p *Case, d interlock.Decision) string {
	var wants []string
	add := func(i *interlock.Impact) { wants = append(wants, string(i.Kind)+" "+i.Target) }
	for n := range d.Findings {
		if d.Findings[n].Verdict == interlock.Allow {
			continue
		}
		for _, at := range d.Findings[n].Impacts {
			if at >= 0 && at < len(d.Impacts) && d.Impacts[at].Target != "" {
				add(&d.Impacts[at])
			}
		}
	}
	if len(wants) == 0 {
		for n := range d.Impacts {
			if d.Impacts[n].Target != "" {
				add(&d.Impacts[n])
			}
		}
	}
	if f := d.Decisive(); len(wants) == 0 && f != nil {
		wants = append(wants, "rule "+f.Rule+" "+p.Action.Tool)
	}
	slices.Sort(wants)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(wants), "\n")))
	return "wish\x00" + core.RunOf(p.Requester) + "\x00" + hex.EncodeToString(sum[:12])
}
