package interlock_test

import (
	"testing"

	"interlock"
)

// TestOnlyWhatDoctorProposesIsACanary: nobody hides anything else from what is counted.
func TestOnlyWhatDoctorProposesIsACanary(t *testing.T) {
	shell := interlock.Action{Kind: interlock.KindShell, Input: interlock.CanaryCommand}
	tool := interlock.Action{Kind: interlock.KindTool, Tool: interlock.CanaryTool}
	for name, tc := range map[string]struct {
		action     interlock.Action
		agent, run string
		answer     interlock.Verdict
		canary     bool
	}{
		"a hook's":         {shell, "claude", "doctor-1-claude-0", interlock.Halt, true},
		"a gateway's":      {tool, interlock.CanaryAgent, "", interlock.Deny, true},
		"that was allowed": {shell, "claude", "doctor-1-claude-0", interlock.Allow, false},
		"of a session":     {shell, "claude", "s1", interlock.Halt, false},
		"another command":  {interlock.Action{Kind: interlock.KindShell, Input: "rm -rf /"}, "claude", "doctor-1", interlock.Halt, false},
		"one command more": {interlock.Action{Kind: interlock.KindShell, Input: interlock.CanaryCommand + "; x"},
			"claude", "doctor-1", interlock.Halt, false},
		"another agent's tool":  {tool, "claude", "doctor-1", interlock.Deny, false},
		"the command as a hint": {interlock.Action{Kind: interlock.KindHint, Input: interlock.CanaryCommand}, "claude", "doctor-1", interlock.Halt, false},
	} {
		p := interlock.Proposal{Action: tc.action, Requester: interlock.Requester{Agent: tc.agent, Run: tc.run}}
		if got := interlock.Canary(p, interlock.Decision{Verdict: tc.answer, Answer: tc.answer}); got != tc.canary {
			t.Errorf("%s: %v", name, got)
		}
	}
}
