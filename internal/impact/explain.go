package impact

import (
	"slices"
	"strings"

	"interlock"
)

const (
	maxTraced   = 500  // steps one explanation shows
	maxStepText = 4096 // bytes of a step's text, before whoever shows it shortens it
)

// Explain returns how an action is read, as a tree in which every impact Analyse finds stands where it arises. It costs a
// second analysis, which is why decisions do without it.
func (a *Analyser) Explain(view interlock.View, action interlock.Action) interlock.Step {
	t := &tracer{root: &traced{step: interlock.Step{Kind: string(action.Kind), Text: shortText(action.Tool)}}, arose: map[arising]*traced{}}
	t.at = t.root
	for n, i := range a.analyse(view, action, t).Impacts {
		at := t.arose[arisingOf(i)]
		if at == nil {
			at = t.root
		}
		at.step.Impacts = append(at.step.Impacts, n)
	}
	whole := t.root.tree()
	if len(whole.Steps) > 1 { // what reads as two languages and does something in one of them
		whole.Steps = slices.DeleteFunc(whole.Steps, func(s interlock.Step) bool { return !bears(s) })
	}
	if len(whole.Steps) == 1 && len(whole.Impacts) == 0 && whole.Steps[0].Kind == whole.Kind {
		return whole.Steps[0]
	}
	return whole
}

// bears reports whether a step or one inside it has impacts.
func bears(s interlock.Step) bool {
	return len(s.Impacts) > 0 || slices.ContainsFunc(s.Steps, bears)
}

// spelledOut writes a command as a person would type it.
func spelledOut(args []field) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if a.text == "" || strings.ContainsAny(a.text, " \t\n;|&<>()\"") && !a.dynamic {
			b.WriteString("'" + a.text + "'")
			continue
		}
		b.WriteString(a.text)
	}
	return b.String()
}

// A tracer notes what is being read while an action is analysed for its explanation.
type tracer struct {
	root, at *traced
	arose    map[arising]*traced // where an impact was first found
	steps    int
	full     int // steps not noted because there are too many
}

type traced struct {
	step   interlock.Step
	parent *traced
	inner  []*traced
}

// An arising is what stays the same of an impact while those around it add what they know.
type arising struct {
	kind        interlock.ImpactKind
	target, via string
}

func arisingOf(i interlock.Impact) arising { return arising{i.Kind, i.Target, i.Via} }

// enter goes one step in. Every enter has its leave.
func (t *tracer) enter(kind, text string) {
	if t.steps++; t.steps > maxTraced {
		t.full++
		return
	}
	inner := &traced{step: interlock.Step{Kind: kind, Text: shortText(text)}, parent: t.at}
	t.at.inner = append(t.at.inner, inner)
	t.at = inner
}

func (t *tracer) leave() {
	if t.full > 0 {
		t.full--
		return
	}
	t.at = t.at.parent
}

// found notes where an impact arises: where it is seen first.
func (t *tracer) found(i interlock.Impact) {
	if key := arisingOf(i); t.arose[key] == nil {
		t.arose[key] = t.at
	}
}

// tree drops steps that say nothing: with no impacts and one step inside that reads the same.
func (t *traced) tree() interlock.Step {
	for _, inner := range t.inner {
		one := inner.tree()
		if same := len(one.Impacts) == 0 && len(one.Steps) == 1 && one.Steps[0].Text == one.Text && one.Steps[0].Kind == one.Kind; same {
			one = one.Steps[0]
		}
		t.step.Steps = append(t.step.Steps, one)
	}
	return t.step
}

// shortText is text cut where it is long.
func shortText(text string) string {
	if len(text) > maxStepText {
		text = text[:maxStepText]
	}
	return strings.ToValidUTF8(text, "")
}
