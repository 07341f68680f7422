package replay

import "interlock/internal/ruleset"

// Limited holds recorded rows of limits against rules.
func (r *Record) Limited(rules *ruleset.Ruleset) error { return r.limited(rules) }
