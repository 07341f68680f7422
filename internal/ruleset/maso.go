package ruleset

import "interlock"

// MasoRules say how much of MASO's execution control is in force.
type MasoRules struct {
	// how far agents act by themselves: 1 supervised, 2 managed, 3 autonomous. From 1 on breakers count refusals, from 2 on one
	// that trips moves its agent to phase A. 0 is off
	Tier int `json:"tier"`

	Watch *WatchRules `json:"watch,omitempty"` // what follows from what is unusual
}

// maxTier is the highest tier.
const maxTier = 3

// Maso returns what is in force: of several documents the highest tier, which is the one that watches most closely.
func (r *Ruleset) Maso() MasoRules { return r.maso }

// TierFor is the tier that an agent acts at: of what its type says and what holds for everybody the higher one.
func (r *Ruleset) TierFor(agent interlock.AgentRecord) int {
	if t := r.types[TypeName(agent)]; t != nil {
		return max(t.Tier, r.maso.Tier)
	}
	return r.maso.Tier
}

// HighestTier is the highest tier that anybody acts at.
func (r *Ruleset) HighestTier() int { return max(r.maso.Tier, r.typesTier) }

func (r *Ruleset) addMaso(m *MasoRules) {
	if m != nil {
		r.maso.Tier = max(r.maso.Tier, m.Tier)
	}
}

// maso checks the part of a document.
func (c *checker) maso(m *MasoRules) error {
	if m != nil && (m.Tier < 0 || m.Tier > maxTier) {
		return c.doc.Errorf("/maso/tier", "tier must be from 0, which is off, to %d", maxTier)
	}
	return nil
}
