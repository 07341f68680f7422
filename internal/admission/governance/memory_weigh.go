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
	"interlock/internal/privacy"
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
// credential is not kept, nor under a key or a source that is or does; personal data only with its subject's consent, and with the
// council's approval where it is of the high tier. What is of the low tier is taken out without it. It changes the value to what may be
// kept, or returns why nothing is.
func (a *Governance) weigh(ctx context.Context, k *keeping) (*memory.Reply, error) {
	names := k.v.Source + "\n"
	lead := names + strings.NewReplacer("/", " ", "_", " ").Replace(k.put.Key) + "\n" // what a key says tells what a number is
	text := lead + k.put.Value
	found := classify.Text(a.Config.Memory.Kept, text)
	authority, err := a.Consented(ctx, k.v.Subject, k.by)
	if err != nil {
		return nil, err
	}
	authority = withCouncil(authority, k.put.Store == memory.Semantic)
	s := messages.Screening{Requester: k.by, Where: "memory", Durable: true, Text: text, Classification: string(found.Classification),
		Rule: found.Rule, Ruleset: found.Ruleset, Found: found.Found}
	outcome := memory.OK
	var pieces, permitted []privacy.Piece
	for _, span := range found.Spans {
		p := privacy.Piece{Start: span.Start, End: span.End, Type: span.Kind, Tier: personal.Tier(span.Tier)}
		if span.Verdict() == classify.Pass || span.End <= len(names) && p.Tier == personal.Low { // a source may be an address of a machine
			continue
		}
		s.Kinds = append(s.Kinds, span.Kind)
		switch inside := span.Start >= len(lead); {
		case p.Tier == "":
			outcome = memory.PolicyBlocked
			continue
		case inside && authority.Permits(p.Tier):
			permitted = append(permitted, p)
			continue
		case inside:
			pieces = append(pieces, p)
		case outcome == memory.OK:
			outcome = memory.PrivacyBlocked
		}
		s.Personal = append(s.Personal, messages.Personal{Type: span.Kind, Tier: span.Tier, Value: text[span.Start:span.End]})
	}
	if may, _ := privacy.Gate(pieces, authority, true, true); may == privacy.ConsentRequired && outcome == memory.OK {
		outcome = memory.PrivacyBlocked
	}
	if found.Classification.Stricter(classify.Remove) || found.Found > len(found.Spans) {
		outcome = memory.PolicyBlocked
	}
	k.v.Value = privacy.Kept(text, pieces, authority, classify.Redacted, nil)[len(lead):]
	var tier personal.Tier
	k.v.Personal, tier = typesOf(permitted)
	k.v.Tier = string(tier)
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

// withCouncil is what people have permitted where the council itself votes on the fact: it takes no approval of theirs beside that.
func withCouncil(a privacy.Authority, votes bool) privacy.Authority {
	a.Council = a.Council || votes
	return a
}

// unpermitted says why a fact may not be kept of the people whom it is about, as their consents are in a standing; empty: it may.
func (a *Governance) unpermitted(standing *ledger.Standing, v memory.Version, votes bool) string {
	for _, subject := range v.About {
		if p, known := standing.Person(subject); known && !p.Destroyed.IsZero() {
			return "what was kept of a person whom it is about was deleted, and nothing is kept of them again"
		}
	}
	by := interlock.Requester{Agent: v.Agent, Run: v.Run}
	if len(v.Personal) > 0 && !withCouncil(permitted(*standing, v.Subject, by, a.Config.Now()), votes).Permits(personal.Tier(v.Tier)) {
		return classify.PrivacyMessage
	}
	return ""
}

// sealed is a fact as it is kept: what holds personal data is sealed for the person's key, so that it is gone with that.
func (a *Governance) sealed(standing *ledger.Standing, v memory.Version) (memory.Version, error) {
	if len(v.Personal) == 0 {
		return v, nil
	}
	p, known := standing.Person(v.Subject)
	if !known || a.Config.People == nil {
		return v, noVault()
	}
	var err error
	v.Sealed, err = a.Config.People.Seal(p.Public, []byte(v.Value))
	v.Value = ""
	return v, err
}

// opened is the value of a fact for an agent: one with personal data only while a consent to that is in force for what the agent does.
func (a *Governance) opened(ctx context.Context, by interlock.Requester, v memory.Version) (value string, permits bool, err error) {
	if len(v.Personal) == 0 {
		return v.Value, true, nil
	}
	standing, err := a.Ground(ctx, core.ConsentRefs(v.Subject)...)
	if err != nil || !withCouncil(permitted(standing, v.Subject, by, a.Config.Now()), v.Request != "").Permits(personal.Tier(v.Tier)) {
		return "", false, err
	}
	value, err = a.openFact(&standing, v)
	return value, true, err
}

// openFact opens the value of a fact.
func (a *Governance) openFact(standing *ledger.Standing, v memory.Version) (string, error) {
	if len(v.Sealed) == 0 {
		return v.Value, nil
	}
	p, _ := standing.Person(v.Subject)
	if a.Config.People == nil {
		return "", noVault()
	}
	text, err := a.Config.People.Open(p.Key, v.Sealed)
	return string(text), err
}

// noVault is said where personal data would be kept or opened and there is nothing to seal it with.
func noVault() error {
	return interlock.Errorf(interlock.CodeUnavailable, "subject", "nothing is kept of anybody here: there is no vault")
}
