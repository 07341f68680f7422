package program

import (
	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// A codeRun is the reading of one program: every statement once in its order, as if it were run with values that are known
// in part. What a branch could do counts; a function that is called is read with what it is called with, and one that
// nobody calls is read at the end. Nothing is ever run.
type codeRun struct {
	s         *flow.Scan
	kind      interlock.Kind
	script    bool // JavaScript
	calls     map[string]know.CallEffect
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
	effects   int // calls that the table knows
	made      int // bytes of text made
	said      map[string]bool
	files     map[string]codeValue // what was written where
	ran       []string             // files it runs that have been read here
	looked    []string             // files it reads whose text is not known
	earlier   bool                 // what came over a network was fetched before this action
	environ   map[string]codeValue // variables of the environment that were set
	named     []string             // variables of the environment that it read and whose names say they hold a secret
	instead   map[string]codeValue // what takes the place of functions of libraries

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

// Read analyses Python or JavaScript.
func Read(s *flow.Scan, kind interlock.Kind, in string) {
	script := kind == interlock.KindJavaScript
	reader := readCode(in, script)
	if !s.Spend(len(reader.tokens)) {
		s.Unknown(string(kind), fact.TraitWork)
		return
	}
	if reader.deepest > fact.MaxNesting {
		s.Unknown(string(kind), fact.TraitNested)
		return
	}
	before := len(s.Impacts)
	root := &codeScope{names: map[string]codeValue{}}
	r := &codeRun{s: s, kind: kind, script: script, calls: s.Know.Calls(string(kind)), root: root, scope: root,
		imports: map[string]bool{}, soft: 20_000 + 4*len(reader.tokens), said: map[string]bool{}}
	r.eval(parseCode(reader.tokens, script, 0))
	r.unread()
	if reader.doubtful { // read the other way, text may turn out to be code
		if other := readCodeAs(in, script, true); s.Spend(len(other.tokens)) && other.deepest <= fact.MaxNesting {
			r.eval(parseCode(other.tokens, script, 0))
			r.unread()
		}
	}
	r.conclude()
	r.putInFiles()
	if s.Work > fact.MaxWork {
		s.Unknown(string(kind), fact.TraitWork)
	}
	if reader.open && len(s.Impacts) > before {
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: string(kind),
			Reversibility: interlock.Window, Confidence: interlock.Unknown, Traits: []string{fact.TraitUnparsable}})
	}
	if len(s.Impacts) == before {
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: string(kind),
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitInline}})
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
	if r.steps&15 == 0 && !r.s.Spend(1) {
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
		for _, child := range n.of {
			last = r.eval(child)
		}
		return last
	case nodeSequence:
		if n.text == "await" {
			r.waits()
		}
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
