package personal

import "strings"

// number looks at what begins with a digit and goes on behind it, or behind its first part.
func (f *finder) number() {
	start := f.at
	end := start
	for end < len(f.text) && digit(f.text[end]) {
		end++
	}
	if f.fourParts(start) || f.networkCard(start) || f.formed(start) || f.born(start) || f.national(start) ||
		f.account(start, end) || f.street(start, end) || f.streetBehind(start, end) || f.streetBefore(start, end) {
		return
	}
	if card := f.likeCard(start); card > 0 {
		f.at = card
		return
	}
	for end < len(f.text) && alnum(f.text[end]) {
		end++
	}
	f.at = end
}

// word looks at what begins with a letter. A word of letters alone begins a form only if it is short or in capitals.
func (f *finder) word() {
	start := f.at
	end, digits := start, false
	for end < len(f.text) && alnum(f.text[end]) {
		digits = digits || digit(f.text[end])
		end++
	}
	length := end - start
	short := length <= 4 && end+1 < len(f.text) && separator(f.text[end]) && alnum(f.text[end+1]) &&
		(digits || hasDigit(f.text[end+1:min(len(f.text), end+6)]))
	if digits || short || length == 4 && end < len(f.text) && f.text[end] == '.' {
		if f.bankNumber(start) || f.networkCard(start) || length <= 24 && f.formed(start) || f.wallet(start, end) || f.named(start, end) {
			return
		}
	}
	if !digits && (f.personName(start, end) || f.streetFirst(start, end) || f.bornIn(start, end) || f.profile(start, end)) {
		return
	}
	f.at = end
}

// bankNumber finds an IBAN.
func (f *finder) bankNumber(start int) bool {
	if len(f.text)-start < 15 || !letter(f.text[start+1]) || !digit(f.text[start+2]) || !digit(f.text[start+3]) ||
		start > 0 && (alnum(f.text[start-1]) || f.text[start-1] == '_') {
		return false
	}
	country := [2]byte{lower(f.text[start]) &^ 0x20, lower(f.text[start+1]) &^ 0x20}
	length := ibanLength(string(country[:]))
	if length == 0 {
		return false
	}
	at, n := start, 0
	for at < len(f.text) && n < length {
		c := f.text[at]
		if !alnum(c) {
			if (c != ' ' && c != '-') || at+1 >= len(f.text) || !alnum(f.text[at+1]) {
				return false
			}
			at++
			continue
		}
		if letter(c) {
			c = lower(c) &^ 0x20
		}
		f.compact[n] = c
		n++
		at++
	}
	if n != length || at < len(f.text) && alnum(f.text[at]) || !iban(f.compact[:n]) {
		return false
	}
	f.add(Span{start, at, "iban", High})
	return true
}

// wallet finds the address of a wallet of coins.
func (f *finder) wallet(start, end int) bool {
	word := f.text[start:end]
	if f.goesOn(start) || f.goesFurther(end) {
		return false
	}
	switch {
	case len(word) >= 26 && len(word) <= 35 && (word[0] == '3' || word[0] == '1') && coinAddress(word):
	case len(word) >= 42 && len(word) <= 62 && (strings.HasPrefix(word, "bc1q") || strings.HasPrefix(word, "bc1p")):
	default:
		return false
	}
	f.add(Span{start, end, "wallet", Medium})
	return true
}

// account finds a number that a word before it calls an account, a member's or a patient's.
func (f *finder) account(start, end int) bool {
	if f.wallet(start, wordEnd(f.text, start)) {
		return true
	}
	length := end - start
	if length < 6 || length > 18 || f.goesOn(start) || f.goesFurther(end) {
		return false
	}
	switch near := wordTopics(f.text[max(0, start-40):start]); {
	case near&ofBank != 0 && length >= 8:
		f.guess(Span{start, end, "bank-account", High})
	case near&ofHealth != 0 && near&ofNumber != 0:
		f.guess(Span{start, end, "medical-number", High})
	default:
		return false
	}
	return true
}

func wordEnd(text string, at int) int {
	for at < len(text) && alnum(text[at]) {
		at++
	}
	return at
}

// named finds a word of letters and digits that the words before it call a number of a passport, a licence or a patient.
func (f *finder) named(start, end int) bool {
	length := end - start
	if length < 6 || length > 18 || f.goesOn(start) || f.goesFurther(end) {
		return false
	}
	before := wordTopics(f.text[max(0, start-32):start])
	kind := ""
	switch {
	case before&ofNumber == 0:
		return false
	case before&ofPassport != 0 && length <= 10:
		kind = "passport"
	case before&ofDriving != 0:
		kind = "driving-licence"
	case before&ofHealth != 0 && !wrongDEA(f.text[start:end]):
		kind = "medical-number"
	default:
		return false
	}
	f.guess(Span{start, end, kind, High})
	return true
}

// personName finds the words with capitals behind "my name is", "Name:" or a title.
func (f *finder) personName(start, end int) bool {
	word := f.text[start:end]
	at := end
	switch word {
	case "Mr", "Mrs", "Ms":
		at += len(f.text[end:]) - len(strings.TrimPrefix(f.text[end:], "."))
	case "name", "Name":
		rest := f.text[end:]
		before := strings.ToLower(f.text[max(0, start-6):start])
		switch {
		case strings.HasPrefix(rest, " is ") && (strings.HasSuffix(before, "my ") || strings.HasSuffix(before, "his ") ||
			strings.HasSuffix(before, "her ")):
			at += 3
		case strings.HasPrefix(rest, ": ") && (strings.HasSuffix(before, "full ") || strings.HasSuffix(before, "first ") ||
			strings.HasSuffix(before, "last ")):
			at++
		default:
			return false
		}
	default:
		return false
	}
	if at >= len(f.text) || f.text[at] != ' ' {
		return false
	}
	from, stop := at+1, at+1
	for parts := 0; parts < 3 && stop < len(f.text) && f.text[stop] >= 'A' && f.text[stop] <= 'Z'; parts++ {
		to := stop
		for to < len(f.text) && (letter(f.text[to]) || f.text[to] == '-' || f.text[to] == '\'' || f.text[to] >= 0x80) {
			to++
		}
		if to-stop < 2 {
			break
		}
		at = to
		if stop = to; stop < len(f.text) && f.text[stop] == ' ' {
			stop++
		}
	}
	if at <= from {
		return false
	}
	f.guess(Span{from, at, "name", Medium})
	return true
}
