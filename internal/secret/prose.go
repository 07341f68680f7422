package secret

import "strings"

// links are what stands between a word for a password and the password itself, in sentences.
var links = [...]string{"is ", "was ", "ist ", "lautet ", "war ", "es ", "est ", "era ", "è ", "é ", "foi ", "jest ", "это ", "to ", "— ",
	"– ", "- ", "は、", "は", "是", "为", "為", "：", "है ", "هي ", "는 ", "은 "}

// verbs is how many of the links are verbs.
const verbs = 12

// about begin what a password is for: "the password for the router is …".
var about = [...]string{"for ", "of ", "to ", "on ", "für ", "vom ", "von ", "zum ", "de ", "del ", "du ", "di ", "do ", "da ", "para ", "pour ",
	"per ", "voor ", "van ", "dla ", "от ", "для "}

// Words that stand between a link and a password.
var fillers = [...]string{"now ", "still ", "currently ", "just ", "set to ", "jetzt ", "to "}

// maxAbout bounds how far from its word a password is looked for.
const maxAbout = 48

// toldPassword returns the password that a sentence, or a statement of SQL, tells behind a word for one.
func toldPassword(text string, word, end int) Span {
	at := end + blanks(text, end)
	window := text[at:min(len(text), at+maxAbout)]
	if at > end && barePassword(text[max(0, word-96):word], text[word:end]) {
		return tellsPassword(text, at)
	}
	if strings.EqualFold(text[word:end], "identified with") {
		if cut := strings.Index(strings.ToLower(window), " by "); cut >= 0 {
			return tellsPassword(text, at+cut+len(" by "))
		}
	}
	for _, begins := range about {
		if !strings.HasPrefix(window, begins) {
			continue
		}
		if cut := strings.IndexAny(window, ".\n;"); cut >= 0 {
			window = window[:cut]
		}
		for _, link := range links[:verbs] {
			if cut := strings.Index(window, " "+link); cut >= 0 {
				return tellsPassword(text, at+cut+1+len(link))
			}
		}
	}
	for _, link := range links {
		if strings.HasPrefix(window, link) && (at > end || link[0] >= 0x80) {
			if found := tellsPassword(text, at+len(link)); found.End > 0 {
				return found
			}
		}
	}
	return Span{}
}

// barePassword reports a word for a password that nothing but a blank parts from it: IDENTIFIED BY … and LOGIN PASSWORD … in SQL, and
// machine … login … password … in .netrc.
func barePassword(before, word string) bool {
	before = strings.ToLower(before)
	return strings.EqualFold(word, "identified by") || strings.EqualFold(word, "password") &&
		(strings.HasSuffix(before, " with ") || strings.HasSuffix(before, " login ") || strings.HasSuffix(before, " encrypted ") ||
			strings.Contains(before, "machine ") && strings.Contains(before, "login "))
}

// tellsPassword returns the word at a place if a sentence that ends in it tells a password: one in quotes, or one that is no word of a
// language.
func tellsPassword(text string, from int) Span {
	from += blanks(text, from)
	for _, filler := range fillers {
		if strings.HasPrefix(text[from:], filler) {
			from += len(filler)
		}
	}
	if strings.HasPrefix(text[from:], ": ") {
		from += 2
	}
	quoted := false
	for _, quote := range [...]string{"\"", "'", "`", "“", "„", "«", "‘", "「", "**"} {
		if strings.HasPrefix(text[from:], quote) {
			from, quoted = from+len(quote), true
			break
		}
	}
	stop := from
	for stop < len(text) && stop-from < maxValue && text[stop] > ' ' && strings.IndexByte("\"`<>", text[stop]) < 0 {
		stop++
	}
	value := text[from:stop]
	for _, quote := range [...]string{"。", "、", "”", "“", "»", "’", "」", "**"} {
		value, _, _ = strings.Cut(value, quote)
	}
	value = strings.TrimRight(value, ".,;:?)'")
	if at := strings.IndexByte(value, '@'); at > 0 && strings.IndexByte(value[at:], '.') > 1 { // whom it is sent to
		return Span{}
	}
	if len(value) < 5 || placeholder(value) || composed(value) || location(value) || strings.Contains(value, "://") || !unspoken(value, quoted) {
		return Span{}
	}
	return Span{from, from + len(value), "password"}
}

// named are what passwords are said to be: how they are kept, not what they are.
var named = [...]string{"sha", "md5", "base64", "utf", "argon2", "bcrypt", "pbkdf2", "scrypt", "oauth2", "aes", "rot13", "hmac", "http", "crypt",
	"plain", "case", "self", "auto", "one-", "non-", "user", "pre-", "end-", "read-", "hard-", "well-", "re-", "rate-"}

// unspoken reports a value that is no word of a language: letters with digits or signs in them, or six digits at least.
func unspoken(value string, quoted bool) bool {
	letters, digits, signs := 0, 0, 0
	for i := 0; i < len(value); i++ {
		switch m := members[value[i]]; {
		case value[i] >= 0x80:
			return false
		case m&(lower|upper) != 0:
			letters++
		case m&digit != 0:
			digits++
		case strings.IndexByte("!@#$%^&*+=~?", value[i]) >= 0 && i+1 < len(value):
			signs++
		case strings.IndexByte("(){}[]", value[i]) >= 0:
			return false
		}
	}
	low := strings.ToLower(value)
	for _, how := range named {
		if strings.HasPrefix(low, how) && !quoted {
			return false
		}
	}
	count := strings.TrimLeft(value, "0123456789") // 8-character, 30days
	if count != value && (strings.HasPrefix(count, "-") && only(count, lower|dash) ||
		len(count) == letters && only(count, lower) && letters > 2 && digits < 3) {
		return false
	}
	return letters > 0 && (digits > 0 || signs > 0) || letters == 0 && digits >= 6 && digits+signs == len(value)
}
