package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/windows"

	"mvdan.cc/sh/v3/syntax"
)

// Read analyses a command line or script. What it can't parse in the bash dialect it tries as mksh and as POSIX shell.
func Read(s *flow.Scan, input string) {
	r := newShellRun(s)
	outer := s.Files
	s.Files = r.files
	defer func() { s.Files = outer }()
	if s.Direct {
		r.params = []flow.Field{} // a command line has none, whereas a script's are not known
	}
	if !r.windowsText(input) {
		r.shows(r.script(input, flow.Flow{}))
	}
	r.uncalled()
	r.changedSince()
	r.putInFiles()
	r.brought()
	if !s.Spend(0) {
		s.Unknown("sh", fact.TraitWork)
	}
}

// newShellRun returns a reader of a script that nothing has been read of.
func newShellRun(s *flow.Scan) *shellRun {
	return (&shellRun{Walk: flow.Walk{S: s}, vars: map[string]flow.Value{}, funcs: map[string]*function{},
		files: map[string]flow.Flow{}}).known()
}

// A shellRun follows one script: what its variables hold, where it is, which files it made, which functions it defined.
type shellRun struct {
	flow.Walk
	vars    map[string]flow.Value
	shared  bool // vars belongs to the shell around this one: set and forget copy it first
	zero    flow.Field
	final   flow.Field // the last word of the command before, which $_ means
	funcs   map[string]*function
	names   []string // of funcs, in order of definition
	aliases map[string]string
	files   map[string]flow.Flow // what this action wrote, by clean path
	params  []flow.Field
	closed  int                     // here-documents that only the input's end closed
	forked  int                     // background commands being walked
	sinks   []*syntax.ProcSubst     // output process substitutions met and not yet given to a redirection or command
	locals  []local                 // what variables were before functions being walked made them their own
	inside  bool                    // a function is being walked
	last    bool                    // the last command of a pipe runs in this shell
	prompt  bool                    // a program that takes commands was started without being given any
	held    map[string]flow.Streams // file descriptors exec keeps open, by number or variable
	from    string                  // where the command being judged was begun, whatever its flags say of directories
	outside bool                    // the command being judged reads a file outside the workspace
	signed  bool                    // the command being judged signs in with the token it is given, where that is good
	sent    bool                    // the command being judged sends a file
	reads   bool                    // the command being judged reads a file
	peer    string                  // and whose it is, where that is known
	win     *windows.Run            // what reads scripts for shells of Windows inside this one
	inlined *flow.Use               // the command that was given the code being read as an argument
	beside  string                  // the directory of the program being read, beside which its modules lie
	loaded  map[string]bool         // modules and settings files that were read
	obeys   []settingsFile          // files with settings that were judged by their text
}

type function struct {
	body   *syntax.Stmt
	src    string
	called bool
	active bool
}

// uncalled walks the functions nothing called: a trap, a file sourced later or a line not followed may call them.
func (r *shellRun) uncalled() {
	for i := 0; i < len(r.names); i++ {
		if f := r.funcs[r.names[i]]; f != nil && !f.called {
			r.invoke(r.names[i], f, nil, flow.Flow{})
		}
	}
}

// deeper runs f one step further in, or records that the input nests beyond the bound.
func (r *shellRun) deeper(f func() flow.Flow) flow.Flow {
	if r.Steps >= fact.MaxSteps {
		r.S.Unknown("sh", fact.TraitNested)
		return flow.Flow{}
	}
	r.Steps++
	out := f()
	r.Steps--
	return out
}

func (r *shellRun) stmts(list []*syntax.Stmt, in flow.Flow) flow.Flow {
	if len(list) == 1 {
		return r.stmt(list[0], in)
	}
	var out flow.Sequence
	for _, st := range list {
		out.Add(r.stmt(st, in))
	}
	return out.Flow()
}

func (r *shellRun) stmt(st *syntax.Stmt, in flow.Flow) flow.Flow {
	if !r.S.Spend(1) {
		r.S.Unknown("sh", fact.TraitWork)
		return flow.Flow{}
	}
	return r.deeper(func() flow.Flow {
		io := r.redirects(st, in)
		if st.Background {
			r.forked++
			defer func() { r.forked-- }()
		}
		out := r.cmd(st.Cmd, io)
		return r.Deliver(io, out)
	})
}

func (r *shellRun) cmd(cmd syntax.Command, io flow.Streams) flow.Flow {
	switch c := cmd.(type) {
	case nil:
		return io.In
	case *syntax.CallExpr:
		return r.call(c, io)
	case *syntax.BinaryCmd:
		return r.binary(c, io.In)
	case *syntax.Subshell:
		return r.subshell(func() flow.Flow { return r.stmts(c.Stmts, io.In) })
	case *syntax.Block:
		return r.stmts(c.Stmts, io.In)
	case *syntax.IfClause:
		return r.ifClause(c, io.In)
	case *syntax.WhileClause:
		return r.while(c, io.In)
	case *syntax.ForClause:
		return r.forClause(c, io.In)
	case *syntax.CaseClause:
		r.fields(c.Word)
		var out flow.Flow
		for _, item := range c.Items {
			out = out.Then(r.stmts(item.Stmts, io.In))
		}
		return out
	case *syntax.FuncDecl:
		r.define(c)
	case *syntax.TimeClause:
		if c.Stmt != nil { // who times a shell doesn't mean to type into it
			r.S.Within++
			out := r.stmt(c.Stmt, io.In)
			r.S.Within--
			return out
		}
	case *syntax.CoprocClause:
		return r.coproc(c, io)
	case *syntax.DeclClause:
		return r.listed(c, showing("declare", r.declare(c)))
	default: // arithmetic, tests, let: only their substitutions do anything
		return showing("test", r.substitutions(cmd))
	}
	return flow.Flow{}
}

// substitutions walks the command substitutions inside a node that does nothing else.
func (r *shellRun) substitutions(node syntax.Node) flow.Flow {
	var out flow.Flow
	syntax.Walk(node, func(n syntax.Node) bool {
		r.counted(n)
		switch x := n.(type) {
		case *syntax.CmdSubst:
			out.Taint(r.subshell(func() flow.Flow { return r.stmts(x.Stmts, flow.Flow{}) }))
			return false
		case *syntax.ProcSubst:
			out.Taint(r.subshell(func() flow.Flow { return r.stmts(x.Stmts, flow.Flow{}) }))
			return false
		}
		return r.S.Spend(1)
	})
	return out
}

// binary walks a list or pipeline. Chains lean to the left and may be long, so they are not recursed into.
func (r *shellRun) binary(c *syntax.BinaryCmd, in flow.Flow) flow.Flow {
	chain := []*syntax.BinaryCmd{c}
	for {
		first := chain[len(chain)-1]
		left, ok := first.X.Cmd.(*syntax.BinaryCmd)
		if !ok || isPipe(left) != isPipe(c) || len(first.X.Redirs) > 0 {
			break
		}
		chain = append(chain, left)
	}
	first := chain[len(chain)-1].X
	if !isPipe(c) {
		var out flow.Sequence
		out.Add(r.stmt(first, in))
		for i := len(chain) - 1; i >= 0; i-- {
			out.Add(r.stmt(chain[i].Y, in))
		}
		return out.Flow()
	}
	if t := r.S.Trace; t != nil {
		t.Enter("pipeline", r.source(c))
		defer t.Leave()
	}
	from := len(r.S.Impacts)
	out := r.subshell(func() flow.Flow { return r.stmt(first, in) })
	for i := len(chain) - 1; i >= 0; i-- {
		out.Piped = true
		if out.Token != nil {
			out = r.handedOver(chain[i].Y, out, from)
			continue
		}
		if i == 0 && r.last {
			return r.stmt(chain[i].Y, out)
		}
		out = r.subshell(func() flow.Flow { return r.stmt(chain[i].Y, out) })
	}
	return out
}

func isPipe(c *syntax.BinaryCmd) bool { return c.Op == syntax.Pipe || c.Op == syntax.PipeAll }

func (r *shellRun) ifClause(c *syntax.IfClause, in flow.Flow) flow.Flow {
	var out flow.Flow
	for ; c != nil; c = c.Else {
		r.stmts(c.Cond, in)
		out = out.Then(r.stmts(c.Then, in))
	}
	out.Known = false
	return out
}

func (r *shellRun) while(c *syntax.WhileClause, in flow.Flow) flow.Flow {
	r.Rounds++
	r.stmts(c.Cond, in)
	if len(c.Cond) == 1 && endless(c) && (multiplies(c.Do) || fills(c.Do) || swells(c.Do)) {
		r.bomb("while")
	}
	out := r.stmts(c.Do, in)
	r.Rounds--
	out.Known = false
	return out
}

// endless reports whether a loop's condition is constantly true.
func endless(c *syntax.WhileClause) bool {
	switch cond := c.Cond[0].Cmd.(type) {
	case *syntax.ArithmCmd:
		n, ok := number(cond.X)
		return ok && (n != 0) != c.Until
	case *syntax.CallExpr:
		if len(cond.Args) == 0 {
			return false
		}
		switch name := cond.Args[0].Lit(); name {
		case "true", ":", "false":
			return (name == "false") == c.Until
		case "[", "test":
			return len(cond.Args) > 1 && !c.Until && cond.Args[1].Lit() != "" && !strings.HasPrefix(cond.Args[1].Lit(), "-") &&
				(len(cond.Args) == 2 || len(cond.Args) == 3 && cond.Args[2].Lit() == "]")
		}
	}
	return false
}

// multiplies reports whether a loop's body leaves processes behind on each round without ever pausing.
func multiplies(body []*syntax.Stmt) bool {
	background := false
	for _, st := range body {
		background = background || st.Background
		if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && !st.Background {
			switch call.Args[0].Lit() {
			case "wait", "sleep", "read", "break", "exit", "return":
				return false
			}
		}
	}
	return background
}

func (r *shellRun) forClause(c *syntax.ForClause, in flow.Flow) flow.Flow {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		r.substitutions(c.Loop)
		if loop, ok := c.Loop.(*syntax.CStyleLoop); ok && loop.Cond == nil && (multiplies(c.Do) || swells(c.Do)) {
			r.bomb("for")
		}
		if loop, ok := c.Loop.(*syntax.CStyleLoop); ok && countsFar(loop.Cond) {
			r.Many = true
		}
		if loop, ok := c.Loop.(*syntax.CStyleLoop); ok && countsTo(loop.Cond) >= manyFiles {
			r.litters(c.Do)
		}
		r.Rounds++
		out := r.stmts(c.Do, in)
		r.Rounds--
		out.Known = false
		return out
	}
	items := r.params
	if turns(iter.Items) >= manyFiles {
		r.litters(c.Do)
	}
	if iter.InPos.IsValid() {
		items = nil
		for _, w := range iter.Items {
			items = append(items, r.fields(w)...)
		}
	}
	if len(items) == 0 {
		items = []flow.Field{{Text: "$" + iter.Name.Value, Dynamic: true, Lead: true}}
	}
	limit := fact.MaxItems
	if r.Loops > 1 {
		limit = 1
	}
	r.Loops++
	r.Rounds++
	var out flow.Flow
	for i, item := range items {
		if i >= limit && len(items) > limit && !r.S.Spend(100) {
			break
		}
		if i >= limit && harmlessName(item.Text) {
			continue
		}
		item.Each = len(items) > 1 || item.Dynamic || item.Glob
		r.set(iter.Name.Value, flow.VarValue(item))
		out = out.Then(r.stmts(c.Do, in))
	}
	r.Loops--
	r.Rounds--
	out.Known = false
	return out
}

// countsTo is the largest constant that a loop's condition compares with.
func countsTo(cond syntax.ArithmExpr) (most int) {
	if test, ok := cond.(*syntax.BinaryArithm); ok {
		for _, side := range []syntax.ArithmExpr{test.X, test.Y} {
			if n, ok := number(side); ok {
				most = max(most, int(n))
			}
		}
	}
	return most
}

// countsFar reports whether a loop's condition compares with a constant of manyTimes or more.
func countsFar(cond syntax.ArithmExpr) bool {
	test, ok := cond.(*syntax.BinaryArithm)
	if !ok {
		return false
	}
	for _, side := range []syntax.ArithmExpr{test.X, test.Y} {
		if n, ok := number(side); ok && n >= fact.ManyTimes {
			return true
		}
	}
	return false
}

// harmlessName reports whether a loop item is a plain name like those before it, which need not be followed again.
func harmlessName(text string) bool { return !strings.ContainsAny(text, "/~$.*") }

func (r *shellRun) define(c *syntax.FuncDecl) {
	name := ""
	if c.Name != nil {
		name = c.Name.Value
	}
	if calls, pipes := callsItself(c.Body, name); calls > 0 && pipes {
		r.bomb(name)
	}
	r.shadowed(name, "function")
	if r.funcs[name] == nil {
		r.names = append(r.names, name)
	}
	r.funcs[name] = &function{body: c.Body, src: r.Src}
}

// callsItself counts calls of name in a body and whether one is in a pipe or in the background.
func callsItself(body *syntax.Stmt, name string) (calls int, spawns bool) {
	syntax.Walk(body, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Stmt:
			if call, ok := x.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == name {
				calls++
				spawns = spawns || x.Background
			}
		case *syntax.BinaryCmd:
			if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
				l, _ := callsItself(x.X, name)
				y, _ := callsItself(x.Y, name)
				spawns = spawns || l > 0 && y > 0
			}
		}
		return true
	})
	return calls, spawns
}

func (r *shellRun) bomb(via string) {
	r.S.Add(interlock.Impact{Kind: interlock.ImpactSpawn, Target: "processes", Reach: interlock.ReachSystem, Via: via,
		Reversibility: interlock.Irreversible, Traits: []string{fact.TraitBomb}})
}

func (r *shellRun) invoke(name string, f *function, args []flow.Field, in flow.Flow) flow.Flow {
	f.called = true
	if f.active || !r.S.Spend(16) {
		if r.forked > 0 {
			r.bomb(name) // a circle of functions that leaves a process behind each time round
		}
		return flow.Flow{} // recursion: its body is being walked already
	}
	f.active = true
	if t := r.S.Trace; t != nil {
		t.Enter("function", name)
		defer t.Leave()
	}
	for _, a := range args {
		if strings.Contains(a.Text, "__import__(") { // a call in Python where a value is expected
			r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: name, Reach: interlock.ReachWorkspace, Via: "eval",
				Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitInjection}})
		}
	}
	params, src := r.params, r.Src
	r.params, r.Src = args, f.src
	mark, inside := len(r.locals), r.inside
	r.inside = true
	out := r.deeper(func() flow.Flow { return r.stmt(f.body, in) })
	r.inside = inside
	r.giveUp(mark)
	r.params, r.Src = params, src
	f.active = false
	return out
}

// call runs a simple command: its assignments, then the command its words make.
func (r *shellRun) call(c *syntax.CallExpr, io flow.Streams) flow.Flow {
	var tainted flow.Flow
	var assigns []assigned
	for _, a := range c.Assigns {
		v := r.assign(a, len(c.Args) > 0)
		if len(c.Args) > 0 && a.Name != nil {
			assigns = append(assigns, assigned{a.Name.Value, v})
		}
		tainted.Taint(v.Flow)
	}
	if len(c.Args) == 0 {
		return showing("", tainted)
	}
	sinks := len(r.sinks)
	args := r.S.Room.Fields.Room(len(c.Args) + 2)
	for i, w := range c.Args {
		before := len(args)
		if lit, ok := plainLiteral(w); ok {
			args = append(args, sealed(r.literal(lit)))
		} else {
			args = append(args, r.fields(w)...)
		}
		if i == 0 && len(args) > before {
			args[before].Odd = args[before].Odd || isOdd(w)
		}
	}
	for i := range args {
		tainted.Taint(args[i].Flow)
	}
	r.throughDescriptors(args)
	if len(args) == 0 {
		return flow.Flow{}
	}
	r.final = args[len(args)-1]
	r.pour(r.drained(sinks), io.In)
	io.Args = tainted
	for len(args) > 1 && args[0].Text == "" && args[0].Odd && !args[0].Dynamic { // {,ls,-l} is ls -l
		args = args[1:]
		args[0].Odd = true
	}
	if args[0].Text == "" && !args[0].Dynamic {
		return flow.Flow{}
	}
	switch name := args[0].Text; {
	case len(assigns) == 0:
		return r.command(args, io)
	case builtinFor(name) == nil && r.funcs[name] == nil:
		return r.withAssignments(assigns, func() flow.Flow { return r.command(args, io) })
	}
	return r.amidAssignments(assigns, func() flow.Flow { return r.command(args, io) })
}
