package impact

import (
	"strings"

	"interlock"
)

// A foreignShell is what a program that a shell command runs can reach, and the place where what it does is recorded.
type foreignShell struct {
	r      *shellRun
	lang   *foreignLanguage
	inline bool
	trait  string
}

// otherLanguage reads code of a language that a table describes, and reports whether one does.
func (r *shellRun) otherLanguage(kind, text string) bool {
	lang := r.s.know.language(kind)
	if lang == nil {
		return false
	}
	if reason := r.s.enter(text); reason != "" {
		r.s.unknown(kind, reason)
		return true
	}
	defer r.s.leave()
	host := &foreignShell{r: r, lang: lang, inline: r.inlined != nil, trait: TraitInline}
	var args []foreignValue
	if u := r.inlined; u != nil {
		for _, f := range u.operands {
			if f.dynamic || f.text == text {
				continue
			}
			args = append(args, foreignValue{text: f.text, quoted: true, glob: f.glob})
		}
	}
	lang.read(text, host, host.inline, args)
	return true
}

// read follows a program.
func (l *foreignLanguage) read(text string, host foreignHost, inline bool, args []foreignValue) {
	switch l.syntax {
	case "lisp":
		l.readLisp(text, host, inline)
		return
	case "tcl", "cmake":
		l.readWords(text, host, inline, args)
		return
	}
	if l.syntax == "php" {
		text = betweenTags(text)
	}
	toks, ok := l.tokens(text, host.spend)
	if !ok {
		host.tooDeep()
		return
	}
	r := &foreignRun{lang: l, host: host, toks: toks, inline: inline, vars: map[string]foreignValue{}, defined: map[string]bool{}}
	given := foreignValue{listed: true, list: args}
	for _, name := range [...]string{"ARGV", "argv", "arg", "args"} {
		r.vars[name] = given
	}
	for i := range toks {
		if toks[i].kind != foreignName {
			continue
		}
		if i > 0 && toks[i-1].kind == foreignName && (defines(toks[i-1].text) || i > 1 && toks[i-2].kind == foreignName && defines(toks[i-2].text)) {
			r.defined[toks[i].text] = true
		}
		if i+2 < len(toks) && toks[i+1].kind == foreignOp && (toks[i+1].text == "<-" || toks[i+1].text == "=") && defines(toks[i+2].text) {
			r.defined[toks[i].text] = true
		}
	}
	r.statements("")
}

// defines reports whether a word gives a name to a function.
func defines(word string) bool {
	switch word {
	case "sub", "def", "defp", "function", "fun", "fn", "func", "method", "lambda", "proc", "package", "class", "module", "defmodule", "macro":
		return true
	}
	return false
}

func (h *foreignShell) spend(n int) bool { return h.r.s.spend(n) }

func (h *foreignShell) tooDeep() { h.r.s.unknown(h.lang.name, TraitNested) }

func (h *foreignShell) impact(i interlock.Impact) {
	if i.Kind == interlock.ImpactNetwork && i.Reach == "" && i.Target != "" {
		i.Reach, _ = h.r.s.host(i.Target)
	}
	h.r.plain(i)
}

// unknown records that a program calls something nobody knows.
func (h *foreignShell) unknown(name string) {
	h.r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: name, Reach: interlock.ReachWorkspace, Via: h.lang.name,
		Reversibility: interlock.Irreversible, Confidence: interlock.Unknown, Traits: []string{TraitInline, TraitUnsupported}})
}

// opaque records that a program runs a command that is only known when it runs.
func (h *foreignShell) opaque(v foreignValue) {
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: h.lang.name, Reach: interlock.ReachWorkspace, Via: h.lang.name,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitDynamic, TraitInline}}
	if h.inline {
		i.Confidence, i.Reversibility = interlock.Unknown, interlock.Irreversible
	}
	if v.class == "decoded" {
		i.Traits = append(i.Traits, TraitDecoded, TraitObfuscated)
	}
	if v.sent {
		i.Traits = append(i.Traits, TraitDownloadRun)
	}
	h.r.s.add(i)
}

func (h *foreignShell) shell(v foreignValue) {
	text := v.string()
	if strings.Trim(text, "\x00 \t\n") == "" || strings.HasPrefix(strings.TrimLeft(text, " "), "\x00") {
		if strings.Trim(text, " \t\n") != "" {
			h.opaque(v)
		}
		return
	}
	h.within(v, func() { h.r.subshell(func() flow { return h.r.script(gapped(text), flow{}) }) })
}

// within runs something that stands for a value, with what is special to that value.
func (h *foreignShell) within(v foreignValue, f func()) {
	h.r.s.modified(h.r.unwrapped(h.lang.name, flow{decoded: v.class == "decoded"}), f)
}

func (h *foreignShell) words(list []foreignValue) {
	if len(list) == 0 || strings.HasPrefix(list[0].string(), "\x00") {
		h.opaque(unknownForeign())
		return
	}
	fields := make([]field, 0, len(list))
	for i := range list {
		text := list[i].string()
		f := field{text: gapped(text), glob: list[i].glob}
		if strings.IndexByte(text, 0) >= 0 {
			f.dynamic, f.lead = true, text[0] == 0
		}
		fields = append(fields, f)
	}
	h.r.subshell(func() flow { return h.r.command(fields, streams{}) })
}

func (h *foreignShell) code(language string, v foreignValue) {
	text := v.string()
	if strings.IndexByte(text, 0) >= 0 || language == "" {
		i := interlock.Impact{Kind: interlock.ImpactExecute, Target: h.lang.name, Reach: interlock.ReachWorkspace, Via: h.lang.name,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitDynamic, TraitInline}}
		if h.inline {
			i.Confidence = interlock.Unknown
		}
		if v.class == "decoded" {
			i.Traits = append(i.Traits, TraitDecoded, TraitObfuscated)
		}
		if v.sent {
			i.Traits = append(i.Traits, TraitDownloadRun)
		}
		h.r.s.add(i)
		return
	}
	h.within(v, func() { h.r.subshell(func() flow { return h.r.code(language, text, flow{}) }) })
}

// file runs a file of the same language.
func (h *foreignShell) file(v foreignValue) {
	if !v.some() || !v.known() {
		if h.inline && !v.known() && v.name == "" {
			h.code("", v)
		}
		return
	}
	if !strings.ContainsAny(v.text, "/.") {
		return // a module by its name
	}
	if strings.Contains(v.text, "://") {
		v.sent = true
		h.code("", v)
		return
	}
	p := h.r.placeOf(field{text: v.text}, true)
	h.r.touchExecuted(p, h.lang.name, streams{})
	if text, ok := h.r.s.view.Scripts[p.Path]; ok {
		h.r.subshell(func() flow { return h.r.code(h.lang.name, text, flow{}) })
	}
}

func (h *foreignShell) touch(kind interlock.ImpactKind, v foreignValue, via string, traits []string) bool {
	i := interlock.Impact{Kind: kind, Via: h.lang.name, Traits: append([]string{TraitInline}, traits...)}
	text := v.string()
	switch text {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/stdin", "-", "php://stdin", "php://stdout", "php://stderr", "php://memory", "php://output":
		return false
	}
	if text == "" || text[0] == 0 || len(text) > 4096 {
		if kind == interlock.ImpactRead {
			return false
		}
		i.Traits = append(i.Traits, TraitDynamic)
		i.Confidence = interlock.Inferred
		if kind == interlock.ImpactDelete {
			i.Reversibility = interlock.Irreversible
		}
		if h.inline {
			i.Confidence, i.Target = interlock.Unknown, "a path that is chosen at run time"
			i.Reversibility = interlock.Irreversible
		}
		h.r.plain(i)
		return false
	}
	f := field{text: strings.ReplaceAll(text, "\x00", "*"), glob: v.glob || strings.IndexByte(text, 0) >= 0, quoted: !v.glob && strings.IndexByte(text, 0) < 0 && isGlob(text)}
	before := len(h.r.s.impacts)
	h.r.s.touchPlace(h.r.placeOf(f, true), i)
	if kind != interlock.ImpactRead {
		return false
	}
	for _, found := range h.r.s.impacts[min(before, len(h.r.s.impacts)):] {
		if found.Has(TraitSecret) {
			return true
		}
	}
	return false
}

func (h *foreignShell) request(method string, v foreignValue, upload, secret bool) {
	url := gapped(v.string())
	i := interlock.Impact{Kind: interlock.ImpactNetwork, Target: h.lang.name, Reach: interlock.ReachExternal, Via: h.lang.name,
		Reversibility: interlock.Window, Traits: []string{TraitInline}}
	if v.some() {
		i.Target = hostOf(url)
		i.Reach, _ = h.r.s.host(url)
	}
	if method == "GET" {
		i.Traits = append(i.Traits, TraitDownload)
	}
	if upload {
		i.Traits = append(i.Traits, TraitUpload)
	}
	if secret {
		i.Traits = append(i.Traits, TraitUpload, TraitSecretSend)
	}
	h.r.s.add(i)
}

// exScript reads a command of an editor that evaluates expressions.
func (r *shellRun) exScript(word, line string) bool {
	switch word {
	case "call", "cal", "let", "echo", "ec", "echom", "exe", "exec", "execute", "put", "eval", "if", "for", "while", "return", "echomsg", "echon":
		return r.otherLanguage("vim", line)
	}
	for _, language := range [...]string{"py", "lua", "rub", "pe", "tcl", "mz"} {
		if strings.HasPrefix(word, language) {
			return false
		}
	}
	return strings.Contains(line, "system(") && r.otherLanguage("vim", line)
}

// exFile judges a command of an editor that reads, writes or runs a file by its name.
func (r *shellRun) exFile(word, rest string) bool {
	rest, _, _ = strings.Cut(rest, "|")
	rest = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(rest), ">"))
	if rest == "" || strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "++") {
		return false
	}
	kind := interlock.ImpactRead
	switch strings.TrimSuffix(strings.TrimLeft(word, "%0123456789,.$"), "!") {
	case "w", "write", "W", "sav", "saveas", "up", "update", "wq", "x", "e", "edit", "E":
		kind = interlock.ImpactWrite
	case "r", "read":
	case "so", "source", "ru", "runtime", "luafile", "luaf", "py3file", "pyfile":
		kind = interlock.ImpactExecute
	default:
		return false
	}
	path := strings.NewReplacer("$HOME", "~", "\\ ", " ").Replace(rest)
	r.s.touchPlace(r.placeOf(literal(path), true), interlock.Impact{Kind: kind, Via: "vim"})
	return true
}

// betweenTags is the program in a file of PHP, whose text outside of <?php and ?> is only printed.
func betweenTags(text string) string {
	if !strings.Contains(text, "<?") {
		return text
	}
	var b strings.Builder
	for {
		_, rest, ok := strings.Cut(text, "<?")
		if !ok {
			return b.String()
		}
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "php"), "=")
		code, after, _ := strings.Cut(rest, "?>")
		b.WriteString(code)
		b.WriteString(";\n")
		text = after
	}
}
