// Package classify says what may become of a text: whether it may go on as it is (OK), without its sensitive parts (REDACT),
// without its risky parts and after a review (FLAG_FOR_REVIEW), or not at all (BLOCK). It is the deterministic classifier of
// the MACE Safety Boundaries, section 3.
//
// A [Result] is a function of a text and a [Ruleset] alone: no model, file, clock or network takes part, so that a replay
// under the same ruleset says the same. A ruleset is data (rules/safety.yaml): which findings of each detector lead where.
// The detectors are leaves: secret finds credentials, personal finds personal data, inject finds orders to a model, and
// harm.go here finds requests for what nobody is helped with. What a reader sees and a comparison of bytes does not, letters
// of other alphabets, signs without width, text that is encoded once, is undone for looking only (view.go); spans are of the
// original bytes.
//
// Text looks at a whole text, a Stream at one that comes in pieces; both cut it into the same windows, so that they agree.
// Start with Text here, then ruleset.go, window.go and detect.go.
package classify

import (
	"slices"
	"strings"

	"interlock/internal/personal"
	"interlock/internal/secret"
)

// Redacted takes the place of something sensitive in a text, Omitted that of something risky.
const (
	Redacted = secret.Marker
	Omitted  = "[omitted]"
)

// What people are told, in the exact words of MACE 3.3 and of its companion about privacy. The apostrophes are U+2019.
const (
	BlockMessage   = "I can’t help with that."
	RedactMessage  = "Some information was removed for safety."
	PrivacyMessage = "I can’t store or repeat that kind of sensitive personal information."
)

// Redact returns text with every secret replaced by [Redacted], and the kinds found, sorted and without repeats.
// Redacting twice is redacting once.
func Redact(text string) (redacted string, kinds []string) { return secret.Redact(text) }

// RedactPersonal is [Redact] where personal data of the high and the medium tier may not stand either (MACE 4). Secrets go first: an
// address in front of which a password stands is a secret and no e-mail.
func RedactPersonal(text string) (redacted string, kinds []string) {
	redacted, kinds = Redact(text)
	var out strings.Builder
	at := 0
	for _, s := range personal.Find(redacted) {
		if s.Tier == personal.Low || s.Start < at {
			continue
		}
		out.WriteString(redacted[at:s.Start] + Redacted)
		at = s.End
		kinds = append(kinds, s.Kind)
	}
	if at == 0 {
		return redacted, kinds
	}
	slices.Sort(kinds)
	return out.String() + redacted[at:], slices.Compact(kinds)
}

// A Classification is what may become of a text.
type Classification string

// The classifications, in the words of MACE 3.1 and the strictest last.
const (
	Pass   Classification = "OK"
	Remove Classification = "REDACT"
	Review Classification = "FLAG_FOR_REVIEW"
	Refuse Classification = "BLOCK"
)

// rank orders classifications; what is none is the strictest.
func (c Classification) rank() int {
	switch c {
	case Pass:
		return 0
	case Remove:
		return 1
	case Review:
		return 2
	}
	return 3
}

// Stricter reports whether c lets less through than other.
func (c Classification) Stricter(other Classification) bool { return c.rank() > other.rank() }

// A Span is what one rule found in a text: its bytes from Start up to End.
type Span struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Rule  string `json:"rule"`
	Kind  string `json:"kind"`
	Tier  string `json:"tier,omitempty"` // of personal data: high, medium or low

	verdict Classification
}

// Verdict is what the rule of a span wants of the text.
func (s Span) Verdict() Classification { return s.verdict }

// A Result is what the classifier says of one text.
type Result struct {
	Classification Classification
	Rule           string // the first rule, in the order of the ruleset, of those that want the strictest; empty for OK
	Reason         string // what that rule says, for people
	Message        string // what the user is told; empty for OK
	Ruleset        string // the snapshot's id; empty if the ruleset is unknown
	Spans          []Span // in the order of the text, at most [MaxSpans]
	Found          int    // how many there are, those left out included
	Integrity      bool   // the ruleset is unknown: the text is blocked, and the caller records INTEGRITY_FAILURE

	// Redacted is the text without what is sensitive and nothing else changed. Shown is what may go on: the text itself,
	// the redacted text, that without its risky parts, or the refusal. A Stream has already handed both out.
	Redacted string
	Shown    string
}

// MaxSpans bounds the spans that are listed. Redaction has no bound.
const MaxSpans = 4096

// UnknownRuleset is the rule that is named where the ruleset is unknown.
const UnknownRuleset = "safety.unknown-ruleset"

// Text classifies a whole text. Without a ruleset, because none of that name or snapshot is known, the text is blocked.
func Text(ruleset *Ruleset, text string) Result {
	s := NewStream(ruleset)
	s.whole = true
	if text == "" || len(text) >= s.size || ruleset == nil {
		s.shown = make([]byte, 0, len(text))
		s.write(text)
	} else {
		s.text = text
		s.window(text, true)
	}
	return s.close()
}
