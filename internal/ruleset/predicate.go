package ruleset

import "interlock"

// A predicate is a Predicate made ready: lists as bits, globs folded.
type predicate struct {
	kinds, reaches, reversibilities, confidences uint16 // zero means any
	via, except, target                          []string
	traits                                       Traits
	over                                         int64
	empty                                        bool // nothing is asked of the impact
}

func (p Predicate) compile() predicate {
	c := predicate{traits: p.Traits, over: p.Over}
	for _, k := range p.Kind {
		c.kinds |= kindBit(k)
	}
	for _, r := range p.Reach {
		c.reaches |= reachBit(r)
	}
	for _, r := range p.Reversibility {
		c.reversibilities |= reversibilityBit(r)
	}
	for _, k := range p.Confidence {
		c.confidences |= confidenceBit(k)
	}
	c.via, c.except, c.target = foldAll(p.Via), foldAll(p.Except), foldAll(p.Target)
	c.empty = c.kinds|c.reaches|c.reversibilities|c.confidences == 0 && len(c.via)+len(c.except)+len(c.target)+len(p.Traits.All)+
		len(p.Traits.Any)+len(p.Traits.None) == 0 && p.Over == 0
	return c
}

// matches reports whether the impact meets the predicate. Values outside the vocabulary meet no list.
func (c *predicate) matches(i *interlock.Impact) bool {
	if c.kinds != 0 && c.kinds&kindBit(i.Kind) == 0 ||
		c.reaches != 0 && c.reaches&reachBit(i.Reach) == 0 ||
		c.reversibilities != 0 && c.reversibilities&reversibilityBit(i.Reversibility) == 0 ||
		c.confidences != 0 && c.confidences&confidenceBit(i.Confidence) == 0 ||
		c.over != 0 && i.Most() <= c.over {
		return false
	}
	for _, t := range c.traits.All {
		if !i.Has(t) {
			return false
		}
	}
	for _, t := range c.traits.None {
		if i.Has(t) {
			return false
		}
	}
	if len(c.traits.Any) > 0 && !hasAny(i, c.traits.Any) {
		return false
	}
	return anyGlob(c.via, i.Via) && anyGlob(c.target, i.Target) && (len(c.except) == 0 || !anyGlob(c.except, i.Via))
}

func hasAny(i *interlock.Impact, traits []string) bool {
	for _, t := range traits {
		if i.Has(t) {
			return true
		}
	}
	return false
}

// anyGlob reports whether one of the folded globs matches; no glob at all asks nothing.
func anyGlob(globs []string, text string) bool {
	if len(globs) == 0 {
		return true
	}
	text = foldText(text)
	for _, g := range globs {
		if matchFolded(g, text) {
			return true
		}
	}
	return false
}

func kindBit(k interlock.ImpactKind) uint16 {
	switch k {
	case interlock.ImpactRead:
		return 1 << 0
	case interlock.ImpactWrite:
		return 1 << 1
	case interlock.ImpactDelete:
		return 1 << 2
	case interlock.ImpactExecute:
		return 1 << 3
	case interlock.ImpactNetwork:
		return 1 << 4
	case interlock.ImpactMessage:
		return 1 << 5
	case interlock.ImpactSpend:
		return 1 << 6
	case interlock.ImpactPrivilege:
		return 1 << 7
	case interlock.ImpactPersist:
		return 1 << 8
	case interlock.ImpactCredential:
		return 1 << 9
	case interlock.ImpactConfigure:
		return 1 << 10
	case interlock.ImpactSpawn:
		return 1 << 11
	}
	return 0
}

func reachBit(r interlock.Reach) uint16 {
	switch r {
	case interlock.ReachWorkspace:
		return 1 << 0
	case interlock.ReachHome:
		return 1 << 1
	case interlock.ReachSystem:
		return 1 << 2
	case interlock.ReachExternal:
		return 1 << 3
	case interlock.ReachProduction:
		return 1 << 4
	case interlock.ReachSelf:
		return 1 << 5
	}
	return 0
}

func reversibilityBit(r interlock.Reversibility) uint16 {
	switch r {
	case interlock.Readonly:
		return 1 << 0
	case interlock.Reversible:
		return 1 << 1
	case interlock.Window:
		return 1 << 2
	case interlock.Irreversible:
		return 1 << 3
	}
	return 0
}

func confidenceBit(c interlock.Confidence) uint16 {
	switch c {
	case interlock.Parsed:
		return 1 << 0
	case interlock.Inferred:
		return 1 << 1
	case interlock.Unknown:
		return 1 << 2
	}
	return 0
}

func actionBit(k interlock.Kind) uint16 {
	for i, known := range interlock.Kinds() {
		if k == known {
			return 1 << i
		}
	}
	return 0
}
