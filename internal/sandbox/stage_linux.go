package sandbox

// Stage does the part of setting up a sandbox that a process of its own must do, if the arguments ask for it, and reports
// whether they did. A program that uses this package calls it first thing in main.
func Stage(args []string) bool { return false }
