package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A foreignLoop notes what makes a bomb of a program in a language that is read only for its names: processes split off, and
// a loop or a function that does so again without end.
type foreignLoop struct {
	forks   bool
	endless bool   // a loop without an end of its own
	defined string // the function being defined, or the one defined last
	calls   int    // of that, after it began
	pauses  bool   // it waits for somebody, or ends
	grows   bool   // something is made bigger: a text doubled, a list added to, a file written
}

// bomb reports whether processes are split off, or something grows, again and again and nothing waits for it.
func (l *foreignLoop) bomb() bool {
	return !l.pauses && (l.forks && (l.endless || l.calls > 1) || l.grows && l.endless)
}

// repeats notes a name that splits off processes, begins a loop, or ends one.
func (f *foreignScan) repeats(whole, last string, end int) {
	l := &f.loop
	rest := strings.TrimLeft(f.text[end:], " \t\n")
	switch last {
	case "fork", "pcntl_fork", "fork!", "daemon":
		l.forks = l.forks || whole == last || whole == "Process.fork" || whole == "Kernel.fork" || whole == "posix.fork" ||
			whole == "unistd.fork" || whole == "POSIX::fork"
	case "popen", "proc_open", "spawn":
		l.forks = l.forks || f.kind != "other" // expect's spawn is waited for
	case "while", "until":
		l.endless = l.endless || f.constant(strings.TrimLeft(rest, "( "), last == "while")
	case "for":
		l.endless = l.endless || strings.HasPrefix(strings.ReplaceAll(rest, " ", ""), "(;;)")
	case "loop", "redo", "forever":
		l.endless = l.endless || last == "redo" || strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "do")
	case "def", "sub", "function":
		n := 0
		for n < len(rest) && (lex.IsNameStart(rest[n]) || n > 0 && rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		l.defined, l.calls = rest[:n], -1 // where it is named first
	case "wait", "waitpid", "waitall", "waitpid2", "wait2", "detach", "sleep", "usleep", "accept", "exit", "_exit", "return",
		"next", "raise", "throw", "last", "break", "die", "recv", "read", "readline", "gets", "select", "select_loop",
		"pcntl_wait", "pcntl_waitpid", "os.exit":
		l.pauses = true
	default:
		if last == l.defined && last != "" {
			l.calls++
		}
		l.grows = l.grows || doubles(whole, rest) || gathers(whole, last, rest)
	}
}

// doubles reports whether a name is followed by what appends it to itself: x .= x, x << x, x = x .. x.
func doubles(name, rest string) bool {
	for _, operator := range [...]string{".=", "+=", "<<", "="} {
		after, ok := strings.CutPrefix(rest, operator)
		if !ok {
			continue
		}
		after, ok = strings.CutPrefix(strings.TrimLeft(after, " $@"), name)
		if operator != "=" {
			return ok && (after == "" || !lex.IsNameStart(after[0]))
		}
		after = strings.TrimLeft(after, " ")
		if ok && after != "" && (after[0] == '"' || after == name || strings.HasPrefix(after, name) &&
			!lex.IsNameStart(after[len(name)])) { // what awk joins is side by side
			return true
		}
		if trimmed := strings.TrimLeft(after, "+. "); ok && trimmed != after {
			rest, same := strings.CutPrefix(strings.TrimLeft(trimmed, "$@"), name)
			return same && (rest == "" || !lex.IsNameStart(rest[0]))
		}
		return false
	}
	return false
}

// constant reports whether a condition is written as one that always holds, or as one that holds as long as processes can
// be split off.
func (f *foreignScan) constant(condition string, holds bool) bool {
	n := 0
	for n < len(condition) && (lex.IsNameStart(condition[n]) || condition[n] >= '0' && condition[n] <= '9') {
		n++
	}
	after := strings.TrimLeft(condition[n:], " \t)")
	if after != "" && strings.IndexByte("{;}\n\"'", after[0]) < 0 && !strings.HasPrefix(after, "do") && condition[n] != ')' &&
		f.kind != "lua" && f.kind != "ruby" {
		return false // only the beginning of it
	}
	switch word := strings.ToLower(condition[:n]); word {
	case "fork", "true", "1":
		return holds
	case "false", "0", "nil":
		return !holds
	}
	return false
}

// sent reads a call whose function is given by its name: object.send(:name, "argument"), call_user_func("name", …).
func (f *foreignScan) sent(whole, last string, start, end int) int {
	i := lex.SkipAny(f.text, end, " (")
	if i == end || i >= len(f.text) || f.text[i] != ':' && f.text[i] != '"' && f.text[i] != '\'' {
		return end
	}
	from := i + 1
	for i = from; i < len(f.text) && (lex.IsNameStart(f.text[i]) || f.text[i] >= '0' && f.text[i] <= '9'); {
		i++
	}
	name := f.text[from:i]
	after := lex.SkipAny(f.text, i, "\"' \t")
	if name == "" || f.byteAt(after) != ',' {
		return end
	}
	switch name {
	case "send", "public_send", "__send__", "call_user_func", "call_user_func_array": // nobody needs it twice
		return end
	}
	return max(f.called(strings.TrimSuffix(whole, last)+name, name, start, after+1), end)
}

// lists notes the names a program goes through, which what it does next to a name it does not spell out is done to.
func (f *foreignScan) lists(whole, last string, end int) {
	if last != "glob" && last != "scandir" && last != "opendir" && !strings.HasPrefix(whole, "Dir") &&
		!strings.HasPrefix(whole, "Find") {
		return
	}
	args, _, _ := lex.LiteralArguments(f.text, end)
	f.listed = nil
	for _, arg := range args {
		if !know.IsGlob(arg) {
			arg = strings.TrimSuffix(arg, "/") + "/*"
		}
		f.listed = append(f.listed, flow.Field{Text: arg, Glob: true})
	}
}

// handle skips what Perl names before the file it opens: open(F, …), open my $f, ….
func (f *foreignScan) handle(i int) int {
	at := lex.SkipAny(f.text, i, " \t(")
	start := at
	for at < len(f.text) && (lex.IsNameStart(f.text[at]) || strings.IndexByte("0123456789$ ", f.text[at]) >= 0) {
		at++
	}
	if at == start || at >= len(f.text) || f.text[at] != ',' {
		return i
	}
	return at + 1
}

// piped runs what a call of open runs instead of opening a file: "|command", "command|", "-|" and "|-" with words.
func (f *foreignScan) piped(args []string) bool {
	switch {
	case len(args) > 1 && slices.Contains([]string{"-|", "|-"}, strings.TrimSpace(args[0])):
		if len(args) > 2 {
			f.started(args[1:])
		} else {
			f.command(args[1])
		}
	case len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "|"):
		f.command(strings.TrimSpace(args[0])[1:])
	case len(args) == 1 && strings.HasSuffix(strings.TrimSpace(args[0]), "|"):
		f.command(strings.TrimSuffix(strings.TrimSpace(args[0]), "|"))
	default:
		return false
	}
	return true
}

// debugger reads a command of a debugger for the shells and processes it names.
func (r *shellRun) debugger(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "!"):
			r.subshell(func() flow.Flow { return r.script(line[1:], flow.Flow{}) })
		case word == "shell" || word == "sh" || word == "platform" && strings.HasPrefix(rest, "shell "):
			r.subshell(func() flow.Flow { return r.script(strings.TrimPrefix(rest, "shell "), flow.Flow{}) })
		case word == "pipe" || word == "|":
			_, command, _ := strings.Cut(rest, "|")
			r.subshell(func() flow.Flow { return r.script(command, flow.Flow{}) })
		case word == "attach" || word == "process" && strings.HasPrefix(rest, "attach"):
			r.inlineImpact(interlock.ImpactExecute, rest, "debugger attach", fact.TraitAttached)
		case word == "python" || word == "py" || word == "script" || word == "python-interactive":
			r.S.Nested(interlock.KindPython, rest)
		default:
			r.foreign("other", line)
		}
	}
}
