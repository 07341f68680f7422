package prose

import (
	"strings"

	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A vocabulary is the table of words, and what follows from how they stand in a sentence.
type vocabulary struct{ *know.ProseTable }

// wantsProgram reports whether prose asks for a program to be written and not for it to be run.
func (v vocabulary) wantsProgram(prose string) bool {
	words := strings.Fields(strings.ToLower(prose[:min(len(prose), 200)]))
	words = words[:min(len(words), 10)]
	if len(words) < 3 || !v.Is(know.ProgramOrder, words[0]) || v.Any(know.Run, words) {
		return false
	}
	return v.Any(know.Program, words)
}

// announces reports whether prose is that of somebody who says what he is about to do, and no order for a program.
func (v vocabulary) announces(prose string) bool {
	low := strings.ToLower(prose[:min(len(prose), 4096)])
	for _, words := range v.Announcing {
		if at := strings.Index(low, words); at == 0 || at > 0 && (low[at-1] == ' ' || low[at-1] == '\n' || low[at-1] == '(') {
			return true
		}
	}
	return false
}

// stem takes the ending off a verb.
func (v vocabulary) stem(word string) string {
	if v.Verbs[word] != "" {
		return word
	}
	for _, ending := range [...]struct{ from, to string }{
		{"ies", "y"}, {"es", "e"}, {"es", ""}, {"s", ""}, {"ied", "y"}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""},
		{"ping", "p"}, {"ting", "t"}, {"ding", "d"}, {"pped", "p"},
	} {
		if base, ok := strings.CutSuffix(word, ending.from); ok && len(base) >= 2 && v.Verbs[base+ending.to] != "" {
			return base + ending.to
		}
	}
	return word
}

// aside reports whether a verb's word is not an announcement here: a participle that describes ("files modified today"), a
// permission ("group write permission"), a form of writing ("in JSON format").
func (v vocabulary) aside(act string, low []string, at int) bool {
	word, verb := low[at], v.stem(low[at])
	next := ""
	if at+1 < len(low) {
		next = low[at+1]
	}
	switch {
	case strings.HasSuffix(word, "ed") && (act == "write" || act == "read"):
		return true
	case strings.HasSuffix(word, "ed") && at > 0 && lex.Has(low[at-1:at], "been", "was", "were", "last", "is", "are"):
		return true
	case act == "write" || act == "read":
		return lex.Has(low[at+1:min(len(low), at+5)], "permission", "permissions") || next == "access" || next == "time" ||
			next == "timestamps"
	case lex.Has([]string{verb}, "email", "share", "post", "access"): // nouns as often as verbs
		return at > 0 && !lex.Has(low[at-1:at], "and", "then", "please", "to", "will", "also", "i'll", "should", "must", "or",
			"can", "let's", "now", "me", "may")
	case word == "granting":
		return at > 0 && lex.Has(low[at-1:at], "before", "when", "of", "for") // what a program checks, not what is done
	case verb == "format":
		return !lex.Has(low[at+1:min(len(low), at+6)], "disk", "drive", "partition", "usb", "/dev/sda", "c:", "filesystem")
	}
	return false
}

// deniedAt reports whether the words before at say that it will not be done.
func (v vocabulary) deniedAt(low []string, at int) bool {
	from := max(0, at-6)
	if at > 0 && at <= len(low) && low[at-1] == "than" {
		return true // rather than that
	}
	if lex.Has(low[max(0, at-8):min(at, len(low))], "or", "such", "nor") {
		from = max(0, at-16) // a list of what is not done
	}
	for i := from; i < at && i < len(low); i++ {
		if v.Is(know.Denying, low[i]) {
			return true
		}
	}
	return false
}

// discussedAt reports whether the words before at make the sentence one about the act and not an announcement of it.
func (v vocabulary) discussedAt(low []string, at int) bool {
	for i := 0; i < at && i < len(low); i++ {
		switch {
		case v.Is(know.Discussing, low[i]):
			return true
		case low[i] == "how":
			return i == 0 || lex.Has(low[i-1:i], "explain", "show", "about", "wonder", "me")
		case low[i] == "what":
			return i == 0
		}
	}
	return false
}
