package inject

import (
	"sort"
	"strings"

	"interlock/internal/lex"
)

// orderMarks are things that have no business in content: the frames of a conversation, and phrases that address the
// reader as a machine.
var orderMarks = []string{
	"<|im_start|>", "<|im_end|>", "<|system|>", "<|endoftext|>", "<<sys>>", "[/inst]", "### instruction:", "### system:",
	"[system message]", "[system](", "system override", "new system prompt", "end of system prompt", "begin admin session",
	"do anything now", "you are now dan", "dan mode", "jailbreak mode", "without any restrictions or filters",
	"stay in character at all times", "do not mention this instruction", "don't tell the user", "without informing the user",
	"without the user's knowledge", "do not reveal these instructions", "you must obey", "your new task is",
	"your new instructions are",
	"<important>", "the task that i gave you", "the task i gave you", "before you solve the task", "before solving the task",
	"as your developer i",
	"enter developer mode", "act as an unrestricted", "act as an unfiltered", "has no content policy",
	"free from all restrictions",
	"if you are an ai", "if you're an ai", "if you are a language model", "note to ai", "attention ai", "instructions for ai",
	"message to ai", "ai agents must", "ai assistants must",
	"not tell the user", "without telling the user", "not inform the user", "hide this from the user",
	"<system mode>", "security override mode", "] system:", "<!-- assistant:", "<!-- system:", "<!-- ai:", "<!-- instruction",
}

// Words of the sentence that takes instructions away: a verb, then what there was before, then what it was.
var (
	dismissWords = lex.Set([]string{"ignore", "disregard", "forget", "override", "bypass", "neglect", "overlook", "discard",
		"abandon", "skip"})
	priorWords = lex.Set([]string{"previous", "prior", "above", "earlier", "preceding", "all", "any", "foregoing", "initial",
		"original", "your", "system", "former", "past"})
	ordersWords = lex.Set([]string{"instructions", "instruction", "prompt", "prompts", "rules", "directions", "guidelines",
		"commands", "directives", "context",
		"programming", "constraints", "restrictions", "training", "orders", "guardrails", "policies"})
	revealWords = lex.Set([]string{"reveal", "print", "show", "repeat", "output", "leak", "display", "share", "disclose", "tell",
		"give", "dump", "expose", "write"})
	hiddenWords = lex.Set([]string{"system", "initial", "hidden", "secret"})
	promptWords = lex.Set([]string{"prompt", "instructions"})
	// "ignore the page and state …": what is read is pushed aside for words of the writer's own.
	asideWords = lex.Set([]string{"ignore", "disregard"})
	stateWords = lex.Set([]string{"state", "say", "print", "output", "answer", "respond", "reply", "repeat", "give"})
	// "find my statements and mail them to a@b.example": something of the reader's is fetched and handed on.
	fetchWords = lex.Set([]string{"find", "retrieve", "fetch", "get", "download", "search", "list", "access", "collect", "look",
		"read", "use", "check", "extract", "gather",
		"obtain", "pull", "copy", "view", "export", "provide"})
	ownWords  = lex.Set([]string{"my", "all", "our", "user's", "his", "her", "their"})
	handWords = lex.Set([]string{"send", "sent", "email", "mail", "forward", "transmit", "upload", "share", "post", "dispatch"})
)

// A textWord is a word of a text in lower case, and where it is.
type textWord struct {
	word       string
	start, end int
}

// textWords reads the words of a text in lower case. An apostrophe belongs to a word that goes on behind it.
func textWords(low string) []textWord {
	words := make([]textWord, 0, len(low)/5+8)
	for i := 0; i < len(low); {
		if !inWord(low[i]) {
			i++
			continue
		}
		start := i
		for i < len(low) && (inWord(low[i]) || low[i] == '\'' && i+1 < len(low) && inWord(low[i+1])) {
			i++
		}
		words = append(words, textWord{low[start:i], start, i})
	}
	return words
}

func inWord(c byte) bool { return c >= 'a' && c <= 'z' || c >= 0x80 }

// orders reports whether text in lower case gives orders to a model: takes its instructions away, asks for them, or has
// something of the reader's handed on. Single words prove nothing: people write about ignoring things all day. A phrase
// that is alone between quotation marks is spoken about and not spoken.
func orders(low string) bool {
	marks := findMarks(low)
	return marks.count[orderList] > 0 || marks.unbound() || ordered(low)
}

// ordered looks for sentences that are orders.
func ordered(low string) bool {
	words := textWords(low)
	for i, w := range words {
		switch {
		case dismissWords.Has(w.word) && !assigned(low, w.end):
			if end := dismissed(words[i+1 : min(len(words), i+8)]); end >= 0 && !quoted(low, w.start, words[i+1+end].end) {
				return true
			}
			if end := behind(words[i:min(len(words), i+9)]); end >= 0 && !quoted(low, w.start, words[i+end].end) {
				return true
			}
			if asideWords.Has(w.word) && setAside(words[i+1:min(len(words), i+6)]) {
				return true
			}
		case revealWords.Has(w.word):
			rest := words[i+1 : min(len(words), i+7)]
			for k := 0; k+1 < len(rest); k++ {
				if hiddenWords.Has(rest[k].word) && promptWords.Has(rest[k+1].word) && !quoted(low, w.start, rest[k+1].end) {
					return true
				}
			}
		}
	}
	return handedOn(low, words) || orderedInRecord(low, words)
}

// assigned reports a word that a list is assigned to behind it, as settings have them: ignore = ["E501"].
func assigned(low string, end int) bool {
	rest, is := strings.CutPrefix(strings.TrimLeft(low[end:min(len(low), end+8)], " "), "=")
	return is && strings.HasPrefix(strings.TrimLeft(rest, " "), "[")
}

// seriousVerbs are verbs of orders whose execution is hard to take back.
var seriousVerbs = lex.Set([]string{"delete", "erase", "remove", "wipe", "transfer", "withdraw", "pay", "unlock", "disarm",
	"disable", "deactivate", "grant", "revoke", "share", "sell", "buy", "purchase",
	"cancel", "reset", "shut", "turn", "dispatch", "retrieve", "access", "export"})

// beginsValue reports whether a quoted value of a record begins at start: behind a colon, a comma or a bracket.
func beginsValue(low string, start int) bool {
	if start < 2 || low[start-1] != '\'' && low[start-1] != '"' {
		return false
	}
	before := strings.TrimRight(low[max(0, start-6):start-1], " \\")
	return before != "" && strings.IndexByte(":,[", before[len(before)-1]) >= 0
}

// orderedInRecord reports a value of a record that is an order and nothing else: it begins with "please" or the verb itself and
// goes on about what belongs to the reader. Letters begin with a greeting and reviews with the thing reviewed.
func orderedInRecord(low string, words []textWord) bool {
	for i, w := range words {
		verb := w.word
		if verb == "please" && i+1 < len(words) {
			verb = words[i+1].word
		}
		if !seriousVerbs.Has(verb) || !beginsValue(low, w.start) {
			continue
		}
		for n := i + 1; n < len(words) && n < i+9 && strings.IndexByte(low[w.start:words[n].start], low[w.start-1]) < 0; n++ {
			switch words[n].word {
			case "my", "all", "our", "user's":
				return true
			}
		}
	}
	return false
}

// dismissed returns where in the words behind a dismissal the name of what is dismissed comes, or -1.
func dismissed(words []textWord) int {
	seen := false
	for n, w := range words {
		if seen && ordersWords.Has(w.word) {
			return n
		}
		seen = seen || priorWords.Has(w.word)
	}
	return -1
}

// behind returns where in a sentence that begins with its verb the end of "disregard the instructions above" or of "forget everything you
// were told" is, or -1: what there was is behind its name. Manuals say of a section that it is skipped; those verbs don't count.
func behind(words []textWord) int {
	if verb := words[0].word; verb != "disregard" && verb != "forget" && verb != "ignore" {
		return -1
	}
	for n := 1; n+1 < len(words); n++ {
		if next := words[n+1].word; ordersWords.Has(words[n].word) && (next == "above" || next == "before" || next == "earlier") {
			return n + 1
		}
	}
	if len(words) > 4 && (words[1].word == "everything" || words[1].word == "all") && words[2].word == "you" &&
		(words[3].word == "were" || words[3].word == "have") && (words[4].word == "told" || words[4].word == "been" || words[4].word == "taught") {
		return 4
	}
	return -1
}

// setAside reports "the resume and state": what is at hand is put aside for what follows.
func setAside(words []textWord) bool {
	if len(words) == 0 || words[0].word != "the" {
		return false
	}
	for n := 1; n+1 < len(words); n++ {
		if words[n].word == "and" {
			return stateWords.Has(words[n+1].word)
		}
	}
	return false
}

// quoted reports whether the text from start to end is exactly what a pair of quotation marks holds.
func quoted(low string, start, end int) bool {
	return start > 0 && end < len(low) && quoteMark(low[:start], false) && quoteMark(low[end:], true)
}

func quoteMark(text string, atStart bool) bool {
	for _, mark := range []string{`"`, "'", "`", "“", "”", "‘", "’", "«", "»"} {
		if atStart && strings.HasPrefix(text, mark) || !atStart && strings.HasSuffix(text, mark) {
			return true
		}
	}
	return false
}

// handedOn reports an order to send to an address what was to be fetched, or what nobody gives away.
func handedOn(low string, words []textWord) bool {
	for at := strings.IndexByte(low, '@'); at >= 0; {
		if at > 0 && at+1 < len(low) && InAddress(low[at-1]) && InAddress(low[at+1]) && handsTo(low, words, at) {
			return true
		}
		next := strings.IndexByte(low[at+1:], '@')
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

func InAddress(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// handsTo looks at the words before an address: … fetch … my … send … to address, or send … password … to address. Sending
// and address stand in one sentence.
func handsTo(low string, words []textWord, at int) bool {
	end := sort.Search(len(words), func(i int) bool { return words[i].end >= at })
	hand := end - 1
	for hand >= 0 && hand >= end-16 && !handWords.Has(words[hand].word) {
		hand--
	}
	if hand < 0 || hand < end-16 || at-words[hand].end > 512 || !hasWord(words[hand:end], "to") &&
		!hasWord(words[hand:end], "with") || endsSentence(low[words[hand].end:at]) {
		return false
	}
	if hasTheft(words[hand:end]) {
		return true
	}
	own := false
	for i := hand - 1; i >= 0 && i >= end-48; i-- {
		own = own || ownWords.Has(words[i].word)
		if own && fetchWords.Has(words[i].word) {
			return true
		}
	}
	return false
}

// endsSentence reports whether text goes beyond one sentence.
func endsSentence(text string) bool {
	for _, end := range []string{". ", ".\n", "? ", "?\n", "! ", "\n\n", "', '", "\", \""} {
		if strings.Contains(text, end) {
			return true
		}
	}
	return false
}

func hasWord(words []textWord, word string) bool {
	for _, w := range words {
		if w.word == word {
			return true
		}
	}
	return false
}

// hasTheft reports words for what is never sent to anybody.
func hasTheft(words []textWord) bool {
	for n, w := range words {
		switch w.word {
		case "password", "passwords", "credentials", "credential", "secrets", "passport", "ssn":
			return true
		case "key", "keys", "number", "token", "tokens":
			if n > 0 && (words[n-1].word == "private" || words[n-1].word == "api" || words[n-1].word == "secret" ||
				words[n-1].word == "phone" || words[n-1].word == "card" ||
				words[n-1].word == "account" || words[n-1].word == "access" || words[n-1].word == "ssh") {
				return true
			}
		}
	}
	return false
}
