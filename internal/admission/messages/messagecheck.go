package messages

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/modality"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
)

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// Objects says what there is against sending or receiving a message. Nothing of it is the agent's to answer: what is built wrong
// is denied, and what nobody could look into, or comes of an agent that was isolated, waits for a person.
func (p *MessageCheck) Objects(a *Messages, f *core.ActiveRules, standing *ledger.Standing, now time.Time) []interlock.Finding {
	if p == nil {
		return nil
	}
	p.Wrong, p.Taken, p.Most = nil, 0, f.Rules.Runs().Turns
	if p.Sends {
		p.M.Steps, p.M.Unread = nil, ""
	}
	t := standing.Tally(ledger.RunTally(p.M.Orchestration))
	if t.Halted != nil {
		return p.finding("halted", interlock.Deny, fmt.Sprintf(
			"no message passes any more in this orchestration: step %d, of the agent %.80s, violated its %s at %q", t.Halted.Step,
			t.Halted.Agent, t.Halted.Side, t.Halted.At), "end the run that began it all, and register it again once that is mended")
	}
	if p.Sends {
		return p.sending(a, f, standing, t, now)
	}
	return p.receiving(f, standing, now)
}

// finding is one objection: of the gate whose denials count towards a breaker, where what its sender puts out is wrong.
func (p *MessageCheck) finding(rule string, verdict interlock.Verdict, reason, suggestion string) []interlock.Finding {
	name := gate.NameDelivery
	if p.Sends && (p.Wrong != nil || rule == "secret") {
		name = gate.NameMessage
	}
	return []interlock.Finding{{Gate: name, Rule: name + "." + rule, Layer: 2, Verdict: verdict, Reason: reason, Suggestion: suggestion}}
}

// violation is the objection to something that is not built as it has to be.
func (p *MessageCheck) violation(v *interlock.Violation) []interlock.Finding {
	v.Agent, v.Step = p.M.From, p.step()
	p.Wrong = v
	at := v.At
	if at == "" {
		at = "/"
	}
	return p.finding(v.Side, interlock.Deny, fmt.Sprintf("%.120s %s (%s of the message %.64s, step %d of the agent %.80s)", at, v.Why, v.Keyword,
		p.M.Type, v.Step, v.Agent), "")
}

// step is the place of a message in its pipeline.
func (p *MessageCheck) step() int {
	if !p.Sends {
		return p.M.Steps[len(p.M.Steps)-1].Step
	}
	last := 0
	for _, s := range p.Before {
		last = max(last, s.Step)
	}
	return last + 1
}

// sending looks at a message that is to be sent.
func (p *MessageCheck) sending(a *Messages, f *core.ActiveRules, standing *ledger.Standing, t ledger.RunCountBody,
	now time.Time) []interlock.Finding {
	from, to := typeOfAgent(f, p.M.From, standing), typeOfAgent(f, p.M.To, standing)
	if p.Broken != nil {
		broken := *p.Broken
		broken.Side = sideSchema
		return p.violation(&broken)
	}
	own := interlock.StepAttestation{Step: p.step(), Agent: p.M.From, Message: p.M.ID, Type: p.M.Type, Version: p.M.Version,
		Content: p.M.Digest}
	published := from.Publishes(p.M.Type, p.M.Version, p.M.Media)
	switch {
	case published == nil && (f.Rules.Maso().Tier >= 2 || len(from.Output) > 0):
		return p.violation(&interlock.Violation{Side: sideSchema, Keyword: "publishes",
			Why: fmt.Sprintf("is nothing that the type %s publishes in this version as %.80s", p.M.FromType, p.M.Media)})
	case published != nil:
		if s := published.Contract(); s != nil {
			own.Schema, own.Valid = s.Digest(), true
			if _, wrong := AsViolation(s.Check(p.M.Content)); wrong != nil {
				wrong.Side = sideSchema
				return p.violation(wrong)
			}
		}
	}
	if wrong := p.accepted(f, to); wrong != nil {
		return p.violation(wrong)
	}
	seen := modality.Look(p.M.Media, p.M.Content)
	if seen.Rule != "" {
		return p.violation(&interlock.Violation{Side: sideContract, At: seen.At, Keyword: seen.Rule, Why: seen.Why})
	}
	if a.Secretive([]byte(textOf(&p.M))) {
		return p.finding("secret", interlock.Deny, "it holds a secret, and secrets are not sent to agents", "send a reference to it instead")
	}
	_, turns, fits := t.Drive(p.M.From, p.M.To)
	_, again := standing.Message(p.M.ID) // one that is sent again takes no turn
	if p.Taken = turns; !again && (turns > p.Most || !fits) {
		return p.finding("cycle", interlock.Deny,
			fmt.Sprintf("these agents have driven each other round for %d turns, and it ends here; %s decides (runs.turns)",
				p.Most, Decides(f.Rules.Runs())), "")
	}
	p.M.Steps, p.M.Unread = append(slices.Clone(p.Before), own), seen.Unread
	return nil
}

// The sides of a violation.
const (
	sideSchema   = "schema"
	sideContract = "contract"
)

// accepted holds a message against what its receiver's type accepts.
func (p *MessageCheck) accepted(f *core.ActiveRules, to *ruleset.Type) *interlock.Violation {
	a := to.Accepts(p.M.Type, p.M.Version, p.M.FromType, p.M.Media)
	if a == nil {
		if f.Rules.Maso().Tier < 2 && len(to.Input) == 0 {
			return nil
		}
		return &interlock.Violation{Side: sideContract, Keyword: "accepts",
			Why: fmt.Sprintf("is nothing that the receiver accepts of the type %.64s in this version as %.80s", p.M.FromType, p.M.Media)}
	}
	if len(p.M.Content) > a.Most() {
		return &interlock.Violation{Side: sideContract, Keyword: "bytes",
			Why: fmt.Sprintf("has %d bytes, and the receiver accepts %d", len(p.M.Content), a.Most())}
	}
	s := a.Contract()
	if s == nil {
		return nil
	}
	_, wrong := AsViolation(s.Check(p.M.Content))
	if wrong != nil {
		wrong.Side = sideContract
	}
	return wrong
}

// receiving looks at a message that is to be received: against the contract as it is now, and at what its own checks could not say.
func (p *MessageCheck) receiving(f *core.ActiveRules, standing *ledger.Standing, now time.Time) []interlock.Finding {
	if stands, there := standing.Message(p.M.ID); there {
		p.M = stands
	} else {
		return p.finding("gone", interlock.Deny, "it waits for nobody any more", "")
	}
	to := typeOfAgent(f, p.M.To, standing)
	if wrong := p.accepted(f, to); wrong != nil {
		return p.violation(wrong)
	}
	if seen := modality.Look(p.M.Media, p.M.Content); seen.Rule != "" {
		return p.violation(&interlock.Violation{Side: sideContract, At: seen.At, Keyword: seen.Rule, Why: seen.Why})
	}
	if p.M.Status == interlock.MessageReceived { // its receiver has it
		return nil
	}
	return p.waits(to, standing, now)
}

// waits says why a message waits for a person.
func (p *MessageCheck) waits(to *ruleset.Type, standing *ledger.Standing, now time.Time) (found []interlock.Finding) {
	if why, over := quarantined(standing, p.M.From, p.M.Sent, now); why != "" {
		verdict := interlock.Ask
		if over {
			verdict = interlock.Deny
		}
		found = append(found, p.finding("quarantined", verdict, "it is quarantined: "+why, "")...)
	}
	accepted := to.Accepts(p.M.Type, p.M.Version, p.M.FromType, p.M.Media)
	if p.M.Unread != "" && (accepted == nil || !accepted.Unread) {
		found = append(found, p.finding("unread", interlock.Ask, "nobody could look into "+p.M.Unread+", so that a person has to",
			"")...)
	}
	if modality.Textual(p.M.Media) && modality.Orders(textOf(&p.M)) {
		found = append(found, p.finding("orders", interlock.Ask, "a text in it gives orders to whoever reads it", "")...)
	}
	return found
}

// quarantined says why what an agent has sent by a time is in quarantine: it is isolated or stopped by a hold of its own, or has been since,
// or is revoked. over says that nobody lets it through, because the agent is in contingency or emergency.
func quarantined(standing *ledger.Standing, agent string, sent, now time.Time) (why string, over bool) {
	for _, h := range standing.Holds() {
		name := ledger.HoldName(ledger.HoldAgent, agent)
		if h.Name() != name && (h.Scope != ledger.HoldBreaker || h.Key != name || h.Breaker == nil || h.Breaker.State != phase.Open) {
			continue
		}
		if at := h.AsOf(now); at.Phase.Compare(phase.Alternate) > 0 {
			return "its sender is in phase " + at.Phase.Title(), true
		}
		why = "its sender is isolated (" + h.State() + ")"
	}
	if why != "" {
		return why, false
	}
	if r := standing.Agents[agent].Revoked; !r.IsZero() && !now.Before(r) {
		return "its sender is revoked", false
	}
	b, _ := standing.Others[ledger.Breaker][ledger.HoldName(ledger.HoldAgent, agent)].(ledger.BreakerBody)
	if !b.Isolated.IsZero() && !sent.After(b.Isolated) {
		return "its sender was isolated after it had sent this", false
	}
	return "", false
}

// QuarantinedAt is the latest time since which a yes to receiving a message counts: a person who gave one before did not know
// that its sender would be isolated.
func (p *MessageCheck) QuarantinedAt(standing *ledger.Standing) time.Time {
	if p == nil || p.Sends {
		return time.Time{}
	}
	b, _ := standing.Others[ledger.Breaker][ledger.HoldName(ledger.HoldAgent, p.M.From)].(ledger.BreakerBody)
	return b.Isolated
}

func typeOfAgent(f *core.ActiveRules, agent string, standing *ledger.Standing) *ruleset.Type {
	return f.Rules.TypeOf(core.AgentOf(interlock.Requester{Agent: agent}, *standing))
}

// Decides names who decides where agents may take no more turns.
func Decides(bounds ruleset.RunRules) string {
	if bounds.Resolver != "" {
		return bounds.Resolver
	}
	return "a human"
}
