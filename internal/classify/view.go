package classify

import (
	"sort"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// A view is a text as it is looked at, and where its bytes come from.
type view struct {
	text   string
	places []int32 // of every byte of text where it stood; and the end
}

// place returns where a byte of the view stood.
func (v *view) place(at int) int { return int(v.places[at]) }

// through adds what is found in a text as a view has it, where that stood.
func (v *view) through(all []found, find func(text string, all []found) []found) []found {
	n := len(all)
	all = find(v.text, all)
	for i := n; i < len(all); i++ {
		s := &all[i]
		s.Start, s.End = v.place(s.Start), v.place(s.End)
		s.End = max(s.End, s.Start+1) // within one escape
	}
	return all
}

// asSeen reports a text that is what its reader sees: ASCII without signs that steer a terminal.
func asSeen(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && (c != '\r' || i+1 == len(text) || text[i+1] != '\n') {
			return false
		}
	}
	return true
}

// folded writes a text as its reader sees it, in ASCII as far as it can be: digits of every script as digits, letters in other
// forms (full width, in circles, mathematical, raised, lowered, ligatures) as letters, those of other alphabets that look like
// Latin ones as these, blanks of every width as blanks, every end of a line as one, and signs without width, that turn the
// direction of writing or steer a terminal not at all. Nothing of it is ever shown or kept.
func folded(text string) view {
	v := view{places: make([]int32, 0, len(text)+1)}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		from := i
		if c := text[i]; c < utf8.RuneSelf {
			c, i = terminal(text, i)
			if c != 0 {
				out, v.places = append(out, c), append(v.places, int32(from))
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		plain, drop := fold(r)
		switch {
		case drop:
		case plain != 0:
			out, v.places = append(out, plain), append(v.places, int32(from))
		case ligature(r) != "":
			for _, c := range []byte(ligature(r)) {
				out, v.places = append(out, c), append(v.places, int32(from))
			}
		default:
			for k := from; k < i; k++ {
				out, v.places = append(out, text[k]), append(v.places, int32(k))
			}
		}
	}
	v.places = append(v.places, int32(len(text)))
	v.text = string(out)
	return v
}

// maxControl bounds a sequence that steers a terminal, and maxTitle one with a text in it.
const (
	maxControl = 64
	maxTitle   = 512
)

// terminal is what a terminal shows of the ASCII character at a place, or 0, and where the next one is.
func terminal(text string, at int) (shown byte, next int) {
	switch c := text[at]; {
	case c == '\n' || c == '\t' || c >= ' ' && c != 0x7f:
		return c, at + 1
	case c == '\v' || c == '\f', c == '\r' && !strings.HasPrefix(text[at+1:], "\n"):
		return '\n', at + 1
	case c == '\r':
		return c, at + 1
	case c != 0x1b || at+1 == len(text):
		return 0, at + 1
	}
	at += 2
	switch text[at-1] {
	case '[':
		for end := at; end < len(text) && end-at < maxControl && text[end] >= ' ' && text[end] <= '~'; end++ {
			if text[end] >= '@' {
				return 0, end + 1
			}
		}
	case ']', 'P', '_', '^', 'X':
		rest := text[at:min(len(text), at+maxTitle)]
		if end := strings.IndexByte(rest, 7); end >= 0 {
			return 0, at + end + 1
		}
		if end := strings.Index(rest, "\x1b\\"); end >= 0 {
			return 0, at + end + 2
		}
	}
	return 0, at
}

// folds are what fold says of the characters up to maxFold, in pages that are filled when the first of one is asked for.
var folds [maxFold >> 8]atomic.Pointer[[256]uint16] // filled late: each page is a function of its number

const (
	maxFold = 0x20000
	unshown = 0x100 // in folds: it is not seen
)

// fold returns the ASCII character that another one is seen as, or 0; drop says that it is not seen at all.
func fold(r rune) (plain byte, drop bool) {
	if r >= maxFold {
		return 0, unseen(r)
	}
	page := folds[r>>8].Load()
	if page == nil {
		page = new([256]uint16)
		for n := range page {
			page[n] = foldOf(r&^0xff | rune(n))
		}
		folds[r>>8].Store(page)
	}
	of := page[r&0xff]
	return byte(of), of == unshown
}

func foldOf(r rune) uint16 {
	switch {
	case r == 0x85 || r == 0x2028 || r == 0x2029:
		return '\n'
	case unseen(r):
		return unshown
	case unicode.Is(unicode.Zs, r) || r == 0x2800:
		return ' '
	}
	at := sort.Search(len(seenAs), func(n int) bool { return seenAs[n].from > r }) - 1
	if at >= 0 && int(r-seenAs[at].from) < len(seenAs[at].to) {
		if plain := seenAs[at].to[r-seenAs[at].from]; plain != 0 {
			return uint16(plain)
		}
	}
	if at := digitValue(r); at >= 0 {
		return uint16('0' + at)
	}
	return 0
}

// unseen reports a character without width, a mark on the one before it, or one that turns the direction of writing.
func unseen(r rune) bool {
	return r < 0xa0 || r == 0xad || r >= 0x300 && r <= 0x36f || r == 0x115f || r == 0x1160 || r >= 0x180b && r <= 0x180f ||
		r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff || r >= 0x20d0 && r <= 0x20ff || r == 0x3164 ||
		r >= 0xfe00 && r <= 0xfe0f || r >= 0xfe20 && r <= 0xfe2f || r == 0xffa0 || r >= 0xe0000 && r <= 0xe0fff ||
		unicode.Is(unicode.Cf, r)
}

// digitValue is the value of a decimal digit of any script, or -1.
func digitValue(r rune) int {
	if r < 0x660 || !unicode.Is(unicode.Nd, r) {
		return -1
	}
	if r >= 0x1d7ce && r <= 0x1d7ff { // five sets of mathematical ones
		return int(r-0x1d7ce) % 10
	}
	// the digits of a script stand together, in order, from a nought with no digit before it
	n := 0
	for n < 9 && unicode.Is(unicode.Nd, r-1-rune(n)) {
		n++
	}
	return n
}

// ligature is what several letters written as one are.
func ligature(r rune) string {
	if r < 0xfb00 || r > 0xfb06 {
		return ""
	}
	return [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-0xfb00]
}
