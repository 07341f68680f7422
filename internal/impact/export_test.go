package impact

// Strict returns an analyser whose readers of Windows' shells panic where they would otherwise give up.
func (a *Analyser) Strict() *Analyser { return &Analyser{know: a.know, strict: true} }
