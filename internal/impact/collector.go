package impact

import (
	"sort"

	"interlock"
)

// A Text is one thing that would be executed, normalised: quotes resolved, wrappers removed, one simple command, statement
// or request each. Patterns are matched against these and not against the raw input, so that data is not taken for code.
type Text struct {
	Kind  interlock.Kind `json:"kind"`
	Value string         `json:"value"`
}

// A collector is where an analysis puts what it finds, within bounds. Nested payloads (a shell command in a tool call, Python
// in a shell command) report to the same collector, so that work, nesting and findings are counted once for the whole action.
type collector struct {
	depth   int     // nesting of payloads inside payloads
	work    int     // steps spent, against maxWork
	trace   *tracer // notes what is read, where somebody asked for it
	impacts []interlock.Impact
	texts   []Text
	read    func(kind interlock.Kind, input string) // reads a payload; whoever begins an analysis says which reader is for what
}

// nested reads a payload of the given kind found inside the action, or the action's own input.
func (c *collector) nested(kind interlock.Kind, input string) {
	if reason := c.enter(input); reason != "" {
		c.unknown(string(kind), reason)
		return
	}
	defer c.leave()
	if c.trace != nil {
		c.trace.enter(string(kind), input)
		defer c.trace.leave()
	}
	c.read(kind, input)
}

// add records an impact, with its traits in order and without repeating one that stands already.
func (c *collector) add(i interlock.Impact) {
	sort.Strings(i.Traits)
	i.Traits = compact(i.Traits)
	if i.Confidence == "" {
		i.Confidence = interlock.Parsed
	}
	if c.trace != nil {
		c.trace.found(i)
	}
	if c.spend(len(c.impacts) / 32); len(c.impacts) >= maxImpacts && i.Confidence != interlock.Unknown {
		c.work = maxWork + 1 // the rest is as good as unknown, and said to be
		return
	}
	for n := len(c.impacts) - 1; n >= 0; n-- { // what repeats mostly does so at once
		if equalImpact(&c.impacts[n], &i) {
			return
		}
	}
	c.impacts = append(c.impacts, i)
}

// unknown records that something could not be understood; traits say why.
func (c *collector) unknown(via string, traits ...string) {
	c.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: via,
		Reversibility: interlock.Irreversible, Confidence: interlock.Unknown, Traits: traits})
}

// executes records a normalised text that would be executed.
//
// A loop or a list that does the same again shows it once: what patterns find in a text they find the first time.
func (c *collector) executes(kind interlock.Kind, value string) {
	if !shown(c, kind, value) {
		c.texts = append(c.texts, Text{Kind: kind, Value: value})
	}
}

// shown reports whether a text was recorded a moment ago.
func shown[T string | []byte](s *collector, kind interlock.Kind, value T) bool {
	for i := len(s.texts) - 1; i >= 0 && i >= len(s.texts)-8; i-- {
		if s.texts[i].Value == string(value) && s.texts[i].Kind == kind {
			return true
		}
	}
	return false
}

func compact(sorted []string) []string {
	out := sorted[:0]
	for i, t := range sorted {
		if i == 0 || t != sorted[i-1] {
			out = append(out, t)
		}
	}
	return out
}

func equalImpact(a, b *interlock.Impact) bool {
	if a.Kind != b.Kind || a.Target != b.Target || a.Reach != b.Reach || a.Reversibility != b.Reversibility ||
		a.Amount != b.Amount || a.Confidence != b.Confidence || a.Via != b.Via || len(a.Traits) != len(b.Traits) {
		return false
	}
	for i := range a.Traits {
		if a.Traits[i] != b.Traits[i] {
			return false
		}
	}
	return true
}
