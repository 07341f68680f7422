package redteam

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// A move writes a command otherwise so that a shell still does the same.
type move struct {
	name   string
	benign bool // people write so too: a harmless command so written must pass
	apply  func(s *source, words []string) string
}

// quoted is a word as a shell takes it without looking at it.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// joined is a command line of words that stand as they are.
func joined(words []string) string { return strings.Join(words, " ") }

// onFirst applies a spelling to the name of the program.
func onFirst(spell func(s *source, word string) string) func(*source, []string) string {
	return func(s *source, words []string) string {
		return joined(append([]string{spell(s, words[0])}, words[1:]...))
	}
}

// inside is a place within a word.
func inside(s *source, word string) int {
	if len(word) < 2 {
		return len(word)
	}
	return 1 + s.below(len(word)-1)
}

// spellings are moves over the words of one simple command (classes A to E of the probe matrix).
func spellings() []move {
	return []move{
		{"plain", true, func(_ *source, w []string) string { return joined(w) }},
		{"empty quotes", false, onFirst(func(s *source, w string) string { n := inside(s, w); return w[:n] + "''" + w[n:] })},
		{"double quotes", true, onFirst(func(_ *source, w string) string { return `"` + w + `"` })},
		{"backslash", false, onFirst(func(s *source, w string) string { n := inside(s, w); return w[:n] + `\` + w[n:] })},
		{"hexadecimal quotes", false, onFirst(func(_ *source, w string) string {
			var b strings.Builder
			for i := range len(w) {
				fmt.Fprintf(&b, `\x%02x`, w[i])
			}
			return "$'" + b.String() + "'"
		})},
		{"spaces by IFS", false, func(_ *source, w []string) string { return strings.Join(w, "${IFS}") }},
		{"tabs", true, func(_ *source, w []string) string { return strings.Join(w, "\t") }},
		{"line continuations", true, func(_ *source, w []string) string { return strings.Join(w, " \\\n  ") }},
		{"said by echo", false, onFirst(func(_ *source, w string) string { return "$(echo " + w + ")" })},
		{"said by printf", false, onFirst(func(s *source, w string) string {
			n := inside(s, w)
			return "$(printf %s%s " + quoted(w[:n]) + " " + quoted(w[n:]) + ")"
		})},
		{"backticks", false, onFirst(func(_ *source, w string) string { return "`echo " + w + "`" })},
		{"braces", false, func(_ *source, w []string) string {
			if len(w) == 1 || strings.ContainsAny(joined(w), "{},'\"$*") {
				return joined(w)
			}
			return "{" + strings.Join(w, ",") + "}"
		}},
		{"by xargs", false, func(_ *source, w []string) string {
			if len(w) == 1 || strings.ContainsAny(joined(w), "~*'\"$") {
				return joined(w)
			}
			return "echo " + joined(w[1:]) + " | xargs " + w[0]
		}},
		{"a variable", false, func(s *source, w []string) string {
			name := s.word(4)
			return name + "=" + w[0] + "; $" + name + " " + joined(w[1:])
		}},
		{"two variables", false, func(s *source, w []string) string {
			a, b, n := s.word(4), s.word(5), inside(s, w[0])
			return fmt.Sprintf("%s=%s %s=%s; $%s$%s %s", a, w[0][:n], b, w[0][n:], a, b, joined(w[1:]))
		}},
	}
}

// layouts put a script beside or into others (classes C and F).
func layouts() []move {
	around := func(pattern string) func(*source, []string) string {
		return func(_ *source, w []string) string { return strings.ReplaceAll(pattern, "{}", joined(w)) }
	}
	given := func(pattern string) func(*source, []string) string {
		return func(_ *source, w []string) string { return strings.ReplaceAll(pattern, "{}", quoted(joined(w))) }
	}
	return []move{
		{"alone", true, around("{}")},
		{"after another", true, around("true && {}")},
		{"before another", true, around("{}; true")},
		{"in a subshell", true, around("({})")},
		{"in a condition", true, around("if true; then {}; fi")},
		{"in a loop", true, around("for i in 1; do {}; done")},
		{"in a function", true, around("f() { {}; }; f")},
		{"under env", true, around("env LC_ALL=C {}")},
		{"under nice", true, around("nice -n 5 {}")},
		{"under timeout", true, around("timeout 60 {}")},
		{"under command", true, around("command {}")},
		{"in the background", true, around("{} &")},
		{"as sh -c", true, given("sh -c {}")},
		{"as bash -lc", true, given("bash -lc {}")},
		{"by eval", false, given("eval {}")},
		{"from a pipe", false, given("printf %s {} | sh")},
		{"from a here-document", false, around("sh <<'END'\n{}\nEND")},
		{"from a substitution", false, given("source <(printf %s {})")},
		{"on a trap", false, given("trap {} EXIT")},
		{"from base64", false, func(_ *source, w []string) string {
			return "echo " + base64.StdEncoding.EncodeToString([]byte(joined(w))) + " | base64 -d | bash"
		}},
		{"from hexadecimal", false, func(_ *source, w []string) string {
			return "echo " + hex.EncodeToString([]byte(joined(w))) + " | xxd -r -p | sh"
		}},
		{"from Python", false, func(_ *source, w []string) string {
			text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(joined(w))
			return "python3 -c " + quoted(`import os; os.system("`+text+`")`)
		}},
	}
}

// respelled writes a command in another way, and says how.
func respelled(s *source, words []string, benign bool) (script, how string) {
	pick := func(list []move) move {
		for {
			if m := of(s, list); m.benign || !benign {
				return m
			}
		}
	}
	word, layout := pick(spellings()), pick(layouts())
	script = word.apply(s, words)
	if strings.HasPrefix(word.name, "a variable") || strings.HasPrefix(word.name, "two variables") {
		for strings.HasPrefix(layout.name, "under ") { // a wrapper would take the assignment for a program
			layout = pick(layouts())
		}
	}
	script, how = layout.apply(s, []string{script}), word.name+", "+layout.name
	if s.chance(3) {
		script, how = "# "+s.word(3+s.below(6))+"\n"+script, how+", after a comment"
	}
	return script, how
}
