package replay

import "interlock/internal/classify"

// classified has the text of a decision classified again, under the ruleset that the manifest of then names (MACE 3.1), and holds what
// was recorded against that. What was recorded before decisions named one has nothing to be held against.
func (s *Sources) classified(r *Record) error {
	if r.Text == nil || r.Text.Ruleset == "" {
		return nil
	}
	texts := s.manifests[r.Base.Manifest].texts
	if texts == nil {
		return failure(MissingSnapshot, "the manifest names no safety ruleset that the text was classified by")
	}
	all, err := texts.Rulesets()
	if err != nil {
		return failure(MissingSnapshot, "the safety ruleset can't be used by this program: %v", err)
	}
	ruleset := all.Snapshot(r.Text.Ruleset)
	if ruleset == nil {
		return failure(IntegrityFailure, "the manifest names another safety ruleset than the event")
	}
	now := classify.Text(ruleset, r.Inputs.Action.Input)
	if string(now.Classification) != r.Text.Classification || now.Rule != r.Text.Rule {
		return failure(ResultMismatch, "the text was recorded as %s, and is %s now", r.Text.Classification, now.Classification)
	}
	return nil
}
