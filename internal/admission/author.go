package admission

import (
	"crypto/sha256"
	"encoding/base64"
	"path"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// authorLooks are of who wrote an action's files.
var authorLooks = []look{
	{before: (*pendingDecision).writtenRefs, writes: (*pendingDecision).writeWritten},
}

// Code that one agent wrote and another runs meets the bounds of both, or an agent would have another do what its own type refuses: it
// would write a script and wait. So it is remembered for a day who wrote which file, with everybody who had delegated the run that it was
// written in, and the agent that runs it is held against their types too. What was copied is still whose it was. What an agent
// wrote itself, or a person did, adds nothing.
//
// A place is a path, whichever machine it is on: two agents on two machines that both write /srv/a.sh and run it are held against each
// other's types, which errs towards strict.

// maxAuthors bounds how many agents an action is held against because of what they wrote.
const maxAuthors = 32

// placeKey names a file, no matter who wrote it.
func placeKey(name string) string {
	sum := sha256.Sum256([]byte(path.Clean(strings.ReplaceAll(name, `\`, "/"))))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// rememberedRows is what to remember of an action's files: that its agent wrote them, and who did where types bind agents.
func (w *pendingDecision) writeWritten() error {
	w.change.Writes = append(w.change.Writes, rememberedRows(w.Case, w.made.Decision, w.made.snapshot.Run, w.now)...)
	return nil
}

func rememberedRows(p *Case, d interlock.Decision, basis *interlock.RunBasis, now time.Time) (rows []ledger.Row) {
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

// ranAndCopied are the files that an action runs, and those that it copies or rewrites: where it writes any.
func (d *pendingDecision) ranAndCopied() (ran, copied []string) {
	impacts := d.read.Impacts
	ran = targets(impacts, interlock.ImpactExecute)
	for _, place := range d.read.Ran {
		if len(ran) < 2*maxWrote && !slices.Contains(ran, place) {
			ran = append(ran, place)
		}
	}
	if len(targets(impacts, interlock.ImpactWrite)) > 0 {
		moved := slices.DeleteFunc(slices.Clone(impacts), func(i interlock.Impact) bool { return !i.Has(fact.TraitMoved) })
		copied = slices.Concat(targets(impacts, interlock.ImpactRead), targets(moved, interlock.ImpactWrite), ran)
	}
	return ran, copied
}

// authorRefs names what is known of who wrote an action's files, and then those agents. Nobody looks where no types bind agents.
func (d *pendingDecision) authorRefs() (refs []ledger.Ref) {
	if !d.under.Rules.Typed() {
		return nil
	}
	ran, copied := d.ranAndCopied()
	for _, path := range slices.Concat(ran, copied) {
		refs = append(refs, core.Key(ledger.Written, ledger.WrittenAt(placeKey(path))))
	}
	names, _ := d.writersOf(ran) // too many are found to be too many when it is decided
	for _, name := range names {
		refs = append(refs, core.Key(ledger.Agent, name))
	}
	return refs
}

// authored finds who else wrote what an action runs, with the types that they are bound to now, and what it copies or rewrites.
func (d *pendingDecision) authored() (authors []interlock.RunHolder, passes []string, err error) {
	if !d.under.Rules.Typed() {
		return nil, nil, nil
	}
	ran, copied := d.ranAndCopied()
	names, err := d.writersOf(ran)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		agent := core.Found[interlock.AgentRecord](&d.ground, core.Key(ledger.Agent, name))
		agent.ID = name
		authors = append(authors, interlock.RunHolder{Agent: name, Type: ruleset.TypeName(agent)})
	}
	passes, err = d.writersOf(copied)
	return authors, passes, err
}

// writersOf returns the other agents that wrote files lately, by name.
func (d *pendingDecision) writersOf(paths []string) (names []string, err error) {
	for _, path := range paths {
		w := core.Found[ledger.WrittenBody](&d.ground, core.Key(ledger.Written, ledger.WrittenAt(placeKey(path))))
		for name, at := range w.By { // sorted below
			if d.now.Sub(at) <= interlock.WrittenWindow {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == d.Requester.Agent })
	if len(names) > maxAuthors {
		return nil, interlock.Errorf(interlock.CodeLimited, "/action", "more than %d agents wrote what this runs or copies within a day; a person "+
			"runs it, or has it written anew", maxAuthors)
	}
	return names, nil
}

// writtenRefs names what is known of who wrote or fetched an action's files.
func (d *pendingDecision) writtenRefs() []ledger.Ref {
	return slices.Concat(d.authorRefs(), d.ownRefs(), d.fetchedRefs())
}
