package secret

import (
	"math"
	"strings"
)

// A word is a piece of a name that says its value is a secret. Values of strong words need little more than to be there;
// values of the others must look random.
type word struct {
	text   string
	strong bool
}

var words = [...]word{
	{"passphrase", true}, {"password", true}, {"passwd", true}, {"passwort", true}, {"pass", true}, {"pwd", true}, {"pw", true},
	{"pssword", true}, {"psswd", true}, {"psswrd", true}, {"paswd", true}, {"paswrd", true}, {"identified by", true},
	{"identified with", true}, {"kennwort", true}, {"mot de passe", true}, {"contraseña", true}, {"contrasena", true}, {"senha", true},
	{"palavra-passe", true}, {"wachtwoord", true}, {"hasło", true}, {"haslo", true}, {"пароль", true}, {"パスワード", true},
	{"密码", true}, {"密碼", true}, {"口令", true}, {"पासवर्ड", true}, {"كلمة المرور", true}, {"كلمة السر", true}, {"비밀번호", true},
	{"secret", false}, {"token", false}, {"apikey", false}, {"api_key", false}, {"api-key", false}, {"accesskey", false},
	{"key", false}, {"credential", false}, {"auth", false}, {"signature", false}, {"sas", false}, {"salt", false},
	{"client", false}, {"cookie", false}, {"session", false}, {"login", false},
}

const (
	maxName  = 64  // bytes of a name looked at after the word
	maxValue = 256 // bytes of a value that it is judged by
	maxTail  = 64 << 10
)

// assignment returns the value assigned to a name that speaks of a secret, if such a word begins at at.
func assignment(text string, at int) Span {
	w, ok := wordAt(text, at)
	if !ok {
		return Span{}
	}
	end := at + len(w.text)
	for end < len(text) && end-at < maxName && (isWord(text[end]) || text[end] == '-' || text[end] == '.') {
		end++
	}
	name := strings.ToLower(text[at:end])
	switch {
	case w.text == "cookie":
		return cookies(text, at, end)
	case w.text == "session":
		return sessionHeader(text, at, end)
	case w.text == "login":
		return loginCall(text, end)
	case name == "authorization":
		return authorizationHeader(text, end)
	case at > 0 && text[at-1] == '/' && end < len(text) && text[end] == '/':
		return inPath(text, w, end+1)
	}
	if w.strong && !passwordName(text, at, name, w.text) {
		return Span{}
	}
	if strings.HasPrefix(name, "author") || strings.HasPrefix(name, "authent") || strings.HasPrefix(name, "password_file") ||
		strings.HasPrefix(name, "password-file") || strings.HasPrefix(name, "keyboard") || strings.HasSuffix(name, "_id") ||
		strings.HasSuffix(name, "tokens") {
		return Span{}
	}
	if w.strong && numbered(name) || !w.strong && identifier(text, at, end, name) {
		return Span{}
	}
	from, quote, ok := operator(text, at, end, w.strong)
	if !ok && w.strong && w.text != "pass" { // tests pass too
		if found := compared(text, end); found.End > 0 {
			return found
		}
		return toldPassword(text, at, end)
	}
	if !ok {
		return Span{}
	}
	if found := byteArray(text, from); found.End > 0 {
		return found
	}
	stop := valueEnd(text, from, quote, maxValue)
	value := text[from:stop]
	if !w.strong && quote == 0 {
		value = strings.TrimRight(value, ".,:")
		stop = from + len(value)
	}
	delimited := quote != 0 || w.strong && (inElement(text, from, stop) || wholeLine(text, at, from, stop)) && !spelledOut(value)
	if !secretValue(w, value, delimited) && !(shortKey(value) && inHeader(text, at, end)) {
		return Span{}
	}
	if stop-from == maxValue {
		stop = valueEnd(text, from, quote, maxTail)
	}
	kind := "assigned-secret"
	if w.strong {
		kind = "password"
	}
	return Span{from, stop, kind}
}

// numbered reports the name of a passport's number (Pass-Nr), which is no word for a password.
func numbered(name string) bool {
	name = strings.TrimRight(name, "._-")
	return strings.HasSuffix(name, "nr") || strings.HasSuffix(name, "nummer") || strings.HasSuffix(name, "number")
}

// letters lists the words by their first letter.
func letters() (out [256][]*word) {
	for n := range words {
		w := &words[n]
		out[w.text[0]] = append(out[w.text[0]], w)
		out[w.text[0]&^0x20] = append(out[w.text[0]&^0x20], w)
	}
	return out
}

// wordAt returns the longest word that begins at at, in any case.
func wordAt(text string, at int) (best word, ok bool) {
	if at+1 >= len(text) {
		return best, false
	}
	second := text[at+1] | 0x20
	for _, w := range tables().byLetter[text[at]] {
		if second != w.text[1] && text[at] < 0x80 || len(text)-at < len(w.text) || len(w.text) <= len(best.text) ||
			len(w.text) > 2 && w.text[2] < 0x80 && text[at+2]|0x20 != w.text[2]|0x20 || !strings.EqualFold(text[at:at+len(w.text)], w.text) {
			continue
		}
		best, ok = *w, true
	}
	return best, ok
}

// Speaks reports whether a name has a word in it that speaks of a secret.
func Speaks(name string) bool {
	t := tables()
	for at := range len(name) {
		if t.classes[name[at]]&assigns == 0 {
			continue
		}
		if _, ok := wordAt(name, at); ok {
			return true
		}
	}
	return false
}

// passwordName rejects names that only begin like a password: passed, passenger, bypass, compass.
func passwordName(text string, at int, name, word string) bool {
	if strings.HasPrefix(name, "password") || strings.HasPrefix(name, "passw") || strings.HasPrefix(name, "passphrase") {
		return true
	}
	before := byte(0)
	if at > 0 {
		before = text[at-1]
	}
	camel := at > 0 && text[at] >= 'A' && text[at] <= 'Z' && before >= 'a' && before <= 'z'
	if !camel && members[before]&(lower|upper) != 0 {
		return strings.HasPrefix(name, "pwd") || name == "pass" && at >= 2 &&
			(strings.HasSuffix(text[:at], "db") || strings.HasSuffix(text[:at], "user"))
	}
	rest := strings.TrimPrefix(name, word)
	return rest == "" || members[rest[0]]&(lower|upper) == 0
}

// operator steps from the end of a name over what is between a name and its value, and says which quote opens it.
func operator(text string, at, end int, strong bool) (from int, quote byte, ok bool) {
	i := end
	closed := i < len(text) && (text[i] == '"' || text[i] == '\'' || text[i] == '`')
	if closed {
		i++
	}
	for i < len(text) && (text[i] == ']' || text[i] == ')' || text[i] == '}') {
		i++
	}
	gap := blanks(text, i)
	i += gap
	seen := i < len(text) && at >= 2 && gap > 0 && option(text, at)
	switch {
	case i >= len(text):
		return 0, 0, false
	case strings.HasPrefix(text[i:], "::=") || strings.HasPrefix(text[i:], ":::="):
		i, seen = i+strings.IndexByte(text[i:], '=')+1, true
	case strings.HasPrefix(text[i:], "=="), strings.HasPrefix(text[i:], "!="), strings.HasPrefix(text[i:], "::"):
		return 0, 0, false
	case gap > 0 && strings.HasPrefix(text[i:], "string = "): // a declaration: name string = "…"
		i, seen = i+len("string = "), true
	case strings.HasPrefix(text[i:], "||:"):
		i, seen = i+3, true
	case strings.HasPrefix(text[i:], ":="), strings.HasPrefix(text[i:], "=>"), strings.HasPrefix(text[i:], "?="),
		strings.HasPrefix(text[i:], ".="):
		i, seen = i+2, true
	case text[i] == '(' && text[i-1] == ']': // the address of a link: [Auth](page.md#part-1)
		return 0, 0, false
	case text[i] == '=' || text[i] == ':' || text[i] == '>':
		i, seen = i+1, true
	case text[i] == ',' && closed && called(text, at), text[i] == '(':
		i, seen = i+1, true
	case strong && closed && gap > 0 && strings.HasPrefix(text[i:], "value="): // <add key="…" value="…">
		i, seen = i+len("value="), true
	case gap > 0 && at > 0 && text[at-1] == '<': // <pass encoding="base64">
		cut := strings.IndexByte(text[i:min(len(text), i+maxName)], '>')
		i, seen = i+cut+1, cut > 0
	case strings.HasPrefix(text[i:], "%3D"), strings.HasPrefix(text[i:], "%3d"):
		i, seen = i+3, true
	case gap > 0 && (text[i] == '"' || text[i] == '\''):
		seen = true
	case !closed && text[i] == ',' && constant(text, at, end, i+1):
		i, seen = i+1, true
	}
	if !seen {
		return 0, 0, false
	}
	from, quote = opened(text, i)
	return from, quote, from < len(text)
}

// opened steps over what else is between an operator and a value, and the quotes that open it.
func opened(text string, i int) (from int, quote byte) {
	i += blanks(text, i)
	i += typed(text, i)
	if i > 0 && text[i-1] == '>' && i < len(text) && text[i] == '\n' { // <token>\n  value
		i++
		i += blanks(text, i)
	}
	if i < len(text) && text[i] == '=' {
		i++
		i += blanks(text, i)
	}
	for i < len(text) && (text[i] == 'b' || text[i] == 'r' || text[i] == '@' || text[i] == '\\') && i+1 < len(text) &&
		(text[i+1] == '"' || text[i+1] == '\'') {
		i++
	}
	if strings.HasPrefix(text[i:], "&quot;") {
		i += len("&quot;")
	} else if i < len(text) && (text[i] == '"' || text[i] == '\'' || text[i] == '`') {
		quote = text[i]
		for i < len(text) && text[i] == quote {
			i++
		}
	}
	return i, quote
}

// constant reports whether a name is in capitals and a quoted value follows the comma behind it: setopt(curl, CURLOPT_PASSWORD, "…").
func constant(text string, at, end, from int) bool {
	for _, c := range []byte(text[at:end]) {
		if members[c]&lower != 0 {
			return false
		}
	}
	from += blanks(text, from)
	return from < len(text) && text[from] == '"'
}

// typed is how long the type and the sign of assignment are in a declaration whose name and colon end at a place: "password: String = ".
func typed(text string, at int) int {
	n := at
	for n < len(text) && n-at < 24 && (isWord(text[n]) || strings.IndexByte(".?<>&", text[n]) >= 0) {
		n++
	}
	if n == at || at == 0 || !strings.HasPrefix(text[n:], " = ") || strings.LastIndexByte(text[max(0, at-3):at], ':') < 0 {
		return 0
	}
	return n - at + 3
}

// called reports whether a quoted name at at is the first argument of a call, as in setProperty("name", "value").
func called(text string, at int) bool {
	i := at
	for i > 0 && at-i < maxName && text[i-1] != '"' && text[i-1] != '\'' && text[i-1] != '`' {
		i--
	}
	for i--; i > 0 && text[i-1] == ' '; i-- {
	}
	return i > 0 && text[i-1] == '('
}

func blanks(text string, at int) (n int) {
	for at+n < len(text) && n < 16 && (text[at+n] == ' ' || text[at+n] == '\t') {
		n++
	}
	return n
}

// option reports whether the name at at is the end of a command line option such as --db-password.
func option(text string, at int) bool {
	i := at
	for i > 0 && at-i < maxName && (isWord(text[i-1]) || text[i-1] == '-') {
		i--
	}
	return strings.HasPrefix(text[i:], "--")
}

func valueEnd(text string, from int, quote byte, most int) int {
	i := from
	for i < len(text) && i-from < most {
		c := text[i]
		if quote != 0 && (c == quote || c == '\n' || c == '\\' && i+1 < len(text) && text[i+1] == quote) {
			break
		}
		if quote == 0 && (c <= ' ' || strings.IndexByte("\"'`<>;,|)]}", c) >= 0 || c == '&' && ampersandEnds(text, from, i)) {
			break
		}
		i++
	}
	return i
}

// ampersandEnds reports whether a value that begins at from ends at an ampersand: in an address or a form, where another name follows
// or the value's own name has such a sign before it, and where a shell goes on. Anywhere else it belongs to the value.
func ampersandEnds(text string, from, at int) bool {
	next := text[at+1:]
	if next == "" || next[0] <= ' ' || strings.IndexByte("&\"'`<>);|", next[0]) >= 0 || strings.HasPrefix(next, "amp;") ||
		strings.HasPrefix(next, "quot;") {
		return true
	}
	n := 0
	for n < len(next) && n < maxName && (isWord(next[n]) || strings.IndexByte("-.%[]", next[n]) >= 0) {
		n++
	}
	if n < len(next) && next[n] == '=' {
		return true
	}
	start := from
	for start > 0 && from-start < maxName && (isWord(text[start-1]) || strings.IndexByte("-.=", text[start-1]) >= 0) {
		start--
	}
	return start > 0 && (text[start-1] == '?' || text[start-1] == '&')
}

// secretValue reports whether a value may be a secret, given how plainly its name says so.
func secretValue(w word, value string, quoted bool) bool {
	if len(value) < 4 || placeholder(value) || composed(value) {
		return false
	}
	if !w.strong && !random(value) && !scrambled(value) && !(w.text == "key" && productKey(value)) &&
		!(w.text == "token" && quoted && len(value) >= 16 && only(value, digit)) {
		return false
	}
	if w.strong {
		if quoted {
			return !strings.ContainsAny(value, " \t")
		}
		return value != "Password:" && !strings.HasPrefix(value, "--") && !strings.HasSuffix(value, ".txt") &&
			!strings.ContainsAny(value, "(){}[]") && !isCode(value) && mixed(value)
	}
	if len(value) < 12 || strings.ContainsAny(value, " \t(){}[]<>") && !(quoted && printableKey(value)) {
		return false
	}
	if worded(value) || !quoted && !scrambled(value) && (isCode(value) || member(value)) || strings.Contains(value, "://") ||
		strings.HasPrefix(value, "import.") || strings.Contains(value, "arn:") {
		return false
	}
	return true
}

// isCode reports whether an unquoted value reads as a name or an expression.
func isCode(value string) bool {
	if strings.HasPrefix(value, "$") || strings.HasPrefix(value, "%") || strings.Contains(value, "->") ||
		strings.HasPrefix(value, "/") || strings.HasPrefix(value, "self.") {
		return true
	}
	digits := 0
	for i := 0; i < len(value); i++ {
		c := value[i]
		if members[c]&digit != 0 {
			digits++
		}
		if members[c]&(alnum|under|dot) == 0 {
			return false
		}
	}
	return digits == 0
}

// mixed reports whether a value is more than one plain word.
func mixed(value string) bool {
	kinds := alphabet(0)
	other := false
	for i := 0; i < len(value); i++ {
		m := members[value[i]]
		kinds |= m & (digit | lower | upper)
		other = other || m&alnum == 0
	}
	if kinds&digit != 0 && kinds&(lower|upper) == 0 && !other {
		return len(value) >= 6
	}
	return other || kinds&digit != 0 && kinds&(lower|upper) != 0 || kinds&lower != 0 && kinds&upper != 0 && value[0]&0x20 != 0
}

// random reports whether a string looks drawn at random: characters of several sorts and enough entropy for its length.
func random(s string) bool {
	var seen [256]uint16
	kinds := alphabet(0)
	digits := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
		seen[s[i]]++
		kinds |= members[s[i]] & (digit | lower | upper)
		if members[s[i]]&digit != 0 {
			digits++
		}
	}
	if kinds == lower || kinds == upper || kinds == 0 || kinds == digit || digits < 2 && len(s) < 40 {
		return false
	}
	entropy := 0.0
	for c := 0; c < 128; c++ {
		if n := seen[c]; n > 0 {
			p := float64(n) / float64(len(s))
			entropy -= p * math.Log2(p)
		}
	}
	return entropy >= 2.9 || len(s) < 16 && entropy >= 2.6
}

// stand-ins are what people write where a secret would stand.
var standIns = [...]string{"example", "changeme", "change_me", "placeholder", "your", "xxxx", "****", "redacted",
	"dummy", "sample",
	"%(", "%s", "...", "getenv", "environ", "process.env", "undefined", "insert", "replace", "secrets."}

// words that are not secrets though they stand where one could.
var plainValues = [...]string{"none", "null", "nil", "true", "false", "string", "str", "bool", "text", "password", "secret",
	"token", "user", "required", "optional"}

func placeholder(value string) bool {
	if value == "" || value[0] == '<' || value[0] == '$' || value[0] == '{' || strings.HasPrefix(value, "[redacted") {
		return true
	}
	if value[0] == '%' && len(value) > 2 && value[len(value)-1] == '%' { // a variable of Windows
		return true
	}
	low := strings.ToLower(value)
	for _, p := range plainValues {
		if low == p {
			return true
		}
	}
	for _, s := range standIns {
		if strings.Contains(low, s) {
			return true
		}
	}
	if template(value) {
		return true
	}
	same := true
	for i := 1; i < len(value); i++ {
		same = same && value[i] == value[0]
	}
	return same
}
