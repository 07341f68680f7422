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
	"sort"
	"strings"

	"interlock"
)

// An Analysis is what an action would do, and the texts in which patterns may be looked for.
type Analysis struct {
	Impacts []interlock.Impact `json:"impacts"`
	Texts   []Text             `json:"texts"`
}

// A Text is one thing that would be executed, normalised: quotes resolved, wrappers removed, one simple command, statement
// or request each. Patterns are matched against these and not against the raw input, so that data is not taken for code.
type Text struct {
	Kind  interlock.Kind `json:"kind"`
	Value string         `json:"value"`
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
	s := &scan{know: a.know, view: view, dir: action.Dir, dialect: dialectOf(action), trace: trace, strict: a.strict}
	if s.dir == "" {
		s.dir = view.Workspace
	}
	s.room = a.know.borrow()
	s.action(action)
	a.know.giveBack(s.room)
	return Analysis{Impacts: s.impacts, Texts: s.texts}
}

// A scan is one analysis under way. Nested payloads (a shell command in a tool call, Python in a shell command) are
// scanned by the same scan, so that work, nesting and findings are counted once for the whole action.
type scan struct {
	know    *Knowledge
	view    interlock.View
	dir     string // working directory as the analysis follows it; empty is unknown
	depth   int    // nesting of payloads inside payloads
	within  int    // programs around what is being analysed that are no shells and were made to run it
	work    int    // steps spent, against maxWork
	loose   int    // texts with a syntax error that were read nevertheless
	windows bool   // what is being analysed is for a shell of Windows: \ separates, case does not matter
	dialect dialect
	trace   *tracer // notes what is read, where somebody asked for it
	impacts []interlock.Impact
	texts   []Text
	direct  bool            // the action is a command line for a shell
	strict  bool            // see Analyser
	mounts  []mounted       // directories of the host inside the container being looked into
	files   map[string]flow // what the script being walked wrote, by clean path
	linking bool            // view.Links is the scan's own
	room    *workroom
	places  [8]judgedPlace

	sqlHeld  map[string]sqlBuilt // texts that variables of statements hold
	sqlMade  []string            // tables that statements made, which nobody else uses yet
	sqlLevel int                 // bodies of functions around a statement
}

// action dispatches on the kind. An unknown kind is unknown input, not an error: admission has refused it before.
func (s *scan) action(a interlock.Action) {
	switch a.Kind {
	case interlock.KindFile:
		s.file(a.Tool, a.Arguments)
	case interlock.KindHTTP:
		s.http(a.Arguments)
	case interlock.KindTool:
		s.tool(a.Tool, a.Arguments)
	default:
		s.direct = a.Kind == interlock.KindShell
		s.nested(a.Kind, a.Input)
	}
}

// nested scans a payload of the given kind found inside the action, or the action's own input.
func (s *scan) nested(kind interlock.Kind, input string) {
	if reason := s.enter(input); reason != "" {
		s.unknown(string(kind), reason)
		return
	}
	defer s.leave()
	if s.trace != nil {
		s.trace.enter(string(kind), input)
		defer s.trace.leave()
	}
	switch kind {
	case interlock.KindShell:
		s.shell(input)
	case interlock.KindSQL:
		s.sql(input)
	case interlock.KindPython:
		s.within++
		s.program(kind, input)
		s.within--
	case interlock.KindJavaScript:
		s.within++
		s.program(kind, input)
		s.within--
	case interlock.KindHint:
		s.hint(input)
	case interlock.KindText:
		s.text(input)
	default:
		s.unknown(string(kind), TraitUnsupported)
	}
}

// add records an impact, with its traits in order and without repeating one that stands already.
func (s *scan) add(i interlock.Impact) {
	sort.Strings(i.Traits)
	i.Traits = compact(i.Traits)
	if i.Confidence == "" {
		i.Confidence = interlock.Parsed
	}
	if s.trace != nil {
		s.trace.found(i)
	}
	if s.spend(len(s.impacts) / 32); len(s.impacts) >= maxImpacts && i.Confidence != interlock.Unknown {
		s.work = maxWork + 1 // the rest is as good as unknown, and said to be
		return
	}
	for n := len(s.impacts) - 1; n >= 0; n-- { // what repeats mostly does so at once
		if equalImpact(&s.impacts[n], &i) {
			return
		}
	}
	s.impacts = append(s.impacts, i)
}

// unknown records that something could not be understood; traits say why.
func (s *scan) unknown(via string, traits ...string) {
	s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: via,
		Reversibility: interlock.Irreversible, Confidence: interlock.Unknown, Traits: traits})
}

// executes records a normalised text that would be executed.
//
// A loop or a list that does the same again shows it once: what patterns find in a text they find the first time.
func (s *scan) executes(kind interlock.Kind, value string) {
	if !shown(s, kind, value) {
		s.texts = append(s.texts, Text{Kind: kind, Value: value})
	}
}

// shown reports whether a text was recorded a moment ago.
func shown[T string | []byte](s *scan, kind interlock.Kind, value T) bool {
	for i := len(s.texts) - 1; i >= 0 && i >= len(s.texts)-8; i-- {
		if s.texts[i].Value == string(value) && s.texts[i].Kind == kind {
			return true
		}
	}
	return false
}

func compact(sorted []string) []string {
	out := sorted[:0]
	for i, t := range sorted {
		if i == 0 || t != sorted[i-1] {
			out = append(out, t)
		}
	}
	return out
}

func equalImpact(a, b *interlock.Impact) bool {
	if a.Kind != b.Kind || a.Target != b.Target || a.Reach != b.Reach || a.Reversibility != b.Reversibility ||
		a.Amount != b.Amount || a.Confidence != b.Confidence || a.Via != b.Via || len(a.Traits) != len(b.Traits) {
		return false
	}
	for i := range a.Traits {
		if a.Traits[i] != b.Traits[i] {
			return false
		}
	}
	return true
}
