package impact_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"

	"github.com/google/go-cmp/cmp"
)

// FuzzWindows: text for PowerShell and for cmd.exe is analysed without panic, not even one that a reader would recover
// from, and within the work bound, twice with equal results, and every impact has all its dimensions.
func FuzzWindows(f *testing.F) {
	for _, seed := range []string{
		"$x = @{a=1;b=@(1,2)}; foreach ($i in $x.Keys) { $i }", "\"$(\"$(\"a\")\")\"", "@'\na\n'@", "@\"\n$x\n\"@", "& { & { & 'x' } }", "iex (-join (1..9))",
		"'{0}{1}' -f 'a'", "[char]0x41 + [char[]](65,66) -join ''", "function f { f }; f", "a | % { $_.b() } | ? { $_ }",
		"switch (1) { 1 { x } default { y } }",
		"try { a } catch [b], [c] { d } finally { e }", "$a, $b = 1, 2", "x --% y", "`", "$", "@", "[", "{", "(", "\"", "'", "<#",
		"$(", "@{", "a`\nb", "-join", "..", "1..99999999",
		"if exist a (b) else (c & d)", "for /f \"x\" %i in ('y') do @z %i", "set a=b&& call %a:~0,1% !a:b=c!",
		"cmd /c \"cmd /c \"\"x\"\"\"", "a ^\nb", "%", "!", "^", "(", ")", "for %i in (", "if \"", "echo %~dp0%1",
		strings.Repeat("(", 300), strings.Repeat("{", 300), strings.Repeat("$(", 300), strings.Repeat("cmd /c ", 200),
		strings.Repeat("if a==a ", 300), strings.Repeat("%a%", 500),
	} {
		f.Add(seed)
	}
	analyser := impact.NewAnalyser(impacttest.Knowledge(f)).Strict()
	f.Fuzz(func(t *testing.T, input string) {
		input = input[:min(len(input), 1<<13)]
		view := interlock.View{Home: `C:\Users\dev`, Workspace: `C:\Users\dev\project`}
		for _, tool := range []string{"powershell", "cmd", ""} {
			action := interlock.Action{Kind: interlock.KindShell, Tool: tool, Input: input}
			got := analyser.Analyse(view, action)
			if diff := cmp.Diff(got, analyser.Analyse(view, action)); diff != "" {
				t.Fatalf("%s: not deterministic:\n%s", tool, diff)
			}
			for _, i := range got.Impacts {
				if i.Kind == "" || i.Reach == "" || i.Reversibility == "" || i.Confidence == "" {
					t.Errorf("%s: impact lacks a dimension: %+v", tool, i)
				}
			}
		}
	})
}
