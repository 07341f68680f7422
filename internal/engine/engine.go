// Package engine makes Decisions, and is the only place where one is made. Decide is a function of values: it reads no
// clock, file or network, and equal arguments give equal Decisions byte for byte, so every Decision can be made again
// from the record.
//
// The profile grants a base verdict; gates and outside findings can only object; the strictest verdict wins. Two things
// lower it: policy.autoApprove takes away what was only inferred or only asked by the profile, and an operator's approval
// bound to exactly this action, ruleset and requester answers an Ask. An operator's standing order keeps a rule silent in a
// scope and for a time, see suppress.go. Nothing else lowers a Deny, and nothing a Halt or layer 1.
//
// Start with Decide here; order.go says which finding is named first, approve.go what an approval must be bound to.
package engine

import (
	"slices"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// Decide makes the Decision on an action. The analysis is of this action under this snapshot's view; findings are those
// of limits, classifiers and judges; the snapshot's Agent.ID and Agent.Principal are who asks, and an approval for anybody
// else, or for nobody, answers nothing; approvals are all requests that might answer an Ask, and those that don't are
// ignored; now is when the decision is made.
//
// Verdict is what the rules say. Answer is what a door must say: the mode, whether anybody can answer an Ask, and an
// approval have entered it. Decide never fails: what it can't make sense of is denied, at layer 1, with a reason.
func Decide(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action, analysis impact.Analysis,
	findings []interlock.Finding, approvals []interlock.ApprovalRequest, now time.Time) interlock.Decision {
	return decide(gate.Gates(), gate.Gates(), "", rules, snapshot, action, analysis, findings, approvals, now)
}

// DecideNamed is Decide where the snapshot's digest is known; empty: it is not.
func DecideNamed(rules *ruleset.Ruleset, snapshot interlock.Snapshot, digest interlock.Digest, action interlock.Action,
	analysis impact.Analysis, findings []interlock.Finding, approvals []interlock.ApprovalRequest, now time.Time) interlock.Decision {
	return decide(gate.Gates(), gate.Gates(), digest, rules, snapshot, action, analysis, findings, approvals, now)
}

// named is the digest of a snapshot.
func named(snapshot interlock.Snapshot) (interlock.Digest, error) {
	return strictjson.SnapshotDigest(&snapshot)
}

// decide is Decide under a table of gates, whose checks are made in the order of another.
func decide(gates, checks gate.Table, digest interlock.Digest, rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis,
	findings []interlock.Finding, approvals []interlock.ApprovalRequest, now time.Time) interlock.Decision {
	d := interlock.Decision{Mode: snapshot.Mode, Profile: snapshot.Profile, Impacts: []interlock.Impact{},
		Findings: []interlock.Finding{}}
	if rules == nil {
		d.Findings = append(d.Findings, refusal("no-ruleset", "no rules are loaded, so nothing is allowed"))
		return d
	}
	d.Ruleset = rules.Digest()
	var failed []interlock.Finding
	var err error
	if d.Action, err = strictjson.ActionDigest(action); err != nil {
		failed = append(failed, refusal("action", "the action has no canonical form; send valid UTF-8 and valid JSON"))
	}
	if d.Snapshot = digest; digest != "" {
		// nothing of it has changed since it was hashed
	} else if d.Snapshot, err = named(snapshot); err != nil {
		failed = append(failed, refusal("snapshot", "the snapshot has no canonical form"))
	}
	if !action.Kind.Valid() {
		failed = append(failed, refusal("kind", "the kind of action is not known"))
	}
	if stop := stopped(findings); len(stop) > 0 {
		d.Findings, d.Verdict, d.Answer = stop, interlock.Halt, interlock.Halt
		return d
	}
	switch snapshot.Mode {
	case interlock.Enforcing, interlock.Monitoring:
	case interlock.Logging, interlock.Disabled:
		// Nothing is evaluated; the decision says so by its mode.
		d.Verdict, d.Answer = interlock.Allow, interlock.Allow
		return d
	default:
		d.Mode = interlock.Enforcing
		failed = append(failed, refusal("mode", "the mode is not known, so verdicts are enforced"))
	}
	d.Impacts = append(d.Impacts, analysis.Impacts...)
	d.Danger, _, _ = gate.DangerLevel(rules, snapshot, action, analysis)
	d.Risk = gate.RiskScore(d.Danger, analysis.Impacts)
	if snapshot.Loop != nil {
		d.Risk = gate.LoopRisk(rules, snapshot, action, analysis).Risk
	}

	found := failed
	for _, g := range checks {
		if g.Check != nil {
			found = append(found, g.Check(rules, snapshot, action, analysis)...)
		}
	}
	for _, f := range findings {
		found = append(found, admitted(f))
	}
	if gate.AutoApproved(rules, snapshot, action, analysis) {
		found = withoutApproved(gates, found)
	}
	found = wanted(gates, found, rules, snapshot, action, analysis)
	found, notices := suppressed(gates, found, rules, &snapshot, action, analysis, d.Danger, now)
	found = tried(sandboxed(found, snapshot), action)
	locked := ""
	if len(snapshot.Judgments) > 0 { // else nobody says that it may be judged afterwards
		locked = gate.JudgedBefore(d.Danger, d.Impacts)
	}
	found = append(found, gate.Judged(rules, &snapshot, verdict(found), locked)...)
	d.Findings = append(gate.Told(gates, ordered(gates, found), action, analysis), notices...)
	d.Obligations = obligations(d.Findings)
	d.Verdict = verdict(d.Findings)
	d.Tier = tier(gates, d, snapshot.Loop)
	d.Answer, d.Approval = answer(d, snapshot, approvals, now)
	if d.Verdict == interlock.Ask && d.Answer != interlock.Allow && d.Mode == interlock.Enforcing {
		if d.Grant = granted(gates, d, snapshot, action, analysis, now); d.Grant == "" {
			d.Grant = inRange(gates, d, snapshot, action, now)
		}
		if d.Grant != "" {
			d.Answer = interlock.Allow
		}
	}
	return d
}

// stopped are the findings that say that everything is stopped. They hold in every mode, also where nothing else is enforced:
// somebody has pulled the plug (EC-K-1).
func stopped(findings []interlock.Finding) (stop []interlock.Finding) {
	for _, f := range findings {
		if f.Gate == gate.NameKill && f.Verdict == interlock.Halt {
			stop = append(stop, admitted(f))
		}
	}
	return stop
}

// verdict is the strictest of the findings; without any the profile has granted the action.
func verdict(findings []interlock.Finding) interlock.Verdict {
	v := interlock.Allow
	for _, f := range findings {
		v = interlock.Stricter(v, f.Verdict)
	}
	return v
}

// tier is how much a reported step needs of a human: what its risk score says, and at least what its findings ask for. A
// denial by what is forbidden, and not by what an agent is trusted with, is the danger zone (MCP-AQL 8.8.2). That the agent pauses
// says nothing of the action.
func tier(gates gate.Table, d interlock.Decision, loop *interlock.Loop) interlock.Tier {
	if loop == nil {
		return interlock.TierAdvisory
	}
	t, own := interlock.TierAdvisory, false // own: something objects to the action itself, and not only a pause
	for n, f := range d.Findings {
		if f.Verdict == interlock.Allow || gates.OfPause(&d.Findings[n]) {
			continue
		}
		own = true
		switch {
		case f.Verdict.Compare(interlock.Deny) >= 0 && gates.Of(f.Gate).Forbids:
			return interlock.TierDangerZone
		case hasObligation(f.Obligations, interlock.ObligationVerify):
			t = max(t, interlock.TierVerify)
		default:
			t = max(t, interlock.TierConfirm)
		}
	}
	if !own {
		t = min(interlock.TierOf(d.Risk), interlock.TierConfirm) // autoApproved: what it would have been
	}
	return t
}

// sandboxed adds a denial where something may only run in a sandbox and the door has none: nobody is asked for a yes that
// could not be used, and no door can take the answer for a plain yes.
func sandboxed(found []interlock.Finding, snapshot interlock.Snapshot) []interlock.Finding {
	if snapshot.Sandboxed {
		return found
	}
	for _, f := range found {
		if hasObligation(f.Obligations, interlock.ObligationSandbox) {
			return append(found, interlock.Finding{Gate: "sandbox", Rule: "sandbox.needed", Layer: 3, Verdict: interlock.Deny,
				Reason:     "this may only run in a sandbox, and here it would not",
				Suggestion: "have it run with: interlock exec -- COMMAND; interlock doctor says whether sandboxes work here"})
		}
	}
	return found
}

// tried adds what an obligation to try an action first means for it: only commands can be tried, so anything else is denied, and
// nobody is asked for a yes that could not be used.
func tried(found []interlock.Finding, action interlock.Action) []interlock.Finding {
	for _, f := range found {
		if !hasObligation(f.Obligations, interlock.ObligationDryRun) {
			continue
		}
		if slices.ContainsFunc(f.Obligations, interlock.Obligation.Formed) {
			return append(found, interlock.Finding{Gate: "dry-run", Rule: "dry-run.needed", Layer: 3, Verdict: interlock.Ask,
				Reason:     "whoever says yes must have seen what came of a dry run",
				Suggestion: "carry it out first in the form that the rules name for a dry run of this tool (dry_runs)"})
		}
		if action.Kind != interlock.KindShell {
			return append(found, interlock.Finding{Gate: "dry-run", Rule: "dry-run.impossible", Layer: 3, Verdict: interlock.Deny,
				Reason: "this may only be done after a dry run, and only shell commands can have one"})
		}
		return append(found, interlock.Finding{Gate: "dry-run", Rule: "dry-run.needed", Layer: 3, Verdict: interlock.Ask,
			Reason:     "whoever says yes must have seen what this does in a dry run",
			Suggestion: "have it tried with: interlock exec --dry-run -- COMMAND"})
	}
	return found
}

func hasObligation(obligations []interlock.Obligation, kind string) bool {
	for _, o := range obligations {
		if o.Type == kind {
			return true
		}
	}
	return false
}

// answer turns the verdict into what the door must say.
func answer(d interlock.Decision, snapshot interlock.Snapshot, approvals []interlock.ApprovalRequest,
	now time.Time) (interlock.Verdict, string) {
	if d.Mode == interlock.Monitoring {
		return interlock.Allow, ""
	}
	if d.Verdict != interlock.Ask {
		return d.Verdict, ""
	}
	if id, ok := approved(d, snapshot.Agent, approvals, now); ok {
		return interlock.Allow, id
	}
	if snapshot.Attended {
		return interlock.Ask, ""
	}
	return interlock.Deny, ""
}

// admitted makes a finding from outside safe to order and to write: a verdict or layer outside the vocabulary becomes
// the strictest there is.
func admitted(f interlock.Finding) interlock.Finding {
	if f.Verdict.Compare(interlock.Halt) >= 0 {
		f.Verdict = interlock.Halt
	}
	if f.Layer < 1 || f.Layer > 4 {
		f.Layer = 1
	}
	if f.Sublayer < 0 {
		f.Sublayer = 0
	}
	return f
}

// withoutApproved drops what policy.autoApprove overrules: findings that were inferred and halt nothing, and the profile's base asks.
// Whatever a rule, a declared danger level, a scope or an unknown input objects stays, and so does layer 1. Without the
// base asks autoApprove could never let a write pass under a profile that asks about every write, which is what operators
// list it for.
func withoutApproved(gates gate.Table, found []interlock.Finding) []interlock.Finding {
	var out []interlock.Finding
	for _, f := range found {
		if f.Layer > 1 && f.Verdict.Compare(interlock.Halt) < 0 && (f.Heuristic || gates.Of(f.Gate).Base && f.Verdict == interlock.Ask) {
			continue
		}
		out = append(out, f)
	}
	return out
}

func refusal(rule, reason string) interlock.Finding {
	return interlock.Finding{Gate: "engine", Rule: "engine." + rule, Layer: 1, Verdict: interlock.Deny, Reason: reason}
}
