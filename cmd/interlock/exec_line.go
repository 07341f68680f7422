package main

import (
	"interlock"
	"interlock/internal/config"
	"interlock/internal/hook"
)

// checkLine refuses what can't be meant: a line of several words, and a tool whose commands are not for a POSIX shell, which
// would be read as another language than the one it is run in.
func (c *execCommand) checkLine() error {
	switch {
	case c.Line && len(c.Command) != 1:
		return interlock.Errorf(interlock.CodeInvalid, "--line", "takes one argument; quote the line")
	case c.Tool != "" && !hook.POSIX(c.Tool):
		return interlock.Errorf(interlock.CodeInvalid, "--tool", "%.40q is no tool that runs commands in a POSIX shell", c.Tool)
	}
	return nil
}

// input is the command as it is decided about.
func (c *execCommand) input() string {
	if c.Line {
		return c.Command[0]
	}
	return hook.ShellLine(c.Command)
}

// argv is the command as it is run.
func (c *execCommand) argv() []string {
	if !c.Line {
		return c.Command
	}
	for _, path := range []string{"/usr/bin/bash", "/bin/bash"} {
		if exists(path) {
			return []string{"bash", "-c", c.Command[0]}
		}
	}
	return []string{"sh", "-c", c.Command[0]}
}

// wanted is the sandbox in the profile that the rules name for this command, where they name one. A sandbox of another is not
// what the decision allowed.
func (c *execCommand) wanted(p *program, settings config.Config, proposal interlock.Proposal, answer interlock.Answer,
	given boxed) (boxed, error) {
	name := ""
	for _, o := range answer.Obligations {
		if o.Type != interlock.ObligationSandbox || o.Note == "" {
			continue
		}
		if name != "" && name != o.Note {
			return given, interlock.Errorf(interlock.CodeConflict, "",
				"rules want this command in the sandbox profiles %s and %s, and it can't run in both", name, o.Note)
		}
		name = o.Note
	}
	switch {
	case name == "":
		return given, nil
	case c.Sandbox != "" && c.Sandbox != name:
		return given, interlock.Errorf(interlock.CodeConflict, "--sandbox",
			"a rule wants this command in the sandbox profile %s", name)
	}
	profile, err := settings.Sandbox.Named(name)
	if err != nil {
		return given, interlock.Errorf(interlock.CodeInvalid, "",
			"a rule wants this command in the sandbox profile %.40q, which the settings don't have", name)
	}
	profile.Overlay = profile.Overlay || c.Overlay
	return c.spec(p, settings, profile, proposal)
}
