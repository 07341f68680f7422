package engine

import (
	"os"
	"strings"
	"testing"

	"interlock"
)

// TestSteps holds sentences in which a coding agent tells its next step against the default profile: those of everyday
// work pass in silence, those that announce something grave are stopped.
func TestSteps(t *testing.T) {
	for _, test := range []struct {
		file  string
		least int
		pass  bool
	}{{"testdata/steps-pass.txt", 240, true}, {"testdata/steps-stop.txt", 80, false}} {
		data, err := os.ReadFile(test.file)
		if err != nil {
			t.Fatal(err)
		}
		sentences := strings.Split(strings.TrimSpace(string(data)), "\n")
		if len(sentences) < test.least {
			t.Errorf("%s holds %d sentences; at least %d are wanted", test.file, len(sentences), test.least)
		}
		for _, sentence := range sentences {
			q := question{rules: shipped(t), snapshot: standing(), now: noon,
				action: interlock.Action{Kind: interlock.KindHint, Input: sentence, Dir: "/home/user/project"}}
			q.analysis = analyser(t).Analyse(q.snapshot.View, q.action)
			d := q.decide()
			if (d.Verdict == interlock.Allow) != test.pass {
				t.Errorf("%s: %s by %v: %s", test.file, d.Verdict, rulesOf(d), sentence)
			}
		}
	}
}
