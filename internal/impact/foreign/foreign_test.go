package foreign_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"

	"github.com/google/go-cmp/cmp"
)

// oneLiners are how each language is given a program on the command line.
func oneLiners() []string {
	return []string{"perl -e ", "ruby -e ", "php -r ", "lua -e ", "awk ", "julia -e ", "Rscript -e ", "elixir -e ", "groovy -e ",
		"tclsh <<< ", "emacs --batch --eval ", "racket -e ", "clojure -e ", "vim -es -c "}
}

func quoted(program string) string { return "'" + strings.ReplaceAll(program, "'", `'\''`) + "'" }

// FuzzOtherLanguages: any program in any language that a table describes is read without panic, twice with equal results, and
// every impact of it has all its dimensions.
func FuzzOtherLanguages(f *testing.F) {
	for _, seed := range []string{
		`system("rm -rf " . $ENV{HOME})`, `for my $f (glob "~/*") { unlink $f }`, `s/a/system("x")/e`, `s{s{s{}{}e}{}e}{}e`, `%w[a b] %x(ls) %q`,
		"<<E\n#{x}\nE", `"#{"#{"#{1}"}"}"`, `"${${${`, `File.join(Dir.home, "x") |> File.rm_rf!()`, `print > "x" | "sh"`, `"a" | getline l < "b"`,
		`(let ((x "a")) (delete-directory x t))`, `((((`, `#p"a" #\( '(a . b)`, `file delete [glob ~/*]`, `[[[[`, `if {1} {if {1} {exec rm $x}}`,
		`f <- function(x) x; f(list.files("~"))`, "run(`rm $(homedir())`)", `["rm", "-rf"].execute()`, `exe "!" . "rm" | q`, `=begin`, `$f->($x)`, `\`,
		`x.send(:system, "ls")`, `a?b:c`, `{|x| x}`, `@{[ 1 ]}`, `$$$x`, `<$fh>`, `q(`, "\xff",
	} {
		f.Add(seed)
	}
	analyser := impact.NewAnalyser(impacttest.Knowledge(f))
	view := interlock.View{Home: "/home/dev", Workspace: "/home/dev/project"}
	f.Fuzz(func(t *testing.T, program string) {
		program = program[:min(len(program), 1<<12)]
		for _, way := range oneLiners() {
			action := interlock.Action{Kind: interlock.KindShell, Input: way + quoted(program)}
			got := analyser.Analyse(view, action)
			if diff := cmp.Diff(got, analyser.Analyse(view, action)); diff != "" {
				t.Fatalf("%s: not deterministic:\n%s", way, diff)
			}
			for _, i := range got.Impacts {
				if i.Kind == "" || i.Reach == "" || i.Reversibility == "" || i.Confidence == "" {
					t.Errorf("%s: impact lacks a dimension: %+v", way, i)
				}
			}
		}
	})
}
