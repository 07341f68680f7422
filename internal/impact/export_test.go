package impact

// MeantForWindows reports whether a text has signs of a shell of Windows, so that it is read as its language.
func MeantForWindows(know *Knowledge, input string) bool {
	meant, _ := (&shellRun{s: &scan{know: know}}).signsOf(input).verdict()
	return meant != dialectGuess
}
