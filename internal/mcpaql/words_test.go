package mcpaql

import (
	"strings"
	"testing"

	"interlock"
)

// TestAStopSaysThatNobodyHasItsCode: where a code was made and no channel took it, and nowhere else.
func TestAStopSaysThatNobodyHasItsCode(t *testing.T) {
	for name, test := range map[string]struct {
		answer interlock.Answer
		nobody bool
	}{
		"no code":           {interlock.Answer{}, false},
		"channels, no code": {interlock.Answer{Channels: []string{"console"}}, false},
		"a channel has it":  {interlock.Answer{Challenge: "c", Channels: []string{"console"}}, false},
		"no channel has it": {interlock.Answer{Challenge: "c"}, true},
	} {
		note := noteOf(dangerZone, test.answer, "it deletes the root")
		if strings.Contains(note, "No channel took the code") != test.nobody || !strings.HasPrefix(note, "Stopped: it deletes the root") {
			t.Errorf("%s: %q", name, note)
		}
	}
}

// TestLongTextsAreCut: what a caller chose is repeated up to the bound, in characters.
func TestLongTextsAreCut(t *testing.T) {
	whole := strings.Repeat("ä", maxShown)
	if got := short(whole); got != whole {
		t.Errorf("a text of the greatest length became %q", got)
	}
	if got, want := short(whole+"ä"), strings.Repeat("ä", maxShown-1)+"…"; got != want {
		t.Errorf("a longer one became %q", got)
	}
}
