package classify

import (
	"sort"
	"strings"
	"unicode/utf8"

	"interlock/internal/inject"
	"interlock/internal/personal"
	"interlock/internal/secret"
)

// found is something that a rule selects.
type found struct {
	Start, End int
	kind, tier string
	rule       int
}

// detect returns what the rules find in a text, in its order. Of two findings of sensitive parts that overlap one is made.
func (r *Ruleset) detect(text string) []found {
	all := r.risks(text, r.sensitive(text), maxLayers)
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start < all[j].Start })
	return all
}

// risks is risky, of a text as it is and without its escapes.
func (r *Ruleset) risks(text string, all []found, deep int) []found {
	all = r.risky(text, all)
	if deep == 0 {
		return all
	}
	if v, ok := unescaped(text); ok {
		all = v.through(all, func(text string, all []found) []found { return r.risks(text, all, deep-1) })
	}
	return all
}

// risky adds orders to a model and requests for harm.
func (r *Ruleset) risky(text string, all []found) []found {
	if r.injection {
		if rule := r.rule("injection", "orders", ""); rule >= 0 {
			for _, s := range injected(text) {
				all = append(all, found{s[0], s[1], "orders", "", rule})
			}
		}
	}
	if r.harm {
		all = append(all, r.harmful(text)...)
	}
	return all
}

// sensitive returns credentials and personal data, and words that hold anything a rule is about once they are decoded, in order and
// without overlaps.
func (r *Ruleset) sensitive(text string) []found {
	return r.merged(text, r.layers(text, nil, maxLayers))
}

// layers adds what the detectors of sensitive parts find in a text as it is, as its reader sees it, and as it is without its escapes
// and encodings, as many as that.
func (r *Ruleset) layers(text string, all []found, deep int) []found {
	all = r.look(text, all, deep)
	if !asSeen(text) {
		if v := folded(text); v.text != text {
			all = v.through(all, func(text string, all []found) []found { return r.look(text, all, deep) })
		}
	}
	if deep == 0 {
		return all
	}
	if v, ok := unescaped(text); ok {
		all = v.through(all, func(text string, all []found) []found { return r.layers(text, all, deep-1) })
	}
	return all
}

// look adds what they find in a text as it is, over its line breaks and in its words that are encoded.
func (r *Ruleset) look(text string, all []found, deep int) []found {
	all = r.broken(text, r.plain(text, all))
	if deep > 0 {
		all = r.encoded(text, all, deep-1)
	}
	return all
}

// longSecret is the length at which package secret stops reading a value, however far it goes on.
const longSecret = 64 << 10

// goesOn reports a character that does not end a value.
func goesOn(c byte) bool { return c > ' ' && c != '"' && c != '\'' && c != '`' && c != '<' }

// plain adds what the detectors of sensitive parts find in a text as it is.
func (r *Ruleset) plain(text string, all []found) []found {
	if r.secrets {
		for _, s := range secret.Find(text) {
			for s.End-s.Start >= longSecret && s.End < len(text) && goesOn(text[s.End]) { // what it is known by is over
				s.End++
			}
			if rule := r.rule("secret", s.Kind, ""); rule >= 0 {
				all = append(all, found{s.Start, s.End, s.Kind, "", rule})
			}
		}
	}
	if r.personal {
		for _, s := range personal.Find(text) {
			if rule := r.rule("personal", s.Kind, string(s.Tier)); rule >= 0 {
				all = append(all, found{s.Start, s.End, s.Kind, string(s.Tier), rule})
			}
		}
	}
	return all
}

// merged puts findings in order, on whole characters, and joins those that overlap: the stricter of their rules names the whole, and
// of two that want the same the first in the ruleset, which has credentials before personal data and higher tiers before lower ones.
func (r *Ruleset) merged(text string, all []found) []found {
	for n := range all {
		s := &all[n]
		for s.Start > 0 && s.Start < len(text) && !utf8.RuneStart(text[s.Start]) {
			s.Start--
		}
		for s.End < len(text) && !utf8.RuneStart(text[s.End]) {
			s.End++
		}
	}
	if len(all) < 2 {
		return all
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start < all[j].Start })
	out := all[:1]
	for _, s := range all[1:] {
		last := &out[len(out)-1]
		if s.Start >= last.End {
			out = append(out, s)
			continue
		}
		if r.worse(s.rule, last.rule) {
			last.kind, last.tier, last.rule = s.kind, s.tier, s.rule
		}
		last.End = max(last.End, s.End)
	}
	return out
}

// worse reports whether of two rules the first names what both find.
func (r *Ruleset) worse(one, other int) bool {
	is, was := r.Rules[one].Verdict, r.Rules[other].Verdict
	return is.Stricter(was) || is == was && one < other
}

// injected returns the parts of a text that are orders to a model: its sentences and lines that are, or, where no one is by
// itself, all of it.
func injected(text string) [][2]int {
	in := inject.Injected(text)
	if !in && !asSeen(text) {
		v := folded(text)
		in = v.text != text && inject.Injected(v.text)
	}
	if !in {
		return nil
	}
	var out [][2]int
	start := 0
	for start < len(text) {
		end := sentenceEnd(text, start)
		if part := text[start:end]; len(part) > 8 && inject.Injected(part) {
			if n := len(out); n > 0 && out[n-1][1] == start {
				out[n-1][1] = end
			} else {
				out = append(out, [2]int{start, end})
			}
		}
		start = end
	}
	if out == nil {
		return [][2]int{{0, len(text)}}
	}
	return out
}

// sentenceEnd returns where the sentence or line that begins at a place ends.
func sentenceEnd(text string, start int) int {
	for i := start; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			return i + 1
		case i == start || !endsSentence(text, i):
		case text[i] == '"':
			return i
		default:
			return i + 1
		}
	}
	return len(text)
}

// endsSentence reports a sign at a place with which a sentence ends.
func endsSentence(text string, at int) bool {
	if at+1 == len(text) {
		return false
	}
	next := text[at+1]
	switch text[at] {
	case '.', '!', '?':
		return strings.IndexByte(" \"')", next) >= 0
	case '"':
		return next == ',' || next == '}' || next == ']'
	}
	return false
}
