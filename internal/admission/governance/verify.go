package governance

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// A Verification is what came of an answer to a challenge.
type Verification struct {
	Result     string        // passed, wrong, expired, unknown or limited
	Reason     string        // a sentence the agent may read
	Failed     int           // answers that failed within the window
	RetryAfter time.Duration // how long no answer is looked at
	Unblocked  bool          // the agent's hard block has ended
	Request    string        // the approval request that is answered by it, if any
}

// Verify takes an agent's answer to a challenge. A right code ends the challenge: it lifts a hard block, or approves the
// request that the agent was paused for. Anything else is a failure: it burns the code if it named a challenge of this
// agent, counts against the agent's limit, is recorded and alerted.
func (a *Governance) Verify(ctx context.Context, r interlock.Requester, challenge, code string) (Verification, error) {
	if err := core.CheckAgent(r, ""); err != nil {
		return Verification{}, err
	}
	var v Verification
	_, err := a.CommitOn(ctx, false, func(ctx context.Context, load core.LoadRows) (core.DecisionRows, error) {
		return a.verifyGround(ctx, load, r, challenge)
	}, func(standing ledger.Standing) (ledger.Change, error) {
		now := a.Config.Now().UTC().Truncate(time.Microsecond)
		if err := core.InOffice(r, standing, now); err != nil {
			return ledger.Change{}, err
		}
		who := core.Owned(r, standing)
		c, known := standing.Challenges[challenge]
		known = known && answerable(c, who, standing)
		if !known {
			c = interlock.Challenge{ID: challenge}
		}
		attempts := standing.Attempts[ledger.AttemptsKey(who.Agent, who.Principal)]
		attempts.Agent, attempts.Principal = who.Agent, who.Principal
		// Everything is worked out before anything is told apart, so that the answers take the same way.
		right := core.Matches(c.CodeHash, c.ID, code)
		_, formed := core.CodeOf(code)
		v = Verification{}
		if wait := attempts.Wait(now); wait > 0 {
			v.Result, v.Reason, v.RetryAfter = core.Limited, "too many wrong answers; none is looked at for a while", wait
			change := ledger.Change{Version: standing.Version}
			return change, a.failedAnswer(&change, who, challenge, &v)
		}
		switch {
		case !known || !formed:
			v.Result, v.Reason = core.Unknown, "there is no such challenge for this agent, or this is not a code"
		case c.CodeHash == "" || !now.Before(c.Expires):
			v.Result, v.Reason = core.Expired, "no code is in force for this challenge any more; an operator can have a new one shown"
		case !right:
			v.Result, v.Reason = core.Wrong, "the code is wrong and counts no more; an operator can have a new one shown"
		default:
			v.Result, v.Reason = core.Passed, "the code is right"
			return a.passed(standing, c, who, now, &v)
		}
		change := ledger.Change{Version: standing.Version}
		attempts.Attempts, v.Failed = attempts.Fail(now)
		v.RetryAfter = attempts.Wait(now)
		change.Writes = ledger.Rows(attempts)
		if known && c.CodeHash != "" {
			c.CodeHash = "" // AQL-8.8.2c: a wrong answer burns the code, whatever was wrong with it
			change.Writes = append(change.Writes, ledger.Rows(c)...)
		}
		return change, a.failedAnswer(&change, who, challenge, &v)
	})
	return v, err
}

// verifyGround is what an answer to a challenge is judged by.
func (a *Governance) verifyGround(ctx context.Context, load core.LoadRows, r interlock.Requester,
	challenge string) (core.DecisionRows, error) {
	g, err := a.GroundOf(ctx, load, r, core.Key(ledger.Challenge, challenge))
	if err != nil {
		return g, err
	}
	who, read := core.Owned(r, g.Standing), len(g.Reads)
	g.Reads = append(g.Reads, core.Key(ledger.Attempts, ledger.AttemptsKey(who.Agent, who.Principal)))
	if request := g.Challenges[challenge].Request; request != "" {
		g.Reads = append(g.Reads, core.Key(ledger.Request, request))
	}
	err = a.Extend(ctx, load, &g, new(core.Names), g.Reads[read:])
	return g, err
}

// answerable reports whether a challenge is one this requester may answer: its own, and standing.
func answerable(c interlock.Challenge, r interlock.Requester, standing ledger.Standing) bool {
	return c.Ended.IsZero() && core.Binds(c, r, standing)
}

// failedAnswer records an answer that failed, and alerts.
func (a *Governance) failedAnswer(change *ledger.Change, r interlock.Requester, challenge string, v *Verification) error {
	record := auditlog.VerificationRecord{Challenge: IdOf(challenge), Result: v.Result, Reason: v.Reason, Failed: v.Failed}
	if err := a.Append(change, interlock.EventVerification, r, "agent", record); err != nil {
		return err
	}
	return a.Raise(change, r, "verification-"+v.Result, "an answer to a challenge was refused: "+v.Reason)
}

// passed is what a right code does.
func (a *Governance) passed(standing ledger.Standing, c interlock.Challenge, r interlock.Requester, now time.Time,
	v *Verification) (ledger.Change, error) {
	change := ledger.Change{Version: standing.Version}
	c.Ended, c.Outcome, c.CodeHash = now, "passed", ""
	change.Writes = ledger.Rows(c)
	record := auditlog.VerificationRecord{Challenge: c.ID, Result: core.Passed, Reason: v.Reason}
	if err := a.Append(&change, interlock.EventVerification, r, "agent", record); err != nil {
		return change, err
	}
	if c.Kind == interlock.ChallengeBlock {
		v.Unblocked = true
		return change, a.Append(&change, interlock.EventUnblocked, c.Requester, "system", auditlog.ChallengeRecord{Challenge: c})
	}
	request, waits := standing.Requests[c.Request]
	if !waits || request.Status != interlock.RequestPending || !now.Before(request.Expires) {
		v.Reason = "the code is right; what it was for has been answered or has expired, so report the step again"
		return change, nil
	}
	approval, err := a.attested(request, c, now)
	if err == nil {
		err = quorum.Check(request, approval, standing.Operators, standing.Agents, a.Config.Verify, now)
	}
	if err != nil { // the pause ends all the same; a named operator can still answer the request
		v.Reason = "the code is right; the request it was for needs more than a code"
		return change, a.Raise(&change, r, "code-insufficient", "a right code could not answer its request: "+core.Reason(err))
	}
	v.Request = request.ID
	change.Writes = append(change.Writes, ledger.Rows(request.Answered(approval))...)
	return change, a.Append(&change, interlock.EventApproval, request.Requester, "system",
		auditlog.ApprovalRecord{Request: request, Approval: approval, Proved: quorum.ProvesServer})
}

// attested is the yes that a right code says: the server's own key is the witness that the code was given.
func (a *Governance) attested(request interlock.ApprovalRequest, c interlock.Challenge,
	now time.Time) (interlock.Approval, error) {
	approval := interlock.Approval{Request: request.ID, Verdict: interlock.Allow, Method: interlock.MethodCode, Key: c.ID,
		Statement: quorum.Statement(request, interlock.Allow, ""), At: now}
	if a.Config.Attest == nil {
		return approval, interlock.Errorf(interlock.CodeUnavailable, "code", "this process has no key to bear witness with")
	}
	var err error
	approval.Signature, err = a.Config.Attest(interlock.MethodCode, c.ID, approval.Statement)
	return approval, err
}

// IdOf returns what an agent gave as an id if it looks like one: it may have put a code in its place, which must not be
// written down.
func IdOf(given string) string {
	for i, r := range given {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if i >= 36 || hyphen != (r == '-') || !hyphen && (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return "not an id"
		}
	}
	if len(given) != 36 {
		return "not an id"
	}
	return given
}
