// Package personal finds personal data in text: payment cards, bank accounts, the numbers that states, insurers and banks give
// to people, telephone numbers, addresses, days of birth, and what names a person's machine in a network.
//
// It is a function of its argument, without files, clock or state, and linear in the length of the text. Numbers are held
// against their checksums and structure. A number without punctuation of its own is only believed where a word beside it says
// what it is, or where the text is nothing but that number: anything else of the same length would be taken for it otherwise.
// What has neither checksum nor form, such as names, is found by the words before it only, and most of it is not found.
//
// Overlaps are settled before anybody cuts: what only its form and the words beside it speak for gives way to what a checksum
// or a sign proves (see finder.keep).
//
// Start with Find; table.go, topics.go and phone.go hold the tables, check.go, letters.go and nations.go the checksums.
package personal

// A Tier says how sensitive something found is.
type Tier string

// The tiers: what may be kept with consent and council, with consent, or hashed.
const (
	High   Tier = "high"   // national ids, bank and card numbers, medical numbers
	Medium Tier = "medium" // telephone, e-mail, postal address, day of birth, name, wallet
	Low    Tier = "low"    // addresses of machines, plates of vehicles, postal codes, numbers of firms
)

// A Span is one thing found: the bytes from Start up to End.
type Span struct {
	Start, End int
	Kind       string
	Tier       Tier
}

// Find returns the personal data in text in order and without overlaps. Text is ASCII as far as it matters: digits and letters
// of other scripts are not read, see package classify, which folds them first.
func Find(text string) []Span {
	f := finder{text: text}
	f.start, f.end = 0, len(text)
	for f.start < f.end && blank(text[f.start]) {
		f.start++
	}
	for f.end > f.start && blank(text[f.end-1]) {
		f.end--
	}
	for f.at < len(text) {
		f.step()
	}
	return f.spans
}

// A finder is one walk over a text.
type finder struct {
	text       string
	at         int
	start, end int // the text without the blanks around it
	spans      []Span
	proved     []bool // of each span, whether it is more than a guess
	digits     [maxDigits]byte
	compact    [maxCompact]byte
}

// add keeps a span that its checksum or a sign of its own proves, and goes on behind it.
func (f *finder) add(s Span) {
	f.keep(s, true)
	f.at = max(f.at+1, s.End)
}

// guess keeps a span that only its form and the words beside it speak for, and goes on behind its first word: something proved
// can begin in it.
func (f *finder) guess(s Span) {
	f.keep(s, false)
	f.at = max(f.at+1, wordEnd(f.text, max(f.at, s.Start)))
}

// keep settles overlaps. Something proved takes the place of guesses that it overlaps, so that a card is never half a telephone
// number; a guess yields to what is there already; two that are proved are joined, so that nothing of either is left.
func (f *finder) keep(s Span, proved bool) {
	for n := len(f.spans) - 1; n >= 0 && s.Start < f.spans[n].End; n-- {
		last := f.spans[n]
		switch {
		case !proved:
			return
		case f.proved[n]:
			s = Span{min(last.Start, s.Start), max(last.End, s.End), last.Kind, last.Tier}
		}
		f.spans, f.proved = f.spans[:n], f.proved[:n]
	}
	f.spans, f.proved = append(f.spans, s), append(f.proved, proved)
}

// step looks at one place and goes on.
func (f *finder) step() {
	c := f.text[f.at]
	switch class := classes[c]; {
	case class == 0:
		f.at++
	case class == isDigit:
		f.number()
	case class == isLetter:
		f.word()
	case c == '@':
		f.mail()
	case c == '+':
		f.plus()
	case c == '(':
		f.bracket()
	case c == ':':
		f.colons()
	default:
		f.at++
	}
}

// The classes of bytes.
const (
	isDigit = 1 + iota
	isLetter
	isSign
)

// classes says what begins where a byte is.
var classes = classTable()

func classTable() (out [256]uint8) {
	for c := range out {
		switch {
		case c >= '0' && c <= '9':
			out[c] = isDigit
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			out[c] = isLetter
		case c == '@' || c == '+' || c == '(' || c == ':':
			out[c] = isSign
		}
	}
	return out
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func digit(c byte) bool { return classes[c] == isDigit }

func letter(c byte) bool { return classes[c] == isLetter }

func alnum(c byte) bool { return classes[c] == isDigit || classes[c] == isLetter }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// alone reports whether the text is nothing but what is from start to end.
func (f *finder) alone(start, end int) bool { return start <= f.start && end >= f.end }
