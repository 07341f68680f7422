package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// Calls in a language that nobody reads. What a call looks like is much the same everywhere: a name before a bracket, or before a
// text, or a member of a module before a word. A name that computes or prints in all languages says nothing; any other could
// be what deletes, sends or runs something, and is asked about where the agent wrote the code on a command line.

// unknownCall records the first call of a program on a command line whose name says nothing harmless.
func (f *foreignScan) unknownCall() {
	if f.r.inlined == nil || f.r.inlined.Spec.Script != f.kind {
		return // what a tool takes in a language of its own asks nothing of the machine
	}
	language := f.r.S.Know.Language("unread")
	if language == nil {
		return
	}
	own, before := map[string]bool{}, ""
	for i := 0; i < len(f.text) && f.r.S.Spend(1); {
		switch c := f.text[i]; {
		case c == '"' || c == '\'' && (i == 0 || !isCallName(f.text[i-1])):
			_, i = lex.StringLiteral(f.text, i)
			if rest := f.text[i:]; strings.HasPrefix(rest, ".!") && !strings.HasPrefix(rest, ".!=") { // Scala runs a text
				f.calls("!")
				return
			}
		case lex.IsNameStart(c) && c < 0x80:
			end := i + 1
			for end < len(f.text) && (isCallName(f.text[end]) || end+1 < len(f.text) && lex.IsNameStart(f.text[end+1]) &&
				(f.text[end] == '.' || f.text[end] == ':')) {
				end++
			}
			name := f.text[i:end]
			member := i > 0 && f.text[i-1] == '.'
			switch {
			case declares(before) || givesValue(f.text[end:]):
				own[name] = true
			case brings(before):
			case isCalled(name, f.text[end:]) && !own[name] && !isHarmlessCall(language, name, member):
				f.calls(name)
				return
			}
			i, before = end, name
			continue
		default:
			i++
		}
		before = kept(before, f.text[i-1])
	}
}

// kept is the word before, as long as nothing but blanks follows it.
func kept(before string, c byte) string {
	if c == ' ' || c == '\t' {
		return before
	}
	return ""
}

func (f *foreignScan) calls(name string) {
	f.r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: name, Reach: interlock.ReachWorkspace, Via: f.kind,
		Reversibility: interlock.Irreversible, Confidence: interlock.Unknown,
		Traits: []string{fact.TraitInline, fact.TraitUnsupported}})
}

func isCallName(c byte) bool { return lex.IsNameStart(c) || c >= '0' && c <= '9' }

// isCalled reports whether a name is called, as far as what follows it says.
func isCalled(name, rest string) bool {
	if strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "?") {
		rest = rest[1:]
	}
	after := strings.TrimLeft(rest, " ")
	switch {
	case after == "":
		return false
	case rest[0] == '(':
		return true
	case after[0] == '"', after[0] == '\'' && len(after) < len(rest):
		return true
	case rest[0] == '[' && len(rest) > 1 && rest[1] == '"':
		return name[0] >= 'A' && name[0] <= 'Z'
	}
	module := name[0] >= 'A' && name[0] <= 'Z' && strings.IndexByte(name, '.') > 0
	return module && len(after) < len(rest) && (lex.IsNameStart(after[0]) || after[0] == '(')
}

// declares reports whether a word says that the next one is a name the program gives.
func declares(word string) bool {
	switch word {
	case "func", "fun", "def", "function", "let", "val", "var", "sub", "proc", "fn", "class", "struct", "for", "my", "const":
		return true
	}
	return false
}

// brings reports whether a word says that the next one is a module.
func brings(word string) bool {
	switch word {
	case "import", "open", "using", "use", "package", "qualified":
		return true
	}
	return false
}

// givesValue reports whether what follows a name gives it a value.
func givesValue(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	return strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, ":=") ||
		strings.HasPrefix(rest, "<-")
}

// isHarmlessCall reports whether a name is one that only computes or prints, whatever it is a member of, or by itself.
func isHarmlessCall(language *know.Language, name string, member bool) bool {
	last := strings.ToLower(name[strings.LastIndexAny(name, ".:")+1:])
	return language.Harmless[last] || !member && len(last) == len(name) && language.Keywords[last]
}
