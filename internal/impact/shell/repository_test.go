package shell_test

import (
	"slices"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
)

// A folder of an unusual name is obeyed as a repository without a question where its settings can be seen to run
// nothing and it has no hooks, and only there.
func TestRepositoryOfAnotherName(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	const plain, evil = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@example.com:a/b\n",
		"[core]\n\tfsmonitor = ./evil.sh\n"
	for _, c := range []struct {
		command string
		files   map[string]string
		asked   bool
	}{
		{"git --git-dir=g status", nil, true},
		{"git --git-dir=g status", map[string]string{"/w/g/config": plain}, false},
		{"git --git-dir=g status", map[string]string{"/w/g/config": evil}, true},
		{"GIT_DIR=/w/g git status", map[string]string{"/w/g/config": plain}, false},
		{"export GIT_DIR=g; git status", map[string]string{"/w/g/config": evil}, true},
		{"git --git-dir=g log", map[string]string{"/w/g/config": plain, "/w/g/commondir": "../h"}, true},
		{"git --git-dir=g commit", map[string]string{"/w/g/config": plain, "/w/g/hooks/pre-commit": "./x"}, true},
		{"git --git-dir=g log", map[string]string{"/w/g/config": "[extensions]\n\tworktreeConfig = true\n"}, true},
		{"git --git-dir=g log", map[string]string{"/w/g/config": "[include]\n\tpath = x\n"}, true},
		{"cp -r g x.git", map[string]string{"/w/g/config": plain}, false},
		{"cp -r g x.git", nil, true},
		{"ln -s g .git", map[string]string{"/w/g/config": evil}, true},
		{"ln -s g .git", map[string]string{"/w/g/config": plain}, false},
	} {
		view := interlock.View{Home: "/home/u", Workspace: "/w", Scripts: c.files}
		found := analyser.Analyse(view, interlock.Action{Kind: interlock.KindShell, Input: c.command, Dir: "/w"})
		asked := slices.ContainsFunc(found.Impacts, func(i interlock.Impact) bool {
			return i.Has(fact.TraitObeyed) || i.Has(fact.TraitHooked) || i.Kind == interlock.ImpactPersist
		})
		if asked != c.asked {
			t.Errorf("%s beside %v: asked about: %v, want %v", c.command, c.files, asked, c.asked)
		}
	}
	view := interlock.View{Home: "/home/u", Workspace: "/w", Scripts: map[string]string{"/w/g/config": plain}}
	wanted := analyser.Analyse(view, interlock.Action{Kind: interlock.KindShell, Input: "git --git-dir=g log", Dir: "/w"}).Wanted
	if !slices.Contains(wanted, "/w/g/commondir") || !slices.Contains(wanted, "/w/g/hooks/*[^l]?") {
		t.Errorf("asks to read %v", wanted)
	}
}
