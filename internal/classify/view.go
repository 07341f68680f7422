package classify

import (
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

// folded writes a text as its reader sees it, in ASCII as far as it can be: digits of every script as digits, letters in other
// forms (full width, in circles, mathematical, raised, lowered, ligatures) as letters, those of other alphabets that look like
// Latin ones as these, blanks of every width as blanks, and signs without width or that turn the direction of writing not at all.
// It is what NFKC does to Latin letters and digits and what the list of confusable characters says of the commonest ones; other
// characters stay. Nothing of it is ever shown or kept.
func folded(text string) view {
	v := view{places: make([]int32, 0, len(text)+1)}
	out := make([]byte, 0, len(text))
	put := func(from int, plain ...byte) {
		for _, c := range plain {
			out = append(out, c)
			v.places = append(v.places, int32(from))
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			put(i, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		plain, drop := fold(r)
		switch {
		case plain != 0:
			put(i, plain)
		case ligature(r) != "":
			put(i, []byte(ligature(r))...)
		case !drop:
			for k := range n {
				out = append(out, text[i+k])
				v.places = append(v.places, int32(i+k))
			}
		}
		i += n
	}
	v.places = append(v.places, int32(len(text)))
	v.text = string(out)
	return v
}

// fold returns the ASCII character that a character is seen as, or 0; drop says that it is not seen at all.
func fold(r rune) (plain byte, drop bool) {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		return byte(r - 0xff00 + 0x20), false
	case unseen(r):
		return 0, true
	case r == 0xa0 || r >= 0x2000 && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000:
		return ' ', false
	case r >= 0x2010 && r <= 0x2015 || r == 0x2212 || r == 0xfe58 || r == 0xfe63:
		return '-', false
	case r == 0x2018 || r == 0x2019 || r == 0x2032:
		return '\'', false
	case r == 0x2024 || r == 0xb7 || r == 0x3002:
		return '.', false
	}
	if plain := styled(r); plain != 0 {
		return plain, false
	}
	if at := digitValue(r); at >= 0 {
		return byte('0' + at), false
	}
	return confusable(r), false
}

// unseen reports a character without width, or one that turns the direction of writing.
func unseen(r rune) bool {
	return r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff || r == 0xad ||
		r == 0x34f || r == 0x61c || r >= 0x180b && r <= 0x180e || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff ||
		r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r >= 0x300 && r <= 0x36f
}

// digitValue is the value of a decimal digit of any script, or -1.
func digitValue(r rune) int {
	if r < 0x660 || !unicode.Is(unicode.Nd, r) {
		return -1
	}
	// the digits of a script stand together, in order, from a nought with no digit before it
	n := 0
	for n < 9 && unicode.Is(unicode.Nd, r-1-rune(n)) {
		n++
	}
	if n == 9 && unicode.Is(unicode.Nd, r-10) { // a block of several sets, such as the mathematical ones
		return int(r-0x1d7ce) % 10
	}
	return n
}

// styled is a letter or digit in another form.
func styled(r rune) byte {
	switch {
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical letters, thirteen sets of them
		return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(r-0x1d400)%52]
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return byte('0' + (r-0x1d7ce)%10)
	case r >= 0x24b6 && r <= 0x24cf:
		return byte('A' + r - 0x24b6)
	case r >= 0x24d0 && r <= 0x24e9:
		return byte('a' + r - 0x24d0)
	case r >= 0x249c && r <= 0x24b5:
		return byte('a' + r - 0x249c)
	case r >= 0x1f130 && r <= 0x1f149 || r >= 0x1f150 && r <= 0x1f169 || r >= 0x1f170 && r <= 0x1f189:
		return byte('A' + (r-0x1f130)%0x20)
	case r >= 0x1f1e6 && r <= 0x1f1ff:
		return byte('A' + r - 0x1f1e6)
	case r >= 0x2460 && r <= 0x2468:
		return byte('1' + r - 0x2460)
	case r == 0x24ea || r == 0x2070 || r == 0x2080:
		return '0'
	case r == 0xb9:
		return '1'
	case r == 0xb2 || r == 0xb3:
		return byte(r - 0x80)
	case r >= 0x2074 && r <= 0x2079:
		return byte('4' + r - 0x2074)
	case r >= 0x2081 && r <= 0x2089:
		return byte('1' + r - 0x2081)
	}
	return 0
}

// ligature is what several letters written as one are.
func ligature(r rune) string {
	if r < 0xfb00 || r > 0xfb06 {
		return ""
	}
	return [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-0xfb00]
}

// Letters that look like Latin ones, and these.
const (
	lookalikes  = "АВЕЅZІЈКМНОРСТУХаеорсухіјѕһԁԛԝӏкмтвнгΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαειυρτνκχ"
	lookalikeOf = "ABESZIJKMHOPCTYXaeopcyxijshdqwlkmtbhrABEZHIKMNOPTYXoaeiuptvkx"
)

// confusable is the Latin letter that a letter of another alphabet looks like, or that carries a mark; 0 is none.
func confusable(r rune) byte {
	switch {
	case r >= 0xc0 && r <= 0x17f:
		return marked(r)
	case r < 0x370 || r > 0x52f:
		return 0
	}
	n := 0
	for _, c := range lookalikes {
		if c == r {
			return lookalikeOf[n]
		}
		n++
	}
	return 0
}

// marked is a Latin letter without its mark.
func marked(r rune) byte {
	const first = "AAAAAA\x00CEEEEIIII\x00NOOOOO\x00OUUUUY\x00\x00aaaaaa\x00ceeeeiiii\x00nooooo\x00ouuuuy\x00y"
	const more = "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi\x00\x00JjKk\x00LlLlLlLlLlNnNnNn\x00\x00\x00" +
		"OoOoOo\x00\x00RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs"
	switch {
	case r <= 0xff:
		return first[r-0xc0]
	case int(r-0x100) < len(more):
		return more[r-0x100]
	}
	return 0
}
