package impact_test

import (
	"fmt"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
)

// hostile are inputs made to be slow to read, by size: an analyser that looks back at what it has read, or reads it again,
// takes four times as long for twice the input.
func hostile() map[string]func(bytes int) string {
	repeat := func(unit string) func(int) string {
		return func(bytes int) string { return strings.Repeat(unit, bytes/len(unit)+1)[:bytes] }
	}
	lines := func(form string) func(int) string {
		return func(bytes int) string {
			var b strings.Builder
			for i := 0; b.Len() < bytes; i++ {
				fmt.Fprintf(&b, form, i)
			}
			return b.String()
		}
	}
	out := map[string]func(int) string{
		"many commands":      lines("echo a%d\n"),
		"many deletions":     lines("rm -rf build/a%d\n"),
		"many variables":     lines("v%d=x\n"),
		"variables in pipes": lines("v%d=x; true | cat\n"),
		"many here-documents": func(bytes int) string {
			return strings.Repeat("cat <<E\nx\nE\n", bytes/12)
		},
		"open here-documents": lines("cat <<E%d\n"),
		"many pipes":          func(bytes int) string { return "true" + strings.Repeat(" | cat", bytes/6) },
		"many alternatives":   func(bytes int) string { return "true" + strings.Repeat(" || a", bytes/5) },
		"many functions":      lines("f%d() { ls; }\n"),
		"function calls":      func(bytes int) string { return "f() { ls; }\n" + strings.Repeat("f\n", bytes/2) },
		"long word":           func(bytes int) string { return "cat " + strings.Repeat("a", bytes) },
		"long path":           func(bytes int) string { return "cat " + strings.Repeat("/a", bytes/2) },
		"climbing path":       func(bytes int) string { return "cat a" + strings.Repeat("/..", bytes/3) },
		"long pattern":        func(bytes int) string { return "cat /" + strings.Repeat("*a", bytes/2) },
		"many patterns":       lines("rm -f a%d/*.k* b/?_rs*\n"),
		"patterns of a kind":  func(bytes int) string { return "rm" + strings.Repeat(" *.a*.k*", bytes/8) },
		"braces":              func(bytes int) string { return "echo " + strings.Repeat("{a,b}", bytes/5) },
		"growing variable":    lines("a=$a$a%d\n"),
		"appended variable":   lines("a+=%d\n"),
		"written files":       lines("echo x > f%d\n"),
		"appended file":       lines("echo x%d >> f\n"),
		"many words":          func(bytes int) string { return "rm" + strings.Repeat(" a", bytes/2) },
		"many flags":          func(bytes int) string { return "tar" + strings.Repeat(" -x", bytes/3) },
		"flags of one word":   func(bytes int) string { return "rm -" + strings.Repeat("r", bytes) },
		"many variables used": func(bytes int) string { return "echo " + strings.Repeat("${a}", bytes/4) },
		"many substitutions":  func(bytes int) string { return "echo " + strings.Repeat("$(a)", bytes/4) },
		"aliases":             lines("alias a%d=ls\n"),
		"base64 pieces":       func(bytes int) string { return "echo " + strings.Repeat("QUJD", bytes/4) + " | base64 -d | sh" },
		"eval of much":        func(bytes int) string { return "eval '" + strings.Repeat("ls;", bytes/3) + "'" },
		"python inline":       func(bytes int) string { return "python3 -c '" + strings.Repeat("a=b+c\n", bytes/6) + "'" },
		"sql inline":          func(bytes int) string { return "psql -c '" + strings.Repeat("select 1;", bytes/9) + "'" },
		"perl members":        func(bytes int) string { return "perl -e '" + strings.Repeat("a->b.", bytes/5) + "'" },
		"ruby members":        func(bytes int) string { return "ruby -e '" + strings.Repeat("a.", bytes/2) + "'" },
		"perl open texts":     func(bytes int) string { return "perl -e '" + strings.Repeat("\"${", bytes/3) + "'" },
		"lisp brackets":       func(bytes int) string { return "racket -e '" + strings.Repeat("(", bytes) + "'" },
		"tcl brackets":        func(bytes int) string { return "tclsh <<< '" + strings.Repeat("[a ", bytes/3) + "'" },
		"awk inline":          func(bytes int) string { return "awk '" + strings.Repeat("{print $1}", bytes/10) + "'" },
		"links":               lines("ln -s a b%d\n"),
		"loop items":          func(bytes int) string { return "for i in" + strings.Repeat(" a/b", bytes/4) + "; do rm $i; done" },
		"xargs items":         func(bytes int) string { return "echo" + strings.Repeat(" a", bytes/2) + " | xargs rm" },
		"array elements":      lines("a[%d]=x\n"),
		"parameters": func(bytes int) string {
			return "set --" + strings.Repeat(" a", bytes/2) + "; echo \"$@\" \"$@\" \"$@\""
		},
		"unclosed quotes": lines("echo 'a%d\n"),
		"markers":         func(bytes int) string { return strings.Repeat("<a>", bytes/3) },
		"templates":       func(bytes int) string { return strings.Repeat("${{a}} ", bytes/7) },
	}
	for _, c := range "'\"`$(){}[]<>|&;\\*?~#!=%^,:.\n\t " {
		out[fmt.Sprintf("only %q", c)] = repeat(string(c))
		out[fmt.Sprintf("words of %q", c)] = repeat("a" + string(c) + " ")
	}
	return out
}

// BenchmarkHostile reads each hostile input at 16, 32 and 64 KB.
func BenchmarkHostile(b *testing.B) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(b))
	view := interlock.View{Home: "/home/dev", Workspace: "/home/dev/project"}
	for name, build := range hostile() {
		for _, kb := range []int{16, 32, 64} {
			input := build(kb << 10)
			b.Run(fmt.Sprintf("%s/%dKB", name, kb), func(b *testing.B) {
				for b.Loop() {
					analyser.Analyse(view, interlock.Action{Kind: interlock.KindShell, Input: input, Dir: view.Workspace})
				}
			})
		}
	}
}
