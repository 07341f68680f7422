// Package advice makes the commands that Interlock tells people to type ones that work as they stand: where the home is not
// the one that `interlock` finds by itself, they name it. It reads no settings and knows no command but by name. Start with
// Commands.
package advice

import "strings"

// name is how the program is called where it tells people to run it.
const name = "interlock "

// Commands is a text with the home in each command of Interlock's in it. Without a home it stays as it is.
func Commands(text, home string) string {
	if home == "" {
		return text
	}
	var b strings.Builder
	for {
		at := strings.Index(text, name)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		begins := at == 0 && b.Len() == 0 || at > 0 && strings.IndexByte(" `\"'(\n", text[at-1]) >= 0
		b.WriteString(text[:at+len(name)])
		text = text[at+len(name):]
		if begins && runs(text) {
			b.WriteString("--home " + Quoted(home) + " ")
		}
	}
}

// runs reports whether a text that follows the program's name begins with what is run on a home.
func runs(text string) bool {
	word := text
	if end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }); end >= 0 {
		word = text[:end]
	}
	switch word {
	case "up", "hook", "mcp", "gateway", "install", "uninstall", "doctor", "exec", "check", "pending", "approve", "deny", "block",
		"channels", "grant", "watch", "rules", "replay", "ci", "hold", "audit", "operator", "agent", "trust", "tools", "setup",
		"--profile", "--mode", "--rules", "--config":
		return true
	}
	return false
}

// Quoted is a path as a shell wants it typed.
func Quoted(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@+,\\", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 && !strings.Contains(path, `\`) {
		return path
	}
	if strings.Contains(path, `\`) && !strings.Contains(path, `"`) { // a path of Windows, whose shells know no other quotes
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
