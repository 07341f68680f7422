package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock"
)

// statements reads one of the lists of statements, one a line.
func statements(t fatal, name string) (out []string) {
	data, err := os.ReadFile(filepath.Join("testdata", "statements", name))
	for line := range strings.Lines(string(must(t, data, err))) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// verdictOn decides about a statement with the shipped rules for somebody at work under guard.
func verdictOn(t fatal, statement string) interlock.Decision {
	action := interlock.Action{Kind: interlock.KindSQL, Input: statement, Dir: "/home/user/project"}
	snapshot := standing()
	analysis := analyser(t).Analyse(snapshot.View, action)
	return Decide(shipped(t), snapshot, action, analysis, nil, nil, noon)
}

// TestStatements holds the lists: what destroys, administers, reaches out of the database or switches its protection off is
// asked about or denied, and everyday work is not.
func TestStatements(t *testing.T) {
	for _, name := range []string{"stopped.sql", "stopped-client.sql"} {
		for _, statement := range statements(t, name) {
			if d := verdictOn(t, statement); d.Verdict == interlock.Allow {
				t.Errorf("allowed: %s", statement)
			}
		}
	}
	for _, name := range []string{"allowed.sql", "allowed-client.sql"} {
		for _, statement := range statements(t, name) {
			if d := verdictOn(t, statement); d.Verdict != interlock.Allow {
				t.Errorf("%s by %v: %s", d.Verdict, rulesOf(d), statement)
			}
		}
	}
}

// A sqlSpelling writes a statement otherwise without changing what it does.
type sqlSpelling struct {
	name string
	do   func(string) string
	odd  bool // nobody writes so without a reason: it may be stopped where the plain statement is not
}

// sqlSpellings are ways to write the same statement. Every blank and letter that is changed stands outside quotes.
var sqlSpellings = []sqlSpelling{
	{"comments for blanks", outsideQuotes(" ", "/**/"), false},
	{"comments with words", outsideQuotes(" ", " /* SELECT 1 */ "), false},
	{"comments to the end of the line", outsideQuotes(" ", " -- x\n"), false},
	{"lines", outsideQuotes(" ", "\n"), false},
	{"tabs and more blanks", outsideQuotes(" ", " \t "), false},
	{"lower case", recased(strings.ToLower), false},
	{"upper case", recased(strings.ToUpper), false},
	{"a comment before", func(s string) string { return "/* note */ " + s }, false},
	{"a line before", func(s string) string { return "-- note\n" + s }, false},
	{"a comment behind", func(s string) string { return s + " -- note" }, false},
	{"a semicolon", func(s string) string { return s + ";" }, false},
	{"a query before", func(s string) string { return "SELECT 1;\n" + s }, false},
	{"a query behind", func(s string) string { return s + ";\nSELECT 1" }, false},
	{"a transaction", func(s string) string { return "BEGIN;\n" + s + ";\nCOMMIT" }, false},
	{"mixed case", recased(mixedCase), true},
	{"executed comment", func(s string) string {
		if strings.Contains(s, "*/") || strings.Contains(s, "--") {
			return s
		}
		return "/*!50000 " + s + " */"
	}, true},
	{"a split verb", func(s string) string {
		if verb, _, found := strings.Cut(s, " "); found && verb == strings.ToUpper(verb) && len(verb) >= 4 && !strings.ContainsAny(verb, "(/'*.") {
			return s[:2] + "/**/" + s[2:]
		}
		return s
	}, true},
}

// parts splits a statement into what stands inside quotes, comments or dollar quotes and what stands outside; every second
// part is inside.
func parts(s string) (out []string) {
	start, i := 0, 0
	for i < len(s) {
		closing := ""
		switch {
		case s[i] == '\'' || s[i] == '"' || s[i] == '`':
			closing = s[i : i+1]
		case s[i] == '[':
			closing = "]"
		case strings.HasPrefix(s[i:], "$$"):
			closing = "$$"
		case strings.HasPrefix(s[i:], "/*"):
			closing = "*/"
		case strings.HasPrefix(s[i:], "--"):
			closing = "\n"
		default:
			i++
			continue
		}
		end := strings.Index(s[i+1:], closing)
		if end < 0 {
			end = len(s) - i - 1 - len(closing)
		}
		out = append(out, s[start:i], s[i:i+1+end+len(closing)])
		i += 1 + end + len(closing)
		start = i
	}
	return append(out, s[start:])
}

func outside(s string, do func(string) string) string {
	pieces := parts(s)
	for i := 0; i < len(pieces); i += 2 {
		pieces[i] = do(pieces[i])
	}
	return strings.Join(pieces, "")
}

func outsideQuotes(old, with string) func(string) string {
	return func(s string) string {
		return outside(s, func(part string) string { return strings.ReplaceAll(part, old, with) })
	}
}

func recased(do func(string) string) func(string) string {
	return func(s string) string { return outside(s, do) }
}

func mixedCase(s string) string {
	out := []byte(strings.ToLower(s))
	for i := range out {
		if i%2 == 1 && out[i] >= 'a' && out[i] <= 'z' {
			out[i] -= 'a' - 'A'
		}
	}
	return string(out)
}

// TestRespelledStatements writes every listed statement in every way: what is stopped stays stopped, and as strictly; what is
// allowed stays allowed, unless it is written as nobody writes.
func TestRespelledStatements(t *testing.T) {
	for _, statement := range statements(t, "stopped.sql") {
		plain := verdictOn(t, statement).Verdict
		for _, r := range sqlSpellings {
			if d := verdictOn(t, r.do(statement)); interlock.Stricter(d.Verdict, plain) != d.Verdict {
				t.Errorf("%s loosens %s to %s: %s", r.name, plain, d.Verdict, r.do(statement))
			}
		}
	}
	for _, statement := range statements(t, "allowed.sql") {
		for _, r := range sqlSpellings {
			if d := verdictOn(t, r.do(statement)); !r.odd && d.Verdict != interlock.Allow {
				t.Errorf("%s tightens to %s by %v: %s", r.name, d.Verdict, rulesOf(d), r.do(statement))
			}
		}
	}
}

// FuzzRespelledStatements: any chain of sqlSpellings of a statement that is stopped leaves it stopped.
func FuzzRespelledStatements(f *testing.F) {
	list := statements(f, "stopped.sql")
	f.Add(uint16(0), []byte{0, 5})
	f.Add(uint16(7), []byte{1, 14, 9})
	f.Add(uint16(40), []byte{15, 6})
	f.Fuzz(func(t *testing.T, which uint16, ways []byte) {
		statement := list[int(which)%len(list)]
		for i, way := range ways {
			if i == 4 {
				break
			}
			statement = sqlSpellings[int(way)%len(sqlSpellings)].do(statement)
		}
		if d := verdictOn(t, statement); d.Verdict == interlock.Allow {
			t.Errorf("allowed: %s", statement)
		}
	})
}
