package impact

import (
	"strings"

	"interlock"
)

// A codeRun is the reading of one program: every statement once in its order, as if it were run with values that are known
// in part. What a branch could do counts; a function that is called is read with what it is called with, and one that
// nobody calls is read at the end. Nothing is ever run.
type codeRun struct {
	s         *scan
	kind      interlock.Kind
	script    bool // JavaScript
	calls     map[string]callEffect
	root      *codeScope
	scope     *codeScope
	imports   map[string]bool
	frames    []*codeFrame
	loops     []*codeLoop
	branches  []codeBranch
	level     int // expressions around
	functions []*codeClosure
	classes   []*codeClass
	steps     int // nodes read
	soft      int // after this many, functions are no longer read again and loops no longer turned
	made      int // bytes of text made
	said      map[string]bool
	files     map[string]codeValue // what was written where
	instead   map[string]codeValue // what stands in the place of functions of libraries

	network   bool // talks to a network
	received  bool // reads from a socket
	redirects bool // puts a socket in place of standard streams
	secretIn  bool // reads a secret
	sent      []codeSent
	dynamic   bool   // runs a command or code it computes
	outside   bool   // reads a file that is none of the workspace's business
	inMemory  bool   // its database is gone when it ends
	walks     bool   // goes through a tree of files
	encrypts  bool   // encrypts
	rewrites  bool   // opens files of computed names for writing, or removes such
	repeats   bool   // repeats something a thousand times or more, or without end
	datagrams string // sends datagrams, by this call
}

// A codeSent is something that goes over a network.
type codeSent struct {
	impact interlock.Impact
	marks  codeMarks
	coarse bool // anything that was read may go along
}

// A codeFrame is a function that is being read.
type codeFrame struct {
	f        *codeFunction
	returned codeValue
	any      bool
	yielded  []codeValue
	grows    string // what it starts more of
	loops    int    // loops outside of it
}

// A codeLoop is a loop that is being read.
type codeLoop struct {
	endless bool
	leaves  bool   // something ends it, slows it down or waits in it
	grows   string // what grows in it
	many    bool   // it turns a thousand times or more
	known   bool   // it is read once for each of its turns
}

// A codeScope holds the names of a module, a function or a class.
type codeScope struct {
	names   map[string]codeValue
	up      *codeScope
	globals map[string]bool
	class   bool
}

func (c *codeScope) find(name string) (codeValue, bool) {
	for at := c; at != nil; at = at.up {
		if at.class && at != c {
			continue
		}
		if v, ok := at.names[name]; ok {
			return v, true
		}
	}
	return codeValue{}, false
}

// program analyses Python or JavaScript.
func (s *scan) program(kind interlock.Kind, in string) {
	script := kind == interlock.KindJavaScript
	reader := readCode(in, script)
	if !s.spend(len(reader.tokens)) {
		s.unknown(string(kind), TraitWork)
		return
	}
	if reader.deepest > MaxNesting {
		s.unknown(string(kind), TraitNested)
		return
	}
	before := len(s.impacts)
	root := &codeScope{names: map[string]codeValue{}}
	r := &codeRun{s: s, kind: kind, script: script, calls: s.know.calls(string(kind)), root: root, scope: root,
		imports: map[string]bool{}, soft: 10_000 + 2*len(reader.tokens), said: map[string]bool{}}
	r.eval(parseCode(reader.tokens, script, 0))
	r.unread()
	r.conclude()
	if s.work > maxWork {
		s.unknown(string(kind), TraitWork)
	}
	if reader.open && len(s.impacts) > before {
		s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: string(kind),
			Reversibility: interlock.Window, Confidence: interlock.Unknown, Traits: []string{TraitUnparsable}})
	}
	if len(s.impacts) == before {
		s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: string(kind),
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitInline}})
	}
}

// unread reads the functions and methods that nothing in the program calls: something else may.
func (r *codeRun) unread() {
	for i := 0; i < len(r.classes) && i < 4096; i++ {
		class := r.classes[i]
		if class.instance == nil {
			r.instance(class, nil, true)
		}
	}
	for i := 0; i < len(r.functions) && i < 1<<16; i++ {
		if c := r.functions[i]; c.f.runs == 0 {
			if c.class != nil {
				c.self = c.class.instance
			}
			r.invoke(c, nil, true)
		}
	}
}

// eval reads a node and returns what is known of its value.
func (r *codeRun) eval(n *codeNode) codeValue {
	r.steps++
	if r.steps&15 == 0 && !r.s.spend(1) {
		return codeValue{dynamic: true}
	}
	switch n.kind {
	case nodeName:
		return r.nameValue(n.text)
	case nodeText:
		return codeValue{texts: []string{n.text}}
	case nodeNumber:
		return numberText(n.text)
	case nodeJoin:
		return r.joined(n)
	case nodeAttr:
		return r.attribute(r.eval(n.of[0]), n)
	case nodeIndex:
		return r.index(n)
	case nodeCall:
		return r.call(n)
	case nodeKeyword, nodeSpread:
		return r.eval(n.of[0])
	case nodeList:
		return r.listValue(n)
	case nodeTable:
		return r.tableValue(n)
	case nodeBinary:
		return r.binary(n)
	case nodeChoice:
		return r.choice(n)
	case nodeFunction:
		return r.functionValue(n)
	case nodeClass:
		return r.classValue(n)
	case nodeAssign:
		return r.assign(n)
	case nodeComprehension:
		outer := r.scope
		r.scope = &codeScope{names: map[string]codeValue{}, up: outer}
		v := r.comprehension(n, 1)
		r.scope = outer
		return v
	}
	return r.statement(n)
}

// statement reads what has no value of its own.
func (r *codeRun) statement(n *codeNode) (last codeValue) {
	switch n.kind {
	case nodeBlock:
		if r.script {
			for _, child := range n.of { // functions are there before their declaration
				if child.kind == nodeFunction {
					r.functionValue(child)
				}
			}
		}
		r.evalAll(n.of)
	case nodeSequence:
		for _, child := range n.of {
			last = r.eval(child)
		}
		return last
	case nodeBranch:
		r.branch()
		r.evalAll(n.of)
		r.join()
	case nodeLoop:
		r.loop(n)
	case nodeEach:
		r.each(n)
	case nodeImport:
		r.importNames(n)
	case nodeReturn:
		r.returns(n)
	case nodeLeave:
		marks := r.evalAll(n.of)
		switch {
		case n.text == "break":
			r.leave(1)
		case n.text != "assert":
			r.leave(0)
		}
		return codeValue{dynamic: true, marks: marks}
	case nodeGlobal:
		if r.scope.globals == nil {
			r.scope.globals = map[string]bool{}
		}
		for _, name := range n.names {
			r.scope.globals[name.local] = true
		}
	default:
		return codeValue{dynamic: true, marks: r.evalAll(n.of)}
	}
	return codeValue{dynamic: true}
}

func (r *codeRun) evalAll(of []*codeNode) (marks codeMarks) {
	for _, child := range of {
		marks |= r.eval(child).marks
	}
	return marks
}

func (r *codeRun) choice(n *codeNode) (v codeValue) {
	r.branch()
	defer r.join()
	for i, child := range n.of {
		one := r.eval(child)
		if n.text == "if" && i == 0 {
			continue
		}
		if v.texts == nil && v.is == "" && v.object == nil && v.closure == nil && v.class == nil && v.items == nil {
			one.marks |= v.marks
			v = one
			continue
		}
		v.merge(one)
	}
	return v
}

// A codeBranch is code that may or may not be run. Names keep in it the values that they had before.
type codeBranch struct {
	scope *codeScope
	names []string
	had   []codeValue
}

func (r *codeRun) branch() { r.branches = append(r.branches, codeBranch{scope: r.scope}) }

// join ends a branch: what was bound in it may also still have its value from before.
func (r *codeRun) join() {
	last := len(r.branches) - 1
	b := r.branches[last]
	r.branches = r.branches[:last]
	for i, name := range b.names {
		v := b.scope.names[name]
		v.merge(b.had[i])
		b.scope.names[name] = v
	}
}

// save remembers in every branch around what a name had before it is bound.
func (r *codeRun) save(scope *codeScope, name string, had codeValue) {
	for i := len(r.branches) - 1; i >= 0 && r.branches[i].scope == scope; i-- {
		b := &r.branches[i]
		if hasTrait(b.names, name) {
			continue
		}
		if len(b.names) < 256 {
			b.names, b.had = append(b.names, name), append(b.had, had)
		}
	}
}

func (r *codeRun) returns(n *codeNode) {
	var v codeValue
	if len(n.of) > 0 {
		v = r.eval(n.of[0])
	}
	if len(r.frames) == 0 {
		return
	}
	frame := r.frames[len(r.frames)-1]
	if n.text == "yield" {
		if len(frame.yielded) < maxTurns {
			frame.yielded = append(frame.yielded, v)
		}
		r.waits()
		return
	}
	if frame.any {
		frame.returned.merge(v)
	} else {
		frame.returned, frame.any = v, true
	}
	r.leave(0)
}

// leave notes that the innermost n loops of the function at hand end, all of them for 0.
func (r *codeRun) leave(n int) {
	first := 0
	if len(r.frames) > 0 {
		first = r.frames[len(r.frames)-1].loops
	}
	for i := len(r.loops) - 1; i >= first; i-- {
		r.loops[i].leaves = true
		if n--; n == 0 {
			return
		}
	}
}

// waits notes that every loop around does something that takes its time or may end it.
func (r *codeRun) waits() {
	for _, loop := range r.loops {
		loop.leaves = true
	}
}

func (r *codeRun) loop(n *codeNode) {
	loop := &codeLoop{endless: n.text == "endless"}
	r.repeats = r.repeats || loop.endless
	r.loops = append(r.loops, loop)
	r.branch()
	r.evalAll(n.of)
	r.join()
	r.endLoop()
}

// endLoop takes the innermost loop away and says so if it grows without bound.
func (r *codeRun) endLoop() {
	loop := r.loops[len(r.loops)-1]
	r.loops = r.loops[:len(r.loops)-1]
	if loop.endless && !loop.leaves && loop.grows != "" {
		r.s.add(interlock.Impact{Kind: interlock.ImpactSpawn, Reach: interlock.ReachSystem, Via: loop.grows, Reversibility: interlock.Irreversible,
			Confidence: interlock.Inferred, Traits: []string{TraitBomb}})
	}
}

const maxTurns = 256 // of a loop over known values

// each reads for x in xs: over known values as often as there are values, otherwise once with any of them.
func (r *codeRun) each(n *codeNode) {
	over := r.eval(n.of[1])
	loop := &codeLoop{endless: over.is == "itertools.count" || over.is == "itertools.cycle" || over.is == "itertools.repeat" || over.endless, many: over.many}
	r.repeats = r.repeats || loop.many || loop.endless
	r.loops = append(r.loops, loop)
	defer r.endLoop()
	if len(n.of) < 3 {
		return
	}
	values := r.elements(over)
	if n.text == "keys" && over.is != "" {
		values = nil
	}
	if len(values) > 0 && len(values) <= maxTurns && r.steps < r.soft {
		loop.known = true
		for i, value := range values {
			if i > 0 && r.steps > r.soft {
				break
			}
			r.bindTo(n.of[0], value)
			r.eval(n.of[2])
		}
		return
	}
	r.branch()
	r.bindTo(n.of[0], r.element(over))
	r.eval(n.of[2])
	r.join()
}

// comprehension reads clause i of a comprehension and returns the list it makes.
func (r *codeRun) comprehension(n *codeNode, i int) codeValue {
	if i >= len(n.of) {
		one := r.eval(n.of[0])
		return codeValue{items: []codeValue{one}, list: true, marks: one.marks, texts: one.texts, dynamic: one.dynamic}
	}
	clause := n.of[i]
	if clause.kind != nodeEach {
		r.eval(clause)
		v := r.comprehension(n, i+1)
		v.items, v.dynamic = nil, true // some of them
		return v
	}
	over := r.eval(clause.of[1])
	r.repeats = r.repeats || over.many || over.endless
	values := r.elements(over)
	if len(values) == 0 || len(values) > maxElements || r.steps > r.soft {
		r.bindTo(clause.of[0], r.element(over))
		v := r.comprehension(n, i+1)
		v.items, v.dynamic = nil, true
		v.marks |= over.marks
		return v
	}
	all := codeValue{list: true}
	for k, value := range values {
		if k > 0 && r.steps > r.soft {
			all.items, all.dynamic = nil, true
			break
		}
		r.bindTo(clause.of[0], value)
		v := r.comprehension(n, i+1)
		all.marks |= v.marks
		all.dynamic = all.dynamic || v.dynamic
		for _, item := range v.items {
			if len(all.items) < maxElements {
				all.items = append(all.items, item)
			}
		}
		for _, text := range v.texts {
			if len(all.texts) < maxTexts {
				all.texts = append(all.texts, text)
			}
		}
	}
	return all
}

// importNames binds what an import brings.
func (r *codeRun) importNames(n *codeNode) {
	if r.script {
		r.importModule(n.text)
		for _, name := range n.names {
			switch name.full {
			case "", "default":
				r.bind(name.local, codeValue{is: n.text, imported: true})
			default:
				r.bind(name.local, codeValue{is: n.text + "." + name.full, imported: true})
			}
		}
		return
	}
	if n.text != "" {
		r.importModule(n.text)
		for _, name := range n.names {
			if name.full == "*" {
				r.star(n.text)
				continue
			}
			r.bind(name.local, codeValue{is: canonicalName(n.text + "." + name.full), imported: true})
		}
		return
	}
	for _, name := range n.names {
		r.importModule(name.full)
		if name.local != "" {
			r.bind(name.local, codeValue{is: name.full, imported: true})
			continue
		}
		root, _, _ := strings.Cut(name.full, ".")
		r.bind(root, codeValue{is: root, imported: true})
	}
}

func (r *codeRun) importModule(module string) {
	root, _, _ := strings.Cut(module, ".")
	r.imports[root], r.imports[module] = true, true
}

// star binds every name of a module that the table knows.
func (r *codeRun) star(module string) {
	for _, name := range sortedNames(r.calls) {
		if rest, ok := strings.CutPrefix(name, module+"."); ok && !strings.Contains(rest, ".") {
			r.bind(rest, codeValue{is: name, imported: true})
		}
	}
}

// bind gives a name a value; in a branch it may still have the one it had.
func (r *codeRun) bind(name string, v codeValue) {
	scope := r.scope
	if scope.globals[name] {
		scope = r.root
	} else if r.script {
		for at := scope; at != nil; at = at.up {
			if _, ok := at.names[name]; ok {
				scope = at
				break
			}
		}
	}
	have, known := scope.names[name]
	switch {
	case known && scope != r.scope:
		have.merge(v)
		v = have
	case known:
		r.save(scope, name, have)
	}
	if !known && len(scope.names) >= 4096 {
		return
	}
	scope.names[name] = v
}
