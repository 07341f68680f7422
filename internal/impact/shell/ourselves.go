package shell

import (
	"regexp"
	"strings"

	"interlock"
	"interlock/internal/impact/flow"
)

// ourProcess is what lists of processes call Interlock's own.
const ourProcess = "interlock"

// maxProcessPattern bounds patterns that are tried on it, in bytes: nobody writes a longer one by hand.
const maxProcessPattern = 200

// findsUs reports whether a pattern that means some processes and not all of them means ours, too.
func findsUs(pattern string) bool {
	if len(pattern) > maxProcessPattern || !wordy(pattern) {
		return false
	}
	if expression, err := regexp.Compile("(?i)" + pattern); err == nil {
		return expression.MatchString(ourProcess)
	}
	return strings.Contains(strings.ToLower(pattern), ourProcess)
}

// selectsOurs reports whether a filter lets the line of one of Interlock's own processes through a list of all of them: grep
// interlock, awk '/interl/ {print $2}'.
func selectsOurs(u *flow.Use) bool {
	if u.Spec.Seeks {
		for _, g := range u.Flags {
			if (g.Name == "-e" || g.Name == "--regexp") && findsUs(g.Value.Text) {
				return true
			}
		}
		return len(u.Operands) > 0 && findsUs(u.Operands[0].Text)
	}
	if len(u.Operands) == 0 {
		return false
	}
	code := u.Operands[0].Text
	for _, mark := range [...]string{"/", `"`} { // a pattern, or a text that a column is compared with
		parts := strings.Split(code, mark)
		for at := 1; at < len(parts); at += 2 {
			if findsUs(parts[at]) {
				return true
			}
		}
	}
	return false
}

// ours reports whether what a program that ends processes is given means Interlock's: numbers that were looked up, a pattern of
// names, or a file that Interlock holds open.
func (r *shellRun) ours(via string, t flow.Field) bool {
	if t.Flow.Ours {
		return true
	}
	switch via[strings.LastIndexByte(via, '/')+1:] {
	case "pkill", "killall", "skill":
		return !t.Dynamic && findsUs(t.Text)
	case "fuser":
		return !t.Dynamic && strings.Contains(t.Text, "/") && r.S.Place(t.Text).Reach == interlock.ReachSelf
	}
	return false
}
