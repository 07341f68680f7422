package prose

import (
	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/inject"
	"interlock/internal/secret"
)

// text analyses content that is not an action: it can hold secrets, and it can hold instructions meant for the agent that
// reads it. Both are only noted; what is done about them is for rules to say.
func (s proseRun) text(in string) {
	if !s.Spend(len(in)/8 + 1) {
		s.Unknown("text", fact.TraitWork)
		return
	}
	s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace,
		Reversibility: interlock.Readonly, Via: "text"})
	for n, span := range secret.Find(in) {
		if n == 16 {
			break
		}
		s.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: span.Kind, Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Readonly,
			Via:           "text", Traits: []string{fact.TraitSecret}})
	}
	if inject.Injected(in) {
		s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Readonly, Via: "text",
			Confidence: interlock.Inferred, Traits: []string{fact.TraitInjection}})
	}
}
