package shell_test

import (
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
)

// Whether a deletion or a command of git loses work follows from what the door saw of it; what it did not see stays as the command's
// description has it.
func TestWork(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	view := interlock.View{Home: "/home/u", Workspace: "/w", Work: map[string]interlock.Work{
		"/w": {Root: true, Changed: true, Untracked: true, Committed: true}, "/w/changed": {Changed: true}, "/w/new": {Untracked: true}, "/w/clean": {},
		"/w/kept": {Ignored: true}, "/w/HEAD": {Absent: true, Committed: true}, "/w/main": {Absent: true}, "/other": {Root: true, Committed: true},
		"/w/clean/*.py": {}, "/w/new/*.py": {Untracked: true},
	}}
	for command, loses := range map[string]bool{
		"rm -rf changed": true, "rm changed": true, "rm -r new": true, "find new -delete": true, "rm -rf new/*": true, "> changed": true,
		": > changed": true, "cp /dev/null changed": true, "mv changed /dev/null": true, "find new -name '*.py' -delete": true,
		"git checkout -- changed": true, "git checkout HEAD -- changed": true, "git checkout main -- clean": true, "git restore changed": true,
		"git clean -fd new": true, "git clean -fdx kept": true, "git clean -fd": true, "git reset --hard": true, "git checkout -- unknown": true,
		"git clean -fd unknown": true, "git worktree remove --force ../away": true, "git checkout -- ../away/a": true, "python3 -c 'import shutil; shutil.rmtree(\"changed\")'": true, "git stash drop": true,
		"git -C /w checkout .": true, "git -C /other switch -f x": true,

		"rm -rf clean": false, "rm new": false, "rm -rf kept": false, "rm -rf unknown": false, "echo x > changed": false,
		"> clean": false, "mv changed other": false,
		"find clean -name '*.py' -delete": false, "git checkout -- clean": false, "git checkout HEAD -- clean": false, "git checkout -- new": false,
		"git restore clean": false, "git -C /tmp/c checkout -- a": false, "git worktree remove --force /tmp/c": false, "git clean -fd clean": false, "git -C /other checkout .": false,
		"python3 -c 'import shutil; shutil.rmtree(\"clean\")'": false, "echo x >> changed": false, "git clean -nd new": false,
	} {
		analysis := analyser.Analyse(view, interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/w"})
		got := slices.ContainsFunc(analysis.Impacts, func(i interlock.Impact) bool { return i.Has(fact.TraitUncommitted) && !i.Has(fact.TraitDryRun) })
		if got != loses {
			t.Errorf("%s: loses work: %v, want %v: %+v", command, got, loses, analysis.Impacts)
		}
	}
}

// Where the workspace itself lies in scratch space, what lies there is work like any other.
func TestWorkInScratchSpace(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	view := interlock.View{Home: "/home/u", Workspace: "/tmp/w"}
	for _, command := range []string{"git checkout -- a", "git restore a", "git worktree remove --force /tmp/c"} {
		analysis := analyser.Analyse(view, interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/tmp/w"})
		if !slices.ContainsFunc(analysis.Impacts, func(i interlock.Impact) bool { return i.Has(fact.TraitUncommitted) }) {
			t.Errorf("%s: loses nothing: %+v", command, analysis.Impacts)
		}
	}
}

// Only what a deletion or git's throwing away would touch is asked about, and only so much of it.
func TestWorkWanted(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	view := interlock.View{Home: "/home/u", Workspace: "/w"}
	for command, want := range map[string]string{
		"rm -rf src": "/w/src", "cd a && git checkout -- b": "/w/a/b", "cd a; rm b c": "/w/a/b /w/a/c", "rm -rf src/*": "/w/src", "> a": "/w/a",
		"ls src": "", "echo x > a": "", "git status": "", "git add a": "", "rm -rf /tmp/x": "", "rm -rf ~/x": "", "rm $x": "",
	} {
		got := analyser.Analyse(view, interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/w"}).Work
		if strings.Join(got, " ") != want {
			t.Errorf("%s: asks about %q, want %q", command, got, want)
		}
	}
	many := interlock.Action{Kind: interlock.KindShell, Input: strings.Join(numbered("rm n", 200), "; "), Dir: "/w"}
	if got := analyser.Analyse(view, many).Work; len(got) != 32 {
		t.Errorf("of 200 paths %d are asked about", len(got))
	}
}
