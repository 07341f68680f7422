package admission

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"path"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// Code that one agent wrote and another runs meets the bounds of both, or an agent would have another do what its own type refuses: it
// would write a script and wait. So it is remembered for a day who wrote which file, with everybody who had delegated the run that it was
// written in, and whoever runs it is held against their types too. What was copied is still whose it was. What an agent wrote itself, or
// a person did, adds nothing.
//
// A place is a path, whichever machine it is on: two agents on two machines that both write /srv/a.sh and run it are held against each
// other's types, which errs towards strict.

// maxAuthors bounds how many agents an action is held against because of what they wrote.
const maxAuthors = 32

// placeKey names a file whoever wrote it.
func placeKey(name string) string {
	sum := sha256.Sum256([]byte(path.Clean(strings.ReplaceAll(name, `\`, "/"))))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// remembered is what to remember of an action's files: that its agent wrote them, and who did where types bind agents.
func remembered(p *Case, d interlock.Decision, basis *interlock.RunBasis, now time.Time) (rows []ledger.Row) {
	for _, file := range wrote(p, d) {
		rows = append(rows, ledger.Rows(ledger.WrittenBody{File: file, At: now})...)
	}
	if !p.under.Rules.Typed() || d.Answer.Compare(interlock.Deny) >= 0 {
		return rows
	}
	by := map[string]time.Time{p.Requester.Agent: now}
	for _, name := range p.passes {
		by[name] = now
	}
	if basis != nil {
		for _, link := range basis.Links {
			by[link.Agent] = now
		}
	}
	for _, path := range targets(d.Impacts, interlock.ImpactWrite) {
		rows = append(rows, ledger.Rows(ledger.WrittenBody{File: ledger.WrittenAt(placeKey(path)), At: now, By: by})...)
	}
	return rows
}

// authored finds who else wrote what a case's action runs, and what it writes anew. Nobody looks where no types bind agents.
func (a *Admission) authored(ctx context.Context, p *Case, analysis impact.Analysis, now time.Time) error {
	p.authors, p.passes = nil, nil
	if !p.under.Rules.Typed() {
		return nil
	}
	ran := targets(analysis.Impacts, interlock.ImpactExecute)
	for _, place := range analysis.Ran {
		if len(ran) < 2*maxWrote && !slices.Contains(ran, place) {
			ran = append(ran, place)
		}
	}
	others, err := a.writersOf(ctx, p, ran, now)
	if err != nil {
		return err
	}
	if p.authors, err = a.holders(ctx, others); err != nil {
		return err
	}
	if len(targets(analysis.Impacts, interlock.ImpactWrite)) > 0 {
		moved := slices.DeleteFunc(slices.Clone(analysis.Impacts), func(i interlock.Impact) bool { return !i.Has(fact.TraitMoved) })
		read := slices.Concat(targets(analysis.Impacts, interlock.ImpactRead), targets(moved, interlock.ImpactWrite), ran)
		p.passes, err = a.writersOf(ctx, p, read, now)
	}
	return err
}

// writersOf returns the other agents that wrote files lately, by name.
func (a *Admission) writersOf(ctx context.Context, p *Case, paths []string, now time.Time) (names []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	refs := make([]ledger.Ref, 0, len(paths))
	for _, path := range paths {
		refs = append(refs, core.Key(ledger.Written, ledger.WrittenAt(placeKey(path))))
	}
	rows, _, err := a.Config.Store.Load(ctx, refs...)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		w, _ := row.Value.(ledger.WrittenBody)
		for name, at := range w.By { // sorted below
			if now.Sub(at) <= interlock.WrittenWindow {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == p.Requester.Agent })
	if len(names) > maxAuthors {
		return nil, interlock.Errorf(interlock.CodeLimited, "/action", "more than %d agents wrote what this runs or copies within a day; a person "+
			"runs it, or has it written anew", maxAuthors)
	}
	return names, nil
}

// holders are agents with the types that they are bound to now.
func (a *Admission) holders(ctx context.Context, names []string) (holders []interlock.RunHolder, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	refs := make([]ledger.Ref, len(names))
	for n := range names {
		refs[n] = core.Key(ledger.Agent, names[n])
	}
	rows, _, err := a.Config.Store.Load(ctx, refs...)
	if err != nil {
		return nil, err
	}
	known := map[string]interlock.AgentRecord{}
	for _, row := range rows {
		if agent, ok := row.Value.(interlock.AgentRecord); ok {
			known[agent.ID] = agent
		}
	}
	for _, name := range names {
		agent := known[name]
		agent.ID = name
		holders = append(holders, interlock.RunHolder{Agent: name, Type: ruleset.TypeName(agent)})
	}
	return holders, nil
}
