// Package impact turns an action into the impacts it would have on the world: what it reads, writes, deletes, executes,
// sends and so on, how far that reaches and whether it can be undone.
//
// It is a function of its arguments. It reads no file, clock or network, never runs anything, and never trusts what the
// agent says about the action. Input it can't understand, or that is over a bound, becomes an impact of confidence
// unknown; it never becomes silence. Knowledge of commands is data (package interlock/rules, directory commands).
//
// Start with Analyse here; each kind of action is read by a package below: shell, sql, program, call, prose. Paths are judged in
// package place; bounds and the words analysers use for facts are in package fact.
package impact

import (
	"strings"

	"interlock"
	"interlock/internal/impact/call"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/program"
	"interlock/internal/impact/prose"
	"interlock/internal/impact/shell"
	"interlock/internal/impact/sql"
	"interlock/internal/lex"
)

// An Analysis is what an action would do, and the texts in which patterns may be looked for.
type Analysis struct {
	Impacts []interlock.Impact `json:"impacts"`
	Texts   []fact.Text        `json:"texts"`
	Spoken  []string           `json:"-"` // what a hint names, for operators' globs: see [prose.Spoken]
	// paths where it matters whether git would give back what is there; Work of the view has it once it was looked at
	Work []string `json:"-"`
	// files whose text would say what the action runs; [interlock.View] has it under Scripts once it was read
	Wanted []string `json:"-"`
	// places in which something runs that may do what files there say
	Ran []string `json:"-"`
	// the work that reading it was charged with
	Steps int `json:"-"`
}

// An Analyser analyses actions. It is immutable and safe for concurrent use.
type Analyser struct {
	know   *know.Knowledge
	strict bool // the readers of Windows' shells may not give up; tests hold them to it
}

// NewAnalyser returns an analyser over command knowledge.
func NewAnalyser(know *know.Knowledge) *Analyser { return &Analyser{know: know} }

// Analyse returns what action would do. Equal arguments give equal analyses: impacts stand in the order in which the
// input would cause them, duplicates removed.
func (a *Analyser) Analyse(view interlock.View, action interlock.Action) Analysis {
	return a.analyse(view, action, nil, nil)
}

// AnalyseUntil is Analyse that ends when stop is closed. What was not read by then is unknown, so that the answer is no worse
// than a whole one; it is not to be kept, since another time there may be more of it.
func (a *Analyser) AnalyseUntil(stop <-chan struct{}, view interlock.View, action interlock.Action) Analysis {
	return a.analyse(view, action, nil, stop)
}

// analyse is Analyse, with somebody who notes what is read if trace is given.
func (a *Analyser) analyse(view interlock.View, action interlock.Action, trace *fact.Tracer, stop <-chan struct{}) Analysis {
	if view.Workspace == "" {
		view.Workspace = action.Dir
	}
	if lex.IsDrive(view.Home) || lex.IsDrive(view.Workspace) || lex.IsDrive(action.Dir) {
		view.Home, view.Workspace = strings.ReplaceAll(view.Home, `\`, "/"), strings.ReplaceAll(view.Workspace, `\`, "/")
		action.Dir = strings.ReplaceAll(action.Dir, `\`, "/")
	}
	room := flow.Borrow(a.know)
	s := room.Scan()
	s.Dialect, s.Strict = flow.DialectOf(action), a.strict
	s.Know, s.View, s.Dir, s.Trace, s.Stop = a.know, view, action.Dir, trace, stop
	s.Begin(&flow.Readers{Payload: read, Patch: call.Patch, Written: call.Written})
	if s.Dir == "" {
		s.Dir = view.Workspace
	}
	s.Bounded(func() { readAction(s, action) })
	result := Analysis{Impacts: s.Impacts, Texts: s.Texts, Wanted: s.Wanted, Work: s.Works, Ran: s.Ran, Steps: s.Collector.Work}
	if action.Kind == interlock.KindHint {
		result.Spoken = prose.Spoken(a.know, action.Input)
	}
	flow.GiveBack(a.know, room)
	return result
}

// readAction dispatches on the kind. An unknown kind is unknown input, not an error: admission has refused it before.
func readAction(s *flow.Scan, a interlock.Action) {
	switch a.Kind {
	case interlock.KindFile:
		call.File(s, a.Tool, a.Arguments)
	case interlock.KindHTTP:
		call.HTTP(s, a.Arguments)
	case interlock.KindTool:
		call.Tool(s, a.Tool, a.Arguments)
	default:
		s.Direct = a.Kind == interlock.KindShell
		s.Nested(a.Kind, a.Input)
		if s.Shown != "" { // what a program prints comes back to the agent
			s.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: "$" + s.Shown, Reach: interlock.ReachHome, Via: "print",
				Reversibility: interlock.Readonly, Traits: []string{fact.TraitSecret}})
		}
	}
}

// read reads a payload as what it is.
func read(s *flow.Scan, kind interlock.Kind, input string) {
	switch kind {
	case interlock.KindShell:
		shell.Read(s, input)
	case interlock.KindSQL:
		sql.Read(s, input)
	case interlock.KindPython:
		s.Within++
		program.Read(s, kind, input)
		s.Within--
	case interlock.KindJavaScript:
		s.Within++
		program.Read(s, kind, input)
		s.Within--
	case interlock.KindHint:
		prose.Hint(s, input)
	case interlock.KindText:
		prose.Text(s, input)
	default:
		s.Unknown(string(kind), fact.TraitUnsupported)
	}
}
