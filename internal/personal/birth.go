package personal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// born finds a date that begins with a digit and that a word before it, or at once behind it, calls a day of birth.
func (f *finder) born(start int) bool {
	if f.goesOn(start) {
		return false
	}
	end := f.date(start)
	if end == 0 || !f.ofBirth(start, end) {
		return false
	}
	f.guess(Span{start, end, "birth-date", Medium})
	return true
}

// bornIn finds such a date that begins with a month: March 12, 1984.
func (f *finder) bornIn(start, end int) bool {
	if end-start < 3 || end+2 >= len(f.text) || f.text[end] != ' ' && f.text[end] != '.' {
		return false
	}
	at := f.skip(end, " .")
	day := at
	if at == len(f.text) || !digit(f.text[at]) || !month(f.text[start:end]) {
		return false
	}
	for at < len(f.text) && at-day < 2 && digit(f.text[at]) {
		at++
	}
	at = f.skip(f.ordinal(at), " ,")
	if end = f.year(at); end == 0 || !f.ofBirth(start, end) {
		return false
	}
	f.guess(Span{start, end, "birth-date", Medium})
	return true
}

// ofBirth reports a word for birth before or at once behind a date.
func (f *finder) ofBirth(start, end int) bool {
	return wordTopics(f.text[max(0, start-40):start])&ofBirth != 0 || wordTopics(f.text[end:min(len(f.text), end+16)])&ofBirth != 0
}

// date returns where the date ends that begins at a digit; 0: there is none.
func (f *finder) date(start int) int {
	end := start
	for end < len(f.text) && end-start < 11 && (digit(f.text[end]) || (f.text[end] == '-' || f.text[end] == '.' || f.text[end] == '/') &&
		end+1 < len(f.text) && digit(f.text[end+1])) {
		end++
	}
	text := f.text[start:end]
	switch {
	case len(text) <= 2:
		return f.spelledDate(end)
	case len(text) == 4 && end < len(f.text) && f.text[end] >= 0xe5:
		return f.easternDate(end)
	case len(text) == 8 && !strings.ContainsAny(text, "-./"):
		if !dated(text[:4]+"-"+text[4:6]+"-"+text[6:]) || f.goesFurther(end) {
			return 0
		}
	case len(text) < 6 || !dated(text) && !shortDate(text):
		return 0
	}
	return end
}

// shortDate is a date whose year has two digits.
func shortDate(text string) bool {
	return len(text) >= 6 && len(text) <= 8 && strings.Count(text, "/")+strings.Count(text, ".")+strings.Count(text, "-") == 2
}

// months are how the names of months begin, in the languages of topics.go that write them so.
const months = " jan feb mar apr may jun jul aug sep oct nov dec mär mai okt dez fév avr jui aoû déc ene abr ago dic gen mag giu lug set ott fev " +
	"out maa mrt mei sty lut kwi maj cze lip sie wrz paź lis gru янв фев мар апр мая июн июл авг сен окт ноя дек "

// month reports a word that begins as the name of a month.
func month(word string) bool {
	var low [3 * utf8.UTFMax]byte
	begin, n := low[:0], 0
	for _, r := range word {
		if begin, n = utf8.AppendRune(begin, unicode.ToLower(r)), n+1; n == 3 {
			return strings.Contains(months, " "+string(begin)+" ")
		}
	}
	return false
}

// skip steps over signs, a few.
func (f *finder) skip(at int, signs string) int {
	for n := 0; at < len(f.text) && n < 3 && strings.IndexByte(signs, f.text[at]) >= 0; n++ {
		at++
	}
	return at
}

// ordinal steps over what makes a number an ordinal one.
func (f *finder) ordinal(at int) int {
	for _, sign := range [...]string{"st", "nd", "rd", "th", "er", "º", "."} {
		if strings.HasPrefix(f.text[at:], sign) {
			return at + len(sign)
		}
	}
	return at
}

// year returns where the four digits of a year end that begin at a place; 0: there are none.
func (f *finder) year(at int) int {
	if at+4 > len(f.text) || f.goesFurther(at+4) {
		return 0
	}
	for _, c := range []byte(f.text[at : at+4]) {
		if !digit(c) {
			return 0
		}
	}
	if century := f.text[at : at+2]; century != "18" && century != "19" && century != "20" {
		return 0
	}
	return at + 4
}

// spelledDate returns where "12 March 1984" ends, whose day ends at a place: "12th of March, 1984", "12 de marzo de 1984".
func (f *finder) spelledDate(end int) int {
	at := f.ordinal(end)
	if at == len(f.text) || f.text[at] != ' ' && f.text[at] != '-' {
		return 0
	}
	for of := range strings.SplitSeq(" of | de | do |-| ", "|") {
		if strings.HasPrefix(f.text[at:], of) {
			at += len(of)
			break
		}
	}
	from := at
	for at < len(f.text) && at-from < 24 && (letter(f.text[at]) || f.text[at] >= 0x80) {
		at++
	}
	if !month(f.text[from:at]) {
		return 0
	}
	for of := range strings.SplitSeq(" de | do |, |. |-| |,", "|") {
		if strings.HasPrefix(f.text[at:], of) {
			return f.year(at + len(of))
		}
	}
	return 0
}

// easternDate returns where "1984年3月12日" ends, whose year ends at a place.
func (f *finder) easternDate(at int) int {
	for _, signs := range [...][3]string{{"年", "月", "日"}, {"년", "월", "일"}} {
		for n, sign := range signs {
			if !strings.HasPrefix(f.text[at:], sign) {
				break
			}
			if at += len(sign); n == 2 {
				return at
			}
			at = f.skip(at, " ")
			from := at
			for at < len(f.text) && at-from < 2 && digit(f.text[at]) {
				at++
			}
			if at == from {
				return 0
			}
		}
	}
	return 0
}

// profiles are the addresses under which sites have persons, and nothing else.
var profiles = [...]string{"linkedin.com/in/", "linkedin.com/pub/", "xing.com/profile/", "facebook.com/profile.php?id="}

// profile finds the address of a person's page on a site whose name is a word, and a telephone number that is one.
func (f *finder) profile(start, end int) bool {
	if end == len(f.text) || f.text[end] != '.' {
		return false
	}
	rest := f.text[start:]
	for _, site := range profiles {
		if !strings.HasPrefix(rest, site) {
			continue
		}
		stop := start + len(site)
		for stop < len(f.text) && (alnum(f.text[stop]) || f.text[stop] >= 0x80 || strings.IndexByte("-_.%", f.text[stop]) >= 0) {
			stop++
		}
		for stop > start+len(site) && f.text[stop-1] == '.' {
			stop--
		}
		if stop-start-len(site) < 3 {
			return false
		}
		f.add(Span{start, stop, "profile", Medium})
		return true
	}
	if number, is := strings.CutPrefix(rest, "wa.me/"); is {
		n := 0
		for n < len(number) && digit(number[n]) {
			n++
		}
		if n >= 8 && n <= 15 {
			f.add(Span{start, start + len("wa.me/") + n, "phone", Medium})
			return true
		}
	}
	return false
}
