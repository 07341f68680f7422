package classify

import (
	"sort"
	"strings"
)

// What reaches over the end of a text is looked for so many bytes to both sides of it, and where it goes on there, as the lines of a
// key do, as far as anything known goes; in pieces of at most that many.
const (
	maxSeam   = 512
	maxReach  = lookahead
	maxRegion = 64 << 10
)

// Texts classifies several texts under a ruleset: each by itself, and then, of those whose indices are in one run, what reaches from one
// over into the next, as their reader has them one behind the other. That is taken out of each.
func Texts(ruleset *Ruleset, texts []string, runs ...[]int) []Result {
	out := make([]Result, len(texts))
	for n, text := range texts {
		out[n] = Text(ruleset, text)
	}
	if ruleset == nil {
		return out
	}
	j := joiner{ruleset: ruleset, texts: texts, out: out}
	for _, run := range runs {
		if len(run) < 2 {
			continue
		}
		for _, between := range []string{"", " "} {
			j.run(run, between)
		}
	}
	for n := range j.cuts {
		if len(j.cuts[n]) > 0 {
			out[n] = j.cut(n)
		}
	}
	return out
}

// A joiner looks for what is in two texts together.
type joiner struct {
	ruleset *Ruleset
	texts   []string
	out     []Result
	cuts    [][]found // of each text
	region  []byte
	parts   []part
}

// A part is a piece of a text in a region: of which text, from where on, and where it begins in the region.
type part struct{ text, from, at, size int }

// ahead begins a region, because of a text that is nothing but a number more is believed.
const ahead = "| "

// run looks at the texts of a run with a separator between them.
func (j *joiner) run(run []int, between string) {
	j.begin()
	more := 0 // so many bytes of what follows may belong to what was found last
	for _, n := range run {
		size := len(j.texts[n])
		if size <= max(2*maxSeam, more) {
			j.add(n, 0, size, between)
			more -= size
			continue
		}
		if len(j.parts) > 0 {
			j.add(n, 0, min(size, max(maxSeam, more)), between)
			if j.look() && more < maxReach {
				if j.widen(min(size, maxReach)); size <= maxReach {
					more = maxReach - size
					continue
				}
				j.look()
			}
		}
		j.begin()
		j.add(n, j.tail(n), size, between)
		more = 0
	}
	j.look()
}

// tail returns where the end of a text begins that what follows may go on with: what was found there, or a long word.
func (j *joiner) tail(n int) int {
	text, own := j.texts[n], &j.out[n]
	least, from := max(0, len(text)-maxReach), len(text)-maxSeam
	if own.Found > len(own.Spans) {
		return least
	}
	if last := len(own.Spans) - 1; last >= 0 && own.Spans[last].End >= len(strings.TrimRight(text, " \r\n")) {
		from = min(from, own.Spans[last].Start)
	}
	word := len(text)
	for word > least && inBase64(text[word-1]) {
		word--
	}
	return max(least, min(from, word))
}

// widen has the last piece in the region go on to a place in its text.
func (j *joiner) widen(to int) {
	last := &j.parts[len(j.parts)-1]
	j.region = append(j.region, j.texts[last.text][last.from+last.size:to]...)
	last.size = to - last.from
}

func (j *joiner) begin() { j.region, j.parts = append(j.region[:0], ahead...), j.parts[:0] }

// add puts a piece of a text at the end of the region. A region that is long enough is looked at, and its end begins the next.
func (j *joiner) add(n, from, to int, between string) {
	if from == to {
		return
	}
	if len(j.region) > maxRegion {
		j.look()
		keep := len(j.parts) - 1
		for keep > 0 && len(j.region)-j.parts[keep].at < maxSeam {
			keep--
		}
		last := append([]part(nil), j.parts[keep:]...)
		j.begin()
		for _, p := range last {
			j.add(p.text, p.from, p.from+p.size, between)
		}
	}
	if len(j.parts) > 0 {
		j.region = append(j.region, between...)
	}
	j.parts = append(j.parts, part{n, from, len(j.region), to - from})
	j.region = append(j.region, j.texts[n][from:to]...)
}

// look notes what reaches over the end of a piece in the region, and reports whether some of it may go on behind the region.
func (j *joiner) look() (open bool) {
	if len(j.parts) < 2 {
		return false
	}
	for _, s := range j.ruleset.detect(string(j.region)) {
		verdict := j.ruleset.Rules[s.rule].Verdict
		first := sort.Search(len(j.parts), func(n int) bool { return j.parts[n].at+j.parts[n].size > s.Start })
		if verdict == Pass || first >= len(j.parts)-1 || s.End <= j.parts[first+1].at {
			continue
		}
		if s.Start == 0 && j.known(verdict) {
			continue // it is all of them together, because of one
		}
		open = open || s.End >= len(j.region)-1
		if j.cuts == nil {
			j.cuts = make([][]found, len(j.texts))
		}
		for _, p := range j.parts[first:] {
			if p.at >= s.End {
				break
			}
			c := s
			c.Start, c.End = max(s.Start, p.at)-p.at+p.from, min(s.End, p.at+p.size)-p.at+p.from
			j.cuts[p.text] = append(j.cuts[p.text], c)
		}
	}
	return open
}

// known reports whether one of the texts in the region leads by itself where all of them do together.
func (j *joiner) known(verdict Classification) bool {
	for _, p := range j.parts {
		if j.out[p.text].Classification == verdict {
			return true
		}
	}
	return false
}

// cut is the result of a text out of which more is taken than it shows by itself.
func (j *joiner) cut(n int) Result {
	text, own, r := j.texts[n], j.out[n], j.ruleset
	cuts := j.cuts[n]
	best := -1
	for i := range cuts {
		for _, s := range own.Spans { // what is found by itself is not cut in two
			if s.verdict != Pass && s.Start < cuts[i].End && s.End > cuts[i].Start {
				cuts[i].Start, cuts[i].End = min(cuts[i].Start, s.Start), max(cuts[i].End, s.End)
			}
		}
		if best < 0 || r.Rules[cuts[i].rule].Verdict.Stricter(r.Rules[cuts[best].rule].Verdict) {
			best = i
		}
	}
	rule := &r.Rules[cuts[best].rule]
	out := make([]byte, 0, len(text))
	at := 0
	joined := union(cuts)
	for _, c := range joined {
		marker := Redacted
		if rule.Verdict != Remove {
			marker = Omitted
		}
		out = append(append(out, text[at:c.Start]...), marker...)
		at = c.End
	}
	rest := Text(r, string(append(out, text[at:]...)))
	own.Shown, own.Redacted = rest.Shown, rest.Redacted
	if rule.Verdict.Stricter(own.Classification) {
		own.Classification, own.Rule, own.Reason, own.Message = rule.Verdict, rule.ID, rule.Reason, RedactMessage
	}
	if own.Classification == Refuse {
		own.Message, own.Shown, own.Redacted = BlockMessage, BlockMessage, BlockMessage
	}
	for _, c := range joined {
		own.Found++
		own.Spans = append(own.Spans, Span{c.Start, c.End, r.Rules[c.rule].ID, c.kind, c.tier, r.Rules[c.rule].Verdict})
	}
	sort.SliceStable(own.Spans, func(i, k int) bool { return own.Spans[i].Start < own.Spans[k].Start })
	return own
}
