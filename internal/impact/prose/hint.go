package prose

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/sql"
	"interlock/internal/impact/web"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// A proseRun reads what people and models write for an analysis.
type proseRun struct {
	*flow.Scan
	vocabulary
}

func newRun(s *flow.Scan) proseRun { return proseRun{s, vocabulary{s.Know.Prose()}} }

// Hint reads what an agent says it will do.
func Hint(s *flow.Scan, in string) { newRun(s).hint(in) }

// Text reads text that is nothing but text.
func Text(s *flow.Scan, in string) { newRun(s).text(in) }

// hint analyses prose in which an agent says what it will do. Commands and code in it are analysed as what they are; the
// sentences around them are read for a verb, what it is done to, and whether it is really said to be done. Prose is no
// proof of anything, so everything read from it is inferred.
func (s proseRun) hint(in string) {
	if !s.Spend(len(in)/4 + 1) {
		s.Unknown("hint", fact.TraitWork)
		return
	}
	before := len(s.Impacts)
	prose := s.fenced(in)
	about := hintContext{large: saysThousands(prose), steps: s.announces(in), program: s.wantsProgram(in)}
	for _, line := range strings.SplitN(prose, "\n", maxHintLines) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "$ "); s.commandLine(line) {
			from := len(s.Impacts)
			s.readCommand(line)
			s.markPlanned(&sentence{steps: about.steps}, from)
		}
	}
	for _, sentence := range sentences(prose) {
		s.readSentence(sentence, about)
	}
	if strings.Contains(prose, "__import__(") { // an expression that imports for itself
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: "hint eval",
			Reversibility: interlock.Window,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitInjection}})
	}
	if inject.Injected(in) {
		s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Readonly, Via: "hint",
			Confidence: interlock.Inferred, Traits: []string{fact.TraitInjection}})
	}
	if len(s.Impacts) == before && s.namesNothing(in) {
		s.vague()
	}
	if len(s.Impacts) == before {
		s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Readonly, Via: "hint",
			Confidence: interlock.Inferred})
	}
}

// maxHintLines bounds how many lines of a hint are looked at as commands; the last takes the rest.
const maxHintLines = 256

// fenced analyses fenced code blocks and returns the prose without them.
func (s proseRun) fenced(in string) string {
	if !strings.Contains(in, "```") {
		return in
	}
	var prose strings.Builder
	for n := 0; ; n++ {
		start := strings.Index(in, "```")
		if start < 0 || n > 64 {
			break
		}
		prose.WriteString(in[:start])
		prose.WriteString("\n")
		block := in[start+3:]
		end := strings.Index(block, "```")
		rest := ""
		if end >= 0 {
			block, rest = block[:end], block[end+3:]
		}
		language, body, found := strings.Cut(block, "\n")
		if !found {
			language, body = "", block
		}
		s.block(strings.ToLower(strings.TrimSpace(language)), body)
		in = rest
	}
	prose.WriteString(in)
	return prose.String()
}

func (s proseRun) block(language, body string) {
	switch language {
	case "bash", "sh", "shell", "zsh", "console", "terminal", "mswea_bash_command":
		s.Nested(interlock.KindShell, strings.TrimPrefix(strings.TrimSpace(body), "$ "))
	case "python", "py", "python3":
		s.Nested(interlock.KindPython, body)
	case "javascript", "js", "node", "typescript", "ts":
		s.Nested(interlock.KindJavaScript, body)
	case "sql", "postgresql", "mysql", "sqlite":
		s.Nested(interlock.KindSQL, body)
	case "":
		first := strings.TrimPrefix(strings.TrimSpace(body), "$ ")
		word, _, _ := strings.Cut(first, " ")
		if s.Know.Described(word) && !inject.ProseWords.Has(word) {
			s.Nested(interlock.KindShell, first)
		} else if sql.LooksLikeStatement(first) {
			s.Nested(interlock.KindSQL, first)
		}
	}
}

// sentences splits prose where a sentence or a line ends. A dot inside a name ends nothing.
func sentences(prose string) (out []string) {
	start, ticks, quotes := 0, 0, 0
	for i := 0; i < len(prose); i++ {
		c := prose[i]
		switch c {
		case '`':
			ticks++
		case '"':
			quotes++
		case '\n':
			quotes = 0
		case ';':
			if quotes%2 == 1 { // part of what is quoted
				continue
			}
		}
		ends := c == '\n' || (c == '.' || c == '!' || c == '?' || c == ';') && i+1 < len(prose) &&
			(prose[i+1] == ' ' || prose[i+1] == '\n')
		if ends && (ticks%2 == 0 || c == '\n') {
			if sentence := strings.TrimSpace(prose[start:i]); sentence != "" {
				out = append(out, sentence)
			}
			start = i + 1
			ticks = 0
		}
	}
	if sentence := strings.TrimSpace(prose[start:]); sentence != "" {
		out = append(out, sentence)
	}
	return out
}

// A hintContext is what the whole of a hint says of each of its sentences.
type hintContext struct {
	large   bool // it speaks of doing something a thousand times
	steps   bool // somebody tells what he does next; the steps themselves are judged when they are taken
	program bool // a program is to be written, which is judged when it runs
}

// A sentence is one while it is read.
type sentence struct {
	vocabulary
	words   []string // as written, trimmed of punctuation
	low     []string // in lower case
	paths   []string
	places  []int    // at which words the paths stand
	inside  []string // directories the sentence says things are in
	urls    []string
	address string // an e-mail address
	secret  bool   // speaks of passwords, keys or tokens
	wide    bool   // speaks of all, every, entire
	steps   bool
	program bool
}

// readSentence reads one sentence.
func (s proseRun) readSentence(text string, about hintContext) {
	if len(text) > 16<<10 {
		text = text[:16<<10]
	}
	p := s.parseSentence(text)
	p.steps, p.program = about.steps, about.program
	rest := s.quoted(text, p)
	s.commandInProse(rest, p)
	s.toolInProse(p)
	p.foldPhrases()
	for i, word := range p.low {
		verb := s.stem(word)
		act := s.Verbs[verb]
		if act == "" || i > 0 && s.Is(know.Determiner, p.low[i-1]) || s.aside(act, p.low, i) {
			continue
		}
		if s.deniedAt(p.low, i) || s.discussedAt(p.low, i) {
			s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly,
				Via:        "hint " + verb,
				Confidence: interlock.Inferred, Traits: []string{fact.TraitNegated}})
			continue
		}
		s.recordVerb(act, verb, i, p)
		s.recordObject(act, verb, i, p)
	}
	if p.concealed() {
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem,
			Reversibility: interlock.Irreversible, Via: "hint",
			Confidence: interlock.Inferred, Traits: []string{fact.TraitMalice}})
	}
	s.recordPlain(p)
	s.recordAttack(p)
	s.recordForcePush(p)
	if about.large {
		s.recordFlood(p)
	}
}

func (v vocabulary) parseSentence(text string) *sentence {
	p := &sentence{vocabulary: v}
	for _, field := range strings.Fields(text) {
		word := strings.Trim(field, "\"'`,;:!?()[]{}<>*“”‘’")
		word = strings.Trim(strings.TrimRight(word, "."), "\"'`,;:")
		if word == "" {
			continue
		}
		low := strings.ToLower(word)
		p.words, p.low = append(p.words, word), append(p.low, low)
		switch {
		case strings.Contains(word, "://"):
			p.urls = append(p.urls, word)
		case strings.IndexByte(word, '@') > 0 && strings.Contains(word[strings.IndexByte(word, '@'):], "."):
			if n := len(p.low); lex.Has(p.low[max(0, n-4):n], "to", "email", "with") { // and not merely somebody's address
				p.address = word
			}
		case v.isPathWord(word):
			n := len(p.low) - 1
			if v.Is(know.HomeDotfile, word) {
				word = "~/" + word
			}
			if len(word) > 2 && (lex.Has(p.low[max(0, n-1):n], "in", "under", "inside", "within", "below") ||
				lex.Has(p.low[max(0, n-2):n], "in", "under", "inside", "within") &&
					lex.Has(p.low[n-1:n], "the", "a", "directory", "folder")) {
				p.inside = append(p.inside, word)
			} else {
				p.paths, p.places = append(p.paths, word), append(p.places, n)
			}
		case isAddress(word):
			p.urls = append(p.urls, "http://"+word)
		}
		switch {
		case v.Is(know.Secret, low), low == "key" && len(p.low) > 1 && v.Is(know.KeyKinds, p.low[len(p.low)-2]):
			p.secret = true
		case v.Is(know.Wide, low):
			p.wide = true
		}
	}
	return p
}

// isPathWord reports whether a word of prose names a file.
func (v vocabulary) isPathWord(word string) bool {
	if len(word) < 2 || strings.ContainsAny(word, "()={}") {
		return false
	}
	switch {
	case word[0] == '/' && word[1] != '/' && (word[1]|0x20 >= 'a' && word[1]|0x20 <= 'z' || word[1] == '.' || word[1] == '*'):
		return true
	case strings.HasPrefix(word, "~/"), strings.HasPrefix(word, "./"), strings.HasPrefix(word, "../"),
		lex.IsDrive(word) && len(word) > 2:
		return true
	case word[0] == '.' && len(word) > 3 && word[1]|0x20 >= 'a' && word[1]|0x20 <= 'z' && !strings.ContainsAny(word[1:], "."):
		return v.Is(know.Dotfile, word)
	case strings.Count(word, "/") >= 2 && !strings.Contains(word, "//"):
		return true
	}
	return false
}

// isAddress reports whether a word is an IPv4 address, with a port or without.
func isAddress(word string) bool {
	host, _, _ := strings.Cut(word, ":")
	if strings.Count(host, ".") != 3 {
		return false
	}
	_, ok := web.LooseIPv4(host)
	return ok
}
