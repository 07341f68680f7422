package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/foreign"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/impact/program"
)

// A foreignShell is what a program that a shell command runs can reach, and the place where what it does is recorded.
type foreignShell struct {
	r      *shellRun
	lang   *know.Language
	inline bool
	trait  string
}

// otherLanguage reads code of a language that a table describes, and reports whether one does.
func (r *shellRun) otherLanguage(kind, text string) bool {
	lang := r.S.Know.Language(kind)
	if lang == nil {
		return false
	}
	if reason := r.S.Enter(text); reason != "" {
		r.S.Unknown(kind, reason)
		return true
	}
	defer r.S.Leave()
	host := &foreignShell{r: r, lang: lang, inline: r.inlined != nil, trait: fact.TraitInline}
	var args []foreign.Value
	if u := r.inlined; u != nil {
		for _, f := range u.Operands {
			if f.Dynamic || f.Text == text {
				continue
			}
			args = append(args, foreign.Value{Text: f.Text, Quoted: true, Glob: f.Glob})
		}
	}
	foreign.Read(lang, text, host, host.inline, args)
	return true
}

func (h *foreignShell) Spend(n int) bool { return h.r.S.Spend(n) }

func (h *foreignShell) TooDeep() { h.r.S.Unknown(h.lang.Name, fact.TraitNested) }

func (h *foreignShell) Impact(i interlock.Impact) {
	if i.Kind == interlock.ImpactNetwork && i.Reach == "" && i.Target != "" {
		i.Reach, _ = h.r.S.Host(i.Target)
	}
	h.r.plain(i)
}

// Unknown records that a program calls something nobody knows.
func (h *foreignShell) Unknown(name string) {
	h.r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: name, Reach: interlock.ReachWorkspace, Via: h.lang.Name,
		Reversibility: interlock.Irreversible, Confidence: interlock.Unknown,
		Traits: []string{fact.TraitInline, fact.TraitUnsupported}})
}

// opaque records that a program runs a command that is only known when it runs.
func (h *foreignShell) opaque(v foreign.Value) {
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: h.lang.Name, Reach: interlock.ReachWorkspace, Via: h.lang.Name,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitDynamic, fact.TraitInline}}
	if h.inline {
		i.Confidence, i.Reversibility = interlock.Unknown, interlock.Irreversible
	}
	if v.Class == "decoded" {
		i.Traits = append(i.Traits, fact.TraitDecoded, fact.TraitObfuscated)
	}
	if v.Sent {
		i.Traits = append(i.Traits, fact.TraitDownloadRun)
	}
	h.r.S.Add(i)
}

func (h *foreignShell) Shell(v foreign.Value) {
	text := v.String()
	if strings.Trim(text, "\x00 \t\n") == "" || strings.HasPrefix(strings.TrimLeft(text, " "), "\x00") {
		if strings.Trim(text, " \t\n") != "" {
			h.opaque(v)
		}
		return
	}
	h.within(v, func() { h.r.subshell(func() flow.Flow { return h.r.script(program.Gapped(text), flow.Flow{}) }) })
}

// within runs something that represents a value, with what is special to that value.
func (h *foreignShell) within(v foreign.Value, f func()) {
	h.r.S.Modified(h.r.Unwrapped(h.lang.Name, flow.Flow{Decoded: v.Class == "decoded"}), f)
}

func (h *foreignShell) Words(list []foreign.Value) {
	if len(list) == 0 || strings.HasPrefix(list[0].String(), "\x00") {
		h.opaque(foreign.UnknownValue())
		return
	}
	fields := make([]flow.Field, 0, len(list))
	for i := range list {
		text := list[i].String()
		f := flow.Field{Text: program.Gapped(text), Glob: list[i].Glob}
		if strings.IndexByte(text, 0) >= 0 {
			f.Dynamic, f.Lead = true, text[0] == 0
		}
		fields = append(fields, f)
	}
	h.r.subshell(func() flow.Flow { return h.r.command(fields, flow.Streams{}) })
}

func (h *foreignShell) Code(language string, v foreign.Value) {
	text := v.String()
	if strings.IndexByte(text, 0) >= 0 || language == "" {
		i := interlock.Impact{Kind: interlock.ImpactExecute, Target: h.lang.Name, Reach: interlock.ReachWorkspace,
			Via:           h.lang.Name,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred,
			Traits: []string{fact.TraitDynamic, fact.TraitInline}}
		if h.inline {
			i.Confidence = interlock.Unknown
		}
		if v.Class == "decoded" {
			i.Traits = append(i.Traits, fact.TraitDecoded, fact.TraitObfuscated)
		}
		if v.Sent {
			i.Traits = append(i.Traits, fact.TraitDownloadRun)
		}
		h.r.S.Add(i)
		return
	}
	h.within(v, func() { h.r.subshell(func() flow.Flow { return h.r.code(language, text, flow.Flow{}) }) })
}

// File runs a file of the same language.
func (h *foreignShell) File(v foreign.Value) {
	if !v.Some() || !v.Known() {
		if h.inline && !v.Known() && v.Name == "" {
			h.Code("", v)
		}
		return
	}
	if !strings.ContainsAny(v.Text, "/.") {
		return // a module by its name
	}
	if strings.Contains(v.Text, "://") {
		v.Sent = true
		h.Code("", v)
		return
	}
	p := h.r.PlaceOf(flow.Field{Text: v.Text}, true)
	h.r.touchExecuted(p, h.lang.Name, flow.Streams{})
	if text, ok := h.r.S.View.Scripts[p.Path]; ok {
		h.r.subshell(func() flow.Flow { return h.r.code(h.lang.Name, text, flow.Flow{}) })
	}
}

func (h *foreignShell) Touch(kind interlock.ImpactKind, v foreign.Value, via string, traits []string) bool {
	i := interlock.Impact{Kind: kind, Via: h.lang.Name, Traits: append([]string{fact.TraitInline}, traits...)}
	text := v.String()
	switch text {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/stdin", "-", "php://stdin", "php://stdout", "php://stderr",
		"php://memory", "php://output":
		return false
	}
	if text == "" || text[0] == 0 || len(text) > 4096 {
		if kind == interlock.ImpactRead {
			return false
		}
		i.Traits = append(i.Traits, fact.TraitDynamic)
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
	f := flow.Field{Text: strings.ReplaceAll(text, "\x00", "*"), Glob: v.Glob || strings.IndexByte(text, 0) >= 0,
		Quoted: !v.Glob && strings.IndexByte(text, 0) < 0 && know.IsGlob(text)}
	before := len(h.r.S.Impacts)
	h.r.S.TouchPlace(h.r.PlaceOf(f, true), i)
	if kind != interlock.ImpactRead {
		return false
	}
	for _, found := range h.r.S.Impacts[min(before, len(h.r.S.Impacts)):] {
		if found.Has(fact.TraitSecret) {
			return true
		}
	}
	return false
}

func (h *foreignShell) Request(method string, v foreign.Value, upload, secret bool) {
	url := program.Gapped(v.String())
	i := interlock.Impact{Kind: interlock.ImpactNetwork, Target: h.lang.Name, Reach: interlock.ReachExternal, Via: h.lang.Name,
		Reversibility: interlock.Window, Traits: []string{fact.TraitInline}}
	if v.Some() {
		i.Target = place.HostOf(url)
		i.Reach, _ = h.r.S.Host(url)
	}
	if method == "GET" {
		i.Traits = append(i.Traits, fact.TraitDownload)
	}
	if upload {
		i.Traits = append(i.Traits, fact.TraitUpload)
	}
	if secret {
		i.Traits = append(i.Traits, fact.TraitUpload, fact.TraitSecretSend)
	}
	h.r.S.Add(i)
}

// exScript reads a command of an editor that evaluates expressions.
func (r *shellRun) exScript(word, line string) bool {
	switch word {
	case "call", "cal", "let", "echo", "ec", "echom", "exe", "exec", "execute", "put", "eval", "if", "for", "while", "return",
		"echomsg", "echon":
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
	r.S.TouchPlace(r.PlaceOf(flow.Literal(path), true), interlock.Impact{Kind: kind, Via: "vim"})
	return true
}

// Obeys reports whether programs obey a variable of the environment.
func (h *foreignShell) Obeys(name string) bool { return h.r.S.Know.Obeys(name) }
