package ruleset

// MasoRules say how much of MASO's execution control is in force.
type MasoRules struct {
	// how far agents act by themselves: 1 supervised, 2 managed, 3 autonomous. From 1 on breakers count refusals, from 2 on one
	// that trips moves its agent to phase A. 0 is off
	Tier int `json:"tier"`

	Staging  []string  `json:"staging,omitempty"`   // globs of hosts, contexts, databases, buckets that are staging; what is neither is production
	FirstUse FirstUse  `json:"first_use,omitempty"` // what becomes of the first use of a tool by a type of agents
	Review   Review    `json:"review,omitzero"`     // how long questions wait for a human
	Latency  []Latency `json:"latency,omitempty"`   // how long orchestrations may take
}

// maxTier is the highest tier.
const maxTier = 3

// Maso returns what is in force: of several documents the highest tier, which is the one that watches most closely.
func (r *Ruleset) Maso() MasoRules { return r.maso }

func (r *Ruleset) addMaso(m *MasoRules) {
	if m != nil {
		r.maso.Tier = max(r.maso.Tier, m.Tier)
		r.maso.addOversight(m)
	}
}

// maso checks the part of a document.
func (c *checker) maso(m *MasoRules) error {
	if m != nil && (m.Tier < 0 || m.Tier > maxTier) {
		return c.doc.Errorf("/maso/tier", "tier must be from 0, which is off, to %d", maxTier)
	}
	if m != nil {
		return checkOversight(c.doc, m)
	}
	return nil
}
