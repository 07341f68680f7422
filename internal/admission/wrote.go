package admission

import (
	"crypto/sha256"
	"encoding/base64"
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/place"
	"interlock/internal/ledger"
	"interlock/internal/origin"
)

// heardLooks are of what a run was told.
var heardLooks = []look{
	{before: (*pendingDecision).heardRefs},
}

// maxWrote bounds how many files are remembered, or asked for, of one action.
const maxWrote = 8

// writtenKey names a file as written by an agent in a workspace. It is a digest, so that the store holds no further copy of
// names and a key has the same length however long the path is.
func writtenKey(p *Case, path string) string {
	r := p.Requester
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Principal, r.Agent, p.View.Workspace, path}, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// wrote returns the keys under which to remember what an action that was not refused writes. Only where the door reads what an
// action runs, or where types bind agents (see [Admission.authors]), does it matter later who wrote it.
func wrote(p *Case, d interlock.Decision) (keys []string) {
	if p.Read == nil || d.Answer.Compare(interlock.Deny) >= 0 {
		return nil
	}
	for _, path := range targets(d.Impacts, interlock.ImpactWrite) {
		keys = append(keys, writtenKey(p, path))
	}
	for _, name := range brought(p.View, p.Origin, d) {
		keys = append(keys, writtenKey(p, fetchedPath+name))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ownRefs names what is known of the files that an action would run. They are looked for where the door reads them, and once.
func (d *pendingDecision) ownRefs() (refs []ledger.Ref) {
	if d.Read == nil || len(d.View.Written) > 0 {
		return nil
	}
	for _, path := range targets(d.impacts(), interlock.ImpactExecute) {
		refs = append(refs, core.Key(ledger.Written, writtenKey(d.Case, path)))
	}
	return refs
}

// ownScripts returns the files an action would run that this agent wrote lately in this workspace, whatever run it was in.
func (d *pendingDecision) ownScripts() (own []string) {
	for n, ref := range d.ownRefs() {
		if d.writtenLately(ref) {
			own = append(own, targets(d.impacts(), interlock.ImpactExecute)[n])
		}
	}
	return own
}

// writtenLately reports whether something was written within [interlock.WrittenWindow].
func (d *pendingDecision) writtenLately(ref ledger.Ref) bool {
	w := core.Found[ledger.WrittenBody](&d.ground, ref)
	return w.File != "" && d.now.Sub(w.At) <= interlock.WrittenWindow
}

// targets are the files, each once, that impacts of a kind name.
func targets(impacts []interlock.Impact, kind interlock.ImpactKind) (paths []string) {
	for n := range impacts {
		i := &impacts[n]
		if i.Kind == kind && place.NamesFile(i) && len(paths) < maxWrote && !slices.Contains(paths, i.Target) {
			paths = append(paths, i.Target)
		}
	}
	return paths
}

// fetchedPath begins what means a path that was fetched, where a path alone means one that was written.
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

// heardRefs names what an action's run has heard, where it may matter where its values come from.
func (d *pendingDecision) heardRefs() []ledger.Ref {
	if d.Requester.Run == "" || !runs.Outward(d.Action, d.impacts()) {
		return nil
	}
	return []ledger.Ref{core.Key(ledger.Heard, core.RunOf(d.Requester))}
}

// told is where the values of an action come from, by what was heard of its run through any process.
func (d *pendingDecision) told() *interlock.Origin {
	for _, ref := range d.heardRefs() {
		if heard := core.Found[ledger.HeardBody](&d.ground, ref); heard.Run != "" {
			return origin.Of(heard.Heard, heard.Run, d.Action, d.now)
		}
	}
	return nil
}
