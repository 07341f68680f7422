package rules

import _ "embed"

// groundRules are what a judge holds actions against, in Markdown. What they mean is said by package groundrules.
//
//go:embed ground-rules.md
var groundRules []byte

// GroundRules returns the ground rules that ship. The caller must not change the bytes.
func GroundRules() []byte { return groundRules }
