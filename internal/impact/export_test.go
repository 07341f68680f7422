package impact

import "interlock"

// Strict returns an analyser whose readers of Windows' shells panic where they would otherwise give up.
func (a *Analyser) Strict() *Analyser { return &Analyser{know: a.know, strict: true} }

// Steps returns how much work an analysis is charged with.
func (a *Analyser) Steps(view interlock.View, action interlock.Action) int {
	return a.Analyse(view, action).Steps
}
