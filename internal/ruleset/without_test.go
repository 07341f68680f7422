package ruleset_test

import (
	"testing"

	"interlock"
	"interlock/internal/ruleset"
)

// TestWithout: one rule is gone, the others are found as before, and the ruleset it was taken from has not changed.
func TestWithout(t *testing.T) {
	set, err := ruleset.Load(nil, map[string][]byte{"a.yaml": []byte("rules:\n" +
		"  - {id: a.one, layer: 2, verdict: deny, reason: r, match: {glob: [\"one*\"]}}\n" +
		"  - {id: b.two, layer: 2, verdict: deny, reason: r, match: {glob: [\"*two*\"]}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	matched := func(set *ruleset.Ruleset) (ids string) {
		for _, rule := range set.MatchTexts(interlock.KindShell, []ruleset.Text{{Kind: interlock.KindShell, Value: "one two"}}) {
			ids += rule.ID + " "
		}
		return ids
	}
	less := set.Without("a.one")
	if got := matched(less); got != "b.two " || len(less.Rules()) != 1 || less.Digest() != set.Digest() {
		t.Errorf("without it %q match, of %d", got, len(less.Rules()))
	}
	if got := matched(set); got != "a.one b.two " || len(set.Rules()) != 2 {
		t.Errorf("the whole ruleset matches %q now", got)
	}
}
