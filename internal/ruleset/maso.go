package ruleset

import (
	"time"

	"interlock"
)

// MasoRules say how much of MASO's execution control is in force.
type MasoRules struct {
	// how far agents act by themselves: 1 supervised, 2 managed, 3 autonomous. From 1 on breakers count refusals, from 2 on one
	// that trips moves its agent to phase A. 0 is off
	Tier int `json:"tier"`

	Watch *WatchRules `json:"watch,omitempty"` // what follows from what is unusual
	// at tier 3, when a machine may leave phase A again; without it only people do
	SelfHeal *SelfHeal `json:"self_heal,omitempty"`
	// how long a backup only reads, 15 minutes if none is given
	ReadOnly Span `json:"read_only,omitempty"`
	// how long phase C lasts at least after an emergency: 4 hours at tier 2 and 24 at tier 3, if none is given
	Supervised Span `json:"supervised,omitempty"`

	Staging  []string  `json:"staging,omitempty"`   // globs of hosts, contexts, databases, buckets that are staging; what is neither is production
	FirstUse FirstUse  `json:"first_use,omitempty"` // what becomes of the first use of a tool by a type of agents
	Review   Review    `json:"review,omitzero"`     // how long questions wait for a human
	Latency  []Latency `json:"latency,omitempty"`   // how long orchestrations may take
}

// SelfHeal says when phase A is left without a person: once a backup has read and then written without being refused anything.
type SelfHeal struct {
	After Span `json:"after,omitempty"` // since the loss, at the earliest; 30 minutes, if none is given
}

// maxTier is the highest tier.
const maxTier = 3

// maxHealing bounds how long a backup only reads, and when an alternate heals: past two days it is contingency.
const maxHealing = 48 * time.Hour

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

// The standards of [MasoRules].Supervised, by tier.
const (
	supervised2 = 4 * time.Hour
	supervised3 = 24 * time.Hour
)

// Supervised is how long everything is supervised at least that begins again after an emergency.
func (r *Ruleset) Supervised() time.Duration {
	switch {
	case r.maso.Tier < 2:
		return 0
	case r.maso.Supervised > 0:
		return time.Duration(r.maso.Supervised)
	case r.maso.Tier < maxTier:
		return supervised2
	}
	return supervised3
}

// Healing is how a loss heals, as package phase reckons with it.
type Healing struct {
	Machine  bool // a machine may leave alternate
	ReadOnly time.Duration
	After    time.Duration
}

// The standards of [Healing], which are MASO's own.
const (
	standardReadOnly = 15 * time.Minute
	standardAfter    = 30 * time.Minute
)

// Healing is how a loss heals, with what holds where the ruleset says nothing.
func (r *Ruleset) Healing() Healing {
	how := Healing{ReadOnly: standardReadOnly, After: standardAfter}
	if r.maso.ReadOnly > 0 {
		how.ReadOnly = time.Duration(r.maso.ReadOnly)
	}
	if h := r.maso.SelfHeal; h != nil {
		how.Machine = r.maso.Tier >= maxTier
		if h.After > 0 {
			how.After = time.Duration(h.After)
		}
	}
	return how
}

func (r *Ruleset) addMaso(m *MasoRules) {
	if m == nil {
		return
	}
	r.maso.Tier = max(r.maso.Tier, m.Tier)
	r.maso.ReadOnly = max(r.maso.ReadOnly, m.ReadOnly)
	r.maso.Supervised = max(r.maso.Supervised, m.Supervised)
	if m.SelfHeal != nil {
		r.maso.SelfHeal = m.SelfHeal
	}
	r.maso.addOversight(m)
}

// maso checks the part of a document.
func (c *checker) maso(m *MasoRules) error {
	switch {
	case m == nil:
		return nil
	case m.Tier < 0 || m.Tier > maxTier:
		return c.doc.Errorf("/maso/tier", "tier must be from 0, which is off, to %d", maxTier)
	case time.Duration(m.ReadOnly) > maxHealing:
		return c.doc.Errorf("/maso/read_only", "read_only is at most %s", maxHealing)
	case time.Duration(m.Supervised) > maxRunWindow:
		return c.doc.Errorf("/maso/supervised", "supervised is at most %s", maxRunWindow)
	case m.SelfHeal == nil:
	case m.Tier < maxTier:
		return c.doc.Errorf("/maso/self_heal", "only what acts by itself heals by itself; say tier: %d, or leave self_heal out", maxTier)
	case c.loader.ruleset.maso.SelfHeal != nil:
		return c.doc.Errorf("/maso/self_heal", "another document says when phases heal; say it in one place")
	case time.Duration(m.SelfHeal.After) > maxHealing:
		return c.doc.Errorf("/maso/self_heal/after", "after is at most %s", maxHealing)
	}
	return checkOversight(c.doc, m)
}

// loosenedMaso reports whether one ruleset watches less closely than another, or leaves a phase sooner.
func loosenedMaso(from, to *Ruleset) bool {
	was, is := from.Healing(), to.Healing()
	if to.maso.Tier < from.maso.Tier || is.ReadOnly < was.ReadOnly || to.Supervised() < from.Supervised() {
		return true
	}
	return is.Machine && (!was.Machine || is.After < was.After)
}
