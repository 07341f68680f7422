package shell_test

import (
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
)

// What an action would run is asked for wherever it lies and however it is run; what is only looked at, and what nobody may
// read for this, is not.
func TestWanted(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	view := interlock.View{Home: "/home/u", Workspace: "/w", Links: map[string]string{"/w/l": "/w/real"}}
	for command, want := range map[string]string{
		"cd sub && sh n.txt": "/w/sub/n.txt", "(cd sub; . ./n.txt)": "/w/sub/n.txt", "D=sub; pushd $D; bash n": "/w/sub/n", "sh ../x/n": "/x/n",
		"sh /tmp/a/n.txt": "/tmp/a/n.txt", "python3 ~/p.py": "/home/u/p.py", "./tool --fast": "/w/tool", "sh l": "/w/real",
		"eval \"$(<n.txt)\"": "/w/n.txt", "bash -c \"$(cat n.txt)\"": "/w/n.txt", "source <(cat n.txt)": "/w/n.txt", "$(cat n.txt)": "/w/n.txt",
		"cat n.txt | sh": "/w/n.txt", "sh < n.txt": "/w/n.txt", "cp n.txt m.sh && sh m.sh": "/w/n.txt", "xargs -a n.txt rm": "/w/n.txt",
		"read -r c < n.txt; $c": "/w/n.txt", "sh sub/*.txt": "/w/sub/*.txt", "psql -f q.sql": "/w/q.sql",
		"make -C sub all": "/w/sub/GNUmakefile /w/sub/makefile /w/sub/Makefile",
		"cat n.txt":       "", "ls n.txt": "", "git status": "", "grep -r x .": "", "sh ~/.ssh/id_rsa": "", "/usr/bin/env": "", "sh /dev/stdin": "",
	} {
		action := interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/w"}
		if got := strings.Join(analyser.Analyse(view, action).Wanted, " "); got != want {
			t.Errorf("%s: wants %q, want %q", command, got, want)
		}
	}
	many := interlock.Action{Kind: interlock.KindShell, Input: strings.Join(numbered("sh n", 200), "; "), Dir: "/w"}
	if got := analyser.Analyse(view, many).Wanted; len(got) != 16 || !slices.Contains(got, "/w/n0") {
		t.Errorf("of 200 files %d are asked for", len(got))
	}
}

func numbered(prefix string, n int) (out []string) {
	for i := range n {
		out = append(out, prefix+string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10)))
	}
	out[0] = prefix + "0"
	return out
}
