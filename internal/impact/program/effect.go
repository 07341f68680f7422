package program

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/impact/web"
	"interlock/internal/lex"
)

// shell reads a command given as text or as a list. A command that is computed in part is read with the gap in it.
func (r *codeRun) shell(c *codeCall, target codeValue) {
	c.decoded = target.decoded()
	if target.cut { // one of those that are not kept may be any command
		r.s.Unknown(c.name, fact.TraitWork)
	}
	words, listed := r.commandWords(c, target)
	r.noteShell(target, words)
	if target.marks&markNetwork != 0 && len(words) == 0 && len(target.texts) == 0 {
		r.dynamic = true
	}
	if listed {
		line := make([]string, len(words))
		known := false
		for i, w := range words {
			known = known || i == 0 && strings.Trim(w, "\x00") != ""
			line[i] = lex.ShellQuote(strings.ReplaceAll(w, "\x00", "*"))
		}
		if known {
			r.runs(c, strings.Join(line, " "))
			return
		}
		r.dynamic = true
		r.unseen(c, target)
		return
	}
	known := false
	for _, text := range target.texts {
		if strings.Trim(text, "\x00 ") != "" {
			known = true
			r.runs(c, Gapped(text))
		}
	}
	if known && !target.dynamic {
		return
	}
	r.dynamic = true
	if !known {
		r.unseen(c, target)
	}
}

// unseen records a command that nothing is known of.
func (r *codeRun) unseen(c *codeCall, target codeValue) {
	r.wantsRead()
	i := interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: c.name,
		Reversibility: interlock.Window,
		Confidence:    interlock.Inferred, Traits: []string{fact.TraitDynamic}}
	if target.decoded() {
		i.Traits = append(i.Traits, fact.TraitDecoded, fact.TraitObfuscated)
	}
	if target.marks&markNetwork != 0 && !r.received { // what a socket receives is the other end's shell, and said so
		i.Traits = append(i.Traits, r.ranFetched())
	}
	r.s.Add(i)
}

// runs analyses a command line, behind what the program has written into the files that it names.
func (r *codeRun) runs(c *codeCall, line string) {
	before := len(r.s.Impacts)
	lead := ""
	for _, path := range lex.SortedNames(r.files) {
		content := r.files[path]
		base := path[strings.LastIndexByte(path, '/')+1:]
		if base == "" || !strings.Contains(line, base) {
			continue
		}
		if content.marks&markNetwork != 0 {
			r.s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: path, Reach: interlock.ReachSystem, Via: c.name,
				Reversibility: interlock.Window,
				Confidence:    interlock.Inferred, Traits: []string{fact.TraitDownloadRun}})
			continue
		}
		if text := content.text(); text != "" && len(text) <= 16<<10 && !strings.Contains(text, "INTERLOCK_END") {
			lead += "cat > " + lex.ShellQuote(path) + " <<'INTERLOCK_END'\n" + Gapped(text) + "\nINTERLOCK_END\n"
		}
	}
	r.s.Nested(interlock.KindShell, r.environment(c)+lead+line)
	if marks := c.marks(); marks&(markSecret|markEnviron|markOutside|markPrivate) != 0 {
		for _, i := range r.s.Impacts[min(before, len(r.s.Impacts)):] {
			if (i.Kind == interlock.ImpactNetwork || i.Via == "curl" || i.Via == "wget") && i.Reach != interlock.ReachWorkspace {
				r.send(interlock.Impact{Reach: i.Reach, Target: i.Target, Via: c.name}, marks, false)
				break
			}
		}
	}
	for _, i := range r.s.Impacts[min(before, len(r.s.Impacts)):] {
		if i.Has(fact.TraitSecret) && (i.Kind == interlock.ImpactRead || i.Kind == interlock.ImpactCredential) {
			r.secretIn = true
			c.marked |= markSecret
		}
	}
	if c.decoded {
		r.hide(before)
	}
}

// environment exports to a command line what the program has put into its own environment or gives to this command alone.
// What setting a variable does has been judged where the program's own was set, so those that do anything are left out.
func (r *codeRun) environment(c *codeCall) string {
	lead := ""
	for _, name := range lex.SortedNames(r.environ) {
		if v := r.environ[name].text(); !r.s.Know.Obeys(name) && len(lead) < lex.MaxText {
			lead += "export " + lex.CommandLine([]any{name + "=" + Gapped(v)}) + "\n"
		}
	}
	given, ok := c.option("env")
	if !ok && strings.HasPrefix(c.name, "os.") && strings.HasSuffix(c.name, "e") && len(c.arguments) > 2 { // execve, spawnve
		given = c.argument(len(c.arguments) - 1)
	}
	if given.object == nil {
		return lead
	}
	for _, name := range r.names(given.object.fields) {
		if v := given.object.fields[name]; plainVariable(name) && len(v.texts) > 0 && len(v.text()) <= 4096 &&
			len(lead) < lex.MaxText {
			lead += "export " + lex.CommandLine([]any{name + "=" + Gapped(v.text())}) + "\n"
		}
	}
	return lead
}

// commandWords returns the words of a command that is no text for a shell.
func (r *codeRun) commandWords(c *codeCall, target codeValue) (words []string, listed bool) {
	switch {
	case strings.HasPrefix(c.name, "child_process.") && len(c.arguments) > 1 &&
		(strings.Contains(c.name, "File") || strings.Contains(c.name, "spawn")),
		wordsApart(c.name) && len(c.arguments) > 1:
		rest := c.argument(1)
		if rest.items == nil && !rest.list {
			return nil, false
		}
		words = append(words, target.text())
		if shell, ok := c.option("shell"); ok && (shell.dynamic || shell.texts != nil || shell.is == "") && target.text() != "" {
			return append([]string{"sh", "-c"}, strings.Join(append(words, texts(rest)...), " ")), true
		}
		return append(words, texts(rest)...), true
	case c.name == "Deno.Command":
		if list, ok := c.option("args"); ok && list.items != nil {
			return append([]string{orGap(target.text())}, texts(list)...), true
		}
	case c.name == "asyncio.create_subprocess_exec", strings.HasPrefix(c.name, "os.execl"),
		strings.HasPrefix(c.name, "os.spawnl"):
		for i, v := range c.positional() {
			if i == 0 && strings.HasPrefix(c.name, "os.spawnl") || i == 1 && strings.HasPrefix(c.name, "os.execl") || i == 2 &&
				strings.HasPrefix(c.name, "os.spawnl") {
				continue // the mode, and the name that the program is given
			}
			words = append(words, orGap(v.text()))
		}
		return words, len(words) > 0
	case wordByWord(c.name) && len(c.positional()) > 1 && len(c.argument(1).texts) > 0:
		for _, v := range c.positional() {
			words = append(words, orGap(v.text()))
		}
		return words, true
	case target.items != nil:
		words = texts(target)
		if runs := c.argument(0, "path", "file"); len(words) > 0 && strings.HasPrefix(c.name, "os.execv") &&
			strings.Trim(runs.text(), "\x00") != "" {
			words[0] = runs.text() // whatever name the program is told it has
		}
		return words, len(target.items) > 0
	}
	return nil, false
}

// wordByWord reports whether a method of what a task is handed takes the words of a command one after the other, as nox does.
func wordByWord(name string) bool {
	return strings.HasSuffix(name, ".run") || strings.HasSuffix(name, ".run_always") || strings.HasSuffix(name, ".run_install")
}

// wordsApart reports whether a function takes a program and a list of its arguments.
func wordsApart(name string) bool {
	switch name {
	case "execa", "execa.execa", "execa.execaSync", "execa.sync", "cross-spawn", "cross-spawn.spawn", "cross-spawn.sync",
		"node-pty.spawn", "tinyexec.x":
		return true
	}
	return false
}

// texts are the elements of a list as text, a NUL for one that is computed.
func texts(v codeValue) (words []string) {
	for i, item := range v.items {
		if i >= 256 {
			break
		}
		words = append(words, orGap(item.text()))
	}
	return words
}

func orGap(text string) string {
	if text == "" {
		return "\x00"
	}
	return text
}

// Gapped puts a variable where a command is computed.
func Gapped(text string) string { return strings.ReplaceAll(text, "\x00", "${computed}") }

// noteShell notes a shell that is started on its own, as one handed to a socket would be.
func (r *codeRun) noteShell(target codeValue, words []string) {
	for _, w := range append(append([]string(nil), words...), target.texts...) {
		switch strings.TrimPrefix(strings.TrimSpace(w), "/bin/") {
		case "sh", "bash", "zsh", "/usr/bin/bash", "cmd.exe", "cmd", "powershell", "sh -i", "bash -i", "powershell.exe":
			if r.imports["socket"] || r.imports["net"] || r.imports["tls"] {
				r.dynamic, r.received = true, true
			}
		}
	}
}

// hide adds to what was found since before that it was hidden by an encoding.
func (r *codeRun) hide(before int) {
	for i := min(before, len(r.s.Impacts)); i < len(r.s.Impacts); i++ {
		found := &r.s.Impacts[i]
		if found.Has(fact.TraitDecoded) {
			continue
		}
		found.Traits = fact.Compact(sorted(append(found.Traits, fact.TraitDecoded, fact.TraitObfuscated)))
	}
}

// code reads code given as text.
func (r *codeRun) code(c *codeCall, target codeValue, maybe bool) {
	if c.last == "Function" && len(c.arguments) > 0 {
		target = c.arguments[len(c.arguments)-1].value
	}
	if target.cut && !maybe {
		r.s.Unknown(c.name, fact.TraitWork)
	}
	for _, text := range target.texts {
		if text == "" || strings.HasPrefix(text, "\x00") || maybe && strings.IndexByte(text, '(') < 0 {
			continue
		}
		before := len(r.s.Impacts)
		c.value = r.inner(strings.ReplaceAll(text, "\x00", "_"))
		if r.smuggled(c, text, before) {
			r.s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: c.name,
				Reversibility: interlock.Window,
				Confidence:    interlock.Inferred, Traits: []string{fact.TraitInjection}})
		}
		if target.decoded() {
			r.hide(before)
			if !maybe { // encoding what is to run hides it, harmless as it may read
				r.s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: c.name,
					Reversibility: interlock.Reversible,
					Traits:        []string{fact.TraitDecoded, fact.TraitInline, fact.TraitObfuscated}})
			}
		}
	}
	if maybe || len(target.texts) > 0 && !target.dynamic || target.closure != nil {
		return
	}
	r.wantsRead()
	i := interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: c.name,
		Reversibility: interlock.Window,
		Confidence:    interlock.Inferred, Traits: []string{fact.TraitDynamic}}
	if target.decoded() || r.hidden(c) {
		i.Traits = append(i.Traits, fact.TraitDecoded, fact.TraitObfuscated)
		i.Reach = interlock.ReachSystem
	}
	if target.marks&markNetwork != 0 || r.fetched(c) {
		i.Traits = append(i.Traits, r.ranFetched())
		i.Reach = interlock.ReachSystem
	}
	r.dynamic = true
	r.s.Add(i)
}

// inner reads code that is in a text, with the names of the program around it, and returns what it comes to.
func (r *codeRun) inner(text string) codeValue {
	if reason := r.s.Enter(text); reason != "" {
		r.s.Unknown(string(r.kind), reason)
		return codeValue{dynamic: true}
	}
	defer r.s.Leave()
	reader := readCode(text, r.script)
	if !r.s.Spend(len(reader.tokens)) {
		return codeValue{dynamic: true}
	}
	if reader.deepest > fact.MaxNesting {
		r.s.Unknown(string(r.kind), fact.TraitNested)
		return codeValue{dynamic: true}
	}
	whole := parseCode(reader.tokens, r.script, 0)
	last := r.eval(whole)
	if len(whole.of) == 1 {
		return last
	}
	return codeValue{dynamic: true}
}

// smuggled reports whether an expression has to import for itself to do more than an expression does, or whether text that
// is run as code starts a program: nobody who may write the call itself has to put it into text.
func (r *codeRun) smuggled(c *codeCall, text string, before int) bool {
	if c.name == "eval" && strings.Contains(text, "__import__") {
		return true
	}
	if c.last != "eval" && c.last != "exec" || r.script {
		return false
	}
	return strings.Contains(text, "import") &&
		(strings.Contains(text, "os.system") || strings.Contains(text, "subprocess") || strings.Contains(text, "os.popen") ||
			strings.Contains(text, "pty.spawn")) &&
		len(r.s.Impacts) >= before
}

// request records an HTTP request of a library call.
func (r *codeRun) request(c *codeCall, e know.CallEffect, target codeValue) {
	r.network = true
	r.sending(c.name)
	method := e.Method
	if method == "*" {
		method = strings.ToUpper(c.argument(0, "method").text())
	}
	if target.object != nil { // axios({url, method}), https.request({host, path})
		target = r.requestTarget(target)
	}
	body, hasBody := c.option("data", "json", "files", "body", "content")
	if !hasBody && len(c.arguments) > 1 &&
		(c.name == "urllib.request.urlopen" || c.name == "urllib.request.Request" || r.script && e.Method != "GET") {
		body, hasBody = c.argument(1), c.arguments[1].name == ""
	}
	if hasBody && (method == "GET" || method == "") {
		method = "POST"
	}
	if given, ok := c.option("method", "type"); ok && e.Method != "*" {
		if text := strings.ToUpper(given.text()); text != "" && len(text) < 16 {
			method = text
		}
	}
	if method == "" {
		method = "GET"
	}
	marks := c.marks()
	r.tellsNamed(c, target, body)
	urls := pathsOf(target)
	if len(urls) == 0 {
		kind, reversibility := interlock.ImpactRead, interlock.Readonly
		if method != "GET" && method != "HEAD" {
			kind, reversibility = interlock.ImpactNetwork, interlock.Window
		}
		r.s.Add(interlock.Impact{Kind: kind, Reach: interlock.ReachExternal, Via: c.name, Reversibility: reversibility,
			Confidence: interlock.Inferred, Traits: []string{fact.TraitDynamic}})
		r.send(interlock.Impact{Reach: interlock.ReachExternal, Via: c.name}, marks, method != "GET")
		return
	}
	if c.last == "urlretrieve" || c.name == "wget.download" {
		to := c.argument(1, "filename", "out")
		if len(pathsOf(to)) > 0 {
			r.onPath(c.name, interlock.ImpactWrite, to, []string{fact.TraitDownload, fact.TraitOverwrite})
		}
		r.keep(to, codeValue{dynamic: true, marks: markNetwork})
	}
	for _, url := range urls {
		if strings.HasPrefix(url, "file://") {
			c.marked |= r.onPath(c.name, interlock.ImpactRead, codeValue{texts: []string{url}}, nil)
			continue
		}
		if !strings.Contains(url, "://") {
			continue
		}
		web.Request(&r.s.World, method, url, nil, bodyOf(method, body))
		reach, _ := r.s.Host(url)
		r.send(interlock.Impact{Reach: reach, Target: know.CleanURL(url), Via: c.name}, marks, method != "GET" ||
			strings.Contains(url, "*"))
	}
}

// bodyOf is what a request carries, as far as it is known.
func bodyOf(method string, body codeValue) string {
	if method != "POST" && method != "PUT" && method != "PATCH" {
		return ""
	}
	if text := body.text(); text != "" && !strings.Contains(text, "\x00") {
		return text
	}
	return "…"
}

// requestTarget is the URL that an object of options describes.
func (r *codeRun) requestTarget(options codeValue) codeValue {
	fields := options.object.fields
	for _, name := range []string{"url", "uri", "href"} {
		if v, ok := fields[name]; ok {
			v.marks |= options.marks
			return v
		}
	}
	host, ok := fields["hostname"]
	if !ok {
		host = fields["host"]
	}
	if len(host.texts) == 0 {
		return codeValue{dynamic: true, marks: options.marks}
	}
	v := r.concat(codeValue{texts: []string{"https://"}}, host)
	if path := fields["path"]; len(path.texts) > 0 {
		v = r.concat(v, path)
	} else {
		v = r.concat(v, codeValue{texts: []string{"/"}})
	}
	v.marks |= options.marks
	return v
}

// host records a connection to a host.
func (r *codeRun) host(c *codeCall, e know.CallEffect, target codeValue) {
	if strings.HasSuffix(c.name, ".connect") &&
		(strings.Contains(c.name, "sqlite3") || strings.Contains(c.name, "psycopg") || strings.Contains(c.name, "mysql") ||
			strings.Contains(c.name, "pymysql")) {
		return
	}
	r.network = true
	i := interlock.Impact{Kind: e.Kind, Reach: e.Reach, Via: c.name, Reversibility: interlock.Window,
		Traits: append([]string(nil), e.Traits...)}
	if target.items != nil && len(target.items) > 0 { // (host, port)
		target = target.items[0]
	}
	if target.object != nil {
		target = target.object.fields["host"]
	}
	if target.number && e.Arg == 1 { // net.connect(port) on this machine
		target = codeValue{texts: []string{"localhost"}}
	}
	if hosts := pathsOf(target); len(hosts) > 0 {
		i.Target = place.HostOf(hosts[0])
		reach, traits := r.s.Host(hosts[0])
		i.Reach, i.Traits = reach, append(i.Traits, traits...)
	} else {
		i.Confidence = interlock.Inferred
		i.Traits = append(i.Traits, fact.TraitDynamic)
	}
	if i.Reach == interlock.ReachWorkspace {
		i.Reversibility = interlock.Reversible
	}
	r.s.Add(i)
	if i.Reach != interlock.ReachWorkspace {
		r.tellsName(c, target)
	}
	r.send(interlock.Impact{Reach: i.Reach, Target: i.Target, Via: c.name}, c.marks(), true)
}
