package flow

import (
	"strings"

	"interlock"
)

// A Dialect is the shell a text is written for.
type Dialect int

const (
	DialectGuess Dialect = iota // by what the text looks like
	DialectPOSIX
	DialectPowerShell
	DialectCmd
)

// DialectOf is the shell a tool's name says its commands are for. A tool called bash or shell says nothing: several
// harnesses give that name to whatever shell the machine has.
func DialectOf(a interlock.Action) Dialect {
	tool := strings.ToLower(a.Tool)
	switch {
	case tool == "":
	case strings.Contains(tool, "powershell") || strings.Contains(tool, "pwsh"):
		return DialectPowerShell
	case tool == "cmd" || strings.Contains(tool, "cmd.exe") || tool == "batch":
		return DialectCmd
	}
	return DialectGuess
}
