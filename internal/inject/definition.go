package inject

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/lex"
)

// A DefinitionSign is something in a tool's definition that speaks to the model instead of describing the tool.
type DefinitionSign struct {
	Pointer string // JSON pointer of the text in the definition; of a member's name, that of its value
	What    string // for people
}

// The bounds of what is looked at and told.
const (
	maxDefinitionSigns = 8
	maxDefinitionDepth = 64
	maxDefinitionText  = 64 << 10 // bytes of one text; what is longer is told as a sign
)

// DefinitionSigns looks through every text of a tool's definition, whatever its place: name, title, descriptions of the tool
// and of its parameters, names, defaults and choices. others are the names of tools that other servers offer. A definition
// that can't be read has a sign that says so. A definition without signs may still mislead: this finds what is crude.
func DefinitionSigns(definition json.RawMessage, others []string) []DefinitionSign {
	decoder := json.NewDecoder(bytes.NewReader(definition))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return []DefinitionSign{{"", "it is no JSON"}}
	}
	d := definitionScan{others: namesToFind(others)}
	d.value("", value, 0)
	return d.signs
}

// A definitionScan is one look through a definition.
type definitionScan struct {
	others []string
	signs  []DefinitionSign
}

func (d *definitionScan) value(pointer string, value any, depth int) {
	if len(d.signs) >= maxDefinitionSigns {
		return
	}
	if depth > maxDefinitionDepth {
		d.sign(pointer, "it is nested too deep to be looked through")
		return
	}
	switch v := value.(type) {
	case string:
		d.text(pointer, v)
	case []any:
		for i, item := range v {
			d.value(pointer+"/"+strconv.Itoa(i), item, depth+1)
		}
	case map[string]any:
		for _, name := range lex.SortedNames(v) {
			below := pointer + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
			d.name(below, name)
			d.value(below, v[name], depth+1)
		}
	}
}

func (d *definitionScan) sign(pointer, what string) {
	if len(d.signs) < maxDefinitionSigns {
		d.signs = append(d.signs, DefinitionSign{pointer, what})
	}
}

// name looks at a member's name: a parameter that is called after what it wants is filled with it.
func (d *definitionScan) name(pointer, name string) {
	if what := unseen(name); what != "" {
		d.sign(pointer, "a name holds "+what)
		return
	}
	words := strings.ToLower(strings.Join(lex.NameWords(name), " "))
	if secretFile(strings.ToLower(name)) != "" && sentenceHas(words, "content", "contents", "reading", "read") ||
		Injected(words) {
		d.sign(pointer, "a name asks for what the model is not to give")
	}
}

func (d *definitionScan) text(pointer, text string) {
	if what := unseen(text); what != "" {
		d.sign(pointer, "it holds "+what)
		return
	}
	if len(text) > maxDefinitionText {
		d.sign(pointer, "it is too long to be looked through")
		return
	}
	if Injected(text) {
		d.sign(pointer, "it gives orders to the model")
		return
	}
	for _, sentence := range sentencesOf(FoldLookalikes(strings.ToLower(text))) {
		if what := d.sentence(sentence); what != "" {
			d.sign(pointer, what)
			return
		}
	}
}

// sentence says what one sentence in lower case asks of the model that is not the tool's to ask.
func (d *definitionScan) sentence(low string) string {
	words := textWords(low)
	switch {
	case conceals(words):
		return "it asks to keep something from the user"
	case secretFile(low) != "" && (sentenceHas(low, "contents", "content") || handsOver(words)):
		return "it asks for the contents of " + secretFile(low)
	case asksForTalk(words):
		return "it asks for the conversation, the instructions or the results of other tools"
	case rulesOtherTools(words):
		return "it says how other tools are to be used"
	}
	for _, name := range d.others {
		if standsIn(low, name) {
			return "it speaks of " + name + ", a tool of another server"
		}
	}
	return ""
}

// standsIn reports whether a name is in a text by itself.
func standsIn(low, name string) bool {
	for from := 0; ; {
		at := strings.Index(low[from:], name)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(name)
		if (start == 0 || !inName(low[start-1])) && (end == len(low) || !inName(low[end])) {
			return true
		}
		from = end
	}
}

func inName(c byte) bool { return InAddress(c) || c == '_' || c == '-' || c >= 0x80 }

// unseen names the first thing in a text that its reader does not see and a model does.
func unseen(text string) string {
	if !utf8.ValidString(text) {
		return "bytes that are no text"
	}
	blanks, lines := 0, 0
	var before rune
	for i, r := range text {
		switch {
		case r == '\n':
			lines++
		case r == ' ' || r == '\t' || r == '\r':
			blanks++
		default:
			if blanks >= 120 || lines >= 20 {
				return "a long gap with text behind it"
			}
			blanks, lines = 0, 0
		}
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		if what := unseenRune(r, before, next); what != "" {
			return what
		}
		before = r
	}
	return ""
}

func unseenRune(r, before, next rune) string {
	switch {
	case r < ' ' && r != '\n' && r != '\t' && r != '\r', r >= 0x7f && r <= 0x9f:
		return "control characters"
	case r < 0x80:
		return ""
	case r >= 0xe0000 && r <= 0xe007f:
		return "tag characters, which nobody sees"
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return "marks that turn the direction of writing"
	case r >= 0xe0100 && r <= 0xe01ef:
		return "variation selectors that nothing varies"
	case r == 0x200c || r == 0x200d: // between the parts of an emoji, and in some scripts, they have work to do
		if before < 0x80 && next < 0x80 {
			return "joiners that nobody sees"
		}
	case r >= 0x2060 && r <= 0x2064, r == 0x200b, r == 0xfeff, r == 0x00ad, r == 0x180e, r == 0x034f, r == 0x115f, r == 0x1160,
		r == 0x3164, r == 0xffa0,
		unicode.Is(unicode.Co, r):
		return "characters that nobody sees"
	}
	return ""
}

// sentencesOf cuts a text where a sentence ends.
func sentencesOf(low string) (out []string) {
	start := 0
	cut := func(end, next int) {
		if end > start {
			out = append(out, low[start:end])
		}
		start = next
	}
	for i := 0; i < len(low); i++ {
		after := byte(' ')
		if i+1 < len(low) {
			after = low[i+1]
		}
		switch c := low[i]; {
		case c == '!' || c == '?' || (c == '.' || c == ';') && (after == ' ' || after == '\n'):
			cut(i, i+1)
		case c == '\n' && (after == '\n' || after == '-' || after == '*'):
			cut(i, i+2)
		}
	}
	cut(len(low), len(low))
	return out
}

var (
	denyWords = lex.Set([]string{"not", "never", "don't", "without", "avoid", "mustn't", "shouldn't"})
	tellWords = lex.Set([]string{"tell", "telling", "mention", "mentioning", "inform", "informing", "notify", "notifying",
		"reveal", "revealing", "disclose", "disclosing", "alert", "alerting", "warn", "warning"})
	personWords = lex.Set([]string{"user", "users", "human", "humans", "person", "people", "anyone", "anybody",
		"operator", "customer"})
	noticeWords = lex.Set([]string{"know", "knows", "knowing", "notice", "noticing", "noticed", "aware", "see",
		"told", "informed"})
	letWords     = lex.Set([]string{"let", "letting", "make", "making"})
	modalWords   = lex.Set([]string{"must", "should", "shall", "need", "may"})
	fromWords    = lex.Set([]string{"from"})
	concealWords = lex.Set([]string{"hide", "conceal", "hidden", "secret"})
	passWords    = lex.Set([]string{"pass", "passing", "send", "sending", "include", "including", "put", "insert", "attach",
		"append", "forward", "upload", "supply", "transmit", "paste", "copy", "submit", "leak"})
	readWords = lex.Set([]string{"read", "reading", "open", "cat", "load", "fetch", "retrieve", "get", "print", "access",
		"extract", "dump"})
	talkWords  = lex.Set([]string{"conversation", "conversations", "chat", "dialogue", "transcript"})
	wholeWords = lex.Set([]string{"history", "entire", "full", "whole", "complete", "far", "log", "previous"})
	yoursWords = lex.Set([]string{"your", "system", "hidden", "initial"})
	ordersTold = lex.Set([]string{"instructions", "prompt", "prompts", "guidelines"})
	whenWords  = lex.Set([]string{"before", "after", "when", "whenever", "instead", "prior", "every", "each", "disable",
		"replace", "replaces"})
	mustWords = lex.Set([]string{"must", "always", "never", "mandatory", "required", "important", "immediately",
		"shall", "critical"})
	foreignWords = lex.Set([]string{"other", "another", "any", "every", "all"})
)

// conceals reports "do not tell the user", "without the user noticing", "the user must not know", "hide this from the user".
func conceals(words []textWord) bool {
	for i, w := range words {
		switch {
		case denyWords.Has(w.word):
			if at := within(words, i, 3, tellWords); at >= 0 && within(words, at, 5, personWords) >= 0 {
				return true
			}
			if at := within(words, i, 3, personWords); at >= 0 && within(words, at, 3, noticeWords) >= 0 &&
				(w.word == "without" || within(words, i, 2, letWords) >= 0) {
				return true
			}
		case personWords.Has(w.word):
			if at := within(words, i, 1, modalWords); at >= 0 && within(words, at, 1, denyWords) >= 0 &&
				within(words, at, 4, noticeWords) >= 0 {
				return true
			}
		case concealWords.Has(w.word):
			if from := within(words, i, 6, fromWords); from >= 0 && within(words, from, 2, personWords) >= 0 {
				return true
			}
		}
	}
	return false
}

// within returns where one of a set is among the next n words behind a place, or -1.
func within(words []textWord, at, n int, wanted *lex.WordSet) int {
	for i := at + 1; i < len(words) && i <= at+n; i++ {
		if wanted.Has(words[i].word) {
			return i
		}
	}
	return -1
}

// secretFiles are names of files that hold credentials, or what other programs of the user trust.
var secretFiles = []string{"~/.ssh", "/.ssh/", "id_rsa", "id_ed25519", "id_ecdsa", "authorized_keys", ".aws/credentials",
	".git-credentials", ".netrc", ".npmrc", ".pypirc",
	".cursor/mcp.json", "mcp.json", "claude_desktop_config", ".claude.json", "/etc/shadow", "/etc/passwd", ".kube/config",
	".docker/config.json", ".gnupg", "wallet.dat",
	".bash_history", ".zsh_history", "login.keychain", ".config/gcloud", ".env file", "the .env", "/.env", "private key",
	"ssh key", "ssh keys", "browser cookies"}

// secretFile returns the name of a file of that kind that is in a text.
func secretFile(low string) string {
	for _, name := range secretFiles {
		if strings.Contains(low, name) {
			return name
		}
	}
	return ""
}

// sentenceHas reports whether one of the wanted words is in a text.
func sentenceHas(low string, wanted ...string) bool {
	for _, w := range textWords(low) {
		for _, one := range wanted {
			if w.word == one {
				return true
			}
		}
	}
	return false
}

// handsOver reports that something is to be read and given: both verbs stand there.
func handsOver(words []textWord) bool {
	reads, passes := false, false
	for _, w := range words {
		reads, passes = reads || readWords.Has(w.word), passes || passWords.Has(w.word)
	}
	return reads && passes
}

// asksForTalk reports an order to hand over what the model knows: the conversation, its instructions, results of other tools.
func asksForTalk(words []textWord) bool {
	for i, w := range words {
		if !passWords.Has(w.word) {
			continue
		}
		for at := i + 1; at < len(words) && at <= i+8; at++ {
			near := words[max(i+1, at-3):min(len(words), at+4)]
			if talkWords.Has(words[at].word) && hasOne(near, wholeWords) || ordersTold.Has(words[at].word) &&
				yoursWords.Has(words[at-1].word) {
				return true
			}
			if (words[at].word == "tool" || words[at].word == "tools") && foreignWords.Has(words[at-1].word) &&
				sentenceWordAfter(words, at, "results", "outputs", "output", "responses") {
				return true
			}
		}
	}
	return false
}

// hasOne reports whether one of a set is among the words.
func hasOne(words []textWord, wanted *lex.WordSet) bool {
	for _, w := range words {
		if wanted.Has(w.word) {
			return true
		}
	}
	return false
}

// sentenceWordAfter reports whether one of the wanted words is among the next three behind a place.
func sentenceWordAfter(words []textWord, at int, wanted ...string) bool {
	for i := at + 1; i < len(words) && i <= at+3; i++ {
		for _, one := range wanted {
			if words[i].word == one {
				return true
			}
		}
	}
	return false
}

// rulesOtherTools reports "must be called before any other tool", "always use this instead of other tools".
func rulesOtherTools(words []textWord) bool {
	if !hasOne(words, mustWords) {
		return false
	}
	for i, w := range words {
		if w.word != "tool" && w.word != "tools" {
			continue
		}
		before := words[max(0, i-6):i]
		if len(before) > 0 && (foreignWords.Has(before[len(before)-1].word) || len(before) > 1 &&
			before[len(before)-1].word == "mcp" && foreignWords.Has(before[len(before)-2].word)) &&
			hasOne(before, whenWords) {
			return true
		}
	}
	return false
}

// namesToFind are the names among others that no sentence holds by accident: those of several words.
func namesToFind(others []string) (out []string) {
	for _, name := range others {
		if low := strings.ToLower(name); len(low) >= 6 && strings.ContainsAny(low, "_-") {
			out = append(out, low)
		}
	}
	return out
}
