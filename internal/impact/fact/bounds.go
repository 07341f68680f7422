package fact

import (
	"unicode/utf8"
)

// The bounds of one analysis. They are counted, not clocked, so that equal input is bounded equally everywhere.
const (
	MaxInput   = 1 << 20 // bytes of one input
	MaxNesting = 64      // open brackets, quotes and substitutions before a recursive parser sees the input
	MaxDepth   = 8       // payloads inside payloads
	MaxImpacts = 1_000   // impacts of one action
	MaxWork    = 200_000 // syntax nodes, words and tokens over the whole action
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

// Spend counts n steps and reports whether the work bound still holds.
func (c *Collector) Spend(n int) bool {
	c.Work += n
	return c.Work <= MaxWork
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
