package admission

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// Whoever is denied the same thing again and again tries other spellings of it, and would do so for ever. After some denials in a row the
// agent is told to tell its user, and the operators are, once (ASA 16.5).

// denialRefs names the row of what an agent wants, where it counts how often that is denied it.
func (d *pendingDecision) denialRefs() []ledger.Ref {
	made := d.made.Decision
	if d.a.Config.TellUserAfter <= 0 || made.Mode != interlock.Enforcing || interlock.Canary(d.Proposal, made) ||
		!containment.RefusedFor(made) && made.Approval == "" && made.Grant == "" {
		return nil
	}
	return []ledger.Ref{core.Key(ledger.Tally, wish(d.Case, made))}
}

// countDenials counts one more denial of what an agent wants, and tells its answer to say so from some number on. What it wants is told by
// what it would do, and not by how it is written. An operator's yes ends the row.
func (d *pendingDecision) countDenials() error {
	a, answer := d.a, &d.answer
	for _, row := range d.denialRefs() {
		refused := containment.RefusedFor(answer.Decision)
		act := ledger.Act{At: d.now, Action: answer.Action, Verdict: answer.Verdict}
		if f := answer.Decisive(); f != nil {
			act.Rule = f.Rule
		}
		if !refused {
			act.Verdict = interlock.Allow
		}
		d.change.Writes = append(d.change.Writes, ledger.Rows(ledger.Counted{Name: row.Key, Refused: refused, Act: act})...)
		n := 1 + inARow(core.Found[ledger.TallyBody](&d.ground, row).Last, d.now)
		if !refused || n < a.Config.TellUserAfter {
			return nil
		}
		answer.Findings = slices.Clone(answer.Findings) // what is recorded is what was decided
		f := &answer.Findings[0]
		if f.Suggestion != "" {
			f.Suggestion += "; "
		}
		f.Suggestion += fmt.Sprintf("this was denied %d times in a row, whatever the spelling: stop trying, and tell the user that it "+
			"can't be achieved within the present safety constraints", n)
		if n > a.Config.TellUserAfter {
			return nil // people were told
		}
		return a.Raise(&d.change, d.Requester, "repeated-denials", fmt.Sprintf("the same was denied %d times in a row, the last time by %s: "+
			"somebody probes, or the rules are too strict for the task", n, act.Rule))
	}
	return nil
}

// inARow is how many of the last actions were denied, back to the last that was not, or to a long time without any.
func inARow(last []ledger.Act, now time.Time) (n int) {
	for i := len(last) - 1; i >= 0 && last[i].Verdict != interlock.Allow && now.Sub(last[i].At) < phase.ShareWindow; i-- {
		n++
	}
	return n
}

// wish names what an agent wants in its run: what the impacts do and to what, as far as something objects to them, and the tool or rule
// where nothing is told by impacts.
func wish(p *Case, d interlock.Decision) string {
	var wants []string
	add := func(i *interlock.Impact) { wants = append(wants, string(i.Kind)+" "+i.Target) }
	for n := range d.Findings {
		if d.Findings[n].Verdict == interlock.Allow {
			continue
		}
		for _, at := range d.Findings[n].Impacts {
			if at >= 0 && at < len(d.Impacts) && d.Impacts[at].Target != "" {
				add(&d.Impacts[at])
			}
		}
	}
	if len(wants) == 0 {
		for n := range d.Impacts {
			if d.Impacts[n].Target != "" {
				add(&d.Impacts[n])
			}
		}
	}
	if f := d.Decisive(); len(wants) == 0 && f != nil {
		wants = append(wants, "rule "+f.Rule+" "+p.Action.Tool)
	}
	slices.Sort(wants)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(wants), "\n")))
	return "wish\x00" + core.RunOf(p.Requester) + "\x00" + hex.EncodeToString(sum[:12])
}
