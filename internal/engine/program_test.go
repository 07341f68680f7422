package engine

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"interlock"
)

// TestPrograms decides about programs: testdata/programs holds an archive for each way of writing or kind of harm, with a
// hostile program beside a benign one. A file's name is the answer, a number, and the language: deny-01.py.
func TestPrograms(t *testing.T) {
	kinds := map[string]interlock.Kind{".py": interlock.KindPython, ".js": interlock.KindJavaScript, ".sh": interlock.KindShell}
	files, err := filepath.Glob("testdata/programs/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("there are %d archives of programs (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			stopped, passed := 0, 0
			for _, program := range archive.Files {
				want, _, _ := strings.Cut(program.Name, "-")
				kind, ok := kinds[path.Ext(program.Name)]
				if !ok || want != "deny" && want != "ask" && want != "allow" {
					t.Fatalf("%s names no answer and language", program.Name)
				}
				if want == "allow" {
					passed++
				} else {
					stopped++
				}
				q := question{rules: shipped(t), snapshot: standing(), now: noon,
					action: interlock.Action{Kind: kind, Input: string(program.Data), Dir: "/home/user/project"}}
				q.analysis = analyser(t).Analyse(q.snapshot.View, q.action)
				if d := q.decide(); d.Answer.String() != want {
					t.Errorf("%s: answered %s by %v:\n%s", program.Name, d.Answer, rulesOf(d), program.Data)
				}
			}
			if stopped == 0 || passed == 0 {
				t.Errorf("%d programs are stopped and %d pass; both are wanted", stopped, passed)
			}
		})
	}
}
