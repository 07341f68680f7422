package mcpaql

import "interlock/internal/ruleset"

// noBackend and noRules are for servers that are made and asked nothing.
type noBackend struct{ Backend }

func noRules() *ruleset.Ruleset { return &ruleset.Ruleset{} }
