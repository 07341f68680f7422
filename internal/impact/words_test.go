package impact_test

import (
	"slices"
	"testing"

	"interlock"
	"interlock/internal/impact"
)

func TestWordsOfOneCommand(t *testing.T) {
	for line, want := range map[string][]string{
		"git push --force origin feature/x":   {"git", "push", "--force", "origin", "feature/x"},
		`git commit -m "a fix; of things"`:    {"git", "commit", "-m", "a fix; of things"},
		`echo 'a $b'"c d"e`:                   {"echo", "a $bc de"},
		"npm publish --tag=next":              {"npm", "publish", "--tag=next"},
		"  make   install  ":                  {"make", "install"},
		"find . -name '*.pyc'":                {"find", ".", "-name", "*.pyc"},
		`git commit --allow-empty-message ""`: {"git", "commit", "--allow-empty-message", ""},
	} {
		if got := impact.Words(interlock.Action{Kind: interlock.KindShell, Input: line}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{"", " ", "git push; rm -rf x", "git push && rm x", "git push || rm x", "git push | sh", "git push &",
		"git push;", "git push\nrm x", "git push > f", "git push < f", "git push 2>&1", "git push <<< x", "git push <<E\nx\nE\n", "A=1 git push",
		"A=1", "git push $B", "git push ${B}", "git push $(id)", "git push `id`", "git push \"$B\"", "git push \"a`id`\"", "git push ~", "git push ~/x",
		"git push *", "git push a?", "git push [a]", "git push {a,b}", "git push a\\ b", "git push $'a'", "git push $\"a\"", "! git push",
		"(git push)", "{ git push; }", "if true; then git push; fi", "git push # now", "# now\ngit push", "time git push", "f() { git push; }",
		"git push !x", "git push \"!x\"", "git push <(id)", "[[ a ]]", "((1))", "let x=1", "declare x", "export A=b", "coproc git push", "git push '",
		"git push ^x", "git push =ls", "\"\" push", "'A=1' x", "git push 'a\nb'", "git push é", "git push \x00x", "git push %{x}"} {
		if got := impact.Words(interlock.Action{Kind: interlock.KindShell, Input: line}); got != nil {
			t.Errorf("%q: %q", line, got)
		}
	}
	for _, a := range []interlock.Action{{Kind: interlock.KindSQL, Input: "git push"}, {Kind: interlock.KindShell, Tool: "powershell",
		Input: "git push"}, {Kind: interlock.KindShell, Tool: "cmd.exe", Input: "git push"}} {
		if got := impact.Words(a); got != nil {
			t.Errorf("%+v: %q", a, got)
		}
	}
}

func TestPatternsOfWords(t *testing.T) {
	if got := impact.PatternWords(`git push --force origin feature/*`); !slices.Equal(got, []string{"git", "push", "--force", "origin", "feature/*"}) {
		t.Errorf("%q", got)
	}
	for _, pattern := range []string{"git push '*'", `git push "*"`, "git push *; rm x", "git push * | sh",
		"git push * > f", "git push $*", "git push a?"} {
		if got := impact.PatternWords(pattern); got != nil {
			t.Errorf("%q: %q", pattern, got)
		}
	}
}
