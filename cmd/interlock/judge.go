package main

// judgeCommand is about the judge: a language model that sees an action and the ground rules, and nothing else.
type judgeCommand struct {
	judgeClientCommands
	judgeGroundCommands
}
