package fact

import (
	"slices"
	"unicode/utf8"

	"interlock"
)

// The bounds of one analysis. They are counted, not clocked, so that equal input is bounded equally everywhere.
const (
	MaxInput   = 1 << 20 // bytes of one input
	MaxNesting = 64      // open brackets, quotes and substitutions before a recursive parser sees the input
	MaxDepth   = 8       // payloads inside payloads
	MaxImpacts = 1_000   // impacts of one action
	MaxWork    = 200_000 // steps over the whole action, see Collector.Spend
)

// Enter admits a payload of some kind or returns the trait that says which bound it is over.
func (c *Collector) Enter(input string) string {
	switch {
	case len(input) > MaxInput:
		return TraitOversize
	case c.Depth >= MaxDepth:
		return TraitNested
	case !utf8.ValidString(input):
		return TraitEncoding
	}
	c.Depth++
	return ""
}

func (c *Collector) Leave() { c.Depth-- }

// Spend counts n steps and reports whether the work bound still holds. A step is a syntax node, a word, a token, a value copied,
// or what 64 bytes cost to be looked through: about a microsecond, and less than a kilobyte. What doesn't look at the answer is
// ended at twice the bound, so that a reader that forgets to look is bounded as well.
func (c *Collector) Spend(n int) bool {
	if c.Work += n; c.Work <= MaxWork && c.Stop == nil {
		return true
	}
	if c.Work > 2*MaxWork && !c.ended || c.stopped() {
		panic(Ended{})
	}
	return c.Work <= MaxWork
}

// SpendBytes counts that so many bytes are looked through, or copied.
func (c *Collector) SpendBytes(n int) bool {
	c.bytes += n
	steps := c.bytes / stepBytes
	c.bytes %= stepBytes
	return c.Spend(steps)
}

// stepBytes is how many bytes are looked through in one step, and stopEvery how many steps there are between two looks at
// whether anybody still waits for the analysis.
const (
	stepBytes = 64
	stopEvery = 1024
)

// Ended is what an analysis panics with that is over its bounds, or that nobody waits for any more. Bounded catches it.
type Ended struct{}

// stopped reports whether nobody waits for the analysis any more.
func (c *Collector) stopped() bool {
	if c.Stop == nil || c.ended || c.Work < c.look {
		return false
	}
	c.look = c.Work + stopEvery
	select {
	case <-c.Stop:
		return true
	default:
		return false
	}
}

// Bounded reads what f reads. Where that goes over its bounds, or ends for them, the rest of the action is unknown.
func (c *Collector) Bounded(f func()) {
	depth := c.Depth
	defer func() {
		if v := recover(); v != nil {
			if _, bounds := v.(Ended); !bounds {
				panic(v)
			}
			c.ended, c.Depth, c.Work = true, depth, max(c.Work, MaxWork+1)
			c.Unknown("", TraitWork)
		}
	}()
	f()
	if c.Work > MaxWork && !slices.ContainsFunc(c.Impacts, func(i interlock.Impact) bool {
		return i.Confidence == interlock.Unknown
	}) {
		c.Unknown("", TraitWork)
	}
}

const (
	MaxSteps = 96 // commands, functions and substitutions inside one another
)

const (
	MaxItems = 8 // values of a loop variable that are followed one by one
)

const (
	MaxList = 1 << 10 // elements of an array
)

// ManyTimes is the number of rounds from which on a loop is there to make something big or to do something until it breaks.
const ManyTimes = 1000

// SearchedFolders are where programs are looked up that are called by their name alone, and where people put their own.
func SearchedFolders() [6]string {
	return [6]string{"/usr/local/bin", "/usr/bin", "~/.local/bin", "~/bin", "~/go/bin", "/usr/local/sbin"}
}
