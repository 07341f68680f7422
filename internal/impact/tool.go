package impact

import (
	"interlock/internal/impact/call"
	"interlock/internal/impact/fact"
)

// ToolTexts returns the texts that every call of a tool of this name has, whatever its arguments are: the name as patterns
// see it. A tool that is known to run what it is given has none.
func (a *Analyser) ToolTexts(name string) []fact.Text { return call.ToolTexts(a.know, name) }
