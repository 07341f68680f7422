package place

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
)

// maxWorks bounds the paths one analysis asks about. What is over it stays unknown.
const maxWorks = 32

// WorkAt is what git knows of a path. Where the view doesn't say, the path is noted, so that the door looks at it if
// it may, and the action is analysed again.
func (w *World) WorkAt(path string) (interlock.Work, bool) {
	if work, ok := w.View.Work[path]; ok {
		return work, true
	}
	if path != "" && path[0] == '/' && len(path) <= 4096 && !strings.ContainsAny(path, "$`\x00\n{}") &&
		len(w.Works) < maxWorks && !slices.Contains(w.Works, path) {
		w.Works = append(w.Works, path)
	}
	return interlock.Work{}, false
}

// weighWork says of a deletion whether work goes that exists nowhere else, and takes back what was said of a command of git that would
// throw changes away where there are none. What the door did not look at stays as it is.
func (w *World) weighWork(p *know.Place, i *interlock.Impact) {
	if i.Kind != interlock.ImpactDelete && !i.Has(fact.TraitUncommitted) || i.Has(fact.TraitDryRun) || i.Has(fact.TraitRoot) ||
		i.Has(fact.TraitSelf) ||
		len(w.mounts) > 0 {
		return
	}
	if i.Has(fact.TraitUncommitted) {
		if strings.HasPrefix(i.Via, "git ") && !i.Has(fact.TraitHistory) && !i.Has(fact.TraitSecret) &&
			(w.passing(p) || w.saved(p.Path, i)) {
			i.Traits = slices.DeleteFunc(slices.Clone(i.Traits), func(t string) bool { return t == fact.TraitUncommitted })
			i.Reversibility = interlock.Reversible
		}
		return
	}
	if i.Reach != interlock.ReachWorkspace || i.Reversibility != interlock.Irreversible || p.Scratch || i.Has(fact.TraitHistory) {
		return
	}
	if w.unsaved(strings.TrimSuffix(p.Path, "/*"), i.Has(fact.TraitRecursive)) {
		i.Traits = append(i.Traits[:len(i.Traits):len(i.Traits)], fact.TraitUncommitted)
	}
}

// passing reports whether a path lies in scratch space, and the workspace does not: a repository that was made there to try
// something holds no work.
func (w *World) passing(p *know.Place) bool {
	return p.Passing && !p.Scratch && !w.Place(w.View.Workspace).Passing
}

// unsaved reports whether it is known that deleting a path loses changes or, with whole folders, files that git does not know. A single
// file it does not know is mostly one that was only just made to try something.
func (w *World) unsaved(path string, recursive bool) bool {
	if !Below(path, w.View.Workspace) || w.View.Workspace == "" {
		return false // scratch space counts as workspace too, where nobody keeps work
	}
	work, ok := w.WorkAt(path)
	return ok && (work.Changed || recursive && work.Untracked)
}

// saved reports whether it is known that a command of git that throws changes away finds none.
func (w *World) saved(path string, i *interlock.Impact) bool {
	work, ok := w.WorkAt(path)
	switch {
	case !ok:
		return false
	case i.Kind == interlock.ImpactDelete:
		return !work.Untracked && !work.Ignored && (i.Via == "git clean" || !work.Changed)
	case work.Absent: // the name of a commit: what was added goes too
		return work.Committed
	case i.Via == "git checkout" && !i.Has(fact.TraitForce), i.Via == "git restore":
		return !work.Changed
	}
	return work.Root && work.Committed && !work.Changed
}

// Empties records that what an impact writes is made empty, where that loses changes.
func (w *World) Empties(i interlock.Impact) {
	if i.Reach == interlock.ReachWorkspace && len(w.mounts) == 0 && w.unsaved(i.Target, false) {
		w.Add(interlock.Impact{Kind: interlock.ImpactDelete, Target: i.Target, Reach: i.Reach, Via: i.Via,
			Reversibility: interlock.Irreversible,
			Confidence:    i.Confidence, Traits: []string{fact.TraitOverwrite, fact.TraitUncommitted}})
	}
}
