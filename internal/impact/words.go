package impact

import (
	"interlock"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/shell"
)

// Words are those of a shell command that is one program with its arguments and nothing that a shell reads: see [interlock.Scope].
// Of any other action there are none. A shell of Windows reads words otherwise, so of its commands there are none either.
func Words(action interlock.Action) []string {
	if action.Kind != interlock.KindShell || flow.DialectOf(action) != flow.DialectGuess {
		return nil
	}
	return shell.LiteralWords(action.Input, false)
}

// PatternWords are the words of a pattern over such commands, in which * means a part of a word. None: it is no such pattern.
func PatternWords(pattern string) []string { return shell.LiteralWords(pattern, true) }
