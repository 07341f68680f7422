package call

import (
	"strings"

	"interlock/internal/inject"
	"interlock/internal/lex"
	"interlock/internal/secret"
)

// maxWords is how long a message may be and still count as words to somebody; a longer one is a document.
const maxWords = 4096

// A cargo is what a message takes along, gathered while the arguments of the call are read.
type cargo struct {
	said       bool // what is said is in the call
	more       bool // it carries more than words: a file, an address to follow, a secret, somebody's numbers
	documents  int  // files it carries that are documents at hand, as a person attaches one
	recipients int
	length     int
}

// load counts one string argument. Where it goes (role recipient) and who signs it are no cargo.
func (c *cargo) load(key, role, text string) {
	switch {
	case role == "recipient":
		c.recipients += 1 + strings.Count(text, ",") + strings.Count(text, ";")
		return
	case attachmentKey(key), role == "path":
		switch strings.ToLower(text) {
		case "", "null", "none", "[]":
		default:
			c.documents++
			c.more = c.more || !documentAtHand(text)
		}
		return
	case role == "content", strings.HasSuffix(key, "content"), strings.HasSuffix(key, "message"), strings.HasSuffix(key, "text"),
		strings.HasSuffix(key, "body"):
		c.said = true
	case role == "url", role == "code", role == "sql", role == "shell":
		c.more = true
		return
	}
	if c.length += len(text); c.length > maxWords {
		c.more = true
		return
	}
	c.more = c.more || !plainWords(text)
}

// words reports whether the message is words to a few people and nothing else, or words to one or two with one document.
// What can't be seen is not taken for that.
func (c *cargo) words() bool {
	return c.said && !c.more && c.recipients <= 5 && (c.documents == 0 || c.documents == 1 && c.recipients <= 2)
}

// documentAtHand reports whether an attachment is a document that was downloaded or lies where the work is done, or one the
// service keeps under a short number. A file out of somebody's home, source code, an archive, a table of data and whatever
// is named after something private are not.
func documentAtHand(text string) bool {
	if len(text) <= 8 && digitsAt(text, 0, len(text)) {
		return true
	}
	low := strings.ToLower(strings.ReplaceAll(text, "\\", "/"))
	dir, name := low[:strings.LastIndexByte(low, '/')+1], low[strings.LastIndexByte(low, '/')+1:]
	if len(low) > 256 || strings.ContainsAny(low, "~$*?`:") || strings.Contains(low, "..") || strings.HasPrefix(name, ".") ||
		strings.Contains(dir, "/.") || strings.HasPrefix(dir, ".") {
		return false
	}
	if strings.HasPrefix(dir, "/") && !strings.Contains(dir, "/downloads/") && !strings.Contains(dir, "/download/") &&
		!strings.HasPrefix(dir, "/tmp/") {
		return false
	}
	stem, ending := name, ""
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		stem, ending = name[:i], name[i+1:]
	}
	if !documentEndings.Has(ending) {
		return false
	}
	for _, word := range strings.FieldsFunc(dir+stem, func(c rune) bool { return c < 'a' || c > 'z' }) {
		if inject.Confided.Has(word) || inject.ConfidedKind.Has(word) || privateName.Has(word) {
			return false
		}
	}
	return true
}

var documentEndings = lex.Set([]string{"pdf", "txt", "md", "rst", "doc", "docx", "odt", "rtf", "ppt", "pptx", "odp", "png", "jpg",
	"jpeg", "gif", "webp", "ics"})

// privateName are words in the name of a document that say it is not for handing around.
var privateName = lex.Set([]string{"personal", "info", "accounts", "bank", "banking", "statement", "tax", "taxes", "payroll",
	"medical", "health", "customers", "customer",
	"users", "contacts", "employees", "clients", "inbox", "history", "database", "db", "dump", "export", "keys", "key", "env",
	"shadow", "passwd", "internal", "login",
	"logins", "cookies", "session", "sessions", "ids", "contract", "nda", "classified", "restricted"})

func attachmentKey(folded string) bool {
	return strings.HasPrefix(folded, "attach") || strings.HasPrefix(folded, "file") || strings.HasPrefix(folded, "media") ||
		strings.HasPrefix(folded, "image") || strings.HasPrefix(folded, "document") || folded == "blob"
}

// plainWords reports whether a text is talk: no link, no secret, no long number, no opaque string, no list of addresses or of
// labelled values, and nothing that speaks of a password or an account number.
func plainWords(text string) bool {
	if len(secret.Suspect(text)) > 0 || strings.Contains(text, "-----BEGIN") || personalText(text) {
		return false
	}
	addresses, labels, public, before := 0, 0, false, ""
	for _, field := range strings.Fields(text) {
		word := strings.Trim(field, "\"'`,;:!?.()[]{}<>*")
		low := strings.ToLower(word)
		if strings.HasSuffix(field, ":") {
			labels++
		}
		switch {
		case (low == "key" || low == "keys" || low == "number" || low == "code") &&
			(inject.ConfidedKind.Has(before) || strings.HasSuffix(before, "account") && low == "number"),
			secretPath(low):
			return false
		// a public key follows, which is made to be shown
		case strings.HasPrefix(low, "ssh-") || strings.HasPrefix(low, "ecdsa-sha2-"):
			public = true
			continue
		case strings.Contains(low, "://"), strings.HasPrefix(low, "www."):
			return false
		case strings.IndexByte(word, '@') > 0:
			addresses++
		case inject.Confided.Has(strings.TrimSuffix(low, "'s")):
			return false
		case opaque(word) && !public:
			return false
		}
		public, before = false, low
	}
	return addresses <= 2 && labels <= 4 && !longNumber(text)
}

// secretPath reports whether a word is the path of a store of keys.
func secretPath(low string) bool {
	return strings.Contains(low, "/.ssh") || strings.Contains(low, "/.aws") || strings.Contains(low, "/.gnupg") ||
		strings.HasSuffix(low, "/.env") ||
		strings.HasSuffix(low, "/etc/shadow") || strings.HasSuffix(low, "/etc/passwd") || strings.HasSuffix(low, ".pem") ||
		strings.HasSuffix(low, ".kdbx")
}

// opaque reports whether a word is no word of a language: long, with letters in both cases and digits mixed.
func opaque(word string) bool {
	if len(word) < 20 {
		return false
	}
	upper, lower, digits := 0, 0, 0
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			digits++
		}
	}
	return upper+lower+digits >= len(word)*3/4 && (digits >= 3 && upper+lower > 0 || upper >= 4 && lower >= 4 && digits > 0)
}

// longNumber reports whether a text holds a number of at least nine digits in groups as people write those of telephones,
// cards and accounts. Dates and times are none.
func longNumber(text string) bool {
	digits, colons, last := 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			if i-last > 2 {
				digits, colons = 0, 0
			}
			digits, last = digits+1, i
			if digits >= 9 && colons == 0 && !dated(text, i) {
				return true
			}
		case c == ':':
			colons++
		case c != ' ' && c != '-' && c != '.' && c != '(' && c != ')' && c != '+' && c != '/':
			digits, colons = 0, 0
		}
	}
	return false
}

// dated reports whether the number that reaches its ninth digit at i begins with a date written year first, or ends a day of one.
func dated(text string, i int) bool {
	start := max(0, i-14)
	piece := text[start : i+1]
	for at := 0; at+10 <= len(piece); at++ {
		if digitsAt(piece, at, 4) && digitsAt(piece, at+5, 2) && digitsAt(piece, at+8, 2) && piece[at+4] == piece[at+7] &&
			(piece[at+4] == '-' || piece[at+4] == '/' || piece[at+4] == '.') {
			return true
		}
	}
	return false
}

func digitsAt(text string, at, n int) bool {
	for i := at; i < at+n; i++ {
		if i >= len(text) || text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
