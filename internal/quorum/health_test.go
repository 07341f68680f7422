package quorum_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/quorum"
)

func answers(n int, verdict interlock.Verdict, took, apart time.Duration, operator string) []quorum.Answered {
	var out []quorum.Answered
	for i := range n {
		asked := noon.Add(time.Duration(i) * apart)
		out = append(out, quorum.Answered{Operator: operator, Verdict: verdict, Asked: asked, At: asked.Add(took)})
	}
	return out
}

func TestHealth(t *testing.T) {
	mixed := append(answers(6, interlock.Allow, 40*time.Second, 10*time.Minute, "olga"), answers(4, interlock.Deny, 20*time.Second, 10*time.Minute, "ada")...)
	for name, test := range map[string]struct {
		answers []quorum.Answered
		want    quorum.Health
		alarms  string
	}{
		"nobody answered": {nil, quorum.Health{}, ""},
		"sound":           {mixed, quorum.Health{Answers: 10, Median: 40 * time.Second, Approved: 0.6, Busiest: 6}, ""},
		"too few to tell": {answers(9, interlock.Allow, time.Second, time.Minute, "olga"),
			quorum.Health{Answers: 9, Median: time.Second, Approved: 1, Hasty: 1, Busiest: 9}, ""},
		"a stamp": {answers(40, interlock.Allow, 2999*time.Millisecond, time.Minute, "olga"),
			quorum.Health{Answers: 40, Median: 2999 * time.Millisecond, Approved: 1, Hasty: 1, Busiest: 40}, "three seconds|nearly everything|one operator"},
		"spread over operators": {append(answers(20, interlock.Deny, time.Minute, time.Minute, "olga"),
			answers(20, interlock.Deny, time.Minute, time.Minute, "ada")...),
			quorum.Health{Answers: 40, Median: time.Minute, Busiest: 20}, ""},
	} {
		got := quorum.HealthOf(test.answers)
		for _, alarm := range strings.Split(test.alarms, "|") {
			if !strings.Contains(strings.Join(got.Alarms, "\n"), alarm) {
				t.Errorf("%s: no alarm about %q in %q", name, alarm, got.Alarms)
			}
		}
		if test.alarms == "" && len(got.Alarms) > 0 {
			t.Errorf("%s: alarms %q", name, got.Alarms)
		}
		got.Alarms = nil
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestHealthHasNoOrder: the figures are of the answers, however they are listed, and none is out of its range.
func TestHealthHasNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []quorum.Answered
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			asked := noon.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "asked")) * time.Second)
			list = append(list, quorum.Answered{Operator: rapid.SampledFrom([]string{"olga", "ada", ""}).Draw(t, "who"),
				Verdict: rapid.SampledFrom([]interlock.Verdict{interlock.Allow, interlock.Deny}).Draw(t, "verdict"),
				Asked:   asked, At: asked.Add(time.Duration(rapid.IntRange(-5, 600).Draw(t, "took")) * time.Second)})
		}
		h := quorum.HealthOf(list)
		if diff := cmp.Diff(h, quorum.HealthOf(rapid.Permutation(list).Draw(t, "order"))); diff != "" {
			t.Fatalf("another order gives other figures:\n%s", diff)
		}
		if h.Approved < 0 || h.Approved > 1 || h.Hasty < 0 || h.Hasty > 1 || h.Median < 0 || h.Busiest > h.Answers {
			t.Fatalf("%+v", h)
		}
	})
}
