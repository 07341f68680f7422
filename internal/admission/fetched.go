package admission

import (
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
)

// fetchedPath begins what stands for a path that was fetched, where a path stands for one that was written.
const fetchedPath = "fetched\x00"

// The bounds of what is asked about fetched places: how many directories above a place are looked at, and how many names are
// looked up.
const (
	maxAbove = 4
	maxAsked = 48
)

// brought are the places into which an action that was not refused brings what came over a network, see [impact.Brought]. A tree
// that the user named, and asked to have built, installed or run, is as good as the project's own.
func brought(view interlock.View, o *interlock.Origin, d interlock.Decision) []string {
	if d.Answer.Compare(interlock.Deny) >= 0 || wished(o, d) {
		return nil
	}
	return impact.Brought(view, d.Impacts)
}

// wished reports whether the user named where an action fetches a repository from, and asked to have it built or run.
func wished(o *interlock.Origin, d interlock.Decision) bool {
	if o == nil || !o.Prompted || o.Orders || o.Whole == 0 || o.Whole < o.Named || o.Ordered+o.Disputed+o.Returned+o.Unheard > 0 ||
		!slices.Contains(o.Asked, gate.ActRun) {
		return false
	}
	return slices.ContainsFunc(d.Impacts, func(i interlock.Impact) bool {
		return i.Kind == interlock.ImpactWrite && strings.HasSuffix(i.Via, " clone")
	})
}

// touched are the places an action reads, runs or runs something in, and those above them, as the names that brought may
// have given them. There are none of an action that neither runs nor writes anything.
func touched(home string, analysis impact.Analysis) (names []string) {
	places := slices.Clone(analysis.Ran)
	acts := len(places) > 0
	for n := range analysis.Impacts {
		i := &analysis.Impacts[n]
		switch i.Kind {
		case interlock.ImpactExecute, interlock.ImpactWrite, interlock.ImpactSpawn, interlock.ImpactPersist:
			acts = true
		case interlock.ImpactRead:
		default:
			continue
		}
		if i.Target != "" && len(i.Target) <= 4096 && !strings.Contains(i.Target, "://") && !slices.Contains(places, i.Target) {
			places = append(places, i.Target)
		}
	}
	if !acts {
		return nil
	}
	add := func(name string) {
		if len(names) < maxAsked && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, place := range places {
		place = path.Clean(place)
		for up := 0; up <= maxAbove && place != "/"; up++ {
			add(place)
			add(place + "/*")
			if place == "." {
				break
			}
			place = path.Dir(place)
		}
	}
	for _, i := range analysis.Impacts { // a program that is called by its name alone
		if i.Kind == interlock.ImpactExecute && i.Target != "" && !strings.ContainsAny(i.Target, "/ $*?") {
			for _, dir := range fact.SearchedFolders() {
				add(strings.Replace(dir, "~", home, 1) + "/" + i.Target)
			}
		}
	}
	return names
}

// fetchedRefs names what is known of the places an action touches.
func (d *pendingDecision) fetchedRefs() (refs []ledger.Ref) {
	if d.Read == nil || len(d.View.Fetched) > 0 {
		return nil
	}
	for _, name := range touched(d.View.Home, d.analysis) {
		refs = append(refs, core.Key(ledger.Written, writtenKey(d.Case, fetchedPath+name)))
	}
	return refs
}

// fetchedBefore are the places among those an action touches that this agent fetched within a day in this workspace, in
// whatever run.
func (d *pendingDecision) fetchedBefore() (places []string) {
	if !d.foundAny { // nearly always
		return nil
	}
	for n, ref := range d.fetchedRefs() {
		if d.writtenLately(ref) {
			places = append(places, touched(d.View.Home, d.analysis)[n])
		}
	}
	return places
}
