package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

// A foreignScan reads Perl, Ruby, PHP, Lua, awk and the like: names followed by literal arguments, and nothing else.
type foreignScan struct {
	r       *shellRun
	kind    string
	text    string
	network bool
	shell   bool
	loop    foreignLoop
	quiet   bool         // another reader has told what it does; only loops and connections are looked for
	listed  []flow.Field // the names it went through last
	loaded  int          // files around this one that had it loaded
}

func (f *foreignScan) run() {
	if f.quiet {
		f.r.S.Capture(f.words)
	} else {
		f.words()
	}
	switch f.kind {
	case "applescript":
		f.asks()
		f.tells()
	case "other":
		f.unreadSigns()
		f.unknownCall()
	}
	if f.loop.bomb() {
		f.r.bomb(f.kind)
	}
	if f.network && f.shell {
		f.r.Reverse(f.kind, "")
	} else if f.network && !f.quiet {
		f.r.inlineImpact(interlock.ImpactNetwork, f.kind, f.kind, fact.TraitInline)
	}
}

// words goes through the names and texts of a program.
func (f *foreignScan) words() {
	for i := 0; i < len(f.text) && f.r.S.Spend(1); {
		switch c := f.text[i]; {
		case c == '`' && f.kind != "awk" && f.kind != "mongo" && (f.kind != "other" || strings.HasSuffix(f.text[:i], "run(")):
			end := strings.IndexByte(f.text[i+1:], '`')
			if end < 0 {
				return
			}
			f.command(f.text[i+1 : i+1+end])
			i += end + 2
		case c == '\'' || c == '"':
			text, next := lex.StringLiteral(f.text, i)
			f.awkPipe(text, i, next)
			f.device(text)
			i = next
		case c == '#' && f.kind != "php" && f.kind != "mongo" && (i == 0 || f.text[i-1] == '\n'):
			i = lex.EndOfLine(f.text, i)
		case lex.IsNameStart(c):
			i = f.name(i)
		default:
			i++
		}
	}
}

// asks reads what AppleScript asks of the person at the screen: a password, or the rights of an administrator.
func (f *foreignScan) asks() {
	if strings.Contains(f.text, "hidden answer") {
		f.r.S.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: "password", Reach: interlock.ReachHome, Via: f.kind,
			Reversibility: interlock.Readonly, Traits: []string{fact.TraitInline, fact.TraitSecret}})
	}
	if strings.Contains(f.text, "login item") {
		f.r.S.Add(interlock.Impact{Kind: interlock.ImpactPersist, Target: "login item", Reach: interlock.ReachHome, Via: f.kind,
			Reversibility: interlock.Reversible, Traits: []string{fact.TraitInline, fact.TraitStartup}})
	}
	if takes := strings.Contains(f.text, "duplicate ") || strings.Contains(f.text, "delete ") ||
		strings.Contains(f.text, "move "); takes &&
		strings.Contains(f.text, "\"Finder\"") &&
		(strings.Contains(f.text, "home folder") || strings.Contains(f.text, "Library:") ||
			strings.Contains(f.text, "library folder")) {
		f.r.S.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: "files of other programs",
			Reach: interlock.ReachHome, Via: f.kind,
			Reversibility: interlock.Window, Traits: []string{fact.TraitInline, fact.TraitSecret}})
	}
	if strings.Contains(f.text, "keystroke ") || strings.Contains(f.text, "the clipboard") {
		f.r.S.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: "keyboard", Reach: interlock.ReachHome, Via: f.kind,
			Reversibility: interlock.Readonly, Traits: []string{fact.TraitInline, fact.TraitSecret}})
	}
	if strings.Contains(f.text, "administrator privileges") {
		f.r.S.Add(interlock.Impact{Kind: interlock.ImpactPrivilege, Target: "administrator",
			Reach: interlock.ReachSystem, Via: f.kind,
			Reversibility: interlock.Reversible, Traits: []string{fact.TraitElevated, fact.TraitInline}})
	}
}

// name reads a possibly qualified name and what it is called with.
func (f *foreignScan) name(i int) int {
	end := i
	for end < len(f.text) && (lex.IsNameStart(f.text[end]) || f.text[end] >= '0' && f.text[end] <= '9' || f.text[end] == ':' ||
		f.text[end] == '.' && end+1 < len(f.text) && lex.IsNameStart(f.text[end+1])) {
		end++
	}
	whole := f.text[i:end]
	last := whole[strings.LastIndexAny(whole, ".:")+1:]
	if last == "new" || last == "open" { // TCPSocket.new
		first, _, _ := strings.Cut(whole, ".")
		f.network = f.network || strings.HasSuffix(first, "Socket") || strings.HasSuffix(first, "Server") && f.kind == "ruby"
	}
	f.repeats(whole, last, end)
	if f.kind == "mongo" && f.administers(last, end) {
		return end
	}
	return f.called(whole, last, i, end)
}

// called reads what a name is called with.
func (f *foreignScan) called(whole, last string, i, end int) int {
	switch last {
	case "send", "public_send", "__send__", "call_user_func", "call_user_func_array":
		return f.sent(whole, last, i, end)
	case "glob", "Dir", "children", "each_child", "entries", "find", "scandir", "opendir":
		f.lists(whole, last, end)
	case "system", "exec", "popen", "passthru", "shell_exec", "proc_open", "spawn", "execute", "capture2", "capture3",
		"pcntl_exec", "execvp", "do":
		return f.runs(whole, last, end)
	case "qx", "x":
		return f.quoted(last, i, end)
	case "command", "process", "file", "directory":
		return f.lisp(last, i, end)
	case "get", "getstore", "getprint", "mirror":
		args, _, _ := lex.LiteralArguments(f.text, end)
		f.network = f.network || len(args) > 0 && strings.Contains(args[0], "://")
	case "unlink", "rmtree", "remove_tree", "rm_rf", "rm_r", "rm_f", "delete", "rmdir", "remove", "remove_entry_secure", "rm":
		return f.deletes(whole, last, end)
	case "connect", "accept":
		f.network = f.network || f.kind == "lua" || f.kind == "perl"
	case "fsockopen", "TCPSocket", "UDPSocket", "INET", "Socket", "socket", "stream_socket_client", "pfsockopen":
		f.network = true
	case "dropDatabase", "deleteMany", "drop", "remove_many", "deleteOne", "dropUser", "dropIndexes", "shutdownServer":
		if f.kind == "mongo" {
			f.drops(last, end)
		}
	case "destroy_all", "delete_all", "drop_table", "drop_database", "dropIfExists", "dropAllTables", "forceDelete":
		f.drops(last, end)
	case "truncate":
		if strings.HasPrefix(f.text[end:], "()") { // of a table
			f.drops(last, end)
			return end
		}
		return f.files(last, end)
	case "read", "readlines", "file_get_contents", "fopen", "open", "readfile", "foreach", "slurp", "write",
		"file_put_contents", "binread":
		return f.files(last, end)
	case "decode_base64", "decode64", "strict_decode64", "urlsafe_decode64", "base64_decode", "b64decode", "atob":
		return f.decodes(i, end)
	case "eval", "assert", "instance_eval", "loadstring":
		traits := []string{fact.TraitInline, fact.TraitDynamic}
		near := strings.ToLower(f.text[end:min(len(f.text), end+48)])
		for _, word := range [...]string{"decode", "unpack", "inflate", "rot13", "fromhex", "uncompress"} {
			if strings.Contains(near, word) {
				traits = append(traits, fact.TraitDecoded, fact.TraitObfuscated)
				break
			}
		}
		if fetches := f.text[end:min(len(f.text), end+64)]; strings.Contains(fetches, "://") &&
			(strings.Contains(fetches, "get") || strings.Contains(fetches, "open")) {
			traits = append(traits, fact.TraitDownloadRun)
		}
		f.r.inlineImpact(interlock.ImpactExecute, f.kind, f.kind, traits...)
	}
	return end
}

func (f *foreignScan) runs(whole, last string, end int) int {
	if last == "do" { // AppleScript: do shell script "…"
		rest, ok := strings.CutPrefix(f.text[end:], " shell script ")
		if !ok {
			return end
		}
		end = len(f.text) - len(rest)
	}
	if last == "execute" && whole != "os.execute" || last == "do" && f.kind != "applescript" {
		return end
	}
	args, next, _ := lex.LiteralArguments(f.text, end)
	switch {
	case len(args) > 1 && strings.HasSuffix(args[0], "sh") && args[1] == "-c" && len(args) > 2:
		f.command(args[2])
	case len(args) > 1 && last != "popen" && last != "proc_open":
		f.started(args)
	case len(args) > 0:
		f.command(args[0] + f.unknownRest(next))
	default:
		if at := lex.SkipAny(f.text, end, " ("); at == end && last != "exec" {
			return end // a name that happens to be the same
		}
		f.shell = true
		traits := []string{fact.TraitInline, fact.TraitDynamic}
		if arg := lex.SkipAny(f.text, end, " ("); arg+1 < len(f.text) && f.text[arg] == '$' &&
			strings.IndexByte("0123456789_", f.text[arg+1]) >= 0 {
			traits = append(traits, fact.TraitHooked) // each line of the input is run
		}
		f.r.inlineImpact(interlock.ImpactExecute, f.kind, f.kind, traits...)
	}
	return next
}

// started runs a program that is given its words one by one.
func (f *foreignScan) started(args []string) {
	if !f.quiet {
		f.r.command(flow.Literals(args), flow.Streams{})
	}
}

// unknownRest is an operand that is not known, if awk joins something that is not a literal to the text that ends here.
func (f *foreignScan) unknownRest(i int) string {
	if i = lex.SkipAny(f.text, i, " \t"); f.kind == "awk" && (f.byteAt(i) == '$' || lex.IsNameStart(f.byteAt(i))) {
		return "$1"
	}
	return ""
}

func (f *foreignScan) command(text string) {
	f.loop.forks = f.loop.forks || strings.HasSuffix(strings.TrimRight(text, " ;"), "&")
	if first := strings.Fields(text); len(first) > 0 {
		name, _ := lex.BaseName(first[0])
		if spec := f.r.S.Know.Lookup(name); spec != nil && spec.Stdin == "shell" {
			f.shell = true
		}
	}
	if !f.quiet {
		f.r.subshell(func() flow.Flow { return f.r.script(text, flow.Flow{}) })
	}
}

// decodes reads a literal that is decoded. Where something before it runs text, that is taken to be what runs.
func (f *foreignScan) decodes(start, end int) int {
	args, next, _ := lex.LiteralArguments(f.text, end)
	if len(args) != 1 {
		return end
	}
	for _, runs := range [...]string{"system", "exec", "popen", "eval", "spawn", "`", "passthru"} {
		if !strings.Contains(f.text[:start], runs) {
			continue
		}
		if text, ok := lex.Decode("base64", args[0]); ok {
			f.r.S.Modified(f.r.Unwrapped(f.kind, flow.Flow{Decoded: true}), func() { f.command(text) })
		}
		break
	}
	return next
}

// quoted reads Perl's qx{…} and Ruby's %x{…}.
func (f *foreignScan) quoted(last string, start, end int) int {
	if last == "x" && (start == 0 || f.text[start-1] != '%') || end >= len(f.text) {
		return end
	}
	close := strings.IndexByte("})]>", '}')
	closers := map[byte]byte{'{': '}', '(': ')', '[': ']', '<': '>', '/': '/', '|': '|', '!': '!', '\'': '\''}
	c, ok := closers[f.text[end]]
	if !ok || close < 0 {
		return end
	}
	stop := strings.IndexByte(f.text[end+1:], c)
	if stop < 0 {
		return end
	}
	f.command(f.text[end+1 : end+1+stop])
	return end + stop + 2
}

func (f *foreignScan) deletes(whole, last string, end int) int {
	if (last == "delete" || last == "remove" || last == "rm") && !strings.HasPrefix(whole, "File") &&
		!strings.HasPrefix(whole, "file.") && !strings.HasPrefix(whole, "Dir") &&
		!strings.HasPrefix(whole, "os.") && !strings.HasPrefix(whole, "Pathname") {
		return end
	}
	args, next, _ := lex.LiteralArguments(f.text, end)
	i := interlock.Impact{Kind: interlock.ImpactDelete, Via: f.kind, Traits: []string{fact.TraitInline}}
	if last != "unlink" && last != "delete" && last != "rmdir" && last != "remove" {
		i.Traits = append(i.Traits, fact.TraitRecursive)
	}
	if len(args) == 0 && len(f.listed) > 0 && strings.IndexByte(" (", f.byteAt(end)) >= 0 {
		i.Confidence = interlock.Inferred
		for _, t := range f.listed {
			f.r.S.TouchPlace(f.r.PlaceOf(t, true), i)
		}
		return end
	}
	if len(args) == 0 {
		if strings.IndexByte(" (", f.byteAt(end)) < 0 {
			return end
		}
		i.Traits = append(i.Traits, fact.TraitDynamic)
		i.Confidence, i.Reversibility = interlock.Inferred, interlock.Irreversible
		f.r.plain(i)
		return end
	}
	for _, arg := range args {
		f.r.S.TouchPlace(f.r.PlaceOf(flow.Field{Text: arg, Glob: know.IsGlob(arg)}, true), i)
	}
	return next
}

func (f *foreignScan) byteAt(i int) byte {
	if i < len(f.text) {
		return f.text[i]
	}
	return 0
}

func (f *foreignScan) drops(last string, end int) {
	i := interlock.Impact{Kind: interlock.ImpactDelete, Target: "database", Reach: interlock.ReachWorkspace,
		Via:           f.kind + " " + last,
		Reversibility: interlock.Irreversible, Traits: []string{fact.TraitDatabase, fact.TraitBulk}}
	rest := f.text[end:]
	if strings.HasPrefix(last, "delete") && !strings.HasPrefix(rest, "({})") && !strings.HasPrefix(rest, "()") {
		i.Traits = []string{fact.TraitDatabase}
		if last == "deleteOne" {
			i.Reversibility = interlock.Window
		}
	}
	f.r.S.Add(i)
}

// files reads the file names a call opens; a mode or redirection in the arguments tells writing from reading.
func (f *foreignScan) files(last string, end int) int {
	args, next, _ := lex.LiteralArguments(f.text, end)
	if len(args) == 0 && last == "open" { // Perl names the handle first
		args, next, _ = lex.LiteralArguments(f.text, f.handle(end))
		if f.piped(args) {
			return next
		}
	}
	if len(args) == 0 {
		return end
	}
	kind, name := interlock.ImpactRead, args[0]
	if strings.Contains(last, "write") || strings.Contains(last, "put") || last == "truncate" {
		kind = interlock.ImpactWrite
	}
	if len(args) > 1 && strings.ContainsAny(args[0], "<>") && !strings.Contains(args[0], "/") {
		if strings.Contains(args[0], ">") {
			kind = interlock.ImpactWrite
		}
		name = args[1]
	} else if len(args) > 1 && (strings.HasPrefix(args[1], "w") || strings.HasPrefix(args[1], "a")) {
		kind = interlock.ImpactWrite
	}
	if trimmed := strings.TrimLeft(name, "<> +"); trimmed != name {
		if strings.HasPrefix(name, ">") {
			kind = interlock.ImpactWrite
		}
		name = trimmed
	}
	if rest, piped := strings.CutPrefix(name, "|"); piped {
		f.command(rest)
		return next
	}
	if strings.Contains(name, "://") {
		f.network = true
		return next
	}
	if name != "" {
		f.r.S.TouchPlace(f.r.PlaceOf(flow.Literal(name), true),
			interlock.Impact{Kind: kind, Via: f.kind, Traits: []string{fact.TraitInline}})
	}
	return next
}

// awkPipe reads awk's "command" | getline, print | "command" and print > "file".
func (f *foreignScan) awkPipe(text string, start, next int) {
	if f.kind != "awk" {
		return
	}
	before := strings.TrimRight(f.text[:start], " \t")
	after := strings.TrimLeft(f.text[next:], " \t")
	switch {
	case strings.HasPrefix(after, "|") && strings.HasPrefix(strings.TrimLeft(after[1:], "& \t"), "getline"),
		strings.HasSuffix(before, "|") && !strings.HasSuffix(before, "||"), strings.HasSuffix(before, "|&"):
		if strings.HasPrefix(text, "/inet/") {
			f.network = true
			return
		}
		f.command(text)
	case strings.HasSuffix(before, ">") && strings.Contains(before, "print"):
		f.r.S.TouchPlace(f.r.PlaceOf(flow.Literal(text), true), interlock.Impact{Kind: interlock.ImpactWrite, Via: f.kind})
	}
}

func (f *foreignScan) device(text string) {
	if strings.HasPrefix(text, "/inet/tcp/") || strings.HasPrefix(text, "/inet/udp/") {
		f.network, f.shell = true, true
	}
}

func (r *shellRun) inlineImpact(kind interlock.ImpactKind, target string, via string, traits ...string) {
	i := interlock.Impact{Kind: kind, Target: target, Via: via, Confidence: interlock.Inferred, Traits: traits,
		Reversibility: place.UsualReversibility(kind)}
	r.plain(i)
}
