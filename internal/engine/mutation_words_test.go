package engine

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A wordAt is one argument of a simple command that stands plainly in a script.
type wordAt struct {
	from, to int
	text     string
	command  bool // it names the command
}

// plainWords lists the arguments that can be spelled otherwise without changing what they mean. Left out are words the
// shell itself expands (globs, braces, tildes): quoting those does change what they mean.
func plainWords(script string) []wordAt {
	file := parseScript(script)
	if file == nil {
		return nil
	}
	var out []wordAt
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		for i, w := range call.Args {
			text := w.Lit()
			if len(w.Parts) == 1 {
				if q, ok := w.Parts[0].(*syntax.SglQuoted); ok && !q.Dollar {
					text = q.Value
				}
			}
			if text == "" || text[0] == '-' && strings.Trim(text[1:], "neE") == "" || // what echo takes for its own flag
				strings.Trim(text, plainLetters) != "" || i == 0 && strings.Contains(text, "=") {
				continue
			}
			out = append(out, wordAt{int(w.Pos().Offset()), int(w.End().Offset()), text, i == 0})
		}
		return true
	})
	return out
}

const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+-"

func parseScript(script string) *syntax.File {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	return file
}

// onWord makes a re-spelling of a script from one of a word.
func onWord(spell func(r *rand.Rand, w string) string) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, script string) (string, bool) {
		words := plainWords(script)
		if len(words) == 0 {
			return "", false
		}
		w := words[r.IntN(len(words))]
		return script[:w.from] + spell(r, w.text) + script[w.to:], true
	}
}

// onArgument is onWord for words that name no command.
func onArgument(spell func(r *rand.Rand, w string) string) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, script string) (string, bool) {
		var words []wordAt
		for _, w := range plainWords(script) {
			if !w.command {
				words = append(words, w)
			}
		}
		if len(words) == 0 {
			return "", false
		}
		w := words[r.IntN(len(words))]
		return script[:w.from] + spell(r, w.text) + script[w.to:], true
	}
}

// withVariable makes a re-spelling that sets variables in front of the script and uses them in place of a word.
func withVariable(spell func(r *rand.Rand, name, w string) (before, use string)) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, script string) (string, bool) {
		words := plainWords(script)
		if len(words) == 0 {
			return "", false
		}
		w := words[r.IntN(len(words))]
		before, use := spell(r, newName(r), w.text)
		separator := "; "
		if r.IntN(2) == 0 {
			separator = "\n"
		}
		return before + separator + script[:w.from] + use + script[w.to:], true
	}
}

func newName(r *rand.Rand) string {
	name := []byte("v")
	for range 4 {
		name = append(name, byte('a'+r.IntN(26)))
	}
	return string(name)
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func eachByte(text string, spell func(c byte) string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		b.WriteString(spell(text[i]))
	}
	return b.String()
}

func reversed(text string) string {
	b := []byte(text)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// wordSpellings are the ways to write one word.
func wordSpellings() []respelling {
	word := func(name string, spell func(r *rand.Rand, w string) string) respelling {
		return respelling{name: name, apply: onWord(spell)}
	}
	variable := func(name string, spell func(r *rand.Rand, name, w string) (string, string)) respelling {
		return respelling{name: name, apply: withVariable(spell)}
	}
	return []respelling{
		{name: "single quotes", benign: true, apply: onWord(func(_ *rand.Rand, w string) string { return quoted(w) })},
		{name: "double quotes", benign: true, apply: onWord(func(_ *rand.Rand, w string) string { return `"` + w + `"` })},
		{name: "quotes in an argument", benign: true, apply: onArgument(splitQuotes)},
		word("quotes inside", splitQuotes),
		word("backslashes", func(_ *rand.Rand, w string) string {
			return eachByte(w, func(c byte) string { return `\` + string(c) })
		}),
		word("one backslash", func(r *rand.Rand, w string) string { at := r.IntN(len(w)); return w[:at] + `\` + w[at:] }),
		word("empty strings", func(r *rand.Rand, w string) string {
			at := r.IntN(len(w) + 1)
			return w[:at] + []string{"''", `""`, `$''`, `''""`}[r.IntN(4)] + w[at:]
		}),
		word("hexadecimal escapes", func(_ *rand.Rand, w string) string {
			return "$'" + eachByte(w, func(c byte) string { return fmt.Sprintf(`\x%02x`, c) }) + "'"
		}),
		word("octal escapes", func(_ *rand.Rand, w string) string {
			return "$'" + eachByte(w, func(c byte) string { return fmt.Sprintf(`\%03o`, c) }) + "'"
		}),
		word("unicode escapes", func(_ *rand.Rand, w string) string {
			return "$'" + eachByte(w, func(c byte) string { return fmt.Sprintf(`\u%04x`, c) }) + "'"
		}),
		word("escapes inside", func(r *rand.Rand, w string) string {
			at := r.IntN(len(w))
			return w[:at] + fmt.Sprintf(`$'\x%x'`, w[at]) + w[at+1:]
		}),
		word("translated string", func(_ *rand.Rand, w string) string { return `$"` + w + `"` }),
		word("line continuation inside", func(r *rand.Rand, w string) string { at := r.IntN(len(w)); return w[:at] + "\\\n" + w[at:] }),
		word("default value", func(r *rand.Rand, w string) string {
			return "${" + newName(r) + []string{":-", "-", ":=", "="}[r.IntN(4)] + w + "}"
		}),
		word("alternative value", func(_ *rand.Rand, w string) string { return "${HOME:+" + w + "}" }),
		{name: "nothing inside", apply: func(r *rand.Rand, script string) (string, bool) {
			if strings.Contains(script, "$1") || strings.Contains(script, "()") || strings.Contains(script, "function") ||
				strings.Contains(script, "set --") || strings.Contains(script, " _ ") || strings.Contains(script, "`") {
				return "", false // its parameters may be something, and a backtick inside backticks ends them
			}
			return onWord(func(r *rand.Rand, w string) string {
				at := r.IntN(len(w) + 1)
				return w[:at] + []string{"$@", "$*", "$()", "``", `"$@"`, "$(:)", "$(true)"}[r.IntN(7)] + w[at:]
			})(r, script)
		}},
		{name: "unset variable inside", weak: true, apply: onWord(func(r *rand.Rand, w string) string { // the environment may have it
			at := r.IntN(len(w))
			if at == 0 || w[0] == '-' || strings.ToUpper(w[at-1:at+1]) == w[at-1:at+1] || w[at-1] < 'a' || w[at] < 'a' {
				return w // between letters it can only be there to break the word up
			}
			return w[:at] + "${" + newName(r) + "}" + w[at:]
		})},
		word("echo", func(_ *rand.Rand, w string) string { return "$(echo " + w + ")" }),
		word("echo in quotes", func(_ *rand.Rand, w string) string { return `"$(echo '` + w + `')"` }),
		{name: "backticks", apply: func(r *rand.Rand, script string) (string, bool) {
			out, ok := onWord(func(_ *rand.Rand, w string) string { return "`echo " + w + "`" })(r, script)
			return out, ok && !strings.Contains(script, "`")
		}},
		word("printf", func(_ *rand.Rand, w string) string { return "$(printf %s " + w + ")" }),
		word("printf with escapes", func(_ *rand.Rand, w string) string {
			return "$(printf '" + eachByte(w, func(c byte) string { return fmt.Sprintf(`\%03o`, c) }) + "')"
		}),
		word("printf in pieces", func(r *rand.Rand, w string) string {
			at := r.IntN(len(w))
			return "$(printf '%s%s' '" + w[:at] + "' '" + w[at:] + "')"
		}),
		word("base64", func(_ *rand.Rand, w string) string {
			return "$(echo " + base64.StdEncoding.EncodeToString([]byte(w)) + " | base64 -d)"
		}),
		word("base64 here-string", func(_ *rand.Rand, w string) string {
			return "$(base64 --decode <<< " + base64.StdEncoding.EncodeToString([]byte(w)) + ")"
		}),
		word("hexadecimal dump", func(_ *rand.Rand, w string) string { return fmt.Sprintf("$(echo %x | xxd -r -p)", w) }),
		word("reversed", func(_ *rand.Rand, w string) string { return "$(echo " + reversed(w) + " | rev)" }),
		word("read back from cat", func(_ *rand.Rand, w string) string { return "$(cat <<< " + w + ")" }),
		variable("variable", func(_ *rand.Rand, v, w string) (string, string) { return v + "=" + quoted(w), "$" + v }),
		variable("variable in quotes", func(_ *rand.Rand, v, w string) (string, string) { return v + "=" + w, `"${` + v + `}"` }),
		variable("exported variable", func(_ *rand.Rand, v, w string) (string, string) { return "export " + v + "=" + w, "$" + v }),
		variable("declared variable", func(_ *rand.Rand, v, w string) (string, string) { return "declare -r " + v + "=" + w, "$" + v }),
		variable("variable in pieces", func(r *rand.Rand, v, w string) (string, string) {
			at := r.IntN(len(w))
			return v + "a=" + w[:at] + "; " + v + "b=" + w[at:], "$" + v + "a${" + v + "b}"
		}),
		variable("appended variable", func(r *rand.Rand, v, w string) (string, string) {
			at := r.IntN(len(w))
			return v + "=" + w[:at] + "; " + v + "+=" + w[at:], "$" + v
		}),
		variable("part of a variable", func(r *rand.Rand, v, w string) (string, string) {
			return v + "=xx" + w + "y", fmt.Sprintf("${%s:2:%d}", v, len(w))
		}),
		variable("trimmed variable", func(r *rand.Rand, v, w string) (string, string) {
			return v + "=QQ" + w + "ZZ; " + v + "=${" + v + "#QQ}", "${" + v + "%ZZ}"
		}),
		variable("replaced in a variable", func(r *rand.Rand, v, w string) (string, string) {
			at := r.IntN(len(w))
			return v + "=" + w[:at] + "QQ" + w[at:], "${" + v + "/QQ/}"
		}),
		variable("indirect variable", func(_ *rand.Rand, v, w string) (string, string) {
			return v + "=" + w + "; " + v + "x=" + v, "${!" + v + "x}"
		}),
		variable("element of an array", func(_ *rand.Rand, v, w string) (string, string) { return v + "=(a b " + w + ")", "${" + v + "[2]}" }),
		variable("last of an array", func(_ *rand.Rand, v, w string) (string, string) { return v + "=(a b " + w + ")", "${" + v + "[-1]}" }),
		variable("member of a table", func(_ *rand.Rand, v, w string) (string, string) {
			return "declare -A " + v + "=([k]=" + w + ")", "${" + v + "[k]}"
		}),
		variable("printf -v", func(_ *rand.Rand, v, w string) (string, string) { return "printf -v " + v + " %s " + w, "$" + v }),
		variable("read", func(_ *rand.Rand, v, w string) (string, string) { return "read -r " + v + " <<< " + w, "$" + v }),
		variable("from a function", func(_ *rand.Rand, v, w string) (string, string) { return v + "() { echo " + w + "; }", "$(" + v + ")" }),
		{name: "lower case", apply: withVariable(func(_ *rand.Rand, v, w string) (string, string) {
			if strings.ToLower(w) != w { // lowering would not give this word back
				return v + "=" + w, "$" + v
			}
			return v + "=" + strings.ToUpper(w), "${" + v + ",,}"
		})},
	}
}

// splitQuotes puts pieces of a word in different quotes.
func splitQuotes(r *rand.Rand, w string) string {
	var b strings.Builder
	for len(w) > 0 {
		n := 1 + r.IntN(len(w))
		b.WriteString([]string{quoted(w[:n]), `"` + w[:n] + `"`, w[:n]}[r.IntN(3)])
		w = w[n:]
	}
	return b.String()
}
