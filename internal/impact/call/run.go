package call

import (
	"encoding/json"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// runsThings reports whether a tool runs what it is given, or types it where something runs it: its name or its server's says so.
func runsThings(know *know.ToolTable, name string) bool {
	for _, word := range lex.NameWords(name) {
		if know.Runners[word] {
			return true
		}
	}
	return false
}

// programNamed returns the program that a tool is called after, if what is known of commands describes it.
func (s callRun) programNamed(name string) string {
	last := calledName(name)
	if strings.ContainsAny(last, "_-. ") || !s.Know.Described(strings.ToLower(last)) {
		return ""
	}
	return strings.ToLower(last)
}

// parts are the pieces of a command line that stand in arguments of their own.
type parts struct {
	program, code, with string // with is what runs code
	operands, input     string
	environment, dir    string
	taken               map[string]bool // keys that are read here and nowhere else
}

// assembled reads together what an object of a tool's arguments says in pieces: a program and what it is given, its input, its
// environment and directory; code and its language; another tool and its arguments. It returns the keys that need no
// other reading.
func (s callRun) assembled(c *call, object map[string]any) map[string]bool {
	know := s.Know.ToolTable()
	if taken := s.innerCall(c, know, object); taken != nil {
		return taken
	}
	if !c.runs && c.program == "" || len(know.Parts) == 0 {
		return nil
	}
	p := &parts{taken: map[string]bool{}}
	for _, name := range lex.SortedNames(object) {
		s.part(c, know, p, name, object[name])
	}
	whole := p.program == "" && c.program != "" && s.asProgram(c, know, p, object)
	switch {
	case whole:
	case p.code != "" && p.with != "":
		p.program = p.with + " " + lex.ShellQuote(p.code)
	case p.program == "" && p.environment != "":
		p.program = ":" // what it is set for is elsewhere
	case p.program == "" || p.operands == "" && p.input == "" && p.environment == "" && p.dir == "":
		return nil
	}
	line := p.program
	if p.operands != "" {
		line += " " + p.operands
	}
	if p.input != "" {
		line = "printf %s " + lex.ShellQuote(p.input) + " | " + line
	}
	from := s.Dir
	if p.dir != "" {
		if at := s.Place(p.dir); at.Path != "" {
			s.Dir = at.Path
		}
	}
	s.Nested(interlock.KindShell, p.environment+line)
	s.Dir = from
	return p.taken
}

// part takes up one argument as the piece it is.
func (s callRun) part(c *call, know *know.ToolTable, p *parts, name string, value any) {
	key := lex.Fold(name)
	text, isText := value.(string)
	holds := func(part string) bool { return know.Parts[part][key] }
	switch {
	case holds("environment"):
		if set := assignments(value); set != "" {
			p.environment += set
			p.taken[name] = true
		}
	case holds("operands"):
		if words := operandText(value); words != "" && !(isText && c.program != "" && isTalk(words)) &&
			!(key == "argv" && p.program == "" && !isText && c.program == "") {
			p.operands += " " + words
			p.taken[name] = true
		} else if list, isList := value.([]any); isList && key == "argv" {
			p.program, p.taken[name] = lex.CommandLine(list), true
		}
	case isText && holds("language") && know.Languages[strings.ToLower(text)] != "":
		p.with, p.taken[name] = know.Languages[strings.ToLower(text)], true
	case isText && holds("program") && p.program == "" && c.program == "" && s.names(text, key):
		p.program, p.taken[name] = text, true
	case isText && know.Arguments[key] == "code":
		p.code = text
		if with := runnerOf(know, c.words); p.with == "" {
			p.with = with
		}
	case isText && holds("input"):
		p.input, p.taken[name] = text, true
	case isText && holds("directory"):
		p.dir, p.taken[name] = text, true
	}
}

// runnerOf returns what runs code in the language that a tool's name speaks of; Python and JavaScript are read as such anyway.
func runnerOf(know *know.ToolTable, words []string) string {
	for _, word := range words {
		if with := know.Languages[word]; with != "" && know.Harness[word] == "" || word == "powershell" {
			return with
		}
	}
	return ""
}

// isTalk reports whether a text in the place of operands is rather what somebody says.
func isTalk(text string) bool {
	return !strings.HasPrefix(text, "-") && (strings.Count(text, " ") > 5 || strings.Contains(text, "\n")) &&
		!strings.Contains(text, " -")
}

// names reports whether a text can be the program of a call. What an argument for files holds is one only if it is known as one.
func (s callRun) names(text, key string) bool {
	if key != "file" && key != "app" && key != "interpreter" {
		return strings.TrimSpace(text) != "" && !(key == "program" && strings.ContainsAny(text, "(\n"))
	}
	return s.Know.Described(strings.ToLower(text[strings.LastIndexByte(text, '/')+1:]))
}

// asProgram puts together the command of a tool that is called as a program is: git with a subcommand and options.
func (s callRun) asProgram(c *call, know *know.ToolTable, p *parts, object map[string]any) bool {
	sub, paths := "", ""
	for _, name := range lex.SortedNames(object) {
		text, isText := object[name].(string)
		switch key := lex.Fold(name); {
		case isText && sub == "" && know.Parts["subcommand"][key] && !strings.HasPrefix(text, "http"):
			sub, p.taken[name] = " "+text, true
		case isText && know.Arguments[key] == "path" && !know.Parts["directory"][key]:
			paths += " " + lex.ShellQuote(text)
		}
	}
	if sub == "" && p.operands == "" || isTalk(sub) {
		return false
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(sub), " "); first == c.program {
		p.program = strings.TrimSpace(sub)
		return true
	}
	p.program = c.program + sub
	if sub == "" {
		p.program += paths
	}
	return true
}

// innerCall reads a call of another tool that is among the arguments, as that call. Where a tool only happens to
// have a name and parameters among its arguments, it is none.
func (s callRun) innerCall(c *call, know *know.ToolTable, object map[string]any) map[string]bool {
	if strings.HasSuffix(c.name, "prompts/get") || len(object) < 2 {
		return nil
	}
	called, argued := "", ""
	for _, name := range lex.SortedNames(object) {
		key := lex.Fold(name)
		switch text, isText := object[name].(string); {
		case isText && know.Parts["called"][key] && (called == "" || strings.HasPrefix(key, "tool")) &&
			(c.runs || strings.HasPrefix(key, "tool")) && isToolName(text):
			called = name
		case !isText && know.Parts["callee"][key] && argued == "":
			argued = name
		}
	}
	if called == "" || argued == "" {
		return nil
	}
	name, arguments := object[called].(string), object[argued]
	inner, isObject := arguments.(map[string]any)
	if list, isList := arguments.([]any); isList {
		inner, isObject = map[string]any{"args": list}, true
	}
	if !isObject {
		return nil
	}
	raw, err := json.Marshal(inner)
	if err != nil || s.Enter(name) != "" {
		s.Unknown(c.name, fact.TraitNested)
		return nil
	}
	s.toolCall(name, inner, raw)
	s.Leave()
	return map[string]bool{called: true, argued: true}
}

// isToolName reports whether a text can be the name of a tool: one word, as names of tools are.
func isToolName(text string) bool {
	return text != "" && len(text) <= 128 && !strings.ContainsAny(text, " \n\t{}()<>|;&$\"'") && !strings.HasPrefix(text, "/") &&
		!strings.HasPrefix(text, "~")
}

// runText reads a text of a tool that runs things: one that reads as a command is run, whatever its argument is called.
func (s callRun) runText(c *call, key, text string) bool {
	know := s.Know.ToolTable()
	if !c.runs || know.Parts["spoken"][key] || know.Arguments[key] == "shell" && s.isCommand(c, text) {
		return false
	}
	if scheme := encodedIn(know, c, key); scheme != "" {
		if plain, ok := lex.Decode(scheme, strings.TrimPrefix(text, "0x")); ok && s.readsAsCommand(plain) {
			s.Nested(interlock.KindShell, plain)
			return true
		}
	}
	if !s.readsAsCommand(text) {
		return false
	}
	impacts, texts := len(s.Impacts), len(s.Texts)
	s.Nested(interlock.KindShell, strings.TrimLeft(strings.TrimRight(text, "\r\n"), " ;|&"))
	for _, i := range s.Impacts[impacts:] {
		if i.Confidence == interlock.Unknown && i.Has(fact.TraitUnparsable) { // it was talk after all
			s.Impacts, s.Texts = s.Impacts[:impacts], s.Texts[:texts]
			return false
		}
	}
	return true
}

// encodedIn returns the encoding that an argument's name, or the tool's, says its value has.
func encodedIn(know *know.ToolTable, c *call, key string) string {
	if !know.Parts["encoded"][key] && !lex.Has(c.words, "hex", "base64", "b64", "encoded") {
		return ""
	}
	if strings.Contains(key, "hex") || lex.Has(c.words, "hex") {
		return "hex"
	}
	return "base64"
}

// readsAsCommand reports whether a text is a command and not talk: it begins with a program that is known, or with
// the path of one, and goes on as commands do, or says nothing else.
func (s callRun) readsAsCommand(text string) bool {
	line := strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(text), "$ "), ";|& ")
	if line == "" || len(line) > fact.MaxInput || line[0] == '{' && strings.HasSuffix(line, "}") && strings.Contains(line, `":`) {
		return false
	}
	first, rest, more := strings.Cut(firstLine(line), " ")
	if name, _, assigns := strings.Cut(first, "="); assigns && isVariableName(name) {
		return more && s.readsAsCommand(rest)
	}
	first = strings.TrimLeft(first, "({")
	name := first[strings.LastIndexByte(first, '/')+1:]
	known := s.Know.Described(name) || isShellWord(first)
	if !known && !strings.HasPrefix(first, "./") && !strings.HasPrefix(first, "/") && !strings.HasPrefix(first, "$(") {
		return false
	}
	if !more {
		return known || strings.ContainsAny(line, ";|&\n`$")
	}
	if strings.ContainsAny(rest, "/~$`|;&<>\n*") || strings.HasPrefix(rest, "-") || strings.Contains(rest, " -") {
		return known || strings.ContainsAny(rest, "|;&<>-")
	}
	return known && strings.Count(rest, " ") < 2 && !inject.ProseWords.Has(name)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func isVariableName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// isShellWord reports whether a word begins something compound or is built into shells.
func isShellWord(word string) bool {
	switch word {
	case "if", "for", "while", "until", "case", "cd", "eval", "exec", "export", "source", ".", "alias", "trap", "set", "function":
		return true
	}
	return false
}

// assignments turns an environment, an object or a list, into the assignments it is.
func assignments(value any) string {
	var out strings.Builder
	put := func(name, text string) {
		if isVariableName(name) {
			out.WriteString("export " + name + "=" + lex.ShellQuote(text) + "; ")
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range lex.SortedNames(v) {
			put(name, scalarText(v[name]))
		}
	case []any:
		for _, item := range v {
			switch one := item.(type) {
			case string:
				name, text, _ := strings.Cut(one, "=")
				put(name, text)
			case map[string]any:
				folded := foldKeys(one)
				name, _ := textAt(folded, []string{"name", "key", "variable"})
				put(name, scalarText(folded["value"]))
			}
		}
	case string:
		for line := range strings.FieldsSeq(v) {
			if name, text, ok := strings.Cut(line, "="); ok {
				put(name, text)
			}
		}
	}
	return out.String()
}

// operandText turns what a program is given into words of a command line: a text as it is, a list word by word, an object as
// options by name.
func operandText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		words := make([]string, 0, len(v))
		for _, item := range v {
			switch one := item.(type) {
			case map[string]any, []any:
				if text := operandText(one); text != "" {
					words = append(words, text)
				}
			default:
				words = append(words, lex.ShellQuote(scalarText(one)))
			}
		}
		return strings.Join(words, " ")
	case map[string]any:
		words := make([]string, 0, len(v))
		for _, name := range lex.SortedNames(v) {
			option := name
			if !strings.HasPrefix(name, "-") {
				option = "--" + name
				if len(name) == 1 {
					option = "-" + name
				}
			}
			switch set := v[name].(type) {
			case bool:
				if set {
					words = append(words, lex.ShellQuote(option))
				}
			case string, json.Number:
				words = append(words, lex.ShellQuote(option), lex.ShellQuote(scalarText(set)))
			case []any:
				for _, item := range set {
					words = append(words, lex.ShellQuote(option), lex.ShellQuote(scalarText(item)))
				}
			}
		}
		return strings.Join(words, " ")
	}
	return ""
}

func scalarText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}
