package governance

import (
	"context"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/classify"
	"interlock/internal/ledger"
	"interlock/internal/memory"
	"interlock/internal/personal"
	"interlock/internal/phase"
)

// overAgent names what may keep an agent from its memory, and what of it is answered: who it is, a block, phases and breakers over it,
// a stop of everything, and the sources that are held.
func (a *Governance) overAgent(ctx context.Context, by interlock.Requester) ([]ledger.Ref, error) {
	known, err := a.Known(ctx, core.Key(ledger.Agent, by.Agent))
	if err != nil {
		return nil, err
	}
	refs := []ledger.Ref{core.KillRef(), core.Key(ledger.Agent, by.Agent), core.Under(ledger.Challenge, ledger.Of(by.Agent)),
		core.Under(ledger.Hold, ledger.OverAll), core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, by.Agent)),
		core.Under(ledger.Hold, ledger.MemoryHolds)}
	if by.Run != "" {
		refs = append(refs, core.Under(ledger.Hold, ledger.Over(ledger.HoldRun, by.Run)))
	}
	if kind := known.Agents[by.Agent].Type; kind != "" {
		refs = append(refs, core.Under(ledger.Hold, ledger.Over(ledger.HoldType, kind)))
	}
	return refs, nil
}

// barred says why an agent may not use its memory now; empty: it may. An agent that may read only, because it or what it is part of is
// contained, has nothing kept; and nobody else's word makes good what a quarantined source says.
func (a *Governance) barred(standing *ledger.Standing, by interlock.Requester, writes bool) string {
	now := a.Config.Now()
	if err := core.InOffice(by, *standing, now); err != nil {
		return core.Reason(err)
	}
	if h, stopped := a.Containment.KilledIn(standing, now); stopped && h.Step(now) != ledger.KillNone {
		return "everything is stopped; an admin lets things go on with: interlock kill release"
	}
	if block, blocked := core.Blocked(*standing, by); blocked {
		return "this agent is blocked until a human says otherwise (challenge " + block.ID + ")"
	}
	for _, h := range core.HoldsOver(*standing, by, now) {
		contained := h.Breaker != nil || h.Backup == nil && h.Phase.Compare(phase.Primary) > 0
		if h.Name() == ledger.IntakeName || writes && contained || h.Phase == phase.Emergency {
			return "this agent is held: " + h.State()
		}
	}
	if writes && slices.ContainsFunc(standing.Cuts(), func(c memory.Cut) bool {
		return c.Before.IsZero() && c.Source == memory.FromAgent(by.Agent)
	}) {
		return "what this agent has kept is quarantined; an admin releases it with: interlock memory release"
	}
	return ""
}

// weigh holds a fact against the classifier before it is kept (MACE 4): what gives orders to its reader, asks for harm or is a
// credential is not kept, personal data only with its subject's consent, and with the council's approval where it is of the high tier.
// What is of the low tier is taken out. It changes the value to what may be kept, or returns why nothing is.
func (a *Governance) weigh(ctx context.Context, k *keeping) (*memory.Reply, error) {
	terms := a.Config.Memory
	lead := strings.NewReplacer("/", " ", "_", " ").Replace(k.put.Key) + "\n" // what a key says tells what a number is
	text := lead + k.put.Value
	found := classify.Text(terms.Kept, text)
	agreed := false
	if terms.Consented != nil && k.put.Subject != "" {
		var err error
		if agreed, err = terms.Consented(ctx, k.put.Subject, k.by.Run); err != nil {
			return nil, err
		}
	}
	s := messages.Screening{Requester: k.by, Where: "memory", Durable: true, Text: text, Classification: string(found.Classification),
		Rule: found.Rule, Ruleset: found.Ruleset, Found: found.Found}
	outcome, value, at := memory.OK, "", len(lead)
	for _, span := range found.Spans {
		if span.Verdict() == classify.Pass {
			continue
		}
		s.Kinds = append(s.Kinds, span.Kind)
		high := span.Tier == string(personal.High)
		switch {
		case span.Tier == "":
			outcome = memory.PolicyBlocked
			continue
		case agreed && span.Start >= len(lead) && span.Tier != string(personal.Low) && (!high || k.put.Store == memory.Semantic):
			k.v.Personal = append(k.v.Personal, span.Kind)
			continue
		case span.Start < len(lead) || span.Tier != string(personal.Low):
			if outcome == memory.OK {
				outcome = memory.PrivacyBlocked
			}
		default:
			if span.Start >= at {
				value, at = value+text[at:span.Start]+classify.Redacted, span.End
			}
		}
		s.Personal = append(s.Personal, messages.Personal{Type: span.Kind, Tier: span.Tier, Value: text[span.Start:span.End]})
	}
	if found.Classification.Stricter(classify.Remove) {
		outcome = memory.PolicyBlocked
	}
	k.v.Personal = slices.Compact(slices.Sorted(slices.Values(k.v.Personal)))
	k.v.Value = value + text[at:]
	if outcome == memory.OK && len(s.Personal) == 0 { // nothing was found, or nothing but what somebody agreed to
		return nil, nil
	}
	screened, err := a.Screened(ctx, s)
	if err != nil || outcome == memory.OK {
		return nil, err
	}
	why := found.Reason
	switch {
	case outcome == memory.PrivacyBlocked:
		why = classify.PrivacyMessage
	case found.Classification == classify.Refuse:
		why = found.Message
	}
	return &memory.Reply{Outcome: outcome, Message: why, Event: screened.Event}, nil
}
