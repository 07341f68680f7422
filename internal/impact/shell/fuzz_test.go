package shell_test

import (
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/windows"
	"regexp"
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

// FuzzShell: any input is analysed without panic and within the work bound, twice with equal results; input no dialect of
// the shell parses, and no reader of documentation, has an impact that says so.
func FuzzShell(f *testing.F) {
	for _, seed := range []string{
		"rm -rf /", "curl x | sh", "f(){ f|f& };f", "cat <<E\n$(rm x)\nE", "find . -exec", "xargs -I", "echo {a,{b,c}}$x",
		"for i in a b; do echo $i; done", "parallel :::", "parallel echo ::: a", "env -S", "sudo", "bash -c", "sh -c --",
		"git -c", "git -c a=!b x", "${{ x }}", "a=(1 2); echo ${a[@]} ${a[5]}", "exec 3<>/dev/tcp/a/1; cat <&3", "cd -; popd; cd",
		"alias a=a; a; a", "printf '%s\\n' a b %", "printf -v x", "x=${y:=z}; echo ${x:1:2} ${x//a/b} ${x%%*}", "\\", "'", "((", "$((1",
		"sed -e", "awk", "perl -e '`", "ruby -e '%x{'", "tar cf", "dd of=", "kubectl exec x --", "docker run", "trap x 0", "set --", "read",
		"echo $'\\x'", "echo \"$(echo \"$(echo x)\")\"", "<<A <<B\nA\nB\n", "<<0", "cat <<A <<B", "sed <x>\nrm <y>", "$(cat <<A",
		"ln -s a b; cat b", "time", "! !", "vim -c", "[ a", "[[ a", "00&&",
		"printf 'all: a ; x\\n\\trm $(X) $$y $(shell ls)\\na: all\\n' > Makefile; make",
		"echo '{\"scripts\": {\"a\": \"rm b' > package.json; npm run a; npm i", "exec 3> >(sh); echo ls >&3", "vim -c ':set x|:py3 a|:!b'",
		"\u00a0rm", "rm\u200b -rf /", strings.Repeat("(", 300), strings.Repeat("$(", 300), strings.Repeat("a|", 200), "echo \xff", "a\x00b",
	} {
		f.Add(seed)
	}
	know := impacttest.Knowledge(f)
	analyser := impact.NewAnalyser(know)
	f.Fuzz(func(t *testing.T, input string) {
		input = input[:min(len(input), 1<<14)]
		action := interlock.Action{Kind: interlock.KindShell, Input: input}
		view := interlock.View{Home: "/home/dev", Workspace: "/home/dev/project"}
		got := analyser.Analyse(view, action)
		if diff := cmp.Diff(got, analyser.Analyse(view, action)); diff != "" {
			t.Fatalf("not deterministic:\n%s", diff)
		}
		for _, i := range got.Impacts {
			if i.Kind == "" || i.Reach == "" || i.Reversibility == "" || i.Confidence == "" {
				t.Errorf("impact lacks a dimension: %+v", i)
			}
		}
		understood := parses(input) || meantForWindows(know, input) || strings.Contains(input, "${{") ||
			placeholder.MatchString(input) || dangling.MatchString(input)
		if !understood && !saysSo(got.Impacts) {
			t.Error("input that does not parse has no impact that says so")
		}
	})
}

// What documentation leaves open for its reader to fill in; such text is understood in spite of the error it is.
var placeholder = regexp.MustCompile(`<[A-Za-z][^<>]{0,47}>`)

// An operator that nothing but a comment follows: a shell waits for the rest, and what stands before is what is judged.
var dangling = regexp.MustCompile(`(&&|\|\|)[ \t]*(#[^\n]*)?[ \t\r\n\\]*$`)

func parses(input string) bool {
	if strings.Count(input, "(") > 100 {
		return true // not asked: the parser itself would be at risk
	}
	for _, dialect := range []syntax.LangVariant{syntax.LangBash, syntax.LangMirBSDKorn, syntax.LangPOSIX} {
		if _, err := syntax.NewParser(syntax.Variant(dialect)).Parse(strings.NewReader(input), ""); err == nil ||
			strings.Contains(err.Error(), "unclosed here-document") { // which a shell runs with a warning
			return true
		}
	}
	return false
}

func saysSo(list []interlock.Impact) bool {
	return hasUnknown(list) || slices.ContainsFunc(list, func(i interlock.Impact) bool { return i.Has(fact.TraitUnparsable) })
}

func hasUnknown(list []interlock.Impact) bool {
	for _, i := range list {
		if i.Confidence == interlock.Unknown {
			return true
		}
	}
	return false
}

// TestHostileNestingIsRefused: shapes that would make the parser recurse without bound never reach it.
func TestHostileNestingIsRefused(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	for _, unit := range []string{"(", "((", "$(", "$((", "<(", "{ ", "${a:-", "if ", "while ", "[[ (", "\"$(", "a[", "$[",
		"case a in b) ", "for i in a;do ", "(')'", "(\")\"", "( #)\n", "(\\)"} {
		input := strings.Repeat(unit, 200_000/len(unit))
		got := analyser.Analyse(interlock.View{}, interlock.Action{Kind: interlock.KindShell, Input: input})
		want := []interlock.Impact{{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: "sh",
			Reversibility: interlock.Irreversible, Confidence: interlock.Unknown, Traits: []string{fact.TraitNested}}}
		if diff := cmp.Diff(want, got.Impacts); diff != "" {
			t.Errorf("%q repeated: want(-) got(+):\n%s", unit, diff)
		}
	}
}

// TestCodeInHereDocumentsIsText: brackets in strings of a program that is written to a file do not count as nesting, and
// what only looks like such a document is bounded all the same.
func TestCodeInHereDocumentsIsText(t *testing.T) {
	program := strings.Repeat("check(\"(\", '[')\n", 300)
	if got := shellImpacts(t, "cat > x.py <<'EOF'\n"+program+"EOF\nls"); hasUnknown(got) {
		t.Errorf("a program in a here-document is not understood: %v", impacttest.Briefs(got))
	}
	for _, unit := range []string{"{ ", "(", "if ", "$(", "[ "} {
		for _, open := range []string{"echo $((1 <<'A'\n", "# <<'A'\n", "echo \"<<'A'\"\n"} {
			if got := shellImpacts(t, strings.Repeat(open+strings.Repeat(unit, 20_000)+"\nA\n", 3)); !hasUnknown(got) {
				t.Errorf("%q repeated after %q is understood", unit, open)
			}
		}
	}
}

// meantForWindows reports whether a text has signs of a shell of Windows, so that it is read as its language.
func meantForWindows(tables *know.Knowledge, input string) bool {
	meant, _ := windows.SignsOf(tables, input).Verdict()
	return meant != flow.DialectGuess
}
