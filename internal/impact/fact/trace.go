package fact

import (
	"strings"

	"interlock"
)

const (
	maxTraced   = 500  // steps one explanation shows
	maxStepText = 4096 // bytes of a step's text, before it is shortened to be shown
)

// A Tracer notes what is being read while an action is analysed for its explanation.
type Tracer struct {
	Root, At *Traced
	Arose    map[Arising]*Traced // where an impact was first found
	steps    int
	full     int // steps not noted because there are too many
}

type Traced struct {
	Step   Step
	parent *Traced
	inner  []*Traced
}

// An Arising is what stays the same of an impact while those around it add what they know.
type Arising struct {
	kind        interlock.ImpactKind
	target, via string
}

func ArisingOf(i interlock.Impact) Arising { return Arising{i.Kind, i.Target, i.Via} }

// Enter goes one step in. Every enter has its leave.
func (t *Tracer) Enter(kind, text string) {
	if t.steps++; t.steps > maxTraced {
		t.full++
		return
	}
	inner := &Traced{Step: Step{Kind: kind, Text: ShortText(text)}, parent: t.At}
	t.At.inner = append(t.At.inner, inner)
	t.At = inner
}

func (t *Tracer) Leave() {
	if t.full > 0 {
		t.full--
		return
	}
	t.At = t.At.parent
}

// found notes where an impact arises: where it is seen first.
func (t *Tracer) found(i interlock.Impact) {
	if key := ArisingOf(i); t.Arose[key] == nil {
		t.Arose[key] = t.At
	}
}

// Tree drops steps that say nothing: with no impacts and one step inside that reads the same.
func (t *Traced) Tree() Step {
	for _, inner := range t.inner {
		one := inner.Tree()
		if same := len(one.Impacts) == 0 && len(one.Steps) == 1 && one.Steps[0].Text == one.Text &&
			one.Steps[0].Kind == one.Kind; same {
			one = one.Steps[0]
		}
		t.Step.Steps = append(t.Step.Steps, one)
	}
	return t.Step
}

// ShortText is text cut where it is long.
func ShortText(text string) string {
	if len(text) > maxStepText {
		text = text[:maxStepText]
	}
	return strings.ToValidUTF8(text, "")
}
