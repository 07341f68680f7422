package admission

import (
	"encoding/json"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/engine"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// AlwaysFor is how long a standing yes lasts if nobody says how long, and AlwaysRun one for a session.
const (
	AlwaysFor = 7 * 24 * time.Hour
	AlwaysRun = 24 * time.Hour
)

// Always is the standing yes to exactly what a request asked, for an operator to widen, bound and sign: the same agent, the same
// project, the rules that asked. decided is the decision that left the request behind, as the log holds it. What is never answered in
// advance is refused with the reason.
func Always(id string, request interlock.ApprovalRequest, decided auditlog.Decided, rules *ruleset.Ruleset,
	now time.Time) (interlock.Grant, error) {
	g := interlock.Grant{ID: id, Agent: request.Requester.Agent, Principal: request.Requester.Principal}
	refuse := func(why string) (interlock.Grant, error) {
		return g, interlock.Errorf(interlock.CodeUnauthorized, "request", "this is answered each time: %s", why)
	}
	action, d := decided.Proposal.Action, decided.Decision
	if digest, err := strictjson.ActionDigest(action); err != nil || digest != request.Action {
		return refuse("the log does not hold all of it, because it holds a secret or is very long")
	}
	if why := engine.EachTime(d); why != "" {
		return refuse(why)
	}
	for n := range d.Findings {
		f := &d.Findings[n]
		if f.Verdict == interlock.Allow || slices.Contains(g.Rules, f.Rule) {
			continue
		}
		if err := rules.Grantable(f.Rule); err != nil {
			return refuse(core.Reason(err))
		}
		g.Rules = append(g.Rules, f.Rule)
	}
	created := now.UTC().Truncate(time.Second)
	g.Kind, g.Created, g.Expires, g.Scope = action.Kind, created, created.Add(AlwaysFor), &interlock.Scope{Dir: action.Dir}
	if g.Principal == "" || g.Scope.Dir == "" {
		return refuse("it is not known whom the agent acts for, or in which directory")
	}
	switch {
	case action.Kind == interlock.KindShell:
		if g.Scope.Words = impact.Words(action); g.Scope.Words == nil {
			return refuse("it is more than one program with its arguments, or a shell reads something in it")
		}
	case action.Kind == interlock.KindFile:
		path, err := pathOf(action)
		if err != nil {
			return refuse("it names no path")
		}
		g.Tool, g.Scope.Arguments = action.Tool, path
	case action.Kind.TakesObject():
		g.Tool, g.Scope.Arguments = action.Tool, action.Arguments
	default:
		g.Scope.Text = action.Input
	}
	if star(g.Scope) {
		return refuse("it holds a *, which a pattern could not tell from one that stands for something")
	}
	if err := g.Scope.Check(g.Kind); err != nil {
		return refuse(core.Reason(err))
	}
	return g, nil
}

// inAdvance reports whether a standing yes could answer what is asked, so that the person asked may be told how to give one.
func inAdvance(request string, d interlock.Decision, action interlock.Action) bool {
	return request != "" && engine.EachTime(d) == "" && (action.Kind != interlock.KindShell || impact.Words(action) != nil)
}

// star reports whether what was asked holds a * itself.
func star(s *interlock.Scope) bool {
	return slices.ContainsFunc(s.Words, func(w string) bool { return slices.Contains([]byte(w), '*') }) ||
		slices.Contains([]byte(s.Arguments), '*')
}

// pathOf is the path of a file's action, as an object of its own.
func pathOf(action interlock.Action) (json.RawMessage, error) {
	var named struct {
		Path string `json:"path"`
	}
	err := json.Unmarshal(action.Arguments, &named)
	if err == nil && named.Path == "" {
		err = interlock.Errorf(interlock.CodeInvalid, "path", "is missing")
	}
	if err != nil {
		return nil, err
	}
	return strictjson.Marshal(named)
}

// An Aim is what an operator makes of a standing yes before signing it.
type Aim struct {
	Pattern string        // of a command: its words with * in them; of arguments: the object; empty: as it was asked
	Dir     string        // the project; empty: the directory it was asked in
	Session bool          // only in the run that asked
	For     time.Duration // 0: a week, of a session a day
	Ever    bool          // until it is ended
	Times   int           // 0: as often as it comes
	Reason  string
}

// Aimed is a standing yes as an operator wants it. The one that was asked about must be among what it covers.
func Aimed(g interlock.Grant, aim Aim, asked interlock.Action, run string) (interlock.Grant, error) {
	scope := *g.Scope
	g.Scope, g.Reason, g.Times, g.Left = &scope, aim.Reason, aim.Times, aim.Times
	if aim.Dir != "" {
		scope.Dir = aim.Dir
	}
	if aim.Pattern != "" {
		switch {
		case g.Kind == interlock.KindShell:
			if scope.Words = impact.PatternWords(aim.Pattern); scope.Words == nil {
				return g, interlock.Errorf(interlock.CodeInvalid, "pattern",
					"write one program with its arguments; * stands for a part of one word, and nothing that a shell reads may be in it")
			}
		case g.Kind.TakesObject():
			text, err := strictjson.Canonical([]byte(aim.Pattern))
			if err != nil {
				return g, interlock.Errorf(interlock.CodeInvalid, "pattern", "write the arguments as a JSON object; * stands for a part of a word")
			}
			scope.Arguments = text
		default:
			return g, interlock.Errorf(interlock.CodeInvalid, "pattern", "there is nothing like a text of kind %s but itself", g.Kind)
		}
	}
	switch {
	case aim.Ever && (aim.For != 0 || aim.Session):
		return g, interlock.Errorf(interlock.CodeInvalid, "for", "name one: a time, this session, or until it is ended")
	case aim.Ever:
		g.Expires = time.Time{}
	case aim.For != 0:
		g.Expires = g.Created.Add(aim.For)
	case aim.Session:
		g.Expires = g.Created.Add(AlwaysRun)
	}
	if aim.Session {
		if run == "" {
			return g, interlock.Errorf(interlock.CodeInvalid, "session", "the request names no session")
		}
		scope.Run = run
	}
	if err := scope.Check(g.Kind); err != nil {
		return g, err
	}
	if !scope.Covers(asked, impact.Words(asked)) {
		return g, interlock.Errorf(interlock.CodeInvalid, "pattern", "what was asked is not among what this covers")
	}
	return g, nil
}
