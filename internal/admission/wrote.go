package admission

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/place"
)

// maxWrote bounds how many files are remembered, or asked for, of one action.
const maxWrote = 8

// writtenKey names a file as written by an agent in a workspace. It is a digest, so that the store holds no further copy of
// names and a key has the same length however long the path is.
func writtenKey(p *interlock.Proposal, path string) string {
	r := p.Requester
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Principal, r.Agent, p.View.Workspace, path}, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// wrote returns the keys under which to remember what an action that was not refused writes. Only where the door reads what an
// action runs does it matter later who wrote it.
func wrote(p *interlock.Proposal, d interlock.Decision) (keys []string) {
	if p.Read == nil || d.Answer.Compare(interlock.Deny) >= 0 {
		return nil
	}
	for _, path := range targets(d, interlock.ImpactWrite) {
		keys = append(keys, writtenKey(p, path))
	}
	return append(keys, fetched(p, d)...)
}

// fetchedPath begins what stands for a path that was fetched, where a path stands for one that was written.
const fetchedPath = "fetched\x00"

// fetched returns the keys under which to remember what an action brings here from elsewhere.
func fetched(p *interlock.Proposal, d interlock.Decision) (keys []string) {
	for n := range d.Impacts {
		i := &d.Impacts[n]
		if i.Kind == interlock.ImpactWrite && i.Has(fact.TraitDownload) && place.NamesFile(i) && len(keys) < maxWrote {
			keys = append(keys, writtenKey(p, fetchedPath+i.Target))
		}
	}
	return keys
}

// maxAbove bounds how many directories above a file are looked at for what was fetched whole.
const maxAbove = 3

// wholes are a path and directories it is in that may have been fetched whole: none that everything is in.
func wholes(path string) []string {
	out := []string{path}
	for len(out) <= maxAbove {
		cut := strings.LastIndexByte(path, '/')
		if cut <= 0 || strings.IndexByte(path[1:cut], '/') < 0 && path[0] == '/' {
			break
		}
		path = path[:cut]
		out = append(out, path)
	}
	return out
}

// fetchedBefore says, as something the run did before, that this agent has fetched what an action is about to run, in this
// workspace and in whatever run within a day. It is nothing where it has not.
func (a *Admission) fetchedBefore(ctx context.Context, p *interlock.Proposal, d interlock.Decision,
	now time.Time) ([]interlock.PastAction, error) {
	if p.Read == nil || !a.config.Rules.Recalls() {
		return nil, nil
	}
	names := map[string]string{} // by key
	var keys []string
	for _, target := range targets(d, interlock.ImpactExecute) {
		for _, path := range wholes(target) {
			key := writtenKey(p, fetchedPath+path)
			if _, have := names[key]; !have {
				names[key] = path
				keys = append(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	known, err := a.config.Store.Wrote(ctx, keys, now.Add(-interlock.WrittenWindow))
	if err != nil || len(known) == 0 {
		return nil, err
	}
	// not later than is known of any
	past := interlock.PastAction{At: now.Add(-interlock.RecentWindow), Kind: interlock.KindShell}
	for _, key := range known[:min(len(known), interlock.RecentImpacts)] {
		past.Impacts = append(past.Impacts,
			interlock.Impact{Kind: interlock.ImpactWrite, Target: names[key], Reach: interlock.ReachWorkspace,
				Reversibility: interlock.Reversible, Confidence: interlock.Parsed, Traits: []string{fact.TraitDownload}})
	}
	return []interlock.PastAction{past}, nil
}

// ownScripts returns the files an action would run that this agent wrote lately in this workspace, whatever run it was in.
func (a *Admission) ownScripts(ctx context.Context, p *interlock.Proposal, d interlock.Decision,
	now time.Time) ([]string, error) {
	if p.Read == nil || len(p.View.Written) > 0 {
		return nil, nil
	}
	paths := targets(d, interlock.ImpactExecute)
	if len(paths) == 0 {
		return nil, nil
	}
	keys := make([]string, len(paths))
	for n, path := range paths {
		keys[n] = writtenKey(p, path)
	}
	known, err := a.config.Store.Wrote(ctx, keys, now.Add(-interlock.WrittenWindow))
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

// targets are the files, each once, that a decision's impacts of a kind name.
func targets(d interlock.Decision, kind interlock.ImpactKind) (paths []string) {
	for n := range d.Impacts {
		i := &d.Impacts[n]
		if i.Kind == kind && place.NamesFile(i) && len(paths) < maxWrote && !slices.Contains(paths, i.Target) {
			paths = append(paths, i.Target)
		}
	}
	return paths
}
