package fact

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

// A Collector is where an analysis puts what it finds, within bounds. Nested payloads (a shell command in a tool call, Python
// in a shell command) report to the same collector, so that work, nesting and findings are counted once for the whole action.
type Collector struct {
	Depth   int  // nesting of payloads inside payloads
	Work    int  // steps spent, against MaxWork
	bytes   int  // looked through beyond the steps counted for them
	ended   bool // see Bounded
	look    int  // the steps at which Stop is looked at next
	Stop    <-chan struct{}
	Trace   *Tracer // notes what is read, where somebody asked for it
	Impacts []interlock.Impact
	Texts   []Text
	Read    func(kind interlock.Kind, input string) // reads a payload; the caller of an analysis says which reader is for what
}

// Nested reads a payload of the given kind found inside the action, or the action's own input.
func (c *Collector) Nested(kind interlock.Kind, input string) {
	if reason := c.Enter(input); reason != "" {
		c.Unknown(string(kind), reason)
		return
	}
	defer c.Leave()
	if c.Trace != nil {
		c.Trace.Enter(string(kind), input)
		defer c.Trace.Leave()
	}
	c.Read(kind, input)
}

// Add records an impact, with its traits in order and without repeating one that is there already.
func (c *Collector) Add(i interlock.Impact) {
	sort.Strings(i.Traits)
	i.Traits = Compact(i.Traits)
	if i.Confidence == "" {
		i.Confidence = interlock.Parsed
	}
	if c.Trace != nil {
		c.Trace.found(i)
	}
	c.SpendBytes(len(i.Target) + len(i.Via))
	if c.Spend(len(c.Impacts) / 32); len(c.Impacts) >= MaxImpacts && i.Confidence != interlock.Unknown {
		c.Work = MaxWork + 1 // the rest is as good as unknown, and said to be
		return
	}
	for n := len(c.Impacts) - 1; n >= 0; n-- { // what repeats mostly does so at once
		if equalImpact(&c.Impacts[n], &i) {
			return
		}
	}
	c.Impacts = append(c.Impacts, i)
}

// Unknown records that something could not be understood; traits say why.
func (c *Collector) Unknown(via string, traits ...string) {
	c.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: via,
		Reversibility: interlock.Irreversible, Confidence: interlock.Unknown, Traits: traits})
}

// Executes records a normalised text that would be executed.
//
// A loop or a list that does the same again shows it once: what patterns find in a text they find the first time.
func (c *Collector) Executes(kind interlock.Kind, value string) {
	if !Shown(c, kind, value) {
		c.Texts = append(c.Texts, Text{Kind: kind, Value: value})
	}
}

// Shown reports whether a text was recorded a moment ago.
func Shown[T string | []byte](s *Collector, kind interlock.Kind, value T) bool {
	for i := len(s.Texts) - 1; i >= 0 && i >= len(s.Texts)-8; i-- {
		if s.Texts[i].Value == string(value) && s.Texts[i].Kind == kind {
			return true
		}
	}
	return false
}

func Compact(sorted []string) []string {
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
		a.Records != b.Records || a.Bytes != b.Bytes || a.Recipients != b.Recipients || a.Money != b.Money || a.Currency != b.Currency ||
		a.Confidence != b.Confidence || a.Via != b.Via || len(a.Traits) != len(b.Traits) {
		return false
	}
	for i := range a.Traits {
		if a.Traits[i] != b.Traits[i] {
			return false
		}
	}
	return true
}
