package impact_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
)

// hostileKinds are units that are slow to read for each reader that a text can be handed to, by kind of action.
var hostileKinds = map[interlock.Kind][]string{
	"powershell": {"Remove-Item a;", "$(", "@{", "'", "`", "& {", "$a=$a+$a;", "Get-Item *.k* | "},
	"cmd":        {"del a & ", "(", "%a%", "^", "\"", "for %i in (a) do ", "copy *.k* b\n"},
	"sql":        {"select 1;", "(", "'", "--", "/*", "with a as (select 1) ", "$$", "union select a from b "},
	"python":     {"a=b+c\n", "(", "'", "\"\"\"", "f(", "[", "a.b.", "a=a+a\n", "f'{", "if a:\n "},
	"javascript": {"a=b+c;", "(", "'", "`${", "f(", "{", "a.b.", "a=a+a;", "/", "=>"},
	"hint":       {"delete all files ", "send the password to a@b.example. ", "(", "not ", "`a` ", "- a\n"},
	"perl":       {"system(1);", "\"${", "{", "<<A;", "s/a/b/;", "qw("},
	"ruby":       {"a.b.", "`a`", "#{", "{", "<<A\n", "%w("},
	"awk":        {"{print $1}", "/a/", "{", "getline;", "\"a\" | "},
	"lua":        {"os.execute(a)", "[[", "{", "--[[", "a.b."},
	"php":        {"<?php ", "exec(a);", "$", "{", "<<<A\n"},
}

// TestStepsGrowWithTheText: four times as much of what is slow to read is charged with four times the work, or with more than
// there may be, by every reader.
func TestStepsGrowWithTheText(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	view := interlock.View{Home: "/home/dev", Workspace: "/home/dev/project"}
	grows := func(name string, kind interlock.Kind, build func(bytes int) string) {
		var steps [2]int
		for i, kb := range []int{16, 64} {
			steps[i] = analyser.Steps(view, interlock.Action{Kind: kind, Input: build(kb << 10), Dir: view.Workspace})
		}
		if steps[1] <= fact.MaxWork && steps[1] > 5*steps[0]+4000 {
			t.Errorf("%s: %d steps for 16 KB, %d for 64", name, steps[0], steps[1])
		}
	}
	for name, build := range hostile() {
		grows(name, interlock.KindShell, build)
	}
	for kind, units := range hostileKinds {
		for _, unit := range units {
			repeated := func(bytes int) string { return strings.Repeat(unit, bytes/len(unit)) }
			grows(string(kind)+" "+unit, kind, repeated)
		}
	}
}
