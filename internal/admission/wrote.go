package admission

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/impact/place"
	"interlock/internal/ledger"
)

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
