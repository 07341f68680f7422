package ruleset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// A Commitment says of calls of tools that they decide something. What was decided stays: another choice takes a person, or that what it
// was decided from has changed, and after it went to and fro it is locked.
type Commitment struct {
	ID    string   `json:"id"`
	Tools []string `json:"tools"` // globs over the names of tools whose calls decide it
	// the arguments that say what is decided about; where none is named, that is the run's task and what the call is done to
	Key      []string `json:"key,omitempty"`
	Choice   []string `json:"choice"`              // the arguments that say how it is decided
	Input    []string `json:"input,omitempty"`     // the arguments that say from what
	TieBreak string   `json:"tie_break,omitempty"` // what holds where another choice is made from the same: see [TieAsk]
}

// What holds where two choices are made from the same input.
const (
	TieAsk  = "ask"  // a person says which; this is what holds if nothing is said
	TieKeep = "keep" // the first one
)

// Keeps reports whether the first choice is kept without anybody being asked.
func (c *Commitment) Keeps() bool { return c.TieBreak == TieKeep }

// Decides reports whether calls of a tool decide it.
func (c *Commitment) Decides(tool string) bool {
	return tool != "" && slices.ContainsFunc(c.Tools, func(g string) bool { return Glob(g, tool) })
}

// Commitments lists them in the order of the documents.
func (r *Ruleset) Commitments() []*Commitment { return r.commitments }

// PlanRules are what a ruleset says of plans.
type PlanRules struct {
	Required bool `json:"required,omitempty"` // in registered runs nothing is changed without a plan that was accepted
	// what becomes of a plan with a step that can't be undone and names nothing that makes it good: ask, which is also what holds if
	// none is given, or deny
	Uncompensated string       `json:"uncompensated,omitempty"`
	Undo          Span         `json:"undo,omitzero"` // for how long what can be undone for a while can be; a minute, if none is given
	Step          Span         `json:"step,omitzero"` // how long a step takes at least, whatever is said of it; 30 seconds, if none is given
	Windows       []UndoWindow `json:"windows,omitempty"`
}

// An UndoWindow says for how long what a tool or command does can be undone.
type UndoWindow struct {
	Tool string `json:"tool"` // glob over the names of tools, and over commands
	Undo Span   `json:"undo"`
}

// The standards of [PlanRules].
const (
	standardUndo = time.Minute
	standardStep = 30 * time.Second
)

// Refuses reports whether plans are refused that can't be made good.
func (p PlanRules) Refuses() bool { return p.Uncompensated == "deny" }

// Plans is what the ruleset says of plans, with what holds where it says nothing.
func (r *Ruleset) Plans() PlanRules {
	p := r.plans
	if p.Undo == 0 {
		p.Undo = Span(standardUndo)
	}
	if p.Step == 0 {
		p.Step = Span(standardStep)
	}
	return p
}

// Window is for how long what a step does can be undone, where it can be for a while.
func (p PlanRules) Window(tool, command string) time.Duration {
	for _, w := range p.Windows {
		if tool != "" && Glob(w.Tool, tool) || command != "" && Glob(w.Tool, command) {
			return time.Duration(w.Undo)
		}
	}
	return time.Duration(p.Undo)
}

// A DryRunForm says how a call of a tool is tried without effect, or where: the same call with other values for some arguments.
type DryRunForm struct {
	Tool string                     `json:"tool"` // glob over the names of tools
	Set  map[string]json.RawMessage `json:"set"`  // what these arguments are then, such as dry_run: true or env: staging
}

// Form is what an action is tried as, if it is a call of a tool that can be and is not that already.
func (r *Ruleset) Form(action interlock.Action) (form interlock.Action, can bool) {
	for _, f := range r.dryRuns {
		if action.Tool == "" || !Glob(f.Tool, action.Tool) || !action.Kind.TakesObject() {
			continue
		}
		members, err := objectOf(action.Arguments)
		if err != nil || f.is(members) {
			return action, false
		}
		for name, value := range f.Set { // order-independent: fills a map
			members[name] = value
		}
		form = action
		if form.Arguments, err = strictjson.Marshal(members); err != nil {
			return action, false
		}
		form.Arguments, err = strictjson.Canonical(form.Arguments)
		return form, err == nil
	}
	return action, false
}

// Tries reports whether an action is the form in which a tool is tried.
func (r *Ruleset) Tries(action interlock.Action) bool {
	for _, f := range r.dryRuns {
		if action.Tool == "" || !Glob(f.Tool, action.Tool) || !action.Kind.TakesObject() {
			continue
		}
		members, err := objectOf(action.Arguments)
		return err == nil && f.is(members)
	}
	return false
}

// HasForms reports whether the ruleset says of any tool how it is tried.
func (r *Ruleset) HasForms() bool { return len(r.dryRuns) > 0 }

func (f *DryRunForm) is(members map[string]json.RawMessage) bool {
	for name, want := range f.Set { // order-independent: all of them have to be
		have, err := strictjson.Canonical(members[name])
		if err != nil || !bytes.Equal(have, want) {
			return false
		}
	}
	return true
}

// objectOf reads arguments.
func objectOf(arguments []byte) (members map[string]json.RawMessage, err error) {
	err = strictjson.Decode(arguments, &members)
	return members, err
}

// The bounds of what is said of commitments, plans and dry runs.
const (
	maxCommitments  = 200
	maxCommitNames  = 20
	maxUndo         = 31 * 24 * time.Hour
	maxPlanStep     = 24 * time.Hour
	maxPlanWindows  = 200
	maxDryRunForms  = 200
	maxDryRunValues = 16
)

// commits checks what a document says of commitments, plans and dry runs.
func (c *checker) commits(d *Document) error {
	for _, part := range []struct {
		at string
		is bool
	}{{"/commitments", len(d.Commitments) > 0}, {"/plans", d.Plans != nil}, {"/dry_runs", len(d.DryRuns) > 0}} {
		if part.is && !c.user {
			return c.doc.Errorf(part.at, "the program's own rules say nothing of it; it is an operator's")
		}
	}
	if len(c.loader.ruleset.commitments)+len(d.Commitments) > maxCommitments {
		return c.doc.Errorf("/commitments", "there are more than %d", maxCommitments)
	}
	for i, one := range d.Commitments {
		if err := c.commitment(one, d.Commitments[:i], fmt.Sprintf("/commitments/%d", i)); err != nil {
			return err
		}
	}
	if len(c.loader.ruleset.dryRuns)+len(d.DryRuns) > maxDryRunForms {
		return c.doc.Errorf("/dry_runs", "there are more than %d", maxDryRunForms)
	}
	for i, f := range d.DryRuns {
		at := fmt.Sprintf("/dry_runs/%d", i)
		if f == nil || f.Tool == "" {
			return c.doc.Errorf(at+"/tool", "tool is missing; give a glob over the names of tools")
		}
		if len(f.Set) == 0 || len(f.Set) > maxDryRunValues {
			return c.doc.Errorf(at+"/set", "set names 1 to %d arguments and what they are in a dry run, such as {dry_run: true}", maxDryRunValues)
		}
		for name, value := range f.Set { // order-independent: any that can't be read is refused, and each becomes what it says
			canonical, err := strictjson.Canonical(value)
			if err != nil || name == "" {
				return c.doc.Errorf(at+"/set", "a value can't be read in one way only")
			}
			f.Set[name] = canonical
		}
	}
	return c.planRules(d.Plans)
}

func (c *checker) commitment(one *Commitment, before []*Commitment, at string) error {
	if one == nil || !profileForm().MatchString(one.ID) {
		return c.doc.Errorf(at+"/id", "id must be letters, digits, dots, dashes and underscores, at most 64, e.g. claim-verdict")
	}
	same := func(o *Commitment) bool { return o.ID == one.ID }
	if slices.ContainsFunc(before, same) || slices.ContainsFunc(c.loader.ruleset.commitments, same) {
		return c.doc.Errorf(at+"/id", "the commitment %s is defined already; it stands in one place", one.ID)
	}
	for _, list := range []struct {
		name  string
		names []string
		must  bool
	}{{"tools", one.Tools, true}, {"choice", one.Choice, true}, {"key", one.Key, false}, {"input", one.Input, false}} {
		if list.must && len(list.names) == 0 {
			return c.doc.Errorf(at+"/"+list.name, "%s is empty; tools lists globs over tools, choice the arguments that say how it is decided", list.name)
		}
		if len(list.names) > maxCommitNames || slices.Contains(list.names, "") {
			return c.doc.Errorf(at+"/"+list.name, "%s has up to %d entries, none of them empty", list.name, maxCommitNames)
		}
	}
	if one.TieBreak != "" && one.TieBreak != TieAsk && one.TieBreak != TieKeep {
		return c.doc.Errorf(at+"/tie_break", "tie_break is %s (a person says which choice holds) or %s (the first one does)", TieAsk, TieKeep)
	}
	return nil
}

func (c *checker) planRules(p *PlanRules) error {
	switch {
	case p == nil:
		return nil
	case c.loader.ruleset.plansSet:
		return c.doc.Errorf("/plans", "another document says what holds of plans; say it in one place")
	case p.Uncompensated != "" && p.Uncompensated != "ask" && p.Uncompensated != "deny":
		return c.doc.Errorf("/plans/uncompensated", "uncompensated is ask or deny")
	case time.Duration(p.Undo) > maxUndo || p.Undo < 0:
		return c.doc.Errorf("/plans/undo", "undo is at most %s", maxUndo)
	case time.Duration(p.Step) > maxPlanStep || p.Step < 0:
		return c.doc.Errorf("/plans/step", "step is at most %s", maxPlanStep)
	case len(p.Windows) > maxPlanWindows:
		return c.doc.Errorf("/plans/windows", "there are more than %d", maxPlanWindows)
	}
	for i, w := range p.Windows {
		if w.Tool == "" || w.Undo <= 0 || time.Duration(w.Undo) > maxUndo {
			return c.doc.Errorf(fmt.Sprintf("/plans/windows/%d", i), "names a glob (tool) and for how long that can be undone (undo), at most %s", maxUndo)
		}
	}
	return nil
}

// loosenedCommits names the commitments that are gone or others, and whether something else holds of plans, or a tool is tried otherwise.
func loosenedCommits(from, to *Ruleset) (out []string, err error) {
	for _, one := range from.commitments {
		at := slices.IndexFunc(to.commitments, func(o *Commitment) bool { return o.ID == one.ID })
		same := false
		if at >= 0 {
			same, err = equalText(one, to.commitments[at])
		}
		if !same {
			out = append(out, "commitment "+one.ID)
		}
		if err != nil {
			return out, err
		}
	}
	if from.plansSet {
		same, err := equalText(from.plans, to.plans)
		if !same {
			out = append(out, "plans")
		}
		if err != nil {
			return out, err
		}
	}
	same, err := equalText(from.dryRuns, to.dryRuns)
	if !same && len(to.dryRuns) > 0 && from.maso.Tier > 1 {
		out = append(out, "dry_runs")
	}
	return out, err
}

// equalText reports whether two values are written alike.
func equalText(a, b any) (bool, error) {
	one, err := strictjson.Marshal(a)
	if err != nil {
		return false, err
	}
	other, err := strictjson.Marshal(b)
	return bytes.Equal(one, other), err
}
