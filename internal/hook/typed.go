package hook

import (
	"strings"

	"interlock"
)

// typed is what an agent types into a command that already runs, as older versions of Copilot let it: most often a shell's
// next lines. Keys stand in braces there. Where they go back into what was typed before, what runs is not what is seen.
func (u use) typed() ([]interlock.Action, error) {
	if err := u.input.only("input"); err != nil {
		return nil, err
	}
	keys, err := u.input.text("input")
	if err != nil {
		return nil, err
	}
	lines := strings.NewReplacer("{enter}", "\n", "{up}", "", "{down}", "").Replace(keys)
	moved := strings.NewReplacer("{left}", "", "{right}", "", "{backspace}", "").Replace(lines)
	switch {
	case strings.TrimSpace(moved) == "":
		return u.toolCall(u.tool)
	case moved != lines:
		return nil, interlock.Errorf(interlock.CodeInvalid, "/input", "moves back in what it types; type the whole line anew")
	}
	return []interlock.Action{{Kind: interlock.KindShell, Tool: u.tool, Input: lines, Dir: u.dir}}, nil
}
