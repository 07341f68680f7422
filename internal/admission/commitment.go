package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// What a call decides, where the rules say that calls of its tool decide something, is committed with the event that lets it through. A
// call that decides the same thing otherwise is a reversal: it takes a person, or that what it is decided from has changed; and where it
// went to and fro already, what was decided is locked. Two that decide at once do so one after the other, as rows that bind are read.

// A deciding is what one call decides under one commitment of the rules.
type deciding struct {
	rule    *ruleset.Commitment
	name    string // of the row
	about   string
	choice  interlock.Digest
	says    string
	input   interlock.Digest
	missing string // the argument that it would have to have, and has not
}

// decidings are what an action decides.
func decidings(rules *ruleset.Ruleset, p *Case, analysis impact.Analysis, standing ledger.Standing, now time.Time) (list []deciding) {
	for _, rule := range rules.Commitments() {
		if !rule.Decides(p.Action.Tool) || !p.Action.Kind.TakesObject() {
			continue
		}
		d := deciding{rule: rule}
		var members map[string]json.RawMessage
		if err := strictjson.Decode(p.Action.Arguments, &members); err != nil {
			d.missing = rule.Choice[0]
		}
		pick := func(names []string, must bool) string {
			values := make([]json.RawMessage, 0, len(names))
			for _, name := range names {
				value, has := members[name]
				if must && (!has || string(value) == "null") && d.missing == "" {
					d.missing = name
				}
				if !has {
					value = json.RawMessage("null")
				}
				values = append(values, value)
			}
			text, err := strictjson.Marshal(values)
			if err == nil {
				text, err = strictjson.Canonical(text)
			}
			if err != nil {
				d.missing = rule.Choice[0]
			}
			return string(text)
		}
		about := pick(rule.Key, true)
		if len(rule.Key) == 0 {
			about = derived(p, analysis, standing)
		}
		person := p.Requester.Principal
		if basis := basisOf(p.Requester, standing, now); basis != nil && basis.User != "" {
			person = basis.User
		}
		d.name, d.about = ledger.CommitmentName(person, rule.ID, about), about
		d.says = pick(rule.Choice, true)
		d.choice = auditlog.BlobDigest([]byte(d.says))
		if len(rule.Input) > 0 {
			d.input = auditlog.BlobDigest([]byte(pick(rule.Input, false)))
		}
		list = append(list, d)
	}
	return list
}

// derived says what a call decides about where the rules name no argument for it: the task of its run, and what it is done to.
func derived(p *Case, analysis impact.Analysis, standing ledger.Standing) string {
	run, _ := standing.Run(p.Requester.Agent, standing.RunOf(p.Requester))
	of := []string{run.Task}
	var targets []string
	for n := range analysis.Impacts {
		targets = append(targets, analysis.Impacts[n].Target)
	}
	slices.Sort(targets)
	text, err := strictjson.Marshal(append(of, slices.Compact(targets)...))
	if err != nil {
		return strings.Join(of, " ")
	}
	return string(text)
}

// commitRefs names the rows of what an action decides.
func commitRefs(list []deciding) (refs []ledger.Ref) {
	for _, d := range list {
		if d.missing == "" {
			refs = append(refs, key(ledger.Commitment, d.name))
		}
	}
	return refs
}

// reversing is what stands against what an action decides, and since when what it would reverse is as it is: a yes of before was not
// about that.
func reversing(list []deciding, standing ledger.Standing) (found []interlock.Finding, since time.Time) {
	for _, d := range list {
		object := func(rule string, layer int, verdict interlock.Verdict, why, instead string) {
			found = append(found, interlock.Finding{Gate: "commit", Rule: "commit." + rule, Layer: layer, Verdict: verdict,
				Reason: fmt.Sprintf("the commitment %s: %s", d.rule.ID, why), Suggestion: instead})
		}
		if d.missing != "" {
			object("argument", 3, interlock.Deny, "this does not say what it decides: the argument "+d.missing+" is missing", "")
			continue
		}
		was, there := standing.Committed(d.name)
		if !there || was.Choice == d.choice {
			continue
		}
		switch {
		case !was.Locked.IsZero():
			object("locked", 2, interlock.Deny, "it was decided otherwise, went to and fro, and is locked",
				"a person looks at it: interlock commitments unlock "+d.name)
		case len(was.Reversals) >= ledger.MaxReversals:
			object("oscillation", 2, interlock.Deny, "it went to and fro already and is locked as it is",
				"a person looks at it: interlock commitments unlock "+d.name)
		case d.rule.Input != nil && was.Input != d.input:
		case d.rule.Keeps():
			object("kept", 3, interlock.Deny, "it was decided otherwise from the same, and the first choice holds", "")
		default:
			object("reversal", 3, interlock.Ask, "it was decided otherwise from the same, and a person says which choice holds", "")
			if was.At.After(since) {
				since = was.At
			}
		}
	}
	return found, since
}

// commits finds what an action that is let through decides, and what is locked because it would have gone to and fro once more.
func (a *Admission) commits(p *Case, d interlock.Decision, standing ledger.Standing, goesOn bool, now time.Time) {
	p.committing, p.committed = nil, nil
	if d.Mode != interlock.Enforcing || p.Handover.Hands(d) || p.Handover == interlock.HandoverGateway || goesOn {
		return
	}
	for _, one := range p.deciding {
		if one.missing != "" {
			continue
		}
		was, there := standing.Committed(one.name)
		next := was
		changed := auditlog.Committed{Name: one.name, Rule: one.rule.ID, Choice: one.choice, Input: one.input}
		switch {
		case !d.Answer.Allowed():
			if !oscillates(d, one.rule.ID) || !was.Locked.IsZero() {
				continue
			}
			next.Locked, changed.Locked = now, true
		case there && was.Choice == one.choice && was.Input == one.input:
			continue
		case there && was.Choice == one.choice:
			next.Input, next.Agent, next.Run = one.input, p.Requester.Agent, p.Requester.Run
		default:
			next = ledger.CommitmentBody{Name: one.name, Rule: one.rule.ID, About: a.brief(one.about), Choice: one.choice,
				Says: a.brief(one.says), Input: one.input, Agent: p.Requester.Agent, Run: p.Requester.Run, At: now}
			if basis := basisOf(p.Requester, standing, now); basis != nil {
				next.Person = basis.User
			} else {
				next.Person = p.Requester.Principal
			}
			if there {
				r := ledger.Reversal{At: now, Agent: p.Requester.Agent, From: was.Says, To: next.Says, By: ledger.ReversedByInput}
				if was.Input == one.input {
					r.By, r.Approval = ledger.ReversedByHuman, d.Approval
				}
				next.Reversals = append(slices.Clone(was.Reversals), r)
				changed.Reversed = r.By
			}
		}
		p.committing = append(p.committing, next)
		p.committed = append(p.committed, changed)
	}
}

// oscillates reports whether nothing but that it would go to and fro once more keeps an action from being let through.
func oscillates(d interlock.Decision, rule string) bool {
	is := false
	for _, f := range d.Findings {
		switch {
		case f.Rule == "commit.oscillation" && strings.HasPrefix(f.Reason, "the commitment "+rule+":"):
			is = true
		case f.Verdict.Compare(interlock.Deny) >= 0 && f.Rule != "commit.oscillation":
			return false
		}
	}
	return is
}

// brief is a text as it is kept for people.
func (a *Admission) brief(text string) string { return bounded(a.redact(text), maxRunWhy) }

// commitInto adds to a change what its action decides, and tells people of what is locked.
func (a *Admission) commitInto(change *ledger.Change, p *Case, now time.Time) error {
	for _, next := range p.committing {
		change.Writes = append(change.Writes, ledger.Rows(next)...)
		if !next.Locked.IsZero() && next.Locked.Equal(now) {
			if err := a.alarm(change, p.Requester, "commitment-locked",
				"what was decided under the commitment "+next.Rule+" went to and fro and is locked: "+next.Name); err != nil {
				return err
			}
		}
	}
	if p.planning != nil {
		change.Writes = append(change.Writes, ledger.Rows(*p.planning)...)
	}
	return nil
}

func readCommitment(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{key(ledger.Commitment, o.Subject)}
}

func findCommitment(c *carrying) error {
	was, there := c.standing.Committed(c.Subject)
	switch {
	case !there:
		return interlock.Errorf(interlock.CodeNotFound, "subject", "no commitment has this name; `interlock commitments` lists them")
	case was.Locked.IsZero():
		return interlock.Errorf(interlock.CodeConflict, "subject", "this commitment is not locked")
	}
	return nil
}

// unlockCommitment lets what is locked be decided anew, as often as before.
func (a *Admission) unlockCommitment(_ context.Context, c *carrying) error {
	was, _ := c.standing.Committed(c.Subject)
	reversals := was.Reversals
	was.Locked, was.Reversals = time.Time{}, nil
	c.change.Writes = ledger.Rows(was)
	kept := a.orderKept(c.Order)
	return a.append(&c.change, interlock.EventCommitment, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.UnlockRecord{Commitment: was, Reversals: reversals, Order: kept})
}
