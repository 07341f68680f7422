package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/meter"
	"interlock/internal/ruleset"
)

// Judges are who judges in this home, and how they do now in the process that serves the console.
type Judges struct {
	List    []JudgeState
	Ground  JudgeGround
	Budgets []judging.JudgeSpent
}

// A JudgeState is how one judge does.
type JudgeState struct {
	Name     string
	Model    string // with everything else that is pinned
	Breaker  string
	Until    time.Time // it is open
	Tested   time.Time // zero: not by this process
	Passed   bool
	Reason   string // why not
	InFlight int
	Waiting  int
}

// JudgeGround are the ground rules in force.
type JudgeGround struct {
	Digest interlock.Digest
	Rules  int
	Origin string // whose they are
	Note   string // what is to be known beside; empty: nothing
}

// Amounts writes sums of money, each in millionths of one unit.
func Amounts(of map[string]int64) string {
	var list []string
	for _, currency := range slices.Sorted(maps.Keys(of)) {
		list = append(list, millionths(of[currency], currency))
	}
	return strings.Join(list, ", ")
}

// millionths writes an amount in millionths of one unit of a currency.
func millionths(amount int64, currency string) string {
	text := strings.TrimRight(fmt.Sprintf("%d.%06d", amount/1e6, amount%1e6), "0")
	return strings.TrimSuffix(text, ".") + " " + currency
}

// A SpentBar is a judges' budget as a bar: what [gauge] is to limits.
type SpentBar struct{ judging.JudgeSpent }

// Budget says that it is one.
func (SpentBar) Budget() bool { return true }

// share is how much is used, in percent, rounded down: only what is used up is full.
func (s SpentBar) share() int64 {
	if s.Most <= 0 {
		return 100
	}
	return int64(float64(s.Used) / float64(s.Most) * 100)
}

// Who says whose questions it counts together.
func (s SpentBar) Who() string {
	if s.Per == core.JudgePerAll {
		return "all questions"
	}
	return "each " + string(s.Per) + map[bool]string{true: ", nobody yet", false: ": " + s.Of}[s.Of == ""]
}

// Says is the text beside the bar.
func (s SpentBar) Says() string {
	return millionths(s.Used, s.Currency) + " of " + millionths(s.Most, s.Currency) + ", " + PercentWords(s.share())
}

// Within is for how long a question counts.
func (s SpentBar) Within() string {
	return Gauge{bound: meter.Bound{Window: s.Window}}.lasting().Within
}

// Label is the name of the bar.
func (s SpentBar) Label() string { return s.ID + " for " + inPlain(s.Who()) }

// Now is where the bar ends.
func (s SpentBar) Now() int64 { return min(max(s.share(), 0), 100) }

// Marks are none: there is no ladder.
func (SpentBar) Marks() []int { return nil }

// Fill is the colour of the bar, by the same steps as those of other budgets.
func (s SpentBar) Fill() string {
	b := ruleset.Budget{Most: 100}
	return "step-" + cmp.Or(b.Step(s.share()).Name, "free")
}

// Tone is how loud the word beside it is.
func (SpentBar) Tone() string { return "bad" }

// Standing says what follows where nothing is left.
func (s SpentBar) Standing() string {
	if s.Used >= s.Most {
		return "used up: what needs a judge is denied"
	}
	return ""
}

// JudgeTook says how long an answer took.
func JudgeTook(j interlock.Judgment) string {
	if j.Micros == 0 {
		return "nothing was sent"
	}
	return "in " + InWords(time.Duration(j.Micros)*time.Microsecond)
}

// JudgeUsed says what an answer used; empty where that is not known. What was remembered used it the first time.
func JudgeUsed(j interlock.Judgment) string {
	var list []string
	if j.TokensIn+j.TokensOut > 0 {
		list = append(list, Comma(j.TokensIn)+" tokens in, "+Comma(j.TokensOut)+" out")
	}
	if j.Cost > 0 {
		list = append(list, millionths(j.Cost, j.Currency))
	}
	if len(list) > 0 && j.Remembered {
		return "the first time " + strings.Join(list, " · ")
	}
	return strings.Join(list, " · ")
}
