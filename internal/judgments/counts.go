package judgments

import (
	"maps"
	"slices"
	"time"

	"interlock"
)

// The outcomes beside the failures, which stand under their own names.
const (
	Allowed     = "allow"
	Denied      = "deny"
	Conditional = "conditional" // denied by a ground rule that leaves it to a person
)

// Bounds are the upper bounds of how long an answer took: 1 ms to 30 s. What took longer comes after the last.
func Bounds() []time.Duration {
	return []time.Duration{time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond,
		500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second}
}

const buckets = 12

// A Key says what is counted together.
type Key struct{ Judge, Class string }

// A Count is what came of asking one judge about actions of one class. What was remembered or not sent took no time, no tokens and no money.
type Count struct {
	Outcomes   map[string]int64 // of all answers, also those that were remembered
	Remembered int64
	Timed      int64
	Micros     int64
	Took       [buckets]int64 // by the bounds, not summed up
	In, Out    int64          // tokens
	Cost       map[string]int64
}

// A Gates is how decisions about actions of one class went through the two gates.
type Gates struct {
	Decided int64
	Asked   int64    // gate 2
	Denied  [2]int64 // by gate 1, by gate 2
}

// Counts are what came of asking judges. The zero value is ready to use; it is not safe for concurrent use.
type Counts struct {
	Judges map[Key]*Count
	Gates  map[string]*Gates
	Shared int64 // alerts that an agent reasons with a judge's model
}

// maxKeys bounds how many judges and classes are counted by name, whatever a log holds. The rest is counted together.
const (
	maxKeys = 2000
	Other   = "other"
)

// Add counts what an entry tells.
func (c *Counts) Add(s Seen) {
	if s.Shared {
		c.Shared++
	}
	if s.Decided {
		g := c.gates(s.Class)
		g.Decided++
		if s.Asked {
			g.Asked++
		}
		if s.Denied > 0 {
			g.Denied[s.Denied-1]++
		}
	}
	for n := range s.Said {
		c.judge(Key{s.Said[n].Judge, s.Class}).add(&s.Said[n])
	}
}

// Merge adds what others have counted.
func (c *Counts) Merge(o *Counts) {
	c.Shared += o.Shared
	for class, from := range o.Gates { // any order: they are summed up
		to := c.gates(class)
		to.Decided, to.Asked = to.Decided+from.Decided, to.Asked+from.Asked
		to.Denied[0], to.Denied[1] = to.Denied[0]+from.Denied[0], to.Denied[1]+from.Denied[1]
	}
	for key, from := range o.Judges { // likewise
		c.judge(key).merge(from)
	}
}

func (c *Counts) gates(class string) *Gates {
	if c.Gates == nil {
		c.Gates = map[string]*Gates{}
	}
	if c.Gates[class] == nil && len(c.Gates) >= maxKeys {
		class = Other
	}
	if c.Gates[class] == nil {
		c.Gates[class] = &Gates{}
	}
	return c.Gates[class]
}

func (c *Counts) judge(key Key) *Count {
	if c.Judges == nil {
		c.Judges = map[Key]*Count{}
	}
	if c.Judges[key] == nil && len(c.Judges) >= maxKeys {
		key = Key{Other, Other}
	}
	if c.Judges[key] == nil {
		c.Judges[key] = &Count{Outcomes: map[string]int64{}, Cost: map[string]int64{}}
	}
	return c.Judges[key]
}

// Outcome is what a judgment is counted as.
func Outcome(j interlock.Judgment) string {
	switch {
	case j.Failure != "":
		return string(j.Failure)
	case j.Verdict == interlock.Allow:
		return Allowed
	case j.Conditional:
		return Conditional
	}
	return Denied
}

func (c *Count) add(j *interlock.Judgment) {
	c.Outcomes[Outcome(*j)]++
	if j.Remembered {
		c.Remembered++
		return
	}
	c.In, c.Out = c.In+max(j.TokensIn, 0), c.Out+max(j.TokensOut, 0)
	if j.Cost > 0 {
		c.Cost[j.Currency] += j.Cost
	}
	if j.Failure.Unsent() {
		return
	}
	c.Timed++
	c.Micros += max(j.Micros, 0)
	bounds := Bounds()
	bucket := 0
	for bucket < len(bounds) && time.Duration(j.Micros)*time.Microsecond > bounds[bucket] {
		bucket++
	}
	c.Took[bucket]++
}

func (c *Count) merge(o *Count) {
	for outcome, n := range o.Outcomes { // any order: they are summed up
		c.Outcomes[outcome] += n
	}
	for currency, n := range o.Cost { // likewise
		c.Cost[currency] += n
	}
	c.Remembered, c.Timed, c.Micros, c.In, c.Out = c.Remembered+o.Remembered, c.Timed+o.Timed, c.Micros+o.Micros, c.In+o.In, c.Out+o.Out
	for n := range c.Took {
		c.Took[n] += o.Took[n]
	}
}

// Within is the bound within which so many of a hundred answers came; 0 where none was timed, and the last where they took longer.
func (c *Count) Within(hundredths int64) time.Duration {
	bounds := Bounds()
	sum := int64(0)
	for n, bound := range bounds {
		if sum += c.Took[n]; c.Timed > 0 && sum*100 >= c.Timed*hundredths {
			return bound
		}
	}
	if c.Timed == 0 {
		return 0
	}
	return bounds[len(bounds)-1]
}

// Of is all that was counted of one judge.
func (c *Counts) Of(judge string) Count {
	all := Counts{}
	of := all.judge(Key{judge, ""})
	for key, one := range c.Judges { // any order: they are summed up
		if key.Judge == judge {
			of.merge(one)
		}
	}
	return *of
}

// Keys are the judges and classes, in order.
func (c *Counts) Keys() []Key {
	return slices.SortedFunc(maps.Keys(c.Judges), func(a, b Key) int {
		return slices.Compare([]string{a.Judge, a.Class}, []string{b.Judge, b.Class})
	})
}

// Classes are the classes that decisions were about, in order.
func (c *Counts) Classes() []string { return slices.Sorted(maps.Keys(c.Gates)) }
