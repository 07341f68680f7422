package classify

import (
	"sort"
	"unicode/utf8"
)

// The windows a text is looked at in. What is found belongs to the window in whose part before the lookahead it begins, so that
// nothing is cut by a window's end: the longest thing that is known by its form, a private key, is shorter than the lookahead.
const (
	windowSize  = 96 << 10
	lookahead   = 20 << 10
	leftContext = 512
	maxPasses   = 6 // redacting can bring out something else; so often it is looked again
)

// A Stream classifies a text that comes in pieces. However it is cut, the answer is that of [Text] for the whole, except that
// what has been handed out before something was found can't be taken back: of a text that is blocked in its middle the part
// before was shown. It holds less than 4 MiB, whatever is written to it.
type Stream struct {
	ruleset *Ruleset
	size    int    // of a window
	buffer  []byte // the context, then what is not yet decided
	context int    // bytes of context at its beginning
	base    int    // where the buffer begins in the text
	carried bool   // the last span goes on
	whole   bool   // texts are kept for the result
	text    string // the text, where it is whole and one window holds it

	shown, redacted []byte
	result          Result
	best            int // the rule of the result; -1 is none
}

// NewStream begins to classify a text under a ruleset. Without one it blocks whatever comes.
func NewStream(ruleset *Ruleset) *Stream {
	s := &Stream{ruleset: ruleset, size: windowSize, best: -1}
	s.result.Classification = Pass
	if ruleset == nil {
		s.result = Result{Classification: Refuse, Rule: UnknownRuleset, Integrity: true,
			Reason: "the ruleset that this text is to be classified by is unknown"}
		return s
	}
	s.result.Ruleset = ruleset.ID
	return s
}

// Write takes the next piece and returns what may be shown by now. The bytes are valid until the next call.
func (s *Stream) Write(piece []byte) []byte {
	s.shown = s.shown[:0]
	for len(piece) > 0 { // in parts, so that a large piece takes no more room than a small one
		n := min(len(piece), s.size)
		s.write(string(piece[:n]))
		piece = piece[n:]
	}
	return s.shown
}

// Close ends the text. It returns the rest of what may be shown, and the result, whose own texts are empty.
func (s *Stream) Close() (rest []byte, result Result) {
	s.shown = s.shown[:0]
	result = s.close()
	result.Shown, result.Redacted = "", ""
	return s.shown, result
}

func (s *Stream) write(piece string) {
	for len(piece) > 0 && s.result.Classification != Refuse {
		n := min(len(piece), s.context+s.size-len(s.buffer))
		s.buffer = append(s.buffer, piece[:n]...)
		piece = piece[n:]
		if len(s.buffer) == s.context+s.size {
			s.window(string(s.buffer), false)
		}
	}
}

func (s *Stream) close() Result {
	if s.result.Classification != Refuse && len(s.buffer) > s.context {
		s.window(string(s.buffer), true)
	}
	r := &s.result
	switch r.Classification {
	case Remove, Review:
		r.Message = RedactMessage
	case Refuse:
		r.Message = BlockMessage
		if s.whole {
			s.shown, s.redacted = append(s.shown[:0], BlockMessage...), append(s.redacted[:0], BlockMessage...)
		}
	}
	if s.best >= 0 {
		r.Rule, r.Reason = s.ruleset.Rules[s.best].ID, s.ruleset.Rules[s.best].Reason
	}
	if r.Shown, r.Redacted = s.text, s.text; s.text == "" || r.Classification != Pass {
		r.Shown, r.Redacted = string(s.shown), string(s.redacted)
	}
	return *r
}

// window decides on the text that is in the buffer up to the lookahead, or to its end.
func (s *Stream) window(text string, last bool) {
	found := s.ruleset.detect(text)
	core := len(text)
	if !last {
		core = cutAt(text, max(s.context, len(text)-s.lookahead()))
	}
	from := s.carryOn(text)
	accepted := found[:0]
	for _, span := range found {
		if span.End <= from || span.Start >= core {
			continue
		}
		span.Start = max(span.Start, from) // what begins in the context was decided with it, and what goes on behind it was not
		core = max(core, span.End)
		accepted = append(accepted, span)
	}
	s.carried = s.carried && from == len(text) || !last && len(accepted) > 0 && core == len(text)
	core = max(core, from)
	for _, span := range accepted {
		s.keep(span)
	}
	s.render(text[from:core], from, accepted)
	if last {
		s.context = len(s.buffer)
		return
	}
	s.base += core
	keep := min(core, leftContext)
	s.base -= keep
	s.buffer = append(s.buffer[:0], text[core-keep:]...)
	s.context = keep
}

// lookahead is shorter where windows are.
func (s *Stream) lookahead() int { return min(lookahead, s.size/4) }

// cutAt returns the last place before at, and not long before it, at which a word ends; else one between characters.
func cutAt(text string, at int) int {
	for i := at; i > 0 && at-i < 256; i-- {
		if c := text[i-1]; c == ' ' || c == '\n' {
			return i
		}
	}
	for i := at; i > 0 && at-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}

// carryOn lengthens a span that went on at the end of the last window, and returns where the text behind it begins.
func (s *Stream) carryOn(text string) int {
	at := s.context
	if !s.carried {
		return at
	}
	for at < len(text) && goesOn(text[at]) {
		at++
	}
	if n := len(s.result.Spans); n > 0 {
		s.result.Spans[n-1].End += at - s.context
	}
	return at
}

// keep takes a span into the result.
func (s *Stream) keep(span found) {
	r := &s.result
	rule := &s.ruleset.Rules[span.rule]
	r.Found++
	if len(r.Spans) < MaxSpans {
		r.Spans = append(r.Spans, Span{s.base + span.Start, s.base + span.End, rule.ID, span.kind, span.tier, rule.Verdict})
	}
	if rule.Verdict != Pass && (s.best < 0 || rule.Verdict.Stricter(r.Classification) ||
		rule.Verdict == r.Classification && span.rule < s.best) {
		s.best = span.rule
	}
	if rule.Verdict.Stricter(r.Classification) {
		r.Classification = rule.Verdict
	}
}

// render writes a decided part as it may be shown.
func (s *Stream) render(part string, from int, spans []found) {
	if s.result.Classification == Refuse {
		return
	}
	var sensitive, risky []found
	for _, span := range spans {
		span.Start, span.End = span.Start-from, span.End-from
		switch s.ruleset.Rules[span.rule].Verdict {
		case Remove:
			sensitive = append(sensitive, span)
		case Review:
			risky = append(risky, span)
		}
	}
	if s.text != "" && sensitive == nil && risky == nil && s.result.Classification == Pass {
		return // it is shown as it is
	}
	if s.whole {
		s.redacted = append(s.redacted, s.ruleset.without(part, sensitive)...)
	}
	if len(risky) == 0 {
		s.shown = append(s.shown, s.ruleset.without(part, sensitive)...)
		return
	}
	at := 0
	for _, r := range union(risky) {
		s.shown = append(append(s.shown, s.ruleset.without(part[at:r.Start], within(sensitive, at, r.Start))...), Omitted...)
		at = r.End
	}
	s.shown = append(s.shown, s.ruleset.without(part[at:], within(sensitive, at, len(part)))...)
}

// within returns the parts of spans between two places, counted from the first.
func within(spans []found, from, to int) (out []found) {
	for _, s := range spans {
		if s.Start < to && s.End > from {
			s.Start, s.End = max(s.Start, from)-from, min(s.End, to)-from
			out = append(out, s)
		}
	}
	return out
}

// union joins spans that overlap or touch.
func union(spans []found) (out []found) {
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].Start < spans[j].Start })
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// without returns a text without what is sensitive. Taking something away can bring out something else, so it is looked again
// until nothing is found; a text that is built to keep that up is taken away whole.
func (r *Ruleset) without(text string, spans []found) string {
	for pass := 0; len(spans) > 0; pass++ {
		if pass == maxPasses {
			return Redacted
		}
		out := make([]byte, 0, len(text))
		at := 0
		for _, s := range union(spans) {
			out = append(append(out, text[at:s.Start]...), Redacted...)
			at = s.End
		}
		text = string(append(out, text[at:]...))
		spans = r.removable(text)
	}
	return text
}

// removable returns what is to be taken out of a text.
func (r *Ruleset) removable(text string) []found {
	all := r.sensitive(text)
	out := all[:0]
	for _, s := range all {
		if r.Rules[s.rule].Verdict == Remove {
			out = append(out, s)
		}
	}
	return out
}
