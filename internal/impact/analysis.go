// Package impact turns an action into the impacts it would have on the world: what it reads, writes, deletes, executes,
// sends and so on, how far that reaches and whether it can be undone.
//
// It is a function of its arguments. It reads no file, clock or network, never runs anything, and never trusts what the
// agent says about the action. Input it can't understand, or that is over a bound, becomes an impact of confidence
// unknown; it never becomes silence. Knowledge of commands is data (package interlock/rules, directory commands).
//
// Start with Analyse here; each kind of action has its file: shell.go, sql.go, python.go and so on. Paths are judged in
// path.go, bounds are in bounds.go, the words analysers use for facts are in traits.go.
package impact

import (
	"strings"

	"interlock"
)

// An Analysis is what an action would do, and the texts in which patterns may be looked for.
type Analysis struct {
	Impacts []interlock.Impact `json:"impacts"`
	Texts   []Text             `json:"texts"`
	Wanted  []string           `json:"-"` // files whose text would say what the action runs; [interlock.View] has it under Scripts once it was read
}

// An Analyser analyses actions. It is immutable and safe for concurrent use.
type Analyser struct {
	know   *Knowledge
	strict bool // the readers of Windows' shells may not give up; tests hold them to it
}

// NewAnalyser returns an analyser over command knowledge.
func NewAnalyser(know *Knowledge) *Analyser { return &Analyser{know: know} }

// Analyse returns what action would do. Equal arguments give equal analyses: impacts stand in the order in which the
// input would cause them, duplicates removed.
func (a *Analyser) Analyse(view interlock.View, action interlock.Action) Analysis {
	return a.analyse(view, action, nil)
}

// analyse is Analyse, with somebody who notes what is read if trace is given.
func (a *Analyser) analyse(view interlock.View, action interlock.Action, trace *tracer) Analysis {
	if view.Workspace == "" {
		view.Workspace = action.Dir
	}
	if isDrive(view.Home) || isDrive(view.Workspace) || isDrive(action.Dir) {
		view.Home, view.Workspace = strings.ReplaceAll(view.Home, `\`, "/"), strings.ReplaceAll(view.Workspace, `\`, "/")
		action.Dir = strings.ReplaceAll(action.Dir, `\`, "/")
	}
	s := &scan{dialect: dialectOf(action), strict: a.strict}
	s.know, s.view, s.dir, s.trace = a.know, view, action.Dir, trace
	s.begin(&Readers{Payload: read, Patch: readPatch})
	if s.dir == "" {
		s.dir = view.Workspace
	}
	s.room = a.know.borrow()
	s.action(action)
	a.know.giveBack(s.room)
	return Analysis{Impacts: s.impacts, Texts: s.texts, Wanted: s.wanted}
}

// action dispatches on the kind. An unknown kind is unknown input, not an error: admission has refused it before.
func (s *scan) action(a interlock.Action) {
	switch a.Kind {
	case interlock.KindFile:
		readFile(s, a.Tool, a.Arguments)
	case interlock.KindHTTP:
		readHTTP(s, a.Arguments)
	case interlock.KindTool:
		readTool(s, a.Tool, a.Arguments)
	default:
		s.direct = a.Kind == interlock.KindShell
		s.nested(a.Kind, a.Input)
	}
}

// read reads a payload as what it is.
func read(s *scan, kind interlock.Kind, input string) {
	switch kind {
	case interlock.KindShell:
		readShell(s, input)
	case interlock.KindSQL:
		readSQL(s, input)
	case interlock.KindPython:
		s.within++
		readProgram(s, kind, input)
		s.within--
	case interlock.KindJavaScript:
		s.within++
		readProgram(s, kind, input)
		s.within--
	case interlock.KindHint:
		readHint(s, input)
	case interlock.KindText:
		readText(s, input)
	default:
		s.unknown(string(kind), TraitUnsupported)
	}
}
