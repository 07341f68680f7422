package lex

import (
	"path"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// PercentDecode decodes %xx once; what is not a valid escape stays.
func PercentDecode(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if hi, lo := HexValue(text[i+1]), HexValue(text[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}

func HexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// BetweenTags is the program in a file of PHP, whose text outside of <?php and ?> is only printed.
func BetweenTags(text string) string {
	if !strings.Contains(text, "<?") {
		return text
	}
	var b strings.Builder
	for {
		_, rest, ok := strings.Cut(text, "<?")
		if !ok {
			return b.String()
		}
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "php"), "=")
		code, after, _ := strings.Cut(rest, "?>")
		b.WriteString(code)
		b.WriteString(";\n")
		text = after
	}
}

func Has(words []string, any ...string) bool {
	for _, w := range words {
		for _, a := range any {
			if w == a {
				return true
			}
		}
	}
	return false
}

func IsDrive(name string) bool {
	return len(name) >= 2 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z' &&
		(len(name) == 2 || name[2] == '\\' || name[2] == '/')
}

// A WordSet is a set of words. It is built when it is first asked for one, so that a program that asks nothing builds none.
type WordSet struct {
	list  []string
	once  sync.Once
	words map[string]bool
	has   [256]uint32 // by their first byte, the lengths that its words have; the last bit is for all longer ones
}

// Set is a set of the words of a list.
func Set(list []string) *WordSet { return &WordSet{list: list} }

// Has reports whether a word is in the set.
func (s *WordSet) Has(word string) bool {
	s.once.Do(s.build)
	return word != "" && s.has[word[0]]&lengthBit(word) != 0 && s.words[word]
}

func (s *WordSet) build() {
	s.words = Lookup(s.list)
	for _, word := range s.list {
		if word != "" {
			s.has[word[0]] |= lengthBit(word)
		}
	}
}

func lengthBit(word string) uint32 { return 1 << min(len(word), 31) }

// Lookup is a set of words that is built at once, of what was read as data.
func Lookup(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, name := range list {
		m[name] = true
	}
	return m
}

// BaseName is the command a first word names: the last part of a path to a system directory, or the word itself.
func BaseName(word string) (name string, isPath bool) {
	if IsDrive(word) || WindowsProgram(word) {
		word = strings.ReplaceAll(word, `\`, "/")
	}
	if n := len(word) - len(".exe"); n > 0 && strings.EqualFold(word[n:], ".exe") {
		word = word[:n]
	}
	if !strings.ContainsRune(word, '/') {
		return word, false
	}
	return path.Base(word), true
}

func EndOfLine(src string, i int) int {
	for i < len(src) && src[i] != '\n' {
		i++
	}
	return i
}

func IsBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// SystemProgram reports whether a path names a program where systems keep them, so that its name says what it is.
func SystemProgram(name string) bool {
	for _, dir := range [...]string{"/bin/", "/sbin/", "/usr/", "/lib/", "/lib64/", "/opt/homebrew/", "/snap/bin/", "/opt/local/",
		"/nix/", "/run/current-system/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return IsDrive(name) || strings.Contains(name, "/node_modules/.bin/") || strings.Contains(name, "venv/bin/")
}

func Without(list []string, drop string) []string {
	out := make([]string, 0, len(list))
	for _, item := range list {
		if item != drop {
			out = append(out, item)
		}
	}
	return out
}

func IsNameStart(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// LiteralArguments reads the literal arguments after a name: f("a", "b"), f "a", f ['a'].
func LiteralArguments(source string, i int) (args []string, next int, called bool) {
	i = SkipAny(source, i, " \t\n([{")
	next = i
	for i < len(source) && (source[i] == '"' || source[i] == '\'') {
		var text string
		text, i = StringLiteral(source, i)
		args, next = append(args, text), i
		i = SkipAny(source, i, " \t\n,")
	}
	return args, next, next > 0
}

func SkipAny(text string, i int, set string) int {
	for i < len(text) && strings.IndexByte(set, text[i]) >= 0 {
		i++
	}
	return i
}

// StringLiteral reads the quoted literal at i and returns its value and the index after it.
func StringLiteral(text string, i int) (string, int) {
	quote, start := text[i], i+1
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	raw := text[start:min(i, len(text))]
	if quote == '"' {
		raw = AnsiC(raw)
	} else {
		raw = strings.ReplaceAll(raw, `\'`, "'")
	}
	return raw, min(i+1, len(text))
}

// AnsiC resolves the escapes of $'…'.
func AnsiC(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 >= len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'n', 't', 'r', 'a', 'b', 'f', 'v', 'e', 'E':
			b.WriteByte("\n\t\r\a\b\f\v\x1b\x1b"[strings.IndexByte("ntrabfveE", c)])
		case 'x':
			i += escape(&b, text[i+1:], 16, 2, true)
		case 'u':
			i += escape(&b, text[i+1:], 16, 4, false)
		case 'U':
			i += escape(&b, text[i+1:], 16, 8, false)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += escape(&b, text[i:], 8, 3, true) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escape writes the character at most width digits of the base name, and returns how many digits there were.
func escape(b *strings.Builder, text string, base, width int, isByte bool) int {
	n := 0
	for n < len(text) && n < width && strings.IndexByte("0123456789abcdefABCDEF"[:map[int]int{8: 8,
		16: 22}[base]], text[n]) >= 0 {
		n++
	}
	if n == 0 {
		return 0
	}
	code, err := strconv.ParseUint(text[:n], base, 32)
	switch {
	case err != nil || code == 0:
	case isByte:
		b.WriteByte(byte(code))
	default:
		b.WriteRune(rune(code))
	}
	return n
}

func FirstWord(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), " ")
	return text
}

// WindowsProgram reports whether a word is a Windows path of a program.
func WindowsProgram(word string) bool {
	n := len(word) - len(".exe")
	return n > 0 && strings.EqualFold(word[n:], ".exe") && strings.IndexByte(word, '\\') >= 0
}

// CommandLine returns a command given as a string or as a list of words, which is quoted so that it stays that list.
func CommandLine(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		words := make([]string, 0, len(v))
		for _, item := range v {
			word, ok := item.(string)
			if !ok {
				return ""
			}
			words = append(words, ShellQuote(word))
		}
		if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") && isShellName(words[0]) {
			return v[2].(string) // every item was a string above
		}
		return strings.Join(words, " ")
	}
	return ""
}

// isShellName reports whether a program is a POSIX shell.
func isShellName(program string) bool {
	switch program[strings.LastIndexByte(program, '/')+1:] {
	case "sh", "bash", "zsh", "dash", "ksh", "ash":
		return true
	}
	return false
}

// ShellQuote quotes a word unless it needs no quoting.
func ShellQuote(word string) string {
	plain := word != ""
	for i := 0; i < len(word); i++ {
		c := word[i]
		plain = plain && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("-_./:=@%+,", c) >= 0)
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Fold reduces a name to lower-case letters and digits, the form in which argument and harness names are listed.
func Fold(name string) string {
	if folded(name) {
		return name
	}
	var out strings.Builder
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z':
			out.WriteRune(r + 'a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out.WriteRune(r)
		}
	}
	return out.String()
}

// folded reports whether a name is written as Fold writes it.
func folded(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}

// NameWords splits a tool's name into lower-case words at punctuation and at changes of case.
func NameWords(name string) []string {
	var words []string
	start := -1
	flush := func(end int) {
		if start >= 0 && end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = -1
	}
	for i := 0; i < len(name) && len(words) < 64; i++ {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
		if !letter {
			flush(i)
			continue
		}
		if start >= 0 && isUpper(c) {
			previous := name[i-1]
			if !isUpper(previous) || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z' {
				flush(i)
			}
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(name))
	return words
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func SortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// BeginsPath reports whether a text begins as a path from a fixed place does.
func BeginsPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, `\\`) || strings.HasPrefix(text, "~") ||
		strings.HasPrefix(text, "./") ||
		strings.HasPrefix(text, "../") || strings.HasPrefix(text, "file://") || IsDrive(text)
}

// Ascends reports whether a path goes up again on its way.
func Ascends(text string) bool {
	return strings.Contains(text, "/../") || strings.Contains(text, `\..\`)
}
