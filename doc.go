// Package interlock is the vocabulary of the safety interlock between an AI agent's intent and the world, and the entry
// point for programs that embed it.
//
// An agent proposes an [Action]; the action is analysed into its [Impact]s; gates object with [Finding]s; one function
// makes the [Decision]; the decision is durable as an [Event] in a tamper-evident log before anything runs; what running
// it did comes back as an [Outcome].
//
// The words here mean the same thing in every package of the module, and the zero value of each refuses: the zero
// [Verdict] denies, the zero [Mode] enforces, the zero [Trust] is untested.
//
// This package imports the standard library only and reads no clock, no randomness, no file and no network. Start with
// action.go and decision.go; [New] is for embedders, and package interlock/embedded holds the ready-made backend.
package interlock
