package impact

// MeantForWindows reports whether a text has signs of a shell of Windows, so that it is read as its language.
func MeantForWindows(know *Knowledge, input string) bool {
	meant, _ := know.signsOf(input).verdict()
	return meant != dialectGuess
}

// Strict returns an analyser whose readers of Windows' shells panic where they would otherwise give up.
func (a *Analyser) Strict() *Analyser { return &Analyser{know: a.know, strict: true} }
