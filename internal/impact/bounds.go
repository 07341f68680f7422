package impact

import "unicode/utf8"

// The bounds of one analysis. They are counted, not clocked, so that equal input is bounded equally everywhere.
const (
	MaxInput   = 1 << 20 // bytes of one input
	MaxNesting = 64      // open brackets, quotes and substitutions before a recursive parser sees the input
	maxDepth   = 8       // payloads inside payloads
	maxImpacts = 1_000   // impacts of one action
	maxWork    = 200_000 // syntax nodes, words and tokens over the whole action
)

// enter admits a payload of some kind or returns the trait that says which bound it is over.
func (c *collector) enter(input string) string {
	switch {
	case len(input) > MaxInput:
		return TraitOversize
	case c.depth >= maxDepth:
		return TraitNested
	case !utf8.ValidString(input):
		return TraitEncoding
	}
	c.depth++
	return ""
}

func (c *collector) leave() { c.depth-- }

// spend counts n steps and reports whether the work bound still holds.
func (c *collector) spend(n int) bool {
	c.work += n
	return c.work <= maxWork
}
