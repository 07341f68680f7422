package admission

import (
	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// challengeLooks are of codes that agents owe.
var challengeLooks = []look{
	{writes: (*pendingDecision).writeChallenge, late: true},
}

// stops reports whether a decision stops the agent and not only the step: what a monitored execution wanted to do is in the
// danger zone, or an operator's pattern denies it (MCP-AQL 8.7.2, 8.8.1).
func stops(p Case, d interlock.Decision) bool {
	refused := d.Verdict == interlock.Deny || d.Verdict == interlock.Halt
	return p.Loop != nil && d.Mode == interlock.Enforcing && refused && (d.Tier == interlock.TierDangerZone || core.Denied(d))
}

// writeChallenge opens the challenge a decision calls for, adds it and its events to the change, and says in the answer which
// challenge holds the agent back.
func (w *pendingDecision) writeChallenge() (err error) {
	d, answer := w.made.Decision, &w.answer
	if d.Mode != interlock.Enforcing {
		return nil
	}
	if block, blocked := core.BlockOf(w.standing, w.Requester); blocked {
		answer.Challenge, answer.Channels = block.ID, block.Channels
		return nil
	}
	if stops(*w.Case, d) {
		return w.issue(interlock.Challenge{Kind: interlock.ChallengeBlock})
	}
	if pause, paused := core.Verifying(w.standing, w.Requester, w.now); w.Loop != nil && paused && !answer.Answer.Allowed() {
		answer.Challenge, answer.Channels = pause.ID, pause.Channels
		return nil
	}
	if w.Loop != nil && answer.Request != "" && core.Owes(d) {
		return w.issue(interlock.Challenge{Kind: interlock.ChallengeVerify, Request: answer.Request})
	}
	return nil
}

// issue makes a challenge with a code.
func (w *pendingDecision) issue(c interlock.Challenge) error {
	a, d := w.a, w.made.Decision
	id, err := core.NewUUID(a.Config.Random)
	if err != nil {
		return err
	}
	c.ID, c.Requester, c.Action, c.Ruleset, c.Display, c.Created = id, w.Requester, d.Action, d.Ruleset,
		core.Display(w.shown.Action), w.now
	if f := d.Decisive(); f != nil {
		c.Rule, c.Reason = f.Rule, f.Reason
	}
	code, err := a.Recode(&c, w.now)
	if err != nil {
		return err
	}
	kinds := []interlock.EventType{interlock.EventChallenge}
	if c.Kind == interlock.ChallengeBlock {
		kinds = []interlock.EventType{interlock.EventBlocked, interlock.EventChallenge}
	}
	for _, kind := range kinds {
		if err := a.Append(&w.change, kind, c.Requester, "system", auditlog.ChallengeRecord{Challenge: c}); err != nil {
			return err
		}
	}
	w.answer.Challenge = c.ID
	w.change.Writes = append(w.change.Writes, ledger.Rows(c)...)
	w.fresh = &core.Issued{Challenge: c, Code: code}
	return nil
}
