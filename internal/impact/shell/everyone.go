package shell

import (
	"strings"

	"interlock/internal/impact/flow"
)

// selects reports whether a filter lets only lines with some word through, so that a list of all processes becomes one of those
// that are meant: grep node, awk '/node/ {print $2}'.
func selects(u *flow.Use) bool {
	if u.Spec.Seeks {
		for _, g := range u.Flags {
			if strings.HasPrefix(g.Name, "-") && !strings.HasPrefix(g.Name, "--") && strings.Contains(g.Name, "v") ||
				g.Name == "--invert-match" {
				return false
			}
			if (g.Name == "-e" || g.Name == "--regexp") && wordy(g.Value.Text) {
				return true
			}
		}
		return len(u.Operands) > 0 && wordy(u.Operands[0].Text)
	}
	if u.Spec.Code == "" || len(u.Operands) == 0 {
		return false
	}
	_, pattern, ok := strings.Cut(u.Operands[0].Text, "/")
	if !ok {
		pattern = ""
		if at := strings.Index(u.Operands[0].Text, "=="); at >= 0 {
			pattern = u.Operands[0].Text[at:]
		}
	}
	return wordy(pattern)
}

// wordy reports whether a pattern has letters that a name must have to fit it, or a variable that may hold some.
func wordy(pattern string) bool {
	letters := 0
	for i := 0; i < len(pattern); i++ {
		if c := pattern[i]; c|0x20 >= 'a' && c|0x20 <= 'z' || c == '$' && i > 0 {
			if letters++; letters > 1 {
				return true
			}
		}
	}
	return strings.HasPrefix(pattern, "$") && len(pattern) > 1
}

// bounded reports whether a flag says how much a command copies.
func bounded(u *flow.Use) bool {
	for _, g := range u.Flags {
		if g.Option.Size && !g.Option.Unit {
			return true
		}
	}
	return false
}
