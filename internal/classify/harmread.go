package classify

import (
	"strings"
	"sync"
)

// A harmWord is what a word may be, of the aims by their places as bits, and in a request.
type harmWord struct {
	verb, object, unless uint32
	begins               uint32 // an object of two words
	is                   uint8
}

// What words are in any request.
const (
	isAsking = 1 << iota
	isProtecting
	isDone
	isSexual
)

// A harmWords table has the words by themselves, and objects of two words joined by a line; and by their first letter the lengths that its
// words have.
type harmWords struct {
	of  map[string]harmWord
	has [256]uint32
}

// word is what a word may be, by itself.
func (h *harmWords) word(low []byte) harmWord {
	if h.has[low[0]]&(1<<len(low)) == 0 {
		return harmWord{}
	}
	return h.of[string(low)]
}

var harmTable = sync.OnceValue(func() *harmWords {
	out := make(map[string]harmWord, 800)
	add := func(words string, set func(w *harmWord)) {
		for word := range strings.FieldsSeq(words) {
			w := out[word]
			set(&w)
			out[word] = w
		}
	}
	for n, a := range aims {
		bit := uint32(1) << n
		add(a.verbs, func(w *harmWord) { w.verb |= bit })
		add(a.objects, func(w *harmWord) { w.object |= bit })
		add(a.unless, func(w *harmWord) { w.unless |= bit })
		for object := range strings.FieldsSeq(a.objects) {
			if first, _, two := strings.Cut(object, "_"); two {
				add(first, func(w *harmWord) { w.begins |= bit })
			}
		}
	}
	for n, words := range [...]string{asking, protecting, done, sexual} {
		add(words, func(w *harmWord) { w.is |= 1 << n })
	}
	table := &harmWords{of: out}
	for word := range out {
		table.has[word[0]] |= 1 << min(len(word), 31)
	}
	return table
})

// A harmToken is one word of a sentence: what it may be, where it stands and in which of the sentence's lines.
type harmToken struct {
	harmWord
	start, end, line int32
}

// The words that are looked at together, how far the next ones go on with them, and how far from what is asked for the word that asks may
// stand, or one that makes it harmless, where that is not the same line.
const (
	harmWindow = 120
	harmStep   = harmWindow / 2
	harmReach  = 12
)

// harmful returns the sentences that ask for harm. Each line of one is read by itself, and then all of them as one, since a line can be
// broken anywhere.
func (r *Ruleset) harmful(text string) []found {
	v := view{text: text}
	if !asSeen(text) {
		v = folded(text)
	}
	h := harmReader{text: v.text}
	var out []found
	for start := 0; start < len(v.text); {
		start = h.sentence(start)
		kind, from, to := h.asked()
		if kind == "" {
			continue
		}
		if v.places != nil {
			from, to = v.place(from), v.place(to)
		}
		if rule := r.rule("harm", kind, ""); rule >= 0 {
			out = append(out, found{from, to, kind, "", rule})
		}
	}
	return out
}

// A harmReader reads a text by sentences.
type harmReader struct {
	text   string
	tokens []harmToken // of the sentence
}

// sentence reads the words of the sentence that begins at a place, and returns where the next one does.
func (h *harmReader) sentence(at int) int {
	h.tokens = h.tokens[:0]
	known := harmTable()
	line := int32(0)
	for start := at; at < len(h.text); {
		c := h.text[at]
		if !inHarmWord(c) {
			if c == '\n' {
				line++
			}
			at++
			if at > start+1 && (endsSentence(h.text, at-1) || endsLine(h.text, at-1)) {
				break
			}
			continue
		}
		from := at
		for at < len(h.text) && inHarmWord(h.text[at]) {
			at++
		}
		if at-from > maxHarmWord {
			continue
		}
		var low [maxHarmWord]byte
		h.tokens = append(h.tokens, harmToken{known.word(plainWord(low[:0], h.text[from:at])), int32(from), int32(at), line})
	}
	return at
}

// endsLine reports a sign at a place with which a sentence ends, and the line.
func endsLine(text string, at int) bool {
	return strings.IndexByte(".!?", text[at]) >= 0 && at+1 < len(text) && (text[at+1] == '\n' || text[at+1] == '\r')
}

// maxHarmWord is the length of the longest word that is looked at.
const maxHarmWord = 20

// asked returns the kind of harm that the sentence asks for, or nothing, and where.
func (h *harmReader) asked() (kind string, from, to int) {
	all := h.tokens
	for begin := 0; begin < len(all); { // line by line
		end := begin
		for end < len(all) && all[end].line == all[begin].line {
			end++
		}
		if kind, from, to = h.inWindows(begin, end, false); kind != "" {
			return kind, from, to
		}
		begin = end
	}
	if len(all) > 0 && all[len(all)-1].line != all[0].line {
		return h.inWindows(0, len(all), true)
	}
	return "", 0, 0
}

// inWindows looks at words of the sentence, so many at a time; over: only for what goes on over the end of a line.
func (h *harmReader) inWindows(begin, end int, over bool) (kind string, from, to int) {
	for ; ; begin += harmStep {
		window := h.tokens[begin:min(end, begin+harmWindow)]
		may := uint32(0)
		var verb, object uint32
		for i := range window {
			verb, object = verb|window[i].verb, object|window[i].object|window[i].begins
			if window[i].is&isDone != 0 {
				verb |= madeAims()
			}
		}
		may = verb & object
		for n := range aims {
			if may&(1<<n) == 0 {
				continue
			}
			if low, high := h.fits(window, n, over); high > 0 {
				return aims[n].kind, int(window[low].start), int(window[high].end)
			}
		}
		if begin+harmWindow >= end {
			return "", 0, 0
		}
	}
}

// madeAims are the aims that a word behind a thing asks for as well.
var madeAims = sync.OnceValue(func() (out uint32) {
	for n := range aims {
		if aims[n].made {
			out |= 1 << n
		}
	}
	return out
})

// fits returns the words from which to which something is asked for that is an aim: a verb and behind it an object, or a thing and that
// it is made. high is 0 where there is nothing.
func (h *harmReader) fits(words []harmToken, n int, over bool) (low, high int) {
	a, bit := &aims[n], uint32(1)<<n
	for i := range words {
		if words[i].verb&bit != 0 {
			for k := i + 1; k < len(words) && k <= i+1+a.reach; k++ {
				if last := h.object(words, k, bit); last > 0 && h.meant(words, i, last, n, over) {
					return i, last
				}
			}
		}
		if !a.made || h.object(words, i, bit) == 0 && words[i].object&bit == 0 {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+3; k++ {
			if words[k].is&isDone != 0 && h.meant(words, i, k, n, over) {
				return i, k
			}
		}
	}
	return 0, 0
}

// object returns the last word of the object that begins with a word; 0: there is none.
func (h *harmReader) object(words []harmToken, at int, bit uint32) (last int) {
	if words[at].object&bit != 0 {
		return at
	}
	if words[at].begins&bit == 0 || at+1 == len(words) {
		return 0
	}
	var low [2*maxHarmWord + 1]byte
	pair := append(plainWord(low[:0], h.text[words[at].start:words[at].end]), '_')
	pair = plainWord(pair, h.text[words[at+1].start:words[at+1].end])
	if harmTable().of[string(pair)].object&bit != 0 {
		return at + 1
	}
	return 0
}

// meant reports whether words from one to another are asked for, and nothing near them says that they are harmless.
func (h *harmReader) meant(words []harmToken, low, high, n int, over bool) bool {
	a, bit := &aims[n], uint32(1)<<n
	from, to := 0, len(words)
	if over {
		from, to = max(0, low-harmReach), min(len(words), high+harmReach+1)
	}
	asks, broken, sexual := a.orders && words[0].verb&bit != 0 && low == 0, words[low].line != words[high].line, false
	for i := from; i < to; i++ {
		w := &words[i]
		if w.is&isProtecting != 0 || w.unless&bit != 0 {
			return false
		}
		if w.is&isAsking != 0 {
			asks, broken = true, broken || i < low && w.line != words[low].line
		}
		sexual = sexual || w.is&isSexual != 0
	}
	return asks && (!over || broken && h.spoken(words[low].start, words[high].end)) && (a.kind != "children" || sexual)
}

// spoken reports a part of the text that is words of a language: in code signs stand between them that no sentence has.
func (h *harmReader) spoken(start, end int32) bool {
	return !strings.ContainsAny(h.text[start:end], "_`\"(){}[]<=;")
}

func inHarmWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '\'' || c == '@' || c == '$'
}

// plainWord writes a word in small letters, with letters where digits stand for them; a number stays one.
func plainWord(out []byte, word string) []byte {
	letters := false
	for i := 0; i < len(word); i++ {
		letters = letters || isLetter(word[i])
	}
	for i := 0; i < len(word); i++ {
		c := word[i]
		if at := strings.IndexByte("01345@$7", c); letters && at >= 0 {
			c = "oieasast"[at]
		} else if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		out = append(out, c)
	}
	return out
}
