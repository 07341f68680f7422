package ruleset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLookingIsTheMachine: looking for each literal by itself names the same conditions in the same order as the machine,
// so that an answer does not depend on how many texts were looked at before.
func TestLookingIsTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conditions := make([]condition, rapid.IntRange(1, 6).Draw(t, "conditions"))
		for n := range conditions {
			conditions[n].groups, _ = patternLiterals(drawPattern(t, 3))
		}
		m := newMatcher(conditions)
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "text"), "")
		folded := foldText(text)
		got, want := m.look(folded), m.machine().candidates(folded, conditions)
		if diff := cmp.Diff(append([]int{}, want...), append([]int{}, got...)); diff != "" {
			t.Errorf("%q: machine(-) look(+):\n%s", text, diff)
		}
	})
}

// TestMatchingManyTexts: the answer stays the same from before the machine is made until after.
func TestMatchingManyTexts(t *testing.T) {
	m := newMatcher([]condition{
		{groups: [][]string{{"push"}, {"force"}}, verify: func(string, string) bool { return true }},
		{verify: func(text, _ string) bool { return text == "ls" }},
	})
	for n := range 2 * maxLooks {
		var got []int
		m.match(0, "git push --force", func(c int) { got = append(got, c) })
		m.match(0, "ls", func(c int) { got = append(got, c) })
		if diff := cmp.Diff([]int{0, 1}, got); diff != "" {
			t.Fatalf("after %d texts: %s", n, diff)
		}
	}
}
