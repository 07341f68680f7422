package program

import (
	"strings"
	"unicode/utf8"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/impact/sql"
)

// perform records what one call does, and reports whether anything is known of it.
func (r *codeRun) perform(c *codeCall) bool {
	r.grown(c)
	r.flows(c)
	r.shows(c)
	if r.forks(c) || r.unpickled(c) {
		return true
	}
	effect, known := r.calls[c.name]
	known = known && !strings.HasPrefix(c.name, ".")
	if !known && c.name != "" {
		effect, known = r.calls["."+c.last]
		known = known && r.importsAny(effect.Needs) && strings.Contains(c.name, ".")
	}
	if !known {
		effect, known = r.called(c.name, c.last)
	}
	if !known && r.pathMethod(c) {
		return true
	}
	if known && !strings.Contains(c.name, ".") && !c.callee.imported && !builtinName(c.name) {
		known = false
	}
	switch {
	case known:
		c.effect = effect
		r.effect(c, effect)
		return true
	case c.name == "open" || c.name == "io.open" || c.name == "codecs.open" || c.name == "os.open" || c.name == "gzip.open" ||
		c.name == "aiofiles.open" ||
		c.name == "fs.open" || c.name == "fs.openSync" || c.name == "pathlib.Path.open" || c.name == "bz2.open" ||
		c.name == "lzma.open":
		r.openFile(c)
		return true
	}
	return false
}

// called looks up a name by how it ends, where the last two or three parts together say what it is (.metadata.drop_all), and by
// where it comes from: MODULE*.NAME, or MODULE*.VERB_* for a client whose methods all begin with a verb.
func (r *codeRun) called(name, last string) (know.CallEffect, bool) {
	root, _, ok := strings.Cut(name, ".")
	if !ok {
		return know.CallEffect{}, false
	}
	for at, parts := len(name)-len(last)-1, 2; at > 0 && parts <= 3; parts++ {
		if at = strings.LastIndexByte(name[:at], '.'); at < 0 {
			break
		}
		if effect, known := r.calls[name[at:]]; known && (effect.Needs == nil || r.importsAny(effect.Needs)) {
			return effect, true
		}
	}
	if effect, known := r.calls[root+"*."+last]; known {
		return effect, true
	}
	if verb, _, ok := strings.Cut(last, "_"); ok {
		effect, known := r.calls[root+"*."+verb+"_*"]
		return effect, known
	}
	return know.CallEffect{}, false
}

// builtinName reports whether an unqualified name is the language's own.
func builtinName(name string) bool {
	switch name {
	case "exec", "eval", "compile", "Function", "fetch", "setTimeout", "setInterval", "execfile", "AsyncFunction",
		"WebSocket", "EventSource":
		return true
	}
	return false
}

func (r *codeRun) importsAny(modules []string) bool {
	for _, module := range modules {
		if r.imports[module] {
			return true
		}
	}
	return false
}

// say records a normalised text once.
func (r *codeRun) say(kind interlock.Kind, text string) {
	if !r.said[text] {
		r.said[text] = true
		r.s.Executes(kind, text)
	}
}

// effect records what a call of the table does.
func (r *codeRun) effect(c *codeCall, e know.CallEffect) {
	r.effects++
	target := c.argument(e.Arg, "path", "url", "args", "file", "name", "src", "dst", "filename", "command", "cmd", "source",
		"target", "sql", "query", "statement", "code")
	if target.texts == nil && target.dynamic && e.What == "shell" && e.Arg == 1 { // os.execv(path=…, argv=…)
		target.merge(c.argument(e.Arg, "argv"))
	}
	r.say(r.kind, c.name+"("+visible(target.text())+")")
	switch e.What {
	case "path":
		r.pathEffect(c, e, target)
	case "shell":
		r.shell(c, target)
	case "sql":
		for _, text := range target.texts {
			if !r.inMemory && (sql.LooksLikeStatement(text) || sql.BeginsStatement(text)) {
				r.s.Nested(interlock.KindSQL, strings.ReplaceAll(text, "\x00", "x"))
			}
		}
	case "code", "maybe-code":
		r.code(c, target, e.What == "maybe-code")
	case "request":
		r.request(c, e, target)
	case "host":
		r.host(c, e, target)
	default:
		r.plainEffect(c, e)
	}
}

func (r *codeRun) pathEffect(c *codeCall, e know.CallEffect, target codeValue) {
	if e.Copying {
		r.onPath(c.name, interlock.ImpactRead, target, e.Traits)
		to := c.argument(e.Arg+1, "dst", "target")
		r.onPath(c.name, interlock.ImpactWrite, to, e.Traits)
		for _, text := range pathsOf(target) {
			r.s.OwnCopy(text, visible(to.text()), c.name)
			r.goesOn(text, to)
		}
		return
	}
	if e.Arg == 1 && e.Kind == interlock.ImpactWrite { // a move
		source := c.argument(0, "src")
		for _, text := range pathsOf(source) {
			r.s.Touch(text, interlock.Impact{Kind: interlock.ImpactDelete, Via: c.name, Reversibility: interlock.Reversible,
				Traits: []string{fact.TraitMoved}})
			r.goesOn(text, target)
		}
	}
	r.modes(c, target)
	if c.name == "shutil.make_archive" {
		if from := c.argument(2, "root_dir"); len(pathsOf(from)) > 0 {
			c.marked |= r.onPath(c.name, interlock.ImpactRead, from, []string{fact.TraitRecursive})
		}
	}
	if c.name == "fileinput.input" || c.name == "fileinput.FileInput" {
		if inplace, ok := c.option("inplace"); ok && inplace.text() != "0" {
			e.Kind = interlock.ImpactWrite
		}
	}
	c.marked |= r.onPath(c.name, e.Kind, target, e.Traits)
	switch e.Kind {
	case interlock.ImpactRead:
		if held, ok := r.stands(target); ok {
			c.value = held
		}
	case interlock.ImpactExecute:
		r.runsFile(target)
	}
	if e.Kind == interlock.ImpactWrite && e.Arg == 0 && strings.Contains(c.last, "File") {
		r.keep(target, c.argument(1, "data"))
	}
}

func (r *codeRun) plainEffect(c *codeCall, e know.CallEffect) {
	i := interlock.Impact{Kind: e.Kind, Reach: e.Reach, Via: c.name, Traits: append([]string(nil), e.Traits...),
		Reversibility: place.UsualReversibility(e.Kind)}
	if i.Reach == "" {
		i.Reach = interlock.ReachWorkspace
	}
	if e.Kind == interlock.ImpactSpawn &&
		(strings.HasSuffix(c.name, "kill") || strings.HasSuffix(c.name, "terminate") || strings.HasSuffix(c.name, "killpg")) {
		if r.killed(c) {
			return
		}
		i.Reversibility = interlock.Irreversible
	}
	if e.Kind == interlock.ImpactNetwork || e.Kind == interlock.ImpactMessage {
		r.send(interlock.Impact{Reach: e.Reach, Via: c.name}, c.marks(), false)
	}
	r.s.Add(i)
}

// send notes that something goes over a network. coarse says that whatever the program read may go along.
func (r *codeRun) send(i interlock.Impact, marks codeMarks, coarse bool) {
	if len(r.sent) < fact.MaxImpacts {
		r.sent = append(r.sent, codeSent{impact: i, marks: marks, coarse: coarse})
	}
}

// visible shortens a text for the normalised form.
func visible(text string) string {
	text = strings.ReplaceAll(text, "\x00", "…")
	if len(text) > 512 {
		text = text[:512]
	}
	return "'" + strings.ToValidUTF8(text, "") + "'"
}

// pathsOf returns the paths a value may be; computed parts become a pattern.
func pathsOf(v codeValue) (out []string) {
	if v.number {
		return nil
	}
	for _, t := range v.texts {
		if !strings.HasPrefix(t, "\x00") && t != "" && utf8.ValidString(t) && len(t) <= 4096 {
			out = append(out, strings.ReplaceAll(t, "\x00", "*"))
		}
	}
	return out
}

// onPath records something done to a path. A path that is computed is in the workspace as far as is known. What is read
// is marked with where it came from.
func (r *codeRun) onPath(name string, kind interlock.ImpactKind, target codeValue, traits []string) (marks codeMarks) {
	paths := pathsOf(target)
	rewriting := kind == interlock.ImpactDelete || kind == interlock.ImpactWrite && fact.HasTrait(traits, fact.TraitOverwrite)
	if len(paths) == 0 {
		r.rewrites = r.rewrites || rewriting
		i := interlock.Impact{Kind: kind, Reach: interlock.ReachWorkspace, Via: name,
			Reversibility: place.UsualReversibility(kind),
			Confidence:    interlock.Inferred, Traits: append(append([]string(nil), traits...), fact.TraitDynamic)}
		if kind == interlock.ImpactDelete && !fact.HasTrait(traits, fact.TraitRecursive) {
			i.Reversibility = interlock.Window // one file of a program's own choosing
		}
		r.s.Add(i)
		return 0
	}
	for _, path := range paths {
		switch path {
		case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "nul", "NUL", ":memory:":
			continue // holds nothing
		}
		r.rewrites = r.rewrites || rewriting && strings.Contains(path, "*")
		before := len(r.s.Impacts)
		p := r.s.Place(path)
		given := append([]string(nil), traits...)
		if Climbs(path) {
			given = append(given, fact.TraitClimbing)
		}
		r.s.TouchPlace(p, interlock.Impact{Kind: kind, Via: name, Traits: given})
		if kind == interlock.ImpactRead || kind == interlock.ImpactCredential {
			if r.s.Foreign(p) {
				r.outside = true
				marks |= markOutside
			}
			secret := fact.HasTrait(p.Traits, fact.TraitSecret)
			for _, i := range r.s.Impacts[min(before, len(r.s.Impacts)):] {
				secret = secret || i.Has(fact.TraitSecret)
			}
			if secret {
				r.secretIn = true
				marks |= markSecret
			}
		}
	}
	return marks
}

// openFile reads the mode of an open call.
func (r *codeRun) openFile(c *codeCall) {
	at := 1
	target := c.argument(0, "file", "path", "filename")
	if c.name == "pathlib.Path.open" {
		at, target = 0, c.receiver
	}
	mode := c.argument(at, "mode", "flags").text()
	if c.argument(at, "flags").number {
		mode = ""
	}
	kind, traits := interlock.ImpactRead, []string(nil)
	switch {
	case strings.ContainsAny(mode, "wx"):
		kind, traits = interlock.ImpactWrite, []string{fact.TraitOverwrite}
	case strings.Contains(mode, "a"):
		kind, traits = interlock.ImpactWrite, []string{fact.TraitAppend}
	case strings.Contains(mode, "+"):
		kind = interlock.ImpactWrite
	case c.name == "os.open" && c.mentions("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"):
		kind = interlock.ImpactWrite
	}
	if len(pathsOf(target)) == 0 && kind == interlock.ImpactRead {
		return // reads what it is given
	}
	if kind == interlock.ImpactWrite {
		r.say(r.kind, c.name+"("+visible(target.text())+", '"+mode+"')")
	}
	c.marked |= r.onPath(c.name, kind, target, traits)
	if kind == interlock.ImpactWrite {
		c.opened = target.texts
	} else if held, ok := r.stands(target); ok {
		c.value = held
	}
}

// pathMethod handles methods of paths: Path("x").unlink(), p.write_text(…).
func (r *codeRun) pathMethod(c *codeCall) bool {
	if c.receiver.is != "pathlib.Path" {
		return false
	}
	var kind interlock.ImpactKind
	switch c.last {
	case "unlink", "rmdir":
		kind = interlock.ImpactDelete
	case "write_text", "write_bytes", "touch", "mkdir", "symlink_to", "hardlink_to":
		kind = interlock.ImpactWrite
	case "read_text", "read_bytes", "iterdir", "rglob":
		kind = interlock.ImpactRead
	case "chmod", "lchmod":
		kind = interlock.ImpactPrivilege
	case "rename", "replace":
		kind = interlock.ImpactWrite
	default:
		return false
	}
	target := c.receiver
	if c.last == "rename" || c.last == "replace" {
		for _, text := range pathsOf(target) {
			r.s.Touch(text, interlock.Impact{Kind: interlock.ImpactDelete, Via: "pathlib.Path." + c.last,
				Reversibility: interlock.Reversible, Traits: []string{fact.TraitMoved}})
		}
		target = c.argument(0)
	}
	r.say(r.kind, "pathlib.Path."+c.last+"("+visible(target.text())+")")
	c.marked |= r.onPath("pathlib.Path."+c.last, kind, target, nil)
	if held, ok := r.stands(target); ok && kind == interlock.ImpactRead && strings.HasPrefix(c.last, "read_") {
		c.value = held
	}
	if strings.HasPrefix(c.last, "write_") {
		r.keep(target, c.argument(0))
	}
	return true
}

// keep remembers what is written to a file, for a command that runs it.
func (r *codeRun) keep(target, content codeValue) {
	for _, path := range target.texts {
		if path == "" || strings.IndexByte(path, 0) >= 0 {
			continue
		}
		if r.files == nil {
			r.files = map[string]codeValue{}
		}
		if have, ok := r.files[path]; ok {
			content = r.concat(have, content)
		}
		if len(r.files) < 64 {
			r.files[path] = content
			r.brings(path, content)
		}
	}
}

// origin says where what a call returns comes from.
func (r *codeRun) origin(c *codeCall) (marks codeMarks) {
	marks = c.marked
	effect := c.effect
	switch {
	case effect.What == "request":
		marks |= markNetwork
	case c.last == "recv" || c.last == "recvfrom" || c.last == "recv_into":
		marks |= markNetwork
	case effect.Kind == interlock.ImpactCredential:
		marks |= markPrivate
		if fact.HasTrait(effect.Traits, fact.TraitSecret) {
			marks |= markSecret
		}
	case effect.Kind == interlock.ImpactRead && effect.What == "none" && fact.HasTrait(effect.Traits, fact.TraitOutside):
		marks |= markPrivate
	}
	switch c.name {
	case "PIL.ImageGrab.grab", "pyautogui.screenshot", "mss.mss", "pyscreenshot.grab", "pyperclip.paste",
		"win32clipboard.GetClipboardData", "navigator.clipboard.readText", "cv2.VideoCapture",
		"sounddevice.rec", "clipboardy.readSync", "clipboardy.read", "screenshot-desktop", "tkinter.Tk.clipboard_get",
		"pyautogui.locateOnScreen":
		marks |= markPrivate
	}
	return marks
}
