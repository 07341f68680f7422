package admission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// commitLooks are of what was decided about something.
var commitLooks = []look{
	{gates: []string{"commit"}, before: (*pendingDecision).commitRefs, finds: (*pendingDecision).commitFindings,
		writes: (*pendingDecision).writeCommitments},
}

// What a call decides, where the rules say that calls of its tool decide something, is committed with the event that lets it through. A
// call that decides the same thing otherwise is a reversal: it takes a person, or that what it is decided from has changed; and where it
// went to and fro already, what was decided is locked. Two that decide at once do so one after the other, as rows that bind are read.

// decidings are what an action decides.
func decidings(rules *ruleset.Ruleset, p *Case, analysis impact.Analysis, standing ledger.Standing,
	now time.Time) (list []runs.Deciding) {
	for _, rule := range rules.Commitments() {
		if !rule.Decides(p.Action.Tool) || !p.Action.Kind.TakesObject() {
			continue
		}
		d := runs.Deciding{Rule: rule}
		var members map[string]json.RawMessage
		if err := strictjson.Decode(p.Action.Arguments, &members); err != nil {
			d.Missing = rule.Choice[0]
		}
		pick := func(names []string, must bool) string {
			values := make([]json.RawMessage, 0, len(names))
			for _, name := range names {
				value, has := members[name]
				if must && (!has || string(value) == "null") && d.Missing == "" {
					d.Missing = name
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
				d.Missing = rule.Choice[0]
			}
			return string(text)
		}
		about := pick(rule.Key, true)
		if len(rule.Key) == 0 {
			about = derived(p, analysis, standing)
		}
		person := p.Requester.Principal
		if basis := core.BasisOf(p.Requester, standing, now); basis != nil && basis.User != "" {
			person = basis.User
		}
		d.Name, d.About = ledger.CommitmentName(person, rule.ID, about), about
		d.Says = pick(rule.Choice, true)
		d.Choice = auditlog.BlobDigest([]byte(d.Says))
		if len(rule.Input) > 0 {
			d.Input = auditlog.BlobDigest([]byte(pick(rule.Input, false)))
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
func (d *pendingDecision) commitRefs() (refs []ledger.Ref) {
	d.deciding = decidings(d.under.Rules, d.Case, d.read, d.ground.Standing, d.now)
	for _, one := range d.deciding {
		if one.Missing == "" {
			refs = append(refs, core.Key(ledger.Commitment, one.Name))
		}
	}
	return refs
}

// commitFindings are the objections to what an action decides, and since when what it would reverse is as it is: a yes of
// before was not about that.
func (p *pendingDecision) commitFindings() (found []interlock.Finding) {
	standing := p.begun
	p.since = time.Time{}
	for _, d := range p.deciding {
		object := func(rule string, layer int, verdict interlock.Verdict, why, instead string) {
			found = append(found, interlock.Finding{Gate: "commit", Rule: "commit." + rule, Layer: layer, Verdict: verdict,
				Reason: fmt.Sprintf("the commitment %s: %s", d.Rule.ID, why), Suggestion: instead})
		}
		if d.Missing != "" {
			object("argument", 3, interlock.Deny, "this does not say what it decides: the argument "+d.Missing+" is missing", "")
			continue
		}
		was, there := standing.Committed(d.Name)
		if !there || was.Choice == d.Choice {
			continue
		}
		switch {
		case !was.Locked.IsZero():
			object("locked", 2, interlock.Deny, "it was decided otherwise, went to and fro, and is locked",
				"a person looks at it: interlock commitments unlock "+d.Name)
		case len(was.Reversals) >= ledger.MaxReversals:
			object("oscillation", 2, interlock.Deny, "it went to and fro already and is locked as it is",
				"a person looks at it: interlock commitments unlock "+d.Name)
		case d.Rule.Input != nil && was.Input != d.Input:
		case d.Rule.Keeps():
			object("kept", 3, interlock.Deny, "it was decided otherwise from the same, and the first choice holds", "")
		default:
			object("reversal", 3, interlock.Ask, "it was decided otherwise from the same, and a person says which choice holds", "")
			if was.At.After(p.since) {
				p.since = was.At
			}
		}
	}
	return found
}

// commits finds what an action that is let through decides, and what is locked because it would have gone to and fro once more.
func (a *Admission) commits(p *Case, d interlock.Decision, standing ledger.Standing, goesOn bool, now time.Time) {
	p.committing, p.committed = nil, nil
	if d.Mode != interlock.Enforcing || p.Handover.Hands(d) || p.Handover == interlock.HandoverGateway || goesOn {
		return
	}
	for _, one := range p.deciding {
		if one.Missing != "" {
			continue
		}
		was, there := standing.Committed(one.Name)
		next := was
		changed := auditlog.Committed{Name: one.Name, Rule: one.Rule.ID, Choice: one.Choice, Input: one.Input}
		switch {
		case !d.Answer.Allowed():
			if !runs.Oscillates(d, one.Rule.ID) || !was.Locked.IsZero() {
				continue
			}
			next.Locked, changed.Locked = now, true
		case there && was.Choice == one.Choice && was.Input == one.Input:
			continue
		case there && was.Choice == one.Choice:
			next.Input, next.Agent, next.Run = one.Input, p.Requester.Agent, p.Requester.Run
		default:
			next = ledger.CommitmentBody{Name: one.Name, Rule: one.Rule.ID, About: a.Brief(one.About), Choice: one.Choice,
				Says: a.Brief(one.Says), Input: one.Input, Agent: p.Requester.Agent, Run: p.Requester.Run, At: now}
			if basis := core.BasisOf(p.Requester, standing, now); basis != nil {
				next.Person = basis.User
			} else {
				next.Person = p.Requester.Principal
			}
			if there {
				r := ledger.Reversal{At: now, Agent: p.Requester.Agent, From: was.Says, To: next.Says, By: ledger.ReversedByInput}
				if was.Input == one.Input {
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

// writeCommitments adds to a change what its action decides, and tells people of what is locked.
func (d *pendingDecision) writeCommitments() error {
	a, p, change, now := d.a, d.Case, &d.change, d.now
	for _, next := range p.committing {
		change.Writes = append(change.Writes, ledger.Rows(next)...)
		if !next.Locked.IsZero() && next.Locked.Equal(now) {
			if err := a.Raise(change, p.Requester, "commitment-locked",
				"what was decided under the commitment "+next.Rule+" went to and fro and is locked: "+next.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
