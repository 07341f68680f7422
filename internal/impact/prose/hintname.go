package prose

import (
	"strings"

	"interlock"
	"interlock/internal/impact/call"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// maxSpoken bounds how many names are read out of one hint.
const maxSpoken = 256

// Spoken returns what a hint names, in the forms in which operators write down operations: the hint itself, every name of
// a tool in it, and what each sentence says will be done, from its verb on, in words joined by underscores. A policy that
// lists delete_all* so meets "Delete All Files", deleteAllFiles and "next I'll delete all the files". What a sentence says
// will not be done, or only speaks about, is not named.
func Spoken(k *know.Knowledge, prose string) []string {
	v := vocabulary{k.Prose()}
	if len(prose) > fact.MaxInput {
		prose = prose[:fact.MaxInput]
	}
	out := []string{strings.TrimSpace(prose)}
	for _, sentence := range sentences(prose) {
		if len(out) >= maxSpoken {
			break
		}
		out = append(out, v.spokenIn(sentence[:min(len(sentence), 4096)])...)
	}
	return out[:min(len(out), maxSpoken)]
}

func (v vocabulary) spokenIn(sentence string) (out []string) {
	p := v.parseSentence(sentence)
	for i, word := range p.words[:min(len(p.words), 128)] {
		if v.deniedAt(p.low, i) || v.discussedAt(p.low, i) {
			continue
		}
		if parts := lex.NameWords(word); len(parts) > 1 && !v.isPathWord(word) && !strings.ContainsAny(word, "/@:") {
			out = append(out, strings.Join(parts, "_"))
		}
		if i == 0 || v.Verbs[v.stem(p.low[i])] != "" ||
			lex.Has(p.low[i-1:i], "i'll", "will", "to", "me", "then", "and", "please", "now") {
			out = append(out, v.spokenFrom(p.low, i))
		}
	}
	return out
}

// spokenFrom joins the words of a sentence from one on, without those that only point: the first in its plain form.
func (v vocabulary) spokenFrom(low []string, at int) string {
	words := []string{v.stem(low[at])}
	for _, w := range low[at+1 : min(len(low), at+16)] {
		if !v.Is(know.Determiner, w) && w != "my" && w != "your" && w != "of" && w != "our" {
			words = append(words, lex.NameWords(w)...)
		}
	}
	return strings.Join(words, "_")
}

// toolInProse judges a tool that a sentence says will be called by its name, as a call of it without arguments: a hint that
// names drop_table is about nothing safer than that.
func (s proseRun) toolInProse(p *sentence) {
	for i, word := range p.words[:min(len(p.words), 64)] {
		name, _, _ := strings.Cut(word, "(")
		if !strings.Contains(name, "_") || strings.ContainsAny(name, "/@:=.$%\\") || len(lex.NameWords(name)) < 2 ||
			s.deniedAt(p.low, i) || s.discussedAt(p.low, i) {
			continue
		}
		if i > 0 && !lex.Has(p.low[i-1:i], "call", "calling", "calls", "invoke", "invoking", "execute", "executing", "run",
			"running", "tool", "operation") {
			continue
		}
		for _, impact := range s.Capture(func() { call.Named(s.Scan, name) }) {
			impact.Confidence = interlock.Inferred
			s.Add(impact)
		}
		return
	}
}
