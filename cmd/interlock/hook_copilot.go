package main

import (
	"path/filepath"
	"strings"
)

// maxAncestors bounds the way from the hook up to the harness: a shell or two and a launcher lie between.
const maxAncestors = 8

// copilotPrompts reports whether Copilot is known to show its prompts. It passes over an "ask" when the user switched
// prompts off, and the payload doesn't say so; its command line does. If that can't be read the answer is no.
func copilotPrompts(getenv func(string) string) bool {
	if getenv("COPILOT_ALLOW_ALL") != "" {
		return false
	}
	for _, args := range ancestors(maxAncestors) {
		if isCopilot(args) {
			return !skipsPrompts(args)
		}
	}
	return false
}

// isCopilot recognises the harness by its own name or by the script its interpreter runs.
func isCopilot(args []string) bool {
	for _, arg := range args[:min(2, len(args))] {
		base := strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg))
		if base == "copilot" || strings.Contains(filepath.ToSlash(arg), "@github/copilot/") {
			return true
		}
	}
	return false
}

func skipsPrompts(args []string) bool {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--allow-all-tools", "--allow-all", "--yolo", "--autopilot", "-p", "--prompt":
			return true
		}
	}
	return false
}
