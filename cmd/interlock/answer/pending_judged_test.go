package answer

import (
	"strings"
	"testing"

	"interlock"
)

// TestPendingShowsJudges: whoever answers reads what judges said beside what the agent wants, as harmless characters.
func TestPendingShowsJudges(t *testing.T) {
	var b strings.Builder
	r := interlock.ApprovalRequest{ID: "apr_1", Display: "kind: shell\n", Judged: []interlock.Judgment{{Judge: "main", Verdict: interlock.Allow},
		{Judge: "second", Verdict: interlock.Deny, Rule: "L3.scope", Layer: 3, Reason: "too wide\x1b[2K"}}}
	if err := printRequest(&b, r, nil); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"judge     main: objects to nothing\n", `judge     second: denies by L3.scope, layer 3: too wide\x1b[2K` + "\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("%q is missing in:\n%s", line, b.String())
		}
	}
}
