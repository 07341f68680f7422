package rollback

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"interlock"
	"interlock/internal/dataflow"
	"interlock/internal/impact/place"
	"interlock/internal/ruleset"
)

// maxDid bounds what of an action's text a step holds, in bytes, and maxNamed how many things it names.
const (
	maxDid   = 200
	maxNamed = 3
)

// stepOf says of one action how it is undone.
func stepOf(n int, r *dataflow.Reached, declared *ruleset.Resolution) Step {
	s := Step{N: n, Event: r.Event, At: r.At, Agent: r.Agent, Run: r.Run, Did: did(r.Action), Sure: r.Sure, Itself: r.Itself,
		Because: r.Because, By: ByPerson, Unfinished: r.Unfinished()}
	lasting := lastingOf(r.Action)
	switch {
	case r.Giving == dataflow.GivingWork:
		s.Undo, s.By, s.How = UndoEnd, ByInterlock, "the run "+r.Gave.Run+" is ended, if it is still open"
		s.Gave = r.Gave.Run
		s.Unfinished = false
		return s
	case r.Giving != dataflow.GivingNothing || r.Passes():
		s.Undo, s.By, s.How = UndoNothing, ByNobody, "what was said can't be unheard; what was made of it are steps of their own"
		return s
	case r.Discarded && len(lasting.outside) == 0:
		s.Undo, s.By, s.How = UndoDiscarded, ByNobody, "it wrote to a throw-away copy, of which nothing is left"
		return s
	case !lasting.changes && (declared == nil || !declared.Rollbackable && declared.Compensate == ""):
		s.Undo, s.By, s.How, s.Unfinished = UndoNothing, ByNobody, "it only read", false
		return s
	}
	s.how(lasting, declared)
	if s.Unfinished {
		s.Dangerous = declared.Dangerous()
		s.How = halfDone(declared) + "; " + s.How
	}
	return s
}

// how fills in what undoing takes: what the tool declares counts before what the analysis made of the action.
func (s *Step) how(l lasting, declared *ruleset.Resolution) {
	what := strings.Join(l.named, ", ")
	switch {
	case declared != nil && declared.Compensate != "":
		s.Undo, s.How = UndoCompensate, "carry out "+declared.Compensate+" for it"+within(declared, s.At)
	case declared != nil && declared.Rollbackable:
		s.Undo, s.How = UndoReverse, "its tool can undo it"+within(declared, s.At)
	case len(l.never) > 0:
		s.Undo, s.By, s.How = UndoNever, ByPerson, "it can't be undone; say what was done instead: "+strings.Join(l.never, ", ")
		s.Residue = s.Agent + ": " + strings.Join(l.never, ", ")
	case l.window:
		s.Undo, s.How = UndoWithin, "it can be undone for a while, or by whoever runs it: "+what
	default:
		s.Undo, s.How = UndoReverse, "put back as it was before: "+what
	}
	if declared != nil && declared.Note != "" {
		s.How += "; " + declared.Note
	}
}

func within(r *ruleset.Resolution, at time.Time) string {
	if r.Within <= 0 {
		return ""
	}
	return ", until " + at.Add(time.Duration(r.Within)).UTC().Format("2006-01-02T15:04:05Z")
}

// halfDone says what becomes of an action whose end nobody has told.
func halfDone(r *ruleset.Resolution) string {
	words := []string{"nobody has told how it ended, so look first"}
	switch {
	case r == nil:
		return words[0] + " (its tool declares no resolution)"
	case r.Partial == ruleset.PartialHarmless:
		words = append(words, "half of it does no harm")
	default:
		words = append(words, "half of it is dangerous")
	}
	if r.Completable {
		words = append(words, "it can be completed without the agent")
	}
	if r.Locks > 0 {
		words = append(words, fmt.Sprintf("it holds locks for up to %s", time.Duration(r.Locks)))
	}
	return strings.Join(words, ", ")
}

// Half says how an action whose end nobody has told is resolved, for people.
func Half(r *ruleset.Resolution) string {
	text := halfDone(r)
	switch {
	case r == nil:
	case r.Compensate != "":
		text += ", and undone by " + r.Compensate
	case r.Rollbackable:
		text += ", and undone by its tool"
	}
	return text
}

// Lasting is what an action may have left in the world.
type lasting struct {
	changes bool
	window  bool
	named   []string // what it changed
	never   []string // what of that can't be undone
	outside []string // what of that is not a file
}

func lastingOf(a *dataflow.Action) (l lasting) {
	for n := range a.Impacts {
		i := &a.Impacts[n]
		if i.Reversibility == interlock.Readonly {
			continue
		}
		file := place.NamesFile(i)
		if a.Discarded && file && i.Kind != interlock.ImpactNetwork {
			continue
		}
		l.changes = true
		text := nameOf(i)
		l.named = name(l.named, text)
		if !file {
			l.outside = name(l.outside, text)
		}
		switch i.Reversibility {
		case interlock.Irreversible:
			l.never = name(l.never, text)
		case interlock.Window:
			l.window = true
		case interlock.Readonly, interlock.Reversible:
		}
	}
	if len(a.Impacts) == 0 { // nothing is known of it
		l.changes, l.named = true, []string{"whatever it did"}
	}
	return l
}

func name(list []string, text string) []string {
	if len(list) >= maxNamed || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// nameOf is one impact, for people.
func nameOf(i *interlock.Impact) string {
	text := string(i.Kind)
	if i.Target != "" {
		text += " " + cut(i.Target, maxDid/2)
	}
	if minor, currency := i.Sum(); minor != 0 {
		text += " (" + interlock.Money(minor, currency) + ")"
	}
	return text
}

// did is what an action was, in one line.
func did(a *dataflow.Action) string {
	text := a.Text
	if text == "" {
		text = a.Tool
	}
	return cut(strings.Join(strings.Fields(text), " "), maxDid)
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}
