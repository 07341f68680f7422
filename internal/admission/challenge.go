package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/notice"
)

// A Notifier takes codes to humans, outside any agent's view. It returns once each channel has taken the notice or has
// failed, or when the context ends. It is safe for concurrent use, and what it returns holds no code.
type Notifier interface {
	Notify(ctx context.Context, n notice.Notice) notice.Delivery
}

// The bounds of a challenge.
const (
	codeTTL     = 5 * time.Minute  // of a code, if nothing else is configured (MCP-AQL 8.8.2)
	deliverTime = 20 * time.Second // for all channels together
)

// An issued challenge is one that is about to be stored, and its code, which is not.
type issued struct {
	challenge interlock.Challenge
	code      string
}

// blockOf returns the challenge that forbids a requester everything. An agent that is registered is known by its token, so
// that giving it another owner does not lift its block; every other is known by its name and its user.
func blockOf(standing ledger.Standing, r interlock.Requester) (block interlock.Challenge, blocked bool) {
	for _, c := range standing.Challenges { // of several, which only two processes at once can make, the first id
		if c.Kind == interlock.ChallengeBlock && c.Ended.IsZero() && binds(c, r, standing) && (!blocked || c.ID < block.ID) {
			block, blocked = c, true
		}
	}
	return block, blocked
}

// Blocked returns the challenge that forbids a requester everything, for a door that has operations which are no action.
func Blocked(standing ledger.Standing, r interlock.Requester) (interlock.Challenge, bool) {
	return blockOf(standing, owned(r, standing))
}

func binds(c interlock.Challenge, r interlock.Requester, standing ledger.Standing) bool {
	_, registered := standing.Agents[r.Agent]
	return c.Binds(r) || registered && c.Requester.Agent == r.Agent
}

// verifying returns the verify challenge that pauses a requester: one that nobody has answered and that has not expired, whichever
// process gave it. An agent that starts its own server could end that process; the pause stands in the ledger, with what verifies its
// code and not the code (MCP-AQL 8.6.4). It does not keep a new execution from starting (8.8.3).
func verifying(standing ledger.Standing, r interlock.Requester, now time.Time) (pause interlock.Challenge, paused bool) {
	for _, c := range standing.Challenges {
		if c.Kind == interlock.ChallengeVerify && c.Ended.IsZero() && now.Before(c.Expires) &&
			binds(c, r, standing) && (!paused || c.ID < pause.ID) {
			pause, paused = c, true
		}
	}
	return pause, paused
}

// stops reports whether a decision stops the agent and not only the step: what a monitored execution wanted to do is in the
// danger zone, or an operator's pattern denies it (MCP-AQL 8.7.2, 8.8.1).
func stops(p Case, d interlock.Decision) bool {
	refused := d.Verdict == interlock.Deny || d.Verdict == interlock.Halt
	return p.Loop != nil && d.Mode == interlock.Enforcing && refused && (d.Tier == interlock.TierDangerZone || denied(d))
}

// denied reports whether a pattern of the ruleset's policy, or of the agent's own, denies.
func denied(d interlock.Decision) bool {
	for n := range d.Findings {
		f := &d.Findings[n]
		if gate.Of(f).Patterns && (f.Verdict == interlock.Deny || f.Verdict == interlock.Halt) {
			return true
		}
	}
	return false
}

// owes reports whether a decision waits for a human's fresh code.
func owes(d interlock.Decision) bool {
	for _, o := range d.Obligations {
		if o.Type == interlock.ObligationVerify {
			return true
		}
	}
	return false
}

// challenged opens the challenge a decision calls for, adds it and its events to the change, and says in the answer which
// challenge holds the agent back.
func (a *Admission) challenged(change *ledger.Change, p Case, shown interlock.Proposal, standing ledger.Standing,
	d interlock.Decision,
	now time.Time, answer *interlock.Answer) (*issued, error) {
	if d.Mode != interlock.Enforcing {
		return nil, nil
	}
	if block, blocked := blockOf(standing, p.Requester); blocked {
		answer.Challenge, answer.Channels = block.ID, block.Channels
		return nil, nil
	}
	if stops(p, d) {
		return a.issue(change, p, shown, d, now, answer, interlock.Challenge{Kind: interlock.ChallengeBlock})
	}
	if pause, paused := verifying(standing, p.Requester, now); p.Loop != nil && paused && !answer.Answer.Allowed() {
		answer.Challenge, answer.Channels = pause.ID, pause.Channels
		return nil, nil
	}
	if p.Loop != nil && answer.Request != "" && owes(d) {
		return a.issue(change, p, shown, d, now, answer,
			interlock.Challenge{Kind: interlock.ChallengeVerify, Request: answer.Request})
	}
	return nil, nil
}

// issue makes a challenge with a code.
func (a *Admission) issue(change *ledger.Change, p Case, shown interlock.Proposal, d interlock.Decision, now time.Time,
	answer *interlock.Answer, c interlock.Challenge) (*issued, error) {
	id, err := newUUID(a.config.Random)
	if err != nil {
		return nil, err
	}
	c.ID, c.Requester, c.Action, c.Ruleset, c.Display, c.Created = id, p.Requester, d.Action, d.Ruleset,
		Display(shown.Action), now
	if f := d.Decisive(); f != nil {
		c.Rule, c.Reason = f.Rule, f.Reason
	}
	code, err := a.recode(&c, now)
	if err != nil {
		return nil, err
	}
	kinds := []interlock.EventType{interlock.EventChallenge}
	if c.Kind == interlock.ChallengeBlock {
		kinds = []interlock.EventType{interlock.EventBlocked, interlock.EventChallenge}
	}
	for _, kind := range kinds {
		if err := a.append(change, kind, c.Requester, "system", auditlog.ChallengeRecord{Challenge: c}); err != nil {
			return nil, err
		}
	}
	answer.Challenge = c.ID
	change.Writes = append(change.Writes, ledger.Rows(c)...)
	return &issued{challenge: c, code: code}, nil
}

// recode gives a challenge a fresh code in place of the one it had.
func (a *Admission) recode(c *interlock.Challenge, now time.Time) (code string, err error) {
	if code, err = newCode(a.config.Random); err != nil {
		return "", err
	}
	c.CodeHash, c.Issued, c.Expires, c.Channels, c.Order = codeHash(c.ID, code), now, now.Add(a.config.CodeTTL), nil, ""
	return code, nil
}

// append adds an event to a change.
func (a *Admission) append(change *ledger.Change, kind interlock.EventType, r interlock.Requester, role string,
	record auditlog.Record) error {
	payload, err := record.Payload()
	if err != nil {
		return fmt.Errorf("encoding %s: %w", kind, err)
	}
	draft, err := a.draft(kind, r, role, payload)
	if err != nil {
		return err
	}
	change.Events = append(change.Events, draft)
	return nil
}

// tell takes a code to humans and records who took it, and who did not. The challenge holds whether or not anybody could be
// told: an operator can always have a code issued anew, or lift a block.
func (a *Admission) tell(ctx context.Context, i issued) []string {
	c := i.challenge
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliverTime)
	defer cancel()
	severity := interlock.TierVerify
	if c.Kind == interlock.ChallengeBlock {
		severity = interlock.TierDangerZone
	}
	delivery := a.notify(ctx, notice.Notice{Severity: severity, Kind: string(c.Kind), Challenge: c.ID, Request: c.Request,
		Requester: c.Requester, Rule: c.Rule, Reason: c.Reason, Display: c.Display, Code: notice.Secret(i.code),
		Expires: c.Expires})
	_, err := a.commitOn(ctx, false, a.rows(key(ledger.Challenge, c.ID)),
		func(standing ledger.Standing) (ledger.Change, error) {
			change := ledger.Change{Version: standing.Version}
			stored, stands := standing.Challenges[c.ID]
			if stands && stored.CodeHash == c.CodeHash {
				stored.Channels = delivery.Channels
				change.Writes, c = ledger.Rows(stored), stored
			}
			c.Channels = delivery.Channels
			if err := a.append(&change, interlock.EventChallenge, c.Requester, "system",
				auditlog.ChallengeRecord{Challenge: c, Failed: delivery.Failed}); err != nil {
				return change, err
			}
			if len(delivery.Channels) > 0 {
				return change, nil
			}
			return change, a.alarm(&change, c.Requester, "code-undelivered",
				"a code reached nobody; an operator can have one shown, or an admin can lift the block")
		})
	if err == nil { // whoever opens a challenge clears away those that are overdue, so that they don't pile up without a server
		_, err = a.lapse(ctx, a.config.Now().UTC())
	}
	if err != nil && a.config.Alert != nil {
		a.config.Alert("code-unrecorded", "where a code went, or that another has lapsed, could not be recorded")
	}
	return delivery.Channels
}

// notify asks the notifier; one that is missing or breaks is one that reached nobody.
func (a *Admission) notify(ctx context.Context, n notice.Notice) (delivery notice.Delivery) {
	if a.config.Notify == nil {
		return notice.Delivery{Failed: []string{"no channel is configured"}}
	}
	defer func() {
		if recover() != nil { // what it says could hold the code
			delivery = notice.Delivery{Failed: []string{"the channels failed on a defect"}}
		}
	}()
	return a.config.Notify.Notify(ctx, n)
}

// alarm adds an alert to a change.
func (a *Admission) alarm(change *ledger.Change, r interlock.Requester, code, message string) error {
	if a.config.Alert != nil {
		a.config.Alert(code, r.Agent+": "+message)
	}
	return a.append(change, interlock.EventAlert, r, "system", auditlog.AlertRecord{Code: code, Message: message})
}

// answered is the end of the challenge that waited for a request which an operator has answered: there is nothing left to give
// a code for. Nothing if there is none.
func answered(standing ledger.Standing, approval interlock.Approval) []ledger.Row {
	var ends *interlock.Challenge
	for _, c := range standing.Challenges {
		if c.Kind == interlock.ChallengeVerify && c.Request == approval.Request && c.Ended.IsZero() &&
			(ends == nil || c.ID < ends.ID) {
			c.Ended, c.Outcome, c.By, c.CodeHash = approval.At, "answered", approval.Operator, ""
			ends = &c
		}
	}
	if ends == nil {
		return nil
	}
	return ledger.Rows(*ends)
}

// Challenges returns up to limit challenges that stand, hard blocks first, ordered by id; all of them without a limit.
func (a *Admission) Challenges(ctx context.Context, limit int) (List[interlock.Challenge], error) {
	list, err := Listed[interlock.Challenge](ctx, a, ledger.Challenge, ledger.Every(limit))
	now, found := a.config.Now(), len(list.Rows)
	list.Rows = slices.DeleteFunc(list.Rows, func(c interlock.Challenge) bool {
		return c.Kind != interlock.ChallengeBlock && !now.Before(c.Expires)
	})
	list.All -= found - len(list.Rows)
	sort.Slice(list.Rows, func(i, j int) bool {
		a, b := list.Rows[i], list.Rows[j]
		if a.Kind != b.Kind {
			return a.Kind == interlock.ChallengeBlock
		}
		return a.ID < b.ID
	})
	return list, err
}

// lapse records of every verify challenge whose time has passed that nobody answered it, which counts as a failure (MCP-AQL
// 8.8.2); the action is then evaluated afresh.
func (a *Admission) lapse(ctx context.Context, now time.Time) (recorded int, err error) {
	rows, _, err := a.config.Store.Scan(ctx, under(ledger.Challenge, ledger.Pauses), ledger.UpTo(now.UnixNano(), maxAtOnce))
	if err != nil {
		return 0, err
	}
	var late []string
	for _, row := range rows {
		late = append(late, row.Key)
	}
	sort.Strings(late)
	for _, id := range late {
		_, err := a.commitOn(ctx, false, a.rows(key(ledger.Challenge, id)),
			func(standing ledger.Standing) (ledger.Change, error) {
				c, stands := standing.Challenges[id]
				if !stands || now.Before(c.Expires) {
					return ledger.Change{}, errUnchanged
				}
				change := ledger.Change{Version: standing.Version}
				c.Ended, c.Outcome, c.CodeHash = now, "expired", ""
				change.Writes = ledger.Rows(c)
				return change, a.append(&change, interlock.EventVerification, c.Requester, "system",
					auditlog.VerificationRecord{Challenge: c.ID, Result: Expired, Reason: "nobody gave the code in time"})
			})
		if errors.Is(err, errUnchanged) {
			continue
		}
		if err != nil {
			return recorded, err
		}
		recorded++
	}
	return recorded, nil
}
