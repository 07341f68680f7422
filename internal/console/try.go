package console

import (
	"net/http"
	"strings"
	"time"

	"interlock"
	"interlock/internal/console/render"
	"interlock/internal/explain"
	"interlock/internal/replay"
)

// The bounds of what a page tries and shows of it; the command line takes more.
const (
	maxTried = 16 << 10 // bytes of an action
	maxSteps = 300      // that are shown of how it is read
)

// A Trial is an action that somebody supposes.
type Trial struct {
	Kind  interlock.Kind
	Input string // a text, or an object as JSON, as its kind takes it
	Dir   string // where it would run; empty: nowhere in particular
	Agent string // who would propose it; empty: one that nobody registered
	Files bool   // scripts that it would run are read from this machine's disk, as `interlock check --explain --dir` does
}

// A Tried is what would be decided, and why.
type Tried struct {
	interlock.Decision // without secrets
	Why                explain.Explanation
}

// triedPage is what the template gets.
type triedPage struct {
	Trial
	Kinds []interlock.Kind
	Done  bool
	Tried Tried
	Step  *tryStep
	Whole []interlock.Finding // what is said about the whole
	Cut   bool                // there is more than is shown
}

// A tryStep is one step of how an action is read, with what arises there.
type tryStep struct {
	Kind, Text string
	Says       []tryImpact
	Steps      []*tryStep
}

// A tryImpact is one impact with what objects to it.
type tryImpact struct {
	Sentence string
	Findings []interlock.Finding
	Passes   string // the row of the profile that lets it, where nothing objects
}

// tryPage offers to explain any action.
func (c *Console) tryPage(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "try.html", "Try an action", tryOf(interlock.Kinds()))
}

// tryAction explains the action that a form describes, as `interlock check --explain` does. Only those who
// govern have scripts of this machine's disk read for it.
func (c *Console) tryAction(w http.ResponseWriter, r *http.Request) {
	form := r.PostForm
	t := Trial{Kind: interlock.Kind(form.Get("kind")), Input: strings.ReplaceAll(form.Get("input"), "\r\n", "\n"),
		Dir: strings.TrimSpace(form.Get("dir")), Agent: strings.TrimSpace(form.Get("agent")), Files: c.may(r, governing)}
	page, err := c.explained(r, t)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "try.html", "Try an action", page)
}

func (c *Console) explained(r *http.Request, t Trial) (page triedPage, err error) {
	switch {
	case c.config.Try == nil:
		return page, interlock.Errorf(interlock.CodeUnavailable, "", "nothing can be tried here; `interlock check --explain` can")
	case !t.Kind.Valid():
		return page, interlock.Errorf(interlock.CodeInvalid, "kind", "%.40q is not one of %v", t.Kind, interlock.Kinds())
	case strings.TrimSpace(t.Input) == "":
		return page, interlock.Errorf(interlock.CodeInvalid, "input", "is missing; write the command, or the call as JSON")
	case len(t.Input) > maxTried:
		return page, interlock.Errorf(interlock.CodeLimited, "input", "is longer than %d bytes; `interlock check --explain -` takes more", maxTried)
	case len(t.Dir) > maxPath || t.Dir != "" && !absolute(t.Dir):
		return page, interlock.Errorf(interlock.CodeInvalid, "dir", "is no absolute path of a directory")
	case len(t.Agent) > render.MaxFilter:
		return page, interlock.Errorf(interlock.CodeInvalid, "agent", "is longer than %d bytes", render.MaxFilter)
	}
	page = triedPage{Trial: t, Kinds: interlock.Kinds(), Done: true}
	if page.Tried, err = c.config.Try(r.Context(), t); err != nil {
		return page, err
	}
	page.read()
	return page, nil
}

// maxPath is the longest directory that a form names, in bytes.
const maxPath = 4096

// absolute reports whether a path is one on any system: the person who looks may sit at another than this server.
func absolute(path string) bool {
	return strings.HasPrefix(path, "/") || len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// read arranges what was explained for the page: each impact once, where it arises, with what objects to it.
func (p *triedPage) read() {
	d := &p.Tried.Decision
	shown, left := map[int]bool{}, maxSteps
	var steps func(s *explain.Step) *tryStep
	steps = func(s *explain.Step) *tryStep {
		out := &tryStep{Kind: s.Kind, Text: s.Text}
		for _, n := range s.Impacts {
			if n < 0 || n >= len(d.Impacts) || shown[n] {
				continue
			}
			shown[n] = true
			one := tryImpact{Sentence: explain.Sentence(d.Impacts[n]), Passes: p.Tried.Why.Passes[n]}
			for i := range d.Findings {
				for _, about := range d.Findings[i].Impacts {
					if about == n {
						one.Findings = append(one.Findings, d.Findings[i])
					}
				}
			}
			out.Says = append(out.Says, one)
		}
		for i := range s.Steps {
			if left--; left < 0 {
				p.Cut = true
				break
			}
			out.Steps = append(out.Steps, steps(&s.Steps[i]))
		}
		return out
	}
	p.Step = steps(&p.Tried.Why.Tree)
	for i := range d.Findings {
		if len(d.Findings[i].Impacts) == 0 {
			p.Whole = append(p.Whole, d.Findings[i])
		}
	}
}

// A tryForm is what the template of the form gets.
type tryForm struct {
	Trial
	Kinds []interlock.Kind
	CSRF  string
}

// tryOf is a form for an action that nobody has named yet.
func tryOf(kinds []interlock.Kind) triedPage {
	return triedPage{Trial: Trial{Kind: interlock.KindShell}, Kinds: kinds}
}

func trying(p triedPage, csrf string) tryForm { return tryForm{p.Trial, p.Kinds, csrf} }

// pastPage says what rules would have decided about the past, and where the ruleset in the shadow has parted from the one in
// force. Nothing of it is a decision.
func (c *Console) pastPage(w http.ResponseWriter, r *http.Request) {
	q, err := render.PastQueryOf(r)
	if err == nil && (c.config.WhatIf == nil || c.config.Shadow == nil) {
		err = interlock.Errorf(interlock.CodeUnavailable, "", "the past can't be asked here; interlock replay what-if can")
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	state, err := c.config.Shadow(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	data := struct {
		render.PastQuery
		State  replay.ShadowState
		Report *replay.Report
		Denied func(*replay.Report) int
	}{PastQuery: q, State: state, Denied: func(r *replay.Report) int {
		return r.Newly[interlock.Deny.String()] + r.Newly[interlock.Halt.String()]
	}}
	if q.Asked {
		report, err := c.config.WhatIf(r.Context(), replay.Question{Rule: q.Rule, Candidate: q.Rules == "shadow", Agent: q.Agent,
			Since: c.config.Now().Add(-time.Duration(q.Days) * 24 * time.Hour)})
		if err != nil {
			c.fail(w, r, err)
			return
		}
		data.Report = &report
	}
	title := "Rules and the past"
	if q.Rule != "" {
		title = "The past of " + render.Shorten(q.Rule, 80)
	}
	c.render(w, r, http.StatusOK, "past.html", title, data)
}
