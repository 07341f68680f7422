package personal

import (
	"strings"
	"sync"
)

// How much is needed to believe a form.
const (
	sure = iota // its structure is enough
	told        // a word beside it says what it is, or the text is nothing else
	said        // only a word beside it will do
)

// A form is how one kind of number is written. In its pattern # is a digit, @ a letter, * either, a capital itself; a blank is a
// place where a separator may stand, in all such places or in none, and a minus one where one must.
type form struct {
	kind    string
	tier    Tier
	pattern string
	need    int
	topics  topic
	check   func([]byte) bool // nil: there is none
	anyCase bool              // in prose it is believed in small letters too
	dots    bool              // it is written with dots, or with dots and a minus sign
}

// A shape is a form ready to be matched: its pattern without separators, and where those stand.
type shape struct {
	*form
	compact string
	breaks  uint32 // bit n: a separator comes before the n-th character
	must    bool   // they must stand there
}

// maxCompact bounds the characters of one form, maxDigits those of a telephone number.
const (
	maxCompact = 36
	maxDigits  = 24
)

// shapes are all forms by the length of what they look like without separators.
var shapes = sync.OnceValue(func() *[maxCompact + 1][]shape {
	out := new([maxCompact + 1][]shape)
	for n := range forms {
		s := shape{form: &forms[n]}
		compact := make([]byte, 0, len(s.pattern))
		for i := 0; i < len(s.pattern); i++ {
			switch c := s.pattern[i]; c {
			case ' ', '-':
				s.breaks |= 1 << len(compact)
				s.must = s.must || c == '-'
			default:
				compact = append(compact, c)
			}
		}
		s.compact = string(compact)
		out[len(compact)] = append(out[len(compact)], s)
	}
	return out
})

// A run is what begins at one place: characters with single separators between them.
type run struct {
	start  int
	length int                  // of compact
	places [maxCompact]int      // where each character is
	breaks uint32               // bit n: a separator comes before the n-th character
	sep    [maxCompact + 1]byte // the separators, before the same character
	ends   [maxCompact]int8     // lengths at which a word ends
	n      int                  // how many ends there are
}

// read fills a run from a place on.
func (f *finder) read(start int, r *run) {
	r.start = start
	at := start
	for r.length < maxCompact && at < len(f.text) {
		c := f.text[at]
		if alnum(c) {
			if c >= 'a' && c <= 'z' {
				c &^= 0x20
			}
			f.compact[r.length], r.places[r.length] = c, at
			r.length++
			at++
			continue
		}
		if r.length > 0 && r.n < len(r.ends) {
			r.ends[r.n] = int8(r.length)
			r.n++
		}
		if !separator(c) || at+1 >= len(f.text) || !alnum(f.text[at+1]) || r.length >= 32 {
			return
		}
		r.breaks |= 1 << r.length
		r.sep[r.length] = c
		at++
	}
	if at >= len(f.text) || !alnum(f.text[at]) {
		r.ends[r.n] = int8(r.length)
		r.n++
	}
}

func separator(c byte) bool {
	return c == ' ' || c == '-' || c == '.' || c == '/' || c == ':' || c == '_'
}

// formed looks for a form that begins at a place, the longest first.
func (f *finder) formed(start int) bool {
	if f.goesOn(start) {
		return false
	}
	var r run
	f.read(start, &r)
	var near topic
	asked := false
	all := shapes()
	for n := r.n - 1; n >= 0; n-- {
		length := int(r.ends[n])
		end := r.places[length-1] + 1
		if length < 5 || f.goesFurther(end) {
			continue
		}
		breaks := r.breaks & (1<<length - 1)
		for i := range all[length] {
			s := &all[length][i]
			if s.breaks != breaks && (breaks != 0 || s.must) || !s.fits(f.compact[:length]) || !s.dots && !r.uniform(length) {
				continue
			}
			if !asked {
				near, asked = f.topics(start, end), true
			}
			if f.believed(s, near, start, end, r.plainly(length)) && (s.check == nil || s.check(f.compact[:length])) {
				f.keepForm(s, start, end)
				return true
			}
		}
	}
	return false
}

// keepForm keeps what a form found; without a check it is a guess.
func (f *finder) keepForm(s *shape, start, end int) {
	found := Span{start, end, s.kind, s.tier}
	if s.check != nil {
		f.add(found)
	} else {
		f.guess(found)
	}
}

// likeCard returns where four times four digits end that begin at a place and are no card; 0 is nowhere. Whole they are somebody's
// slip or example, and no part of them is a telephone number.
func (f *finder) likeCard(start int) int {
	const length = len("0000-0000-0000-0000")
	end := start + length
	if end > len(f.text) || f.goesOn(start) || f.goesFurther(end) {
		return 0
	}
	between := f.text[start+4]
	for i := range length {
		if c := f.text[start+i]; i%5 == 4 && (c != between || c != ' ' && c != '-') || i%5 != 4 && !digit(c) {
			return 0
		}
	}
	return end
}

// believed reports whether a form is believed where it is.
func (f *finder) believed(s *shape, near topic, start, end int, plainly bool) bool {
	switch {
	case near&s.topics != 0:
		return true
	case s.need == said:
		return false
	case f.alone(start, end):
		return s.dots || strings.IndexByte(f.text[start:end], '/') < 0
	case s.need == told, !plainly && !s.dots:
		return false
	}
	return s.anyCase || capitals(f.text[start:end])
}

func capitals(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= 'a' && text[i] <= 'z' {
			return false
		}
	}
	return true
}

func (s *shape) fits(compact []byte) bool {
	for i := range compact {
		c := compact[i]
		switch p := s.compact[i]; p {
		case '#':
			if !digit(c) {
				return false
			}
		case '@':
			if !letter(c) {
				return false
			}
		case '*':
		default:
			if c != p {
				return false
			}
		}
	}
	return true
}

// uniform reports whether the separators among the first characters are all the same one.
func (r *run) uniform(length int) bool {
	first := byte(0)
	for i := 1; i < length; i++ {
		if c := r.sep[i]; c != 0 {
			if first != 0 && c != first {
				return false
			}
			first = c
		}
	}
	return true
}

// plainly reports whether blanks or minus signs alone separate the first characters.
func (r *run) plainly(length int) bool {
	for i := 1; i < length; i++ {
		if c := r.sep[i]; c != 0 && c != ' ' && c != '-' {
			return false
		}
	}
	return true
}

// goesOn reports whether what begins at a place is the rest of something longer: a decimal, a path, a part of an identifier.
func (f *finder) goesOn(start int) bool {
	if start == 0 {
		return false
	}
	c := f.text[start-1]
	if alnum(c) || c == '_' || c == '@' || c == '#' || c == '%' || c == '$' {
		return true
	}
	return (c == '.' || c == '-' || c == '/' || c == ',' || c == '\\') && start > 1 && alnum(f.text[start-2])
}

// goesFurther reports whether what ends at a place goes on behind it.
func (f *finder) goesFurther(end int) bool {
	if end == len(f.text) {
		return false
	}
	c := f.text[end]
	if alnum(c) || c == '_' || c == '@' || c == '%' {
		return true
	}
	return (c == '.' || c == '-' || c == '/' || c == ',' || c == '\\') && end+1 < len(f.text) && alnum(f.text[end+1])
}
