package admission

import (
	"testing"

	"interlock"
	"interlock/internal/admission/core"
)

func TestDisplayShowsWhatHides(t *testing.T) {
	got := core.Display(interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Dir: "/repo", Hint: "tidy\x1b[2J up",
		Input: "rm -rf ./build\u200b\n# \u202eabc\u202c ⟦U+0041⟧ \\u0041 ünïcödé"})
	want := "kind: shell\ntool: Bash\ndir: /repo\nstated purpose: tidy⟦U+001B⟧[2J up\n\n" +
		"rm -rf ./build⟦U+200B⟧\n# ⟦U+202E⟧abc⟦U+202C⟧ ⟦U+27E6⟧U+0041⟧ \\u0041 ünïcödé\n"
	if got != want {
		t.Errorf("Display:\n%s\nwant:\n%s", got, want)
	}
}

// Letters and marks that are drawn as nothing are no less hidden for being letters.
func TestDisplaySpellsOutWhatIsDrawnAsNothing(t *testing.T) {
	for hidden, spelled := range map[string]string{"\u3164": "⟦U+3164⟧", "\u115f": "⟦U+115F⟧", "\uffa0": "⟦U+FFA0⟧", "\u034f": "⟦U+034F⟧",
		"\ufe0f": "⟦U+FE0F⟧", "\U000e0100": "⟦U+E0100⟧", "\u2800": "⟦U+2800⟧", "\u00a0": "⟦U+00A0⟧", "\u00ad": "⟦U+00AD⟧"} {
		if got, want := core.Visible("rm "+hidden+"x"), "rm "+spelled+"x"; got != want {
			t.Errorf("%+q shows as %q, want %q", hidden, got, want)
		}
	}
}
