package render

import (
	"strings"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/ruleset"
)

// A Rung is one level of trust on the ladder that an agent climbs.
type Rung struct {
	Level   interlock.Trust
	Climbed bool // the agent is here or higher
	Here    bool
	Gives   string // what an agent on it may do, as far as trust has a say
}

// Rungs is the ladder with the place of an agent on it.
func Rungs(rules *ruleset.Ruleset, profile string, at interlock.Trust) (ladder []Rung) {
	for level := interlock.TrustUntested; level <= interlock.TrustCertified; level++ {
		ladder = append(ladder, Rung{Level: level, Climbed: level <= at, Here: level == at, Gives: gives(rules, profile, level)})
	}
	return ladder
}

// gives says in words what the matrix of danger and trust lets an agent of a level do. It asks the gate that decides it.
func gives(rules *ruleset.Ruleset, profile string, level interlock.Trust) string {
	by := map[interlock.Verdict][]string{}
	for danger := interlock.DangerSafe; danger <= interlock.DangerForbidden; danger++ {
		// a registered agent of this level; when it was registered is no matter
		verdict, _ := gate.Permits(rules, profile, interlock.AgentRecord{ID: "any", Trust: level, Created: time.Unix(1, 0)}, danger, false)
		by[verdict] = append(by[verdict], danger.String())
	}
	var parts []string
	if list := by[interlock.Allow]; len(list) > 0 {
		parts = append(parts, "may do what is "+orList(list))
	}
	if list := by[interlock.Ask]; len(list) > 0 {
		parts = append(parts, "is asked about what is "+orList(list))
	}
	if len(parts) == 0 {
		return "may say what it is, and nothing else"
	}
	return strings.Join(parts, "; ")
}

// orList joins words as a sentence does.
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// Takes says what the step to a level takes.
func Takes(to interlock.Trust) string {
	if to == interlock.TrustCertified {
		return "an admin's signed order that names the evidence, and an end within 400 days"
	}
	return "an admin's signed order that names the evidence: what was examined, and by whom"
}
