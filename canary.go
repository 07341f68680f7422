package interlock

import "strings"

// What `interlock doctor` proposes through the doors to see it refused: never run, only judged, and refused under every profile.
const (
	CanaryCommand = "rm -rf --no-preserve-root /"
	CanaryRun     = "doctor-" // with which the names of its runs begin
	CanaryAgent   = "interlock-doctor"
	CanaryTool    = "interlock-canary.run_command"
)

// Canary reports whether a decision is one of doctor's: about exactly what doctor proposes, in a run that is named as its are, and
// refused. It is recorded like any other and kept out of what is counted. Naming a run like that hides nothing but that one
// command, which did not run.
func Canary(p Proposal, d Decision) bool {
	if d.Answer.Allowed() {
		return false
	}
	switch a := p.Action; {
	case a.Kind == KindShell:
		return a.Input == CanaryCommand && strings.HasPrefix(p.Requester.Run, CanaryRun)
	case a.Kind == KindTool:
		return a.Tool == CanaryTool && p.Requester.Agent == CanaryAgent
	}
	return false
}
