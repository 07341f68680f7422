package admission

import (
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// stops reports whether a decision stops the agent and not only the step: what a monitored execution wanted to do is in the
// danger zone, or an operator's pattern denies it (MCP-AQL 8.7.2, 8.8.1).
func stops(p Case, d interlock.Decision) bool {
	refused := d.Verdict == interlock.Deny || d.Verdict == interlock.Halt
	return p.Loop != nil && d.Mode == interlock.Enforcing && refused && (d.Tier == interlock.TierDangerZone || core.Denied(d))
}

// challenged opens the challenge a decision calls for, adds it and its events to the change, and says in the answer which
// challenge holds the agent back.
func (a *Admission) challenged(change *ledger.Change, p Case, shown interlock.Proposal, standing ledger.Standing,
	d interlock.Decision,
	now time.Time, answer *interlock.Answer) (*core.Issued, error) {
	if d.Mode != interlock.Enforcing {
		return nil, nil
	}
	if block, blocked := core.BlockOf(standing, p.Requester); blocked {
		answer.Challenge, answer.Channels = block.ID, block.Channels
		return nil, nil
	}
	if stops(p, d) {
		return a.issue(change, p, shown, d, now, answer, interlock.Challenge{Kind: interlock.ChallengeBlock})
	}
	if pause, paused := core.Verifying(standing, p.Requester, now); p.Loop != nil && paused && !answer.Answer.Allowed() {
		answer.Challenge, answer.Channels = pause.ID, pause.Channels
		return nil, nil
	}
	if p.Loop != nil && answer.Request != "" && core.Owes(d) {
		return a.issue(change, p, shown, d, now, answer,
			interlock.Challenge{Kind: interlock.ChallengeVerify, Request: answer.Request})
	}
	return nil, nil
}

// issue makes a challenge with a code.
func (a *Admission) issue(change *ledger.Change, p Case, shown interlock.Proposal, d interlock.Decision, now time.Time,
	answer *interlock.Answer, c interlock.Challenge) (*core.Issued, error) {
	id, err := core.NewUUID(a.Config.Random)
	if err != nil {
		return nil, err
	}
	c.ID, c.Requester, c.Action, c.Ruleset, c.Display, c.Created = id, p.Requester, d.Action, d.Ruleset,
		core.Display(shown.Action), now
	if f := d.Decisive(); f != nil {
		c.Rule, c.Reason = f.Rule, f.Reason
	}
	code, err := a.Recode(&c, now)
	if err != nil {
		return nil, err
	}
	kinds := []interlock.EventType{interlock.EventChallenge}
	if c.Kind == interlock.ChallengeBlock {
		kinds = []interlock.EventType{interlock.EventBlocked, interlock.EventChallenge}
	}
	for _, kind := range kinds {
		if err := a.Append(change, kind, c.Requester, "system", auditlog.ChallengeRecord{Challenge: c}); err != nil {
			return nil, err
		}
	}
	answer.Challenge = c.ID
	change.Writes = append(change.Writes, ledger.Rows(c)...)
	return &core.Issued{Challenge: c, Code: code}, nil
}
