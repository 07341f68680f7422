package foreign

import (
	"strings"

	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A wordReader follows a program whose statements are commands of words: Tcl and Expect, and CMake, which puts the words in
// brackets.
type wordReader struct {
	*Run
	spawned string // the program that Expect talks to
}

// readWords follows a program of commands.
func readWords(l *know.Language, text string, host Host, inline bool, args []Value) {
	run := &Run{lang: l, host: host, inline: inline, vars: map[string]Value{}, defined: map[string]bool{}}
	run.vars["argv"] = Value{listed: true, list: args}
	w := &wordReader{Run: run}
	w.script(text)
}

// script runs every command of a text and returns what the last one gives.
func (w *wordReader) script(text string) Value {
	if w.depth++; w.depth > maxForeignDepth/2 {
		w.depth--
		w.host.TooDeep()
		return UnknownValue()
	}
	defer func() { w.depth-- }()
	last := UnknownValue()
	for i := 0; i < len(text) && w.host.Spend(1); {
		switch c := text[i]; {
		case c <= ' ' || c == ';' || c == ')':
			i++
		case c == '#':
			i = lex.EndOfLine(text, i)
		case w.lang.Syntax == "cmake":
			i = w.bracketed(text, i)
		default:
			var words []Value
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
	i = lex.SkipAny(text, i, " \t")
	if i >= len(text) || text[i] != '(' {
		return i + 1
	}
	words, next := w.words(text, i+1, true)
	w.command(append([]Value{textForeign(name)}, words...))
	return next
}

// words reads words up to the end of a command, or of the brackets it is in.
func (w *wordReader) words(text string, i int, brackets bool) (list []Value, next int) {
	for i < len(text) && w.host.Spend(1) {
		c := text[i]
		switch {
		case c == '\n' && !brackets || c == ';' && !brackets || c == ')' && brackets:
			return list, i + 1
		case c <= ' ' || c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			i++
			continue
		case c == '#' && brackets:
			i = lex.EndOfLine(text, i)
			continue
		}
		var v Value
		before := i
		v, i = w.word(text, i, brackets)
		i = max(i, before+1)
		if len(list) < 256 {
			list = append(list, v)
		}
	}
	return list, i
}

// word reads one word: in braces as it is, in quotes or bare with what variables and commands put into it.
func (w *wordReader) word(text string, i int, brackets bool) (Value, int) {
	if text[i] == '{' && !brackets {
		end := bracketEnd(text, i, '{', '}')
		return Value{Text: text[i+1 : end], Quoted: true, Class: "body"}, end + 1
	}
	out := Value{Quoted: true}
	var b strings.Builder
	quote := text[i] == '"'
	if quote {
		i++
	}
	whole := Value{}
	parts := 0
	for i < len(text) && b.Len() < lex.MaxText {
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
			b.WriteString(lex.AnsiC(text[i : i+2]))
			i += 2
		case c == '[' && !brackets:
			end := bracketEnd(text, i, '[', ']')
			v := w.script(text[i+1 : end])
			whole = v
			out.marks(&v)
			b.WriteString(v.String())
			i = end + 1
		case c == '$':
			v, next := w.variable(text, i)
			whole = v
			out.marks(&v)
			b.WriteString(v.String())
			i = next
		default:
			b.WriteByte(c)
			i++
		}
	}
	if parts == 1 && (whole.listed || whole.Glob || whole.Class != "") {
		return whole, i
	}
	out.Text = b.String()
	return out, i
}

// variable is the value of $name, ${name}, $env(NAME) or $ENV{NAME}.
func (w *wordReader) variable(text string, i int) (Value, int) {
	start := i + 1
	if start < len(text) && text[start] == '{' {
		end := start + strings.IndexByte(text[start:min(len(text), start+100)]+"}", '}')
		end = min(end, len(text))
		return w.wordValue(text[start+1 : max(end, start+1)]), min(end+1, len(text))
	}
	end := start
	for end < len(text) && (lex.IsNameStart(text[end]) || text[end] >= '0' && text[end] <= '9' || text[end] == ':') {
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

func (w *wordReader) wordValue(name string) Value {
	v := w.value(strings.TrimPrefix(name, "::"))
	v.Name = ""
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
func (w *wordReader) command(words []Value) Value {
	if len(words) == 0 {
		return UnknownValue()
	}
	name := strings.TrimPrefix(words[0].Text, "::")
	args := words[1:]
	if w.lang.Syntax == "cmake" {
		name = strings.ToLower(name)
	}
	if strings.IndexByte(name, 0) >= 0 {
		if name != "" && name[0] == 0 {
			w.unknownCall("a command that is chosen at run time")
		}
		return UnknownValue()
	}
	if len(args) > 0 && args[0].Known() {
		if two := name + "." + args[0].Text; callable(w.lang, two) {
			name, args = two, args[1:]
		}
	}
	switch name {
	case "set":
		if len(args) == 1 && w.lang.Syntax == "tcl" {
			return w.wordValue(args[0].Text)
		}
		if len(args) > 1 {
			v := args[1]
			if len(args) > 2 && w.lang.Syntax == "cmake" {
				v = Value{listed: true, list: args[1:]}
			}
			v.Class = ""
			w.set(args[0].Text, v)
			return v
		}
		return UnknownValue()
	case "proc":
		if len(args) > 0 {
			w.defined[args[0].Text] = true
		}
	case "foreach":
		if len(args) > 1 {
			list := Value{listed: true, list: args[1 : len(args)-1]}
			if len(list.list) == 1 && !list.list[0].listed && list.list[0].Known() {
				list.list = nil
				for _, one := range strings.Fields(args[1].Text) {
					list.list = append(list.list, textForeign(one))
				}
			} else if len(list.list) == 1 {
				list = list.list[0]
			}
			w.set(args[0].Text, list.each())
		}
	}
	return w.run(name, args)
}

// run judges a command by its name.
func (w *wordReader) run(name string, args []Value) Value {
	if w.lang.Keywords[name] {
		for i := range args {
			if args[i].Class == "body" {
				w.script(args[i].Text)
			}
		}
		if name == "eval" || name == "uplevel" {
			w.script(joinedList(flattened(args), " ").Text)
		}
		return UnknownValue()
	}
	var options []Value
	for i := range args {
		args[i].Class = ""
		if text := args[i].Text; strings.HasPrefix(text, "-") && len(text) > 1 && effectOf(w.lang, name) != nil &&
			!strings.Contains(effectOf(w.lang, name).What, "w") {
			continue
		}
		options = append(options, args[i])
	}
	args = options
	switch name {
	case "execute_process", "add_custom_command", "add_custom_target", "exec_program":
		w.processes(args)
		return UnknownValue()
	case "spawn":
		if len(args) > 0 {
			base, _ := lex.BaseName(args[0].Text)
			w.spawned = base
		}
	case "send", "exp_send":
		if len(args) > 0 && (strings.HasSuffix(w.spawned, "sh") && w.spawned != "ssh") {
			line := args[len(args)-1]
			line.Text = strings.TrimRight(line.Text, "\r\n")
			w.host.Shell(line)
		}
		return UnknownValue()
	}
	return w.call(name, nil, args)
}

// processes runs the command lines behind the word COMMAND.
func (w *wordReader) processes(args []Value) {
	for i := 0; i < len(args); i++ {
		if args[i].Text != "COMMAND" {
			continue
		}
		var words []Value
		for i++; i < len(args); i++ {
			if text := args[i].Text; len(text) > 4 && text == strings.ToUpper(text) &&
				strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
				i--
				break
			}
			words = append(words, args[i].elements()...)
		}
		if len(words) > 0 {
			w.host.Words(words)
		}
	}
}
