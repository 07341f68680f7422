package ledger_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"interlock"
	"interlock/internal/ledger"
)

// TestShadowIsBounded: however much parts, what is kept stays small, says what there was no room for, and the sum is right.
func TestShadowIsBounded(t *testing.T) {
	var kept ledger.ShadowBody
	kept.Ruleset = "sha256:01"
	const ways, times = 400, 5
	for n := range ways * times {
		var more ledger.ShadowBody
		at := now.Add(time.Duration(n) * time.Second)
		more.Count(at, interlock.Ask, interlock.Deny)
		more.Part(ledger.Parted{Agent: fmt.Sprint("agent", n%ways), Rule: "r", Was: interlock.Ask, Now: interlock.Deny, Count: 1,
			Examples: []ledger.PartedExample{{Event: "e", At: at, Reason: strings.Repeat("ü", 4000)}}})
		kept.Add(more)
	}
	sum := kept.Others
	for _, p := range kept.Parted {
		sum += p.Count
		if len(p.Examples) != 3 {
			t.Errorf("%d examples", len(p.Examples))
		}
		for _, e := range p.Examples {
			if len(e.Reason) > 200 || len(e.Reason) < 190 || !utf8.ValidString(e.Reason) {
				t.Fatalf("%d bytes of a reason: %q", len(e.Reason), e.Reason)
			}
		}
	}
	if sum != ways*times || kept.Decisions != sum || kept.Questions != [2]int{sum, 0} || kept.Others == 0 {
		t.Errorf("%d of %d decisions, %v questions, %d others", sum, kept.Decisions, kept.Questions, kept.Others)
	}
	if !kept.From.Equal(now) || !kept.To.Equal(now.Add((ways*times-1)*time.Second)) {
		t.Errorf("from %v to %v", kept.From, kept.To)
	}
	text, err := json.Marshal(kept)
	if err != nil || len(text) > 300_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
