package impact

import (
	"slices"

	"interlock"
	"interlock/internal/impact/fact"
)

// Explain returns how an action is read, as a tree with every impact Analyse finds where it arises. It costs a
// second analysis, which is why decisions do without it.
func (a *Analyser) Explain(view interlock.View, action interlock.Action) fact.Step {
	t := &fact.Tracer{Root: &fact.Traced{Step: fact.Step{Kind: string(action.Kind), Text: fact.ShortText(action.Tool)}},
		Arose: map[fact.Arising]*fact.Traced{}}
	t.At = t.Root
	for n, i := range a.analyse(view, action, t, nil).Impacts {
		at := t.Arose[fact.ArisingOf(i)]
		if at == nil {
			at = t.Root
		}
		at.Step.Impacts = append(at.Step.Impacts, n)
	}
	whole := t.Root.Tree()
	if len(whole.Steps) > 1 { // what reads as two languages and does something in one of them
		whole.Steps = slices.DeleteFunc(whole.Steps, func(s fact.Step) bool { return !bears(s) })
	}
	if len(whole.Steps) == 1 && len(whole.Impacts) == 0 && whole.Steps[0].Kind == whole.Kind {
		return whole.Steps[0]
	}
	return whole
}

// bears reports whether a step or one inside it has impacts.
func bears(s fact.Step) bool {
	return len(s.Impacts) > 0 || slices.ContainsFunc(s.Steps, bears)
}
