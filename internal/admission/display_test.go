package admission

import (
	"testing"

	"interlock"
)

func TestDisplayShowsWhatHides(t *testing.T) {
	got := Display(interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Dir: "/repo", Hint: "tidy\x1b[2J up",
		Input: "rm -rf ./build\u200b\n# \u202eabc\u202c ⟦U+0041⟧ \\u0041 ünïcödé"})
	want := "kind: shell\ntool: Bash\ndir: /repo\nstated purpose: tidy⟦U+001B⟧[2J up\n\n" +
		"rm -rf ./build⟦U+200B⟧\n# ⟦U+202E⟧abc⟦U+202C⟧ ⟦U+27E6⟧U+0041⟧ \\u0041 ünïcödé\n"
	if got != want {
		t.Errorf("Display:\n%s\nwant:\n%s", got, want)
	}
}
