// Package harnesses drives real coding agents with Interlock's hook installed: the programs their users have, started as
// their users start them, with a model on loopback that asks for the tool calls a test wants. What the harness does with
// Interlock's answer is looked at from outside: what happened on disk, what the model was told, what is in the log.
package harnesses
