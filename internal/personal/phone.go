package personal

import "strings"

// Telephone numbers, by the plans of the countries as far as these differ in form: an international number by its country's
// code, one of North America by its parts, others by the zero that they are dialled with at home.

// countryCodes are those of two and three digits; besides them there are 1 and 7.
const countryCodes = " 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 " +
	"82 84 86 90 91 92 93 94 95 98 " +
	"211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 248 249 250 " +
	"251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 " +
	"372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 500 501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 " +
	"597 598 599 670 672 673 674 675 676 677 678 679 680 681 682 683 685 686 687 688 689 690 691 692 800 808 850 852 853 855 856 870 878 880 881 " +
	"882 883 886 888 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 979 992 993 994 995 996 998 "

// A dialled number is what may be one: its digits, and how they are grouped.
type dialled struct {
	digits []byte
	groups [12]int // lengths of the groups
	n      int     // how many
	end    int
	paren  bool // a group is in brackets
	breaks bool // there are separators
}

// dial reads digits from a place on, with what is put between the digits of telephone numbers.
func (f *finder) dial(at int) (d dialled) {
	d.digits = f.digits[:0]
	open := false
	for at < len(f.text) && len(d.digits) < maxDigits {
		c := f.text[at]
		if digit(c) {
			if d.n == 0 {
				d.n = 1
			}
			d.digits = append(d.digits, c)
			d.groups[d.n-1]++
			at++
			d.end = at
			continue
		}
		next := at + 1
		switch {
		case c == '(' && !open:
			open, d.paren = true, true
		case c == ')' && open:
			open = false
			d.end = next
		case c != ' ' && c != '-' && c != '.' && c != '/':
			return d
		}
		if next < len(f.text) && (f.text[next] == ' ' || f.text[next] == '-' || f.text[next] == '(' && c != '(') &&
			next+1 < len(f.text) && (digit(f.text[next+1]) || f.text[next+1] == '(') {
			if f.text[next] == '(' {
				open, d.paren = true, true
			}
			next++
		}
		if next >= len(f.text) || !digit(f.text[next]) && f.text[next] != '(' && f.text[next] != ')' || d.n == len(d.groups) {
			return d
		}
		if d.n > 0 && d.groups[d.n-1] > 0 {
			d.n++
		}
		d.breaks, at = true, next
	}
	return d
}

// extension returns where a number ends with the extension behind it.
func (f *finder) extension(end int) int {
	rest := f.text[end:min(len(f.text), end+12)]
	trimmed := strings.TrimLeft(rest, " ,;")
	for _, word := range [...]string{"extension", "ext.", "ext", "x"} {
		after, ok := strings.CutPrefix(trimmed, word)
		if !ok || len(trimmed) == len(rest) && word == "x" && !digit(rest[min(1, len(rest)-1)]) {
			continue
		}
		after = strings.TrimLeft(after, " .:")
		n := 0
		for n < len(after) && n < 6 && digit(after[n]) {
			n++
		}
		if n > 0 {
			return end + len(rest) - len(after) + n
		}
	}
	return end
}

// plus finds an international number.
func (f *finder) plus() {
	start := f.at
	f.at++
	at := start + 1
	if at < len(f.text) && f.text[at] == ' ' {
		at++
	}
	if at >= len(f.text) || !digit(f.text[at]) && f.text[at] != '(' || start > 0 && alnum(f.text[start-1]) {
		return
	}
	d := f.dial(at)
	code := codeLength(d.digits)
	if code == 0 || f.goesFurther(d.end) {
		return
	}
	rest := len(d.digits) - code
	if len(d.digits) > 15 || rest < 6 || d.digits[0] == '1' && rest != 10 || d.digits[0] == '7' && rest != 10 ||
		!d.breaks && len(d.digits) < 9 && !f.alone(start, d.end) {
		return
	}
	f.add(Span{start, f.extension(d.end), "phone", Medium})
}

func codeLength(d []byte) int {
	switch {
	case len(d) < 7:
		return 0
	case d[0] == '1' || d[0] == '7':
		return 1
	case strings.Contains(countryCodes, " "+string(d[:2])+" "):
		return 2
	case strings.Contains(countryCodes, " "+string(d[:3])+" "):
		return 3
	}
	return 0
}

// bracket finds a number that begins with an area code in brackets.
func (f *finder) bracket() {
	start := f.at
	f.at++
	if start+1 >= len(f.text) || !digit(f.text[start+1]) || start > 0 && alnum(f.text[start-1]) {
		return
	}
	d := f.dial(start)
	if f.goesFurther(d.end) || d.n < 2 || d.groups[0] > 5 {
		return
	}
	if northAmerican(d) && d.groups[0] == 3 || d.digits[0] == '0' && len(d.digits) >= 9 && len(d.digits) <= 12 ||
		d.planned(bracketPlans[:]) {
		f.guess(Span{start, f.extension(d.end), "phone", Medium})
	}
}

// A plan is how one country writes its numbers at home, where no other kind of number is written so: the lengths of the groups, and
// what they may begin with.
type plan struct {
	groups string
	first  string // beginnings between blanks
}

// plans are those of numbers that are not dialled with a nought, bracketPlans those of numbers whose first group is in brackets.
var (
	plans = [...]plan{
		{"344", " 13 14 15 16 17 18 19 "},   // China
		{"55", " 60 62 63 7 8 9 "},          // India
		{"37", " 32 33 34 35 36 37 38 39 "}, // Italy
		{"3222", " 6 7 8 9 "},               // Spain, two ways
		{"2322", " 8 9 "},
		{"13322", " 8 "}, // Russia, two ways
		{"1334", " 8 "},
		{"254", " 1 2 3 4 5 6 7 8 9 "}, // Brazil
		{"3322", " 2 3 4 5 6 7 8 9 "},  // Turkey
		{"244", " 33 55 56 81 "},       // Mexico
		{"433", " 1300 1800 "},         // Australia
	}
	bracketPlans = [...]plan{{"254", " 1 2 3 4 5 6 7 8 9 "}, {"244", " 1 2 3 4 5 6 7 8 9 "}}
)

// planned reports whether a number is written as one of some plans.
func (d *dialled) planned(of []plan) bool {
	var groups [len(d.groups)]byte
	for i, n := range d.groups[:d.n] {
		groups[i] = byte('0' + min(n, 9))
	}
	for _, p := range of {
		if p.groups != string(groups[:d.n]) {
			continue
		}
		for n := 1; n <= 4; n++ {
			if strings.Contains(p.first, " "+string(d.digits[:n])+" ") {
				return varied(d.digits[1:])
			}
		}
	}
	return false
}

// abroad reports digits dialled with the two noughts that lead abroad in most countries.
func (d *dialled) abroad() bool {
	n := len(d.digits)
	return n >= 11 && n <= 17 && d.digits[0] == '0' && d.digits[1] == '0' && d.digits[2] != '0' && codeLength(d.digits[2:]) > 0 &&
		(d.breaks && d.groups[0] <= 5 || d.groups[0] == n) && varied(d.digits[4:])
}

// beforeBlank is the number that ends at the first blank of what was dialled: "415-555-0132 94105" is a number and something else.
func (f *finder) beforeBlank(start int, d dialled) (dialled, bool) {
	cut := strings.IndexByte(f.text[start:d.end], ' ')
	if cut < 0 || len(d.digits) < 11 {
		return d, false
	}
	first := finder{text: f.text[:start+cut]}
	d = first.dial(start)
	return d, d.n == 3 && d.groups[0] == 3 && d.groups[1] == 3 && northAmerican(d) && !d.paren
}

// northAmerican reports ten digits, or eleven with the one before them, of that plan.
func northAmerican(d dialled) bool {
	digits := d.digits
	if len(digits) == 11 && digits[0] == '1' {
		digits = digits[1:]
	}
	return len(digits) == 10 && digits[0] >= '2' && digits[3] >= '2' && !(digits[1] == '1' && digits[2] == '1') &&
		!(digits[1] == '9' && digits[2] == '9') && varied(digits)
}

// national finds a number without the code of its country.
func (f *finder) national(start int) bool {
	if f.goesOn(start) {
		return false
	}
	d := f.dial(start)
	if first, ok := f.beforeBlank(start, d); ok {
		f.guess(Span{start, first.end, "phone", Medium})
		return true
	}
	if f.goesFurther(d.end) {
		return false
	}
	if d.abroad() && (d.breaks || f.topics(start, d.end)&ofPhone != 0) {
		f.guess(Span{start, f.extension(d.end), "phone", Medium})
		return true
	}
	n := len(d.digits)
	if n < 7 || n > 13 || counted(d.digits) && f.topics(start, d.end)&(ofPhone|ofNumber) == 0 {
		return false
	}
	if !d.breaks {
		return f.bareNumber(start, d)
	}
	groups := d.groups[:d.n]
	fits := false
	switch {
	case northAmerican(d):
		last := groups[d.n-1] == 4 && (groups[d.n-2] == 3 && (d.n == 3 && groups[0] == 3 || d.n == 4 && groups[0] == 1 && groups[1] == 3)) ||
			d.n == 2 && groups[0] == 3 && groups[1] == 7
		fits = last || d.planned(plans[:])
	case d.digits[0] == '0' && d.digits[1] != '0':
		fits = n >= 9 && n <= 12 && groups[0] <= 5 && !inThrees(groups) && !dated(f.text[start:d.end]) || d.paren && n >= 9
	default:
		fits = d.planned(plans[:])
	}
	if !fits && n <= 12 && d.n >= 2 && groups[d.n-1] >= 2 && !dated(f.text[start:d.end]) {
		fits = d.paren && n >= 9 || f.topics(start, d.end)&ofPhone != 0 ||
			d.digits[0] == '0' && d.digits[1] != '0' && f.alone(start, f.extension(d.end)) && d.n == 2
	}
	if !fits {
		return false
	}
	f.guess(Span{start, f.extension(d.end), "phone", Medium})
	return true
}

// bareNumber finds a number written without separators, where a word says that it is one or nothing else is there.
func (f *finder) bareNumber(start int, d dialled) bool {
	end := f.extension(d.end)
	n := len(d.digits)
	mobile := n == 11 && (d.digits[0] == '0' && d.digits[1] >= '1' || d.digits[0] == '1' && d.digits[1] >= '3')
	fits := northAmerican(d) || mobile && (varied(d.digits[1:])) || n == 10 && d.digits[0] >= '2' && d.digits[0] <= '5' ||
		n == 10 && d.digits[0] == '0' && d.digits[1] >= '1' && d.digits[1] <= '8' || end > d.end
	near := f.topics(start, end)
	if near&ofPhone != 0 && varied(d.digits) || fits && (f.alone(start, end) || end > d.end || near&ofNumber != 0 && near&^(ofNumber|ofPerson) == 0) {
		f.guess(Span{start, end, "phone", Medium})
		return true
	}
	return false
}

// counted reports digits with eight in a row that count upwards: somebody typed them and nobody has them.
func counted(d []byte) bool {
	run := 1
	for i := 1; i < len(d); i++ {
		if run++; d[i] != d[i-1]+1 {
			run = 1
		}
		if run >= 8 {
			return true
		}
	}
	return false
}

// inThrees reports nine digits in threes, which are the number of a person or a firm as often.
func inThrees(groups []int) bool {
	return len(groups) == 3 && groups[0] == 3 && groups[1] == 3 && groups[2] == 3
}

// dated reports digits that are a date, or a date and a time.
func dated(text string) bool {
	var parts [3]int
	n, length, long := 0, 0, 0
	for i := 0; i < len(text) && n < 3; i++ {
		c := text[i]
		if !digit(c) {
			if c == '(' {
				return false
			}
			n, length = n+1, 0
			continue
		}
		if length++; length == 4 {
			long++
		}
		if length > 4 {
			return false
		}
		parts[n] = parts[n]*10 + int(c-'0')
	}
	if n == 0 {
		return false
	}
	year := func(v int) bool { return v >= 1900 && v < 2100 }
	return long <= 1 && (year(parts[0]) && parts[1] <= 12 && parts[2] <= 31 || year(parts[2]) && parts[0] <= 31 && parts[1] <= 31)
}
