package shell_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
)

// TestPosesAsConfigured: whoever the repository's own settings name as its user is the user, and the settings are asked for only where an
// author is named.
func TestPosesAsConfigured(t *testing.T) {
	const config = "/home/user/project/.git/config"
	commit := interlock.Action{Kind: interlock.KindShell, Input: "git commit -m x --author='Jane Lee <jane@corp.example>'", Dir: "/home/user/project"}
	view := interlock.View{Home: "/home/user", Workspace: "/home/user/project", User: "user"}
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	poses := func(settings string) bool {
		view.Scripts = nil
		if settings != "" {
			view.Scripts = map[string]string{config: settings}
		}
		a := analyser.Analyse(view, commit)
		if asks := len(a.Wanted) == 1 && a.Wanted[0] == config; asks != (settings == "") {
			t.Errorf("with %q it asks for %v", settings, a.Wanted)
		}
		for _, i := range a.Impacts {
			if i.Has(fact.TraitImpersonation) {
				return true
			}
		}
		return false
	}
	for settings, want := range map[string]bool{
		"": true,
		"[core]\n\tbare = false\n[user]\n\tname = Jane Lee\n": false,
		"[user]\n\temail = JANE@corp.example\n":               false,
		"[user]\n\tname = Somebody\n":                         true,
		"[alias]\n\tname = Jane Lee\n":                        true,
	} {
		if got := poses(settings); got != want {
			t.Errorf("%q: %v, want %v", settings, got, want)
		}
	}
	plain := commit
	plain.Input = "git commit -m x"
	if a := analyser.Analyse(view, plain); len(a.Wanted) > 0 {
		t.Errorf("a plain commit asks for %v", a.Wanted)
	}
}
