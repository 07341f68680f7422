package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock"
)

// The defaults and bounds of what is judged afterwards.
const (
	judgeOwed      = 256
	judgeOwedMost  = 10_000
	judgeAnswer    = Duration(10 * time.Minute)
	judgeAnswerMin = Duration(time.Minute) // a call's answer may be repeated to its harness for so long
	judgeAnswerMax = Duration(24 * time.Hour)
)

// MostOwed is how many judgments may be owed at once.
func (j Judge) MostOwed() int { return cmp.Or(j.Owed, judgeOwed) }

// AnswerWithin is how long a judge has to answer for what was let through.
func (j Judge) AnswerWithin() time.Duration { return time.Duration(cmp.Or(j.Within, judgeAnswer)) }

// checkLater refuses classes on which judges are always heard before, and what is no class.
func (j Judge) checkLater() error {
	for _, class := range j.After {
		if err := checkClass("judge.after", class); err != nil {
			return err
		}
	}
	for _, class := range slices.Sorted(maps.Keys(j.Sample)) {
		if err := checkClass("judge.sample", class); err != nil {
			return err
		}
		if share := j.Sample[class]; share < 1 || share > 99 {
			return interlock.Errorf(interlock.CodeInvalid, "judge.sample", "of %s %d of 100 are judged; name 1 to 99, or leave the class "+
				"out to have all judged", class, share)
		}
	}
	switch {
	case j.Owed < 0 || j.Owed > judgeOwedMost:
		return interlock.Errorf(interlock.CodeInvalid, "judge.owed", "is 1 to %d", judgeOwedMost)
	case j.Within != 0 && (j.Within < judgeAnswerMin || j.Within > judgeAnswerMax):
		return interlock.Errorf(interlock.CodeInvalid, "judge.within", "is from 1m to 24h")
	}
	return nil
}

// checkClass refuses what is no class of action, and a class that is always judged before: no setting opens that (ASA 17.1).
func checkClass(at, class string) error {
	kind, reach, _ := strings.Cut(class, " ")
	if !slices.Contains(interlock.ImpactKinds(), interlock.ImpactKind(kind)) || !slices.Contains(interlock.Reaches(), interlock.Reach(reach)) {
		return interlock.Errorf(interlock.CodeInvalid, at, "%.60q is no class of action; write a kind of impact and how far it reaches, such as "+
			"write workspace; docs/judge.md lists them", class)
	}
	if why := interlock.JudgedBefore(interlock.ImpactKind(kind), interlock.Reach(reach)); why != "" {
		return interlock.Errorf(interlock.CodeInvalid, at, "names %s, which is always judged before it is done: %s; take it out", class, why)
	}
	return nil
}

// joinSample leaves of the classes that are sampled those that were ordered as well, and of two shares the greater.
func joinSample(base, want map[string]int) map[string]int {
	joined := map[string]int{}
	for class, share := range want { // in any order: it fills a map
		if was, ordered := base[class]; ordered {
			joined[class] = max(share, was)
		}
	}
	if maps.Equal(joined, want) {
		return want
	}
	return joined
}

// joinOwed is the lesser of two bounds, where none means the default.
func joinOwed(base, want int) int {
	if cmp.Or(base, judgeOwed) < cmp.Or(want, judgeOwed) {
		return base
	}
	return want
}
