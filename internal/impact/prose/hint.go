package prose

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/sql"
	"interlock/internal/impact/web"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// A proseRun reads what people and models write for an analysis.
type proseRun struct{ *flow.Scan }

// Hint reads what an agent says it will do.
func Hint(s *flow.Scan, in string) { proseRun{s}.hint(in) }

// Text reads text that is nothing but text.
func Text(s *flow.Scan, in string) { proseRun{s}.text(in) }

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
	about := telling{large: saysThousands(prose), steps: announces(in), program: wantsProgram(in)}
	for _, line := range strings.SplitN(prose, "\n", maxHintLines) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "$ "); s.commandLine(line) {
			from := len(s.Impacts)
			s.spoken(line)
			s.plan(&saying{steps: about.steps}, from)
		}
	}
	for _, sentence := range sentences(prose) {
		s.sentence(sentence, about)
	}
	if strings.Contains(prose, "__import__(") { // an expression that imports for itself
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: "hint eval", Reversibility: interlock.Window,
			Confidence: interlock.Inferred, Traits: []string{fact.TraitInjection}})
	}
	if inject.Injected(in) {
		s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly, Via: "hint",
			Confidence: interlock.Inferred, Traits: []string{fact.TraitInjection}})
	}
	if len(s.Impacts) == before {
		s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly, Via: "hint",
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
		if s.Know.Described(word) && !inject.ProseWords[word] {
			s.Nested(interlock.KindShell, first)
		} else if sql.LooksLikeSQL(first) {
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
		ends := c == '\n' || (c == '.' || c == '!' || c == '?' || c == ';') && i+1 < len(prose) && (prose[i+1] == ' ' || prose[i+1] == '\n')
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

// A telling is what the whole of a hint says of each of its sentences.
type telling struct {
	large   bool // it speaks of doing something a thousand times
	steps   bool // somebody tells what he does next; the steps themselves are judged when they are taken
	program bool // a program is to be written, which is judged when it runs
}

// wantsProgram reports whether prose asks for a program to be written and not for it to be run.
func wantsProgram(prose string) bool {
	words := strings.Fields(strings.ToLower(prose[:min(len(prose), 200)]))
	words = words[:min(len(words), 10)]
	if len(words) < 3 || !lex.Has(words[:1], "write", "generate", "create", "implement", "develop", "build", "design", "code", "make") || lex.Has(words, "execute", "run", "executes", "runs") {
		return false
	}
	return lex.Has(words, "program", "script", "function", "class", "code", "application", "module", "method", "library", "tool", "snippet")
}

// announces reports whether prose is that of somebody who says what he is about to do, and no order for a program.
func announces(prose string) bool {
	low := strings.ToLower(prose[:min(len(prose), 4096)])
	for _, words := range [...]string{"i'll ", "i’ll ", "i will ", "let me ", "let's ", "let’s ", "i need to ", "i should ", "i'm going to ", "i am going to ", "i can ", "i have to ", "we need to ", "we should ", "we can ", "now i ", "i must ", "i want to ", "we'll ", "i could "} {
		if at := strings.Index(low, words); at == 0 || at > 0 && (low[at-1] == ' ' || low[at-1] == '\n' || low[at-1] == '(') {
			return true
		}
	}
	return false
}

// A saying is one sentence while it is read.
type saying struct {
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

// sentence reads one sentence.
func (s proseRun) sentence(text string, about telling) {
	if len(text) > 16<<10 {
		text = text[:16<<10]
	}
	p := readSaying(text)
	p.steps, p.program = about.steps, about.program
	rest := s.quoted(text, p)
	s.commandInProse(rest, p)
	s.toolInProse(p)
	p.foldPhrases()
	for i, word := range p.low {
		act := hintVerbs[stem(word)]
		if act == "" || i > 0 && isDeterminer(p.low[i-1]) || aside(act, p.low, i) {
			continue
		}
		if deniedAt(p.low, i) || discussedAt(p.low, i) {
			s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly, Via: "hint " + stem(word),
				Confidence: interlock.Inferred, Traits: []string{fact.TraitNegated}})
			continue
		}
		s.said(act, stem(word), i, p)
		s.saidOf(act, stem(word), i, p)
	}
	if p.concealed() {
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Reversibility: interlock.Irreversible, Via: "hint",
			Confidence: interlock.Inferred, Traits: []string{fact.TraitMalice}})
	}
	s.malice(p)
	s.forced(p)
	if about.large {
		s.flood(p)
	}
}

func readSaying(text string) *saying {
	p := &saying{}
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
		case isPathWord(word):
			n := len(p.low) - 1
			if homeDotfiles[word] {
				word = "~/" + word
			}
			if len(word) > 2 && (lex.Has(p.low[max(0, n-1):n], "in", "under", "inside", "within", "below") || lex.Has(p.low[max(0, n-2):n], "in", "under", "inside", "within") && lex.Has(p.low[n-1:n], "the", "a", "directory", "folder")) {
				p.inside = append(p.inside, word)
			} else {
				p.paths, p.places = append(p.paths, word), append(p.places, n)
			}
		case isAddress(word):
			p.urls = append(p.urls, "http://"+word)
		}
		switch {
		case hintSecrets[low], low == "key" && len(p.low) > 1 && lex.Has(p.low[len(p.low)-2:len(p.low)-1], "private", "ssh", "api", "access", "secret"):
			p.secret = true
		case hintWide[low]:
			p.wide = true
		}
	}
	return p
}

// isPathWord reports whether a word of prose names a file.
func isPathWord(word string) bool {
	if len(word) < 2 || strings.ContainsAny(word, "()={}") {
		return false
	}
	switch {
	case word[0] == '/' && word[1] != '/' && (word[1]|0x20 >= 'a' && word[1]|0x20 <= 'z' || word[1] == '.' || word[1] == '*'):
		return true
	case strings.HasPrefix(word, "~/"), strings.HasPrefix(word, "./"), strings.HasPrefix(word, "../"), lex.IsDrive(word) && len(word) > 2:
		return true
	case word[0] == '.' && len(word) > 3 && word[1]|0x20 >= 'a' && word[1]|0x20 <= 'z' && !strings.ContainsAny(word[1:], "."):
		return hintDotfiles[word]
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

// stem takes the ending off a verb.
func stem(word string) string {
	if hintVerbs[word] != "" {
		return word
	}
	for _, ending := range [...]struct{ from, to string }{
		{"ies", "y"}, {"es", "e"}, {"es", ""}, {"s", ""}, {"ied", "y"}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""}, {"ping", "p"}, {"ting", "t"}, {"ding", "d"}, {"pped", "p"},
	} {
		if base, ok := strings.CutSuffix(word, ending.from); ok && len(base) >= 2 && hintVerbs[base+ending.to] != "" {
			return base + ending.to
		}
	}
	return word
}

// aside reports whether a verb's word is not an announcement here: a participle that describes ("files modified today"), a
// permission ("group write permission"), a form of writing ("in JSON format").
func aside(act string, low []string, at int) bool {
	word := low[at]
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
		return lex.Has(low[at+1:min(len(low), at+5)], "permission", "permissions") || next == "access" || next == "time" || next == "timestamps"
	case stem(word) == "email" || stem(word) == "share" || stem(word) == "post" || stem(word) == "access": // nouns as often as verbs
		return at > 0 && !lex.Has(low[at-1:at], "and", "then", "please", "to", "will", "also", "i'll", "should", "must", "or", "can", "let's", "now", "me", "may")
	case word == "granting":
		return at > 0 && lex.Has(low[at-1:at], "before", "when", "of", "for") // what a program checks, not what is done
	case stem(word) == "format":
		return !lex.Has(low[at+1:min(len(low), at+6)], "disk", "drive", "partition", "usb", "/dev/sda", "c:", "filesystem")
	}
	return false
}

func isDeterminer(word string) bool {
	switch word {
	case "the", "a", "an", "this", "that", "its", "their", "any", "each", "no":
		return true
	}
	return false
}

// deniedAt reports whether the words before at say that it will not be done.
func deniedAt(low []string, at int) bool {
	from := max(0, at-6)
	if at > 0 && at <= len(low) && low[at-1] == "than" {
		return true // rather than that
	}
	if lex.Has(low[max(0, at-8):min(at, len(low))], "or", "such", "nor") {
		from = max(0, at-16) // a list of what is not done
	}
	for i := from; i < at && i < len(low); i++ {
		switch low[i] {
		case "not", "never", "don't", "won't", "without", "avoid", "avoiding", "cannot", "can't", "shouldn't", "mustn't", "refuse", "doesn't", "didn't",
			"prevent", "prevents", "preventing", "instead", "isn't", "wouldn't", "n't", "neither", "nor", "block", "blocking", "blocks", "protect", "protects", "detect", "detects", "detecting":
			return true
		}
	}
	return false
}

// discussedAt reports whether the words before at make the sentence one about the act and not an announcement of it.
func discussedAt(low []string, at int) bool {
	for i := 0; i < at && i < len(low); i++ {
		switch low[i] {
		case "explain", "explains", "describe", "describes", "documentation", "why", "whether", "difference", "meaning", "teach", "what's", "learn":
			return true
		case "how":
			return i == 0 || low[i-1] == "explain" || low[i-1] == "show" || low[i-1] == "about" || low[i-1] == "wonder" || low[i-1] == "me"
		case "what":
			return i == 0
		}
	}
	return false
}
