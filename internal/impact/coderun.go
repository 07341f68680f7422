package impact

import (
	"strings"

	"interlock"
)

// A codeRun is the reading of one program. It learns the program's names first (imports, constants, what its functions
// are called with) and then looks at every call. It follows no control flow: what a branch or a loop could do counts.
type codeRun struct {
	s         *scan
	kind      interlock.Kind
	calls     map[string]callEffect
	tokens    []codeToken
	aliases   map[string]string    // local name -> qualified name
	vars      map[string]codeValue // names bound to something known
	params    map[string][]string  // functions and their parameters
	imports   map[string]bool
	network   bool // talks to a network
	received  bool // reads from a socket
	redirects bool // puts a socket in place of standard streams
	secretIn  bool // reads a secret or the environment
	sent      []interlock.Impact
	dynamic   bool   // runs a command or code it computes
	loops     bool   // has an endless loop
	outside   bool   // reads a file that is none of the workspace's business
	inMemory  bool   // its database is gone when it ends
	walks     bool   // goes through a tree of files
	encrypts  bool   // encrypts
	rewrites  bool   // opens files of computed names for writing, or removes such
	datagrams string // sends datagrams, by this call

	environment bool // the environment was mentioned and looked at
}

// program analyses Python or JavaScript.
func (s *scan) program(kind interlock.Kind, in string, depth int) {
	reader := readCode(in, kind == interlock.KindJavaScript)
	if !s.spend(len(reader.tokens)) {
		s.unknown(string(kind), TraitWork)
		return
	}
	if reader.deepest > MaxNesting {
		s.unknown(string(kind), TraitNested)
		return
	}
	before := len(s.impacts)
	r := &codeRun{s: s, kind: kind, calls: s.know.calls(string(kind)), tokens: reader.tokens, aliases: map[string]string{},
		vars: map[string]codeValue{}, params: map[string][]string{}, imports: map[string]bool{}}
	r.learn()
	r.perform()
	for n, expression := range reader.computed {
		if depth < 2 && n < 64 && strings.IndexByte(expression, '(') >= 0 {
			s.program(kind, expression, depth+1)
		}
	}
	r.conclude()
	if depth == 0 && reader.open && len(s.impacts) > before {
		s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: string(kind),
			Reversibility: interlock.Window, Confidence: interlock.Unknown, Traits: []string{TraitUnparsable}})
	}
	if depth == 0 && len(s.impacts) == before {
		s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: string(kind),
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitInline}})
	}
}

// qualified reads a dotted name at i and resolves its first part. next is the token after it.
func (r *codeRun) qualified(tokens []codeToken, i int) (name string, next int) {
	name = tokens[i].text
	if full, ok := r.aliases[name]; ok {
		name = full
	} else if v, ok := r.vars[name]; ok && v.is != "" && len(v.texts) == 0 && !strings.HasSuffix(v.is, ".Path") {
		name = v.is
	}
	i++
	for i+1 < len(tokens) && (tokens[i].is(".") || tokens[i].is("?.")) && tokens[i+1].kind == codeName && len(name) < 256 {
		name += "." + tokens[i+1].text
		i += 2
	}
	if rest, ok := strings.CutPrefix(name, "node:"); ok {
		name = rest
	}
	return name, i
}

// perform looks at every call of the program.
func (r *codeRun) perform() {
	for i := 0; i < len(r.tokens); i++ {
		t := r.tokens[i]
		if t.kind == codeName && i > 1 && r.tokens[i-1].is(".") && r.tokens[i-2].is(")") {
			r.onBracketed(i)
		}
		if t.kind != codeName || i > 0 && (r.tokens[i-1].is(".") || r.tokens[i-1].text == "def" || r.tokens[i-1].text == "function") {
			continue
		}
		if t.text == "while" && i+1 < len(r.tokens) && (r.tokens[i+1].text == "True" || r.tokens[i+1].text == "1" || i+2 < len(r.tokens) && r.tokens[i+2].text == "true") {
			r.loops = true
		}
		name, next := r.qualified(r.tokens, i)
		r.mention(name)
		for next < len(r.tokens) && r.tokens[next].is("(") {
			end := matching(r.tokens[:min(len(r.tokens), next+4096)], next)
			if end < 0 || !r.s.spend(1+(end-next)/16) {
				break
			}
			arguments := splitArguments(r.tokens[next+1 : end])
			result := r.call(name, r.tokens[i:next], arguments)
			if end+2 >= len(r.tokens) || !r.tokens[end+1].is(".") && !r.tokens[end+1].is("(") {
				break
			}
			next = end + 1
			if r.tokens[next].is("(") {
				name = result
				continue
			}
			name, next = r.chained(result, next)
		}
	}
}

// onBracketed looks at a method of a value in brackets: (a / b).unlink().
func (r *codeRun) onBracketed(i int) {
	if i+1 >= len(r.tokens) || !r.tokens[i+1].is("(") {
		return
	}
	start, depth := i-2, 0
	for ; start >= 0 && start > i-256; start-- {
		if r.tokens[start].is(")") {
			depth++
		} else if r.tokens[start].is("(") {
			if depth--; depth == 0 {
				break
			}
		}
	}
	end := matching(r.tokens[:min(len(r.tokens), i+1024)], i+1)
	if start < 0 || depth != 0 || end < 0 || start > 0 && r.tokens[start-1].kind == codeName || !r.s.spend(1+(end-start)/16) {
		return
	}
	r.method(r.tokens[start:i+1], r.tokens[i].text, splitArguments(r.tokens[i+2:end]))
}

// chained reads the names after a call: open(x).read, __import__("os").system.
func (r *codeRun) chained(result string, next int) (string, int) {
	name := result
	for next+1 < len(r.tokens) && r.tokens[next].is(".") && r.tokens[next+1].kind == codeName {
		name += "." + r.tokens[next+1].text
		next += 2
	}
	return name, next
}

// mention notes names that matter without being called.
func (r *codeRun) mention(name string) {
	switch name {
	case "os.environ", "process.env":
		if !r.environment {
			r.environment = true
			r.secretIn = r.secretIn || r.wholeEnvironment(name)
		}
	}
}

// wholeEnvironment reports whether the program hands the environment on as a whole rather than reading one variable.
func (r *codeRun) wholeEnvironment(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	for i := range r.tokens {
		if r.tokens[i].kind == codeName && r.tokens[i].text == last && i+1 < len(r.tokens) && !r.tokens[i+1].is("[") && !r.tokens[i+1].is(".") && !r.tokens[i+1].is("?.") {
			return true
		}
	}
	return false
}

// call records what one call does and returns the qualified name of its result's type.
func (r *codeRun) call(name string, callee []codeToken, arguments [][]codeToken) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if r.flows(name, last, arguments) || r.unpickled(name, arguments) {
		return name
	}
	effect, known := r.calls[name]
	if !known && strings.Contains(name, ".") {
		effect, known = r.calls["."+last]
		known = known && r.importsAny(effect.needs)
	}
	if !known && r.method(callee, last, arguments) {
		return name
	}
	if known && !strings.Contains(name, ".") && !r.builtin(name) {
		known = false
	}
	switch {
	case known:
		r.effect(name, effect, arguments)
	case name == "open" || name == "io.open" || name == "codecs.open" || name == "os.open" || name == "gzip.open":
		r.openFile(name, arguments)
	case name == "__import__" || name == "importlib.import_module" || name == "require" || name == "import" || name == "getattr" || name == "pathlib.Path" || name == "Path":
		return r.value(append(append(append([]codeToken(nil), callee...), codeToken{kind: codeMark, text: "("}), append(joinArguments(arguments), codeToken{kind: codeMark, text: ")"})...), 1).is
	}
	return name
}

func (r *codeRun) importsAny(modules []string) bool {
	for _, module := range modules {
		if r.imports[module] {
			return true
		}
	}
	return false
}

func joinArguments(arguments [][]codeToken) (out []codeToken) {
	for i, a := range arguments {
		if i > 0 {
			out = append(out, codeToken{kind: codeMark, text: ","})
		}
		out = append(out, a...)
	}
	return out
}

// builtin reports whether an unqualified name is the language's own or was imported.
func (r *codeRun) builtin(name string) bool {
	switch name {
	case "exec", "eval", "compile", "Function", "fetch", "setTimeout", "setInterval":
		return r.params[name] == nil
	}
	for _, full := range r.aliases {
		if full == name {
			return true
		}
	}
	return false
}
