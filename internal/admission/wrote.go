package admission

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

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

// ownScripts returns the files an action would run that this agent wrote lately in this workspace, whatever run it was in.
func (a *Admission) ownScripts(ctx context.Context, p *Case, d interlock.Decision,
	now time.Time) ([]string, error) {
	if p.Read == nil || len(p.View.Written) > 0 {
		return nil, nil
	}
	paths := targets(d.Impacts, interlock.ImpactExecute)
	if len(paths) == 0 {
		return nil, nil
	}
	keys := make([]string, len(paths))
	for n, path := range paths {
		keys[n] = writtenKey(p, path)
	}
	known, err := a.written(ctx, keys, now)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	var own []string
	for n, path := range paths {
		if slices.Contains(known, keys[n]) {
			own = append(own, path)
		}
	}
	return own, nil
}

// written returns those of the keys under which something was written within [interlock.WrittenWindow].
func (a *Admission) written(ctx context.Context, keys []string, now time.Time) (found []string, err error) {
	refs := make([]ledger.Ref, len(keys))
	for n := range keys {
		refs[n] = core.Key(ledger.Written, keys[n])
	}
	rows, _, err := a.Config.Store.Load(ctx, refs...)
	for _, row := range rows {
		if w, ok := row.Value.(ledger.WrittenBody); ok && now.Sub(w.At) <= interlock.WrittenWindow {
			found = append(found, w.File)
		}
	}
	return found, err
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
