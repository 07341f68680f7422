// Package secret finds credentials in text: keys, tokens, passwords, private key blocks, connection strings.
//
// It is deterministic, reads nothing but its argument and takes time linear in it. What it looks for is the table in
// table.go, tokens with a fixed beginning, and the few shapes in shape.go that have none: key blocks, signed web tokens,
// credentials in URLs, and values assigned to names that speak of secrets (assignment.go). It never says what the secret
// is, only where it is, and it must never be used to keep one.
package secret

import (
	"slices"
	"sort"
)

// Marker is written where a secret was. It is never itself taken for a secret.
const Marker = "[redacted]"

// A Span is one secret in a text: the bytes from Start up to End, and what kind of secret it is.
type Span struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Kind  string `json:"kind"`
}

// Find returns what is a secret in text in all likelihood, in order and without overlaps. What merely could be one, as
// [Suspect] has it, and is more likely an example, public, a number of something or a name, is left out.
func Find(text string) []Span {
	suspects := Suspect(text)
	var kept []Span
	for _, s := range suspects {
		if !doubtful(text, s) {
			kept = append(kept, s)
			continue
		}
		if s.Kind == "password" || s.Kind == "assigned-secret" { // a value that is none by its name can still hold a token
			for _, inner := range Suspect(text[s.Start:s.End]) {
				inner.Start, inner.End = inner.Start+s.Start, inner.End+s.Start
				if inner.Kind != "password" && inner.Kind != "assigned-secret" && !doubtful(text, inner) {
					kept = append(kept, inner)
				}
			}
		}
	}
	return kept
}

// Suspect returns what could be a secret in text, in order and without overlaps; of overlapping ones the first names the
// kind. It is what leaks are judged by and what [Redact] takes away: there a miss is worse than a false alarm.
func Suspect(text string) []Span {
	if len(text) < shortest {
		return nil
	}
	var spans []Span
	t := tables()
	for at := 0; at < len(text); at++ {
		class := t.classes[text[at]]
		if class == 0 || at+1 == len(text) {
			continue
		}
		if class = class&shaped | t.pairs[int(text[at])<<8|int(text[at+1])]; class == 0 {
			continue
		}
		var found Span
		if class&opensToken != 0 && (at == 0 || !isWord(text[at-1]) || text[at-1] == '_' || escapes(text, at)) {
			found = token(text, at)
		}
		if found.End == 0 && class&shaped != 0 {
			found = shape(text, at)
		}
		if found.End == 0 && class&assigns != 0 {
			found = issued(text, assignment(text, at))
		}
		if found.End > found.Start && found.Kind != "private-key" && filler(text[found.Start:found.End]) {
			at = max(at, found.End-1)
			continue
		}
		if found.End > found.Start && !onlyMarkers(text[found.Start:found.End]) {
			spans = append(spans, found)
			at = max(at, found.End-1) // what a secret holds is looked at no further
		}
	}
	return merge(slices.Concat(spans, seedPhrases(text), documents(text), inserted(text)))
}

// issued names an assigned value by its issuer's form, if it has one; a token can reach further than the value seemed to.
func issued(text string, found Span) Span {
	if found.End == 0 {
		return found
	}
	by := token(text, found.Start)
	if by.End == 0 && tables().classes[text[found.Start]]&shaped != 0 {
		by = shape(text, found.Start)
	}
	if by.End > 0 && by.Start == found.Start {
		found.Kind, found.End = by.Kind, max(found.End, by.End)
	}
	return found
}

// Redact returns text with every secret replaced by [Marker], and the kinds found, in order and without repeats.
// Redacting again changes nothing. Removing one secret can bring out another (a run of characters is cut to the length
// of a token), so it looks again until nothing is found; a text built to keep that up is replaced whole.
func Redact(text string) (string, []string) {
	var kinds []string
	for pass := 0; ; pass++ {
		spans := Suspect(text)
		if len(spans) == 0 {
			return text, compact(kinds)
		}
		for _, s := range spans {
			kinds = append(kinds, s.Kind)
		}
		if pass == maxPasses {
			return Marker, compact(kinds)
		}
		text = replace(text, spans)
	}
}

const maxPasses = 6

func replace(text string, spans []Span) string {
	out := make([]byte, 0, len(text))
	from := 0
	for _, s := range spans {
		out = append(append(out, text[from:s.Start]...), Marker...)
		from = s.End
	}
	return string(append(out, text[from:]...))
}

func merge(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].Start < spans[j].Start })
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		if s.Start >= last.End {
			out = append(out, s)
			continue
		}
		last.End = max(last.End, s.End)
	}
	return out
}

func compact(kinds []string) []string {
	sort.Strings(kinds)
	var out []string
	for i, k := range kinds {
		if i == 0 || k != kinds[i-1] {
			out = append(out, k)
		}
	}
	return out
}

// onlyMarkers reports whether a span holds nothing but markers and blanks, so that redaction always makes progress.
func onlyMarkers(s string) bool {
	for i := 0; i < len(s); {
		switch {
		case len(s)-i >= len(Marker) && s[i:i+len(Marker)] == Marker:
			i += len(Marker)
		case s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r':
			i++
		default:
			return false
		}
	}
	return true
}

// escapes reports whether the letter before at belongs to an escape such as \n, so that a token may begin at at.
func escapes(text string, at int) bool {
	return at >= 2 && text[at-2] == '\\' && (text[at-1] == 'n' || text[at-1] == 't' || text[at-1] == 'r')
}
