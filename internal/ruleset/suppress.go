package ruleset

import (
	"errors"
	"strings"

	"interlock"
)

// Suppressible says whether operators may keep a rule, or a row of a profile, silent, and whether it denies. What is at
// layer 1, what halts and what protects Interlock itself may not be.
func (r *Ruleset) Suppressible(id string) (denies bool, err error) {
	if rest, ok := strings.CutPrefix(id, "profile."); ok {
		name, row, _ := strings.Cut(rest, ".")
		if p, known := r.Profile(name); known {
			for n := range p.Rows {
				if p.Rows[n].ID == row && p.Rows[n].Verdict == interlock.Ask {
					return false, nil
				}
			}
		}
		return false, interlock.Errorf(interlock.CodeNotFound, "rule", "%.60q is no row of a profile that asks", id)
	}
	rule, known := r.Rule(id)
	switch {
	case !known:
		return false, interlock.Errorf(interlock.CodeNotFound, "rule", "%.60q is no rule; `interlock rules list` names them", id)
	case rule.Layer <= 1 || rule.Verdict == interlock.Halt || strings.HasPrefix(id, "self."):
		return false, interlock.Errorf(interlock.CodeUnauthorized, "rule",
			"this rule protects systems or Interlock itself and can't be suppressed")
	}
	return rule.Verdict == interlock.Deny, nil
}

// Grantable refuses a rule whose questions no standing yes answers: those of the two upper layers, which protect systems and secrets, and
// what does not ask.
func (r *Ruleset) Grantable(id string) error {
	denies, err := r.Suppressible(id)
	if err != nil && notFound(err) {
		return interlock.Errorf(interlock.CodeUnauthorized, "rule",
			"what asked, %.60q, is no rule that is in force now", id)
	}
	if err == nil && denies {
		return interlock.Errorf(interlock.CodeUnauthorized, "rule", "%.60q denies", id)
	}
	if rule, known := r.Rule(id); err != nil || known && rule.Layer <= 2 {
		return interlock.Errorf(interlock.CodeUnauthorized, "rule",
			"%.60q is a rule of layer 1 or 2, which protect systems and secrets", id)
	}
	return nil
}

// Wanted reports whether a rule is silent where the user's own words want the act.
func (r *Ruleset) Wanted(id string) bool {
	rule, known := r.Rule(id)
	return known && rule.Wanted
}

func notFound(err error) bool {
	var refusal *interlock.Error
	return errors.As(err, &refusal) && refusal.Code == interlock.CodeNotFound
}
