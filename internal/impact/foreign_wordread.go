package impact

import (
	"strings"
)

// A wordReader follows a program whose statements are commands of words: Tcl and Expect, and CMake, which puts the words in
// brackets.
type wordReader struct {
	*foreignRun
	spawned string // the program that Expect talks to
}

// readWords follows a program of commands.
func (l *foreignLanguage) readWords(text string, host foreignHost, inline bool, args []foreignValue) {
	run := &foreignRun{lang: l, host: host, inline: inline, vars: map[string]foreignValue{}, defined: map[string]bool{}}
	run.vars["argv"] = foreignValue{listed: true, list: args}
	w := &wordReader{foreignRun: run}
	w.script(text)
}

// script runs every command of a text and returns what the last one gives.
func (w *wordReader) script(text string) foreignValue {
	if w.depth++; w.depth > maxForeignDepth/2 {
		w.depth--
		w.host.tooDeep()
		return unknownForeign()
	}
	defer func() { w.depth-- }()
	last := unknownForeign()
	for i := 0; i < len(text) && w.host.spend(1); {
		switch c := text[i]; {
		case c <= ' ' || c == ';' || c == ')':
			i++
		case c == '#':
			i = endOfLine(text, i)
		case w.lang.syntax == "cmake":
			i = w.bracketed(text, i)
		default:
			var words []foreignValue
			words, i = w.words(text, i, false)
			last = w.command(words)
		}
	}
	return last
}

// bracketed reads CMake's name(words).
func (w *wordReader) bracketed(text string, i int) int {
	start := i
	for i < len(text) && text[i] != '(' && text[i] > ' ' {
		i++
	}
	name := text[start:i]
	i = skipAny(text, i, " \t")
	if i >= len(text) || text[i] != '(' {
		return i + 1
	}
	words, next := w.words(text, i+1, true)
	w.command(append([]foreignValue{textForeign(name)}, words...))
	return next
}

// words reads words up to the end of a command, or of the brackets it stands in.
func (w *wordReader) words(text string, i int, brackets bool) (list []foreignValue, next int) {
	for i < len(text) && w.host.spend(1) {
		c := text[i]
		switch {
		case c == '\n' && !brackets || c == ';' && !brackets || c == ')' && brackets:
			return list, i + 1
		case c <= ' ' || c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			i++
			continue
		case c == '#' && brackets:
			i = endOfLine(text, i)
			continue
		}
		var v foreignValue
		before := i
		v, i = w.word(text, i, brackets)
		i = max(i, before+1)
		if len(list) < 256 {
			list = append(list, v)
		}
	}
	return list, i
}

// word reads one word: in braces as it stands, in quotes or bare with what variables and commands put into it.
func (w *wordReader) word(text string, i int, brackets bool) (foreignValue, int) {
	if text[i] == '{' && !brackets {
		end := bracketEnd(text, i, '{', '}')
		return foreignValue{text: text[i+1 : end], quoted: true, class: "body"}, end + 1
	}
	out := foreignValue{quoted: true}
	var b strings.Builder
	quote := text[i] == '"'
	if quote {
		i++
	}
	whole := foreignValue{}
	parts := 0
	for i < len(text) && b.Len() < maxText {
		c := text[i]
		if quote && c == '"' {
			i++
			break
		}
		if !quote && (c <= ' ' || c == ';' || brackets && c == ')') {
			break
		}
		parts++
		switch {
		case c == '\\' && i+1 < len(text):
			b.WriteString(ansiC(text[i : i+2]))
			i += 2
		case c == '[' && !brackets:
			end := bracketEnd(text, i, '[', ']')
			v := w.script(text[i+1 : end])
			whole = v
			out.marks(&v)
			b.WriteString(v.string())
			i = end + 1
		case c == '$':
			v, next := w.variable(text, i)
			whole = v
			out.marks(&v)
			b.WriteString(v.string())
			i = next
		default:
			b.WriteByte(c)
			i++
		}
	}
	if parts == 1 && (whole.listed || whole.glob || whole.class != "") {
		return whole, i
	}
	out.text = b.String()
	return out, i
}

// variable is the value of $name, ${name}, $env(NAME) or $ENV{NAME}.
func (w *wordReader) variable(text string, i int) (foreignValue, int) {
	start := i + 1
	if start < len(text) && text[start] == '{' {
		end := start + strings.IndexByte(text[start:min(len(text), start+100)]+"}", '}')
		end = min(end, len(text))
		return w.wordValue(text[start+1 : max(end, start+1)]), min(end+1, len(text))
	}
	end := start
	for end < len(text) && (isNameStart(text[end]) || text[end] >= '0' && text[end] <= '9' || text[end] == ':') {
		end++
	}
	name := text[start:end]
	if end == start {
		return textForeign("$"), end
	}
	if end < len(text) && (text[end] == '(' || text[end] == '{' && name == "ENV") {
		if stop := strings.IndexAny(text[end:min(len(text), end+100)], ")}"); stop > 0 {
			key := text[end+1 : end+stop]
			end += stop + 1
			if strings.TrimPrefix(name, "::") == "env" || name == "ENV" {
				return environmentForeign(key), end
			}
			return w.wordValue(name + "(" + key + ")"), end
		}
	}
	return w.wordValue(name), end
}

func (w *wordReader) wordValue(name string) foreignValue {
	v := w.value(strings.TrimPrefix(name, "::"))
	v.name = ""
	return v
}

// bracketEnd is where the bracket that opens at i is closed, or the end.
func bracketEnd(text string, i int, open, shut byte) int {
	depth := 0
	for j := i; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return len(text)
}

// command judges one command of words.
func (w *wordReader) command(words []foreignValue) foreignValue {
	if len(words) == 0 {
		return unknownForeign()
	}
	name := strings.TrimPrefix(words[0].text, "::")
	args := words[1:]
	if w.lang.syntax == "cmake" {
		name = strings.ToLower(name)
	}
	if strings.IndexByte(name, 0) >= 0 {
		if name != "" && name[0] == 0 {
			w.unknownCall("a command that is chosen at run time")
		}
		return unknownForeign()
	}
	if len(args) > 0 && args[0].known() {
		if two := name + "." + args[0].text; w.lang.callable(two) {
			name, args = two, args[1:]
		}
	}
	switch name {
	case "set":
		if len(args) == 1 && w.lang.syntax == "tcl" {
			return w.wordValue(args[0].text)
		}
		if len(args) > 1 {
			v := args[1]
			if len(args) > 2 && w.lang.syntax == "cmake" {
				v = foreignValue{listed: true, list: args[1:]}
			}
			v.class = ""
			w.set(args[0].text, v)
			return v
		}
		return unknownForeign()
	case "proc":
		if len(args) > 0 {
			w.defined[args[0].text] = true
		}
	case "foreach":
		if len(args) > 1 {
			list := foreignValue{listed: true, list: args[1 : len(args)-1]}
			if len(list.list) == 1 && !list.list[0].listed && list.list[0].known() {
				list.list = nil
				for _, one := range strings.Fields(args[1].text) {
					list.list = append(list.list, textForeign(one))
				}
			} else if len(list.list) == 1 {
				list = list.list[0]
			}
			w.set(args[0].text, list.each())
		}
	}
	return w.run(name, args)
}

// run judges a command by its name.
func (w *wordReader) run(name string, args []foreignValue) foreignValue {
	if w.lang.keywords[name] {
		for i := range args {
			if args[i].class == "body" {
				w.script(args[i].text)
			}
		}
		if name == "eval" || name == "uplevel" {
			w.script(joinedList(flattened(args), " ").text)
		}
		return unknownForeign()
	}
	var options []foreignValue
	for i := range args {
		args[i].class = ""
		if text := args[i].text; strings.HasPrefix(text, "-") && len(text) > 1 && w.lang.effectOf(name) != nil && !strings.Contains(w.lang.effectOf(name).what, "w") {
			continue
		}
		options = append(options, args[i])
	}
	args = options
	switch name {
	case "execute_process", "add_custom_command", "add_custom_target", "exec_program":
		w.processes(args)
		return unknownForeign()
	case "spawn":
		if len(args) > 0 {
			base, _ := baseName(args[0].text)
			w.spawned = base
		}
	case "send", "exp_send":
		if len(args) > 0 && (strings.HasSuffix(w.spawned, "sh") && w.spawned != "ssh") {
			line := args[len(args)-1]
			line.text = strings.TrimRight(line.text, "\r\n")
			w.host.shell(line)
		}
		return unknownForeign()
	}
	return w.call(name, nil, args)
}

// processes runs the command lines behind the word COMMAND.
func (w *wordReader) processes(args []foreignValue) {
	for i := 0; i < len(args); i++ {
		if args[i].text != "COMMAND" {
			continue
		}
		var words []foreignValue
		for i++; i < len(args); i++ {
			if text := args[i].text; len(text) > 4 && text == strings.ToUpper(text) && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
				i--
				break
			}
			words = append(words, args[i].elements()...)
		}
		if len(words) > 0 {
			w.host.words(words)
		}
	}
}
