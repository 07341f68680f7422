package sandbox

import (
	"os"
	"strings"
	"testing"
)

// What the analysis calls a start-up file wherever it lies, a run may not leave behind in its workspace either. A pattern for
// some of a folder's files is not asked of the list, which knows whole names only.
func TestStartupHoldsWhatTheAnalysisKnows(t *testing.T) {
	text, err := os.ReadFile("../../rules/paths.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "\n  startup:\n")
	list, _, _ = strings.Cut(list, "\n  agent-config:")
	asked := 0
	for line := range strings.Lines(list) {
		pattern, listed := strings.CutPrefix(strings.TrimSpace(line), "- ")
		pattern = strings.Trim(pattern, `"`)
		if !listed || strings.ContainsAny(pattern, "*!~:") || strings.HasPrefix(pattern, "/") {
			continue
		}
		asked++
		if path := strings.TrimSuffix(pattern, "/"); !isStartup(Startup(), path, false) {
			t.Errorf("%s is a start-up file to the analysis and none to the sandbox", pattern)
		}
	}
	if !found || asked < 20 {
		t.Errorf("%d patterns were looked at", asked)
	}
}
