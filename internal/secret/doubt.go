package secret

import (
	"slices"
	"strings"
)

// doubtful reports whether a suspect is in all likelihood no secret, by what its value is and what its name says. It is asked
// only where a false alarm costs something and a miss costs no leak: [Find] leaves out what is doubtful, [Redact] doesn't.
func doubtful(text string, s Span) bool {
	value := text[s.Start:s.End]
	if _, key, _ := strings.Cut(value, "="); published(value) || s.Kind == "azure-key" && published(key) {
		return true
	}
	switch s.Kind {
	case "private-key", "web-token", "basic-credential", "bearer-token":
		return false
	case "seed-phrase":
		return false
	case "url-password", "command-password":
		return usualPassword(value)
	case "aws-key":
		if strings.HasSuffix(value, "EXAMPLE") { // so the keys in its issuer's own pages end
			return true
		}
	case "password", "assigned-secret":
		return doubtfulValue(text, s, value)
	}
	return malformed(value)
}

// doubtfulValue judges a value that only its name makes a secret.
func doubtfulValue(text string, s Span, value string) bool {
	words := nameWords(nameBefore(text, s.Start))
	if cut := strings.IndexByte(value, '\\'); cut > 0 { // the end of a line that is written as an escape
		value = value[:cut]
	}
	if disclaims(words) && !strings.Contains(value, browserKey) || otherForm(words, value) || location(value) {
		return true
	}
	if s.Kind == "password" {
		return words != nil && words[len(words)-1] == "pass" && len(words) == 1 && hyphenated(value)
	}
	switch words.last() {
	case "id", "fallback":
		return true
	case "token", "key":
		if words.places() {
			return true
		}
	case "signature":
		// The signature of a key of 2048 bits or more: its holder can check, and can sign nothing.
		return len(value) >= 340
	}
	return alphabetical(value) || prose(value)
}

// places reports a name of a token or key by which something is found or gone on with, and nobody is let in: nextPageToken, cache_key.
func (w wordList) places() bool {
	for _, word := range w[:len(w)-1] {
		switch word {
		case "page", "next", "continuation", "cursor", "sync", "pagination", "resume", "cache", "idempotency", "partition", "sort", "row",
			"object", "index", "dedup", "routing", "foreign", "translation":
			return true
		}
	}
	return false
}

// browserKey names, in base64, the key that every Firefox encrypts passwords with, which lies beside them.
const browserKey = "EPgAAAAAAAAAAAAAAAAAAAE"

// maxBack is how far before a value its name is looked for.
const maxBack = 160

// nameBefore returns the name that a value is assigned to: the word before the quotes, blanks and operators in front of it.
func nameBefore(text string, start int) string {
	end := start
	for end > 0 && start-end < 24 && strings.IndexByte(" \t\r\n\"'`=:>,([{|\\~?.", text[end-1]) >= 0 {
		end--
	}
	from := end
	for from > 0 && end-from < maxBack && (isWord(text[from-1]) || text[from-1] == '-' || text[from-1] == '.') {
		from--
	}
	return text[from:end]
}

type wordList []string

func (w wordList) last() string {
	if len(w) == 0 {
		return ""
	}
	return w[len(w)-1]
}

// ofAccess reports a name whose last word says that its value lets somebody in.
func (w wordList) ofAccess() bool {
	switch w.last() {
	case "key", "token", "password", "pass", "pwd":
		return true
	}
	return false
}

func (w wordList) has(word string) bool { return slices.Contains(w, word) }

// nameWords splits a name at what separates words in names: marks, and a capital after a small letter.
func nameWords(name string) (words wordList) {
	from := 0
	cut := func(to int) {
		if to > from {
			words = append(words, strings.ToLower(name[from:to]))
		}
	}
	for i := 0; i < len(name); i++ {
		switch m := members[name[i]]; {
		case m&alnum == 0:
			cut(i)
			from = i + 1
		case m&upper != 0 && i > from && members[name[i-1]]&lower != 0:
			cut(i)
			from = i
		}
	}
	cut(len(name))
	return words
}

// disclaims reports whether a name says itself that its value is none that anybody must hide.
func disclaims(words wordList) bool {
	for _, w := range words {
		switch w {
		case "fake", "dummy", "mock", "mocked", "example", "sample", "placeholder", "non", "not", "invalid", "bogus", "public",
			"encrypted", "hashed", "checksum", "fingerprint", "fingerprints", "digest":
			return true
		}
	}
	return false
}

// otherForm reports whether a name says exactly whose key its value is and of what sort, and the value hasn't the form that the
// issuer documents for it. Only names that leave no other sort of value are here.
func otherForm(words wordList, value string) bool {
	switch {
	case words.has("telegram") && words.last() == "token":
		id, key, ok := strings.Cut(value, ":")
		return !ok || len(id) < 5 || len(id) > 16 || !only(id, digit) || len(key) != 35 || key[0] != 'A' || !only(key, urlSafe)
	case words.has("meraki") && words.last() == "key":
		return len(value) != 40 || !only(value, digit|lowerHex)
	case words.has("cloudflare") && words.has("global") && words.last() == "key":
		return len(value) != 37 || !only(value, digit|lowerHex)
	case words.has("aws") && words.has("secret") && words.has("access") && words.last() == "key":
		return len(value) > 40 // longer is one that is sealed
	case words.has("softlayer") && words.ofAccess():
		return len(value) != 64 || !only(value, digit|lowerHex|lower)
	case words.has("cos") && words.ofAccess():
		return len(value) != 48 || !only(value, digit|lowerHex)
	case (words.has("ibm") && words.has("cloud") || words.has("iam") && !words.has("aws")) && words.ofAccess():
		return len(value) != 44 || !only(value, urlSafe)
	case words.has("cloudant") && words.ofAccess():
		return len(value) != 64 && len(value) != 24 || !only(value, digit|lowerHex|lower)
	case words.has("primary") && words.last() == "key":
		// A store's account has one too; that is the base64 text of 32 or 64 bytes. A table's is anything.
		whole := strings.TrimRight(value, "=")
		return len(value) != 44 && len(value) != 88 || len(whole) == len(value) || !only(whole, alnum|base64More)
	}
	return false
}

func only(s string, of alphabet) bool {
	for i := 0; i < len(s); i++ {
		if members[s[i]]&of == 0 {
			return false
		}
	}
	return true
}

// location reports a place in source text, a path or a page: web/src/ShareDialog.tsx:175.
func location(value string) bool {
	path := strings.TrimRight(value, "0123456789:")
	slash, stop := strings.LastIndexByte(path, '/'), strings.LastIndexByte(path, '.')
	if slash <= 0 || stop <= slash+1 || len(path)-stop < 2 || len(path)-stop > 6 || !only(path[stop+1:], lower|lowerHex|upper) {
		return false
	}
	return only(path, alnum|dash|under|dot|base64More) && strings.IndexByte(path, '+') < 0
}

// hyphenated reports words joined by hyphens, which follow the word of a test that passed: backward-compatible.
func hyphenated(value string) bool {
	return strings.IndexByte(value, '-') > 0 && only(value, lower|lowerHex|upper|upperHex|dash)
}

// alphabetical reports a value that somebody typed in the order of the alphabet or of the numerals to fill a form.
func alphabetical(value string) bool {
	run, longest := 1, 1
	for i := 1; i < len(value); i++ {
		if value[i] != value[i-1]+1 {
			run = 1
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest >= 20
}

// prose reports base64 text of plain words: one who encodes a sentence hides no key in it.
func prose(value string) bool {
	trimmed := strings.TrimRight(value, "=")
	if len(trimmed) < 16 || !only(trimmed, alnum|base64More) {
		return false
	}
	plain := decoded(trimmed)
	spaces := 0
	for _, c := range plain {
		switch {
		case c == ' ':
			spaces++
		case c < 'a' || c > 'z':
			return false
		}
	}
	return spaces >= 2
}

// decoded returns the bytes that base64 text encodes; what is left over of a last group is dropped.
func decoded(text string) []byte {
	out := make([]byte, 0, len(text)*3/4)
	bits, count := 0, 0
	for i := 0; i < len(text); i++ {
		bits = bits<<6 | sixBits(text[i])
		if count += 6; count >= 8 {
			count -= 8
			out = append(out, byte(bits>>count))
			bits &= 1<<count - 1
		}
	}
	return out
}

// usualPassword reports what examples of addresses have where a password is.
func usualPassword(value string) bool {
	switch strings.ToLower(value) {
	case "pass", "passwd", "pwd", "pw", "abc", "foo", "bar", "baz", "test", "testpass", "guest", "root", "admin", "xyz", "hunter2":
		return true
	}
	return false
}
