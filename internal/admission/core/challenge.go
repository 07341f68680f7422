package core

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/notice"
)

// The bounds of a challenge.
const (
	codeTTL     = 5 * time.Minute  // of a code, if nothing else is configured (MCP-AQL 8.8.2)
	deliverTime = 20 * time.Second // for all channels together
)

// An Issued challenge is one that is about to be stored, and its code, which is not.
type Issued struct {
	Challenge interlock.Challenge
	Code      string
}

// BlockOf returns the challenge that forbids a requester everything. An agent that is registered is known by its token, so
// that giving it another owner does not lift its block; every other is known by its name and its user.
func BlockOf(standing ledger.Standing, r interlock.Requester) (block interlock.Challenge, blocked bool) {
	for _, c := range standing.Challenges { // of several, which only two processes at once can make, the first id
		if c.Kind == interlock.ChallengeBlock && c.Ended.IsZero() && Binds(c, r, standing) && (!blocked || c.ID < block.ID) {
			block, blocked = c, true
		}
	}
	return block, blocked
}

// Blocked returns the challenge that forbids a requester everything, for a door that has operations which are no action.
func Blocked(standing ledger.Standing, r interlock.Requester) (interlock.Challenge, bool) {
	return BlockOf(standing, Owned(r, standing))
}

func Binds(c interlock.Challenge, r interlock.Requester, standing ledger.Standing) bool {
	_, registered := standing.Agents[r.Agent]
	return c.Binds(r) || registered && c.Requester.Agent == r.Agent
}

// Verifying returns the verify challenge that pauses a requester: one that nobody has answered and that has not expired,
// whichever process gave it. An agent that starts its own server could end that process; the pause is in the ledger, with
// what verifies its code and not the code (MCP-AQL 8.6.4). It does not keep a new execution from starting (8.8.3).
func Verifying(standing ledger.Standing, r interlock.Requester, now time.Time) (pause interlock.Challenge, paused bool) {
	for _, c := range standing.Challenges {
		if c.Kind == interlock.ChallengeVerify && c.Ended.IsZero() && now.Before(c.Expires) &&
			Binds(c, r, standing) && (!paused || c.ID < pause.ID) {
			pause, paused = c, true
		}
	}
	return pause, paused
}

// Denied reports whether a pattern of the ruleset's policy, or of the agent's own, denies.
func Denied(d interlock.Decision) bool {
	for n := range d.Findings {
		f := &d.Findings[n]
		if gate.Of(f).Patterns && (f.Verdict == interlock.Deny || f.Verdict == interlock.Halt) {
			return true
		}
	}
	return false
}

// Owes reports whether a decision waits for a human's fresh code.
func Owes(d interlock.Decision) bool {
	for _, o := range d.Obligations {
		if o.Type == interlock.ObligationVerify {
			return true
		}
	}
	return false
}

// Recode gives a challenge a fresh code in place of the one it had.
func (a *Core) Recode(c *interlock.Challenge, now time.Time) (code string, err error) {
	if code, err = NewCode(a.Config.Random); err != nil {
		return "", err
	}
	c.CodeHash, c.Issued, c.Expires, c.Channels, c.Order = CodeHash(c.ID, code), now, now.Add(a.Config.CodeTTL), nil, ""
	return code, nil
}

// Tell takes a code to humans and records who took it, and who did not. The challenge holds whether or not anybody could be
// told: an operator can always have a new code issued, or lift a block.
func (a *Core) Tell(ctx context.Context, i Issued) []string {
	c := i.Challenge
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliverTime)
	defer cancel()
	severity := interlock.TierVerify
	if c.Kind == interlock.ChallengeBlock {
		severity = interlock.TierDangerZone
	}
	delivery := a.notify(ctx, notice.Notice{Severity: severity, Kind: string(c.Kind), Challenge: c.ID, Request: c.Request,
		Requester: c.Requester, Rule: c.Rule, Reason: c.Reason, Display: c.Display, Code: notice.Secret(i.Code),
		Expires: c.Expires})
	_, err := a.CommitOn(ctx, false, a.Rows(Key(ledger.Challenge, c.ID)),
		func(standing ledger.Standing) (ledger.Change, error) {
			change := ledger.Change{Version: standing.Version}
			stored, stands := standing.Challenges[c.ID]
			if stands && stored.CodeHash == c.CodeHash {
				stored.Channels = delivery.Channels
				change.Writes, c = ledger.Rows(stored), stored
			}
			c.Channels = delivery.Channels
			if err := a.Append(&change, interlock.EventChallenge, c.Requester, "system",
				auditlog.ChallengeRecord{Challenge: c, Failed: delivery.Failed}); err != nil {
				return change, err
			}
			if len(delivery.Channels) > 0 {
				return change, nil
			}
			return change, a.Raise(&change, c.Requester, "code-undelivered",
				"a code reached nobody; an operator can have one shown, or an admin can lift the block")
		})
	if err == nil { // opening a challenge clears away those that are overdue, so that they don't pile up without a server
		_, err = a.Lapse(ctx, a.Config.Now().UTC())
	}
	if err != nil && a.Config.Alert != nil {
		a.Config.Alert("code-unrecorded", "where a code went, or that another has lapsed, could not be recorded")
	}
	return delivery.Channels
}

// Answered is the end of the challenge that waited for a request which an operator has answered: there is nothing left to give
// a code for. Nothing if there is none.
func Answered(standing ledger.Standing, approval interlock.Approval) []ledger.Row {
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
func (a *Core) Challenges(ctx context.Context, limit int) (List[interlock.Challenge], error) {
	list, err := Listed[interlock.Challenge](ctx, a, ledger.Challenge, ledger.Every(limit))
	now, found := a.Config.Now(), len(list.Rows)
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

// Lapse records of every verify challenge whose time has passed that nobody answered it, which counts as a failure (MCP-AQL
// 8.8.2); the action is then evaluated afresh.
func (a *Core) Lapse(ctx context.Context, now time.Time) (recorded int, err error) {
	rows, _, err := a.Config.Store.Scan(ctx, Under(ledger.Challenge, ledger.Pauses), ledger.UpTo(now.UnixNano(), MaxAtOnce))
	if err != nil {
		return 0, err
	}
	var late []string
	for _, row := range rows {
		late = append(late, row.Key)
	}
	sort.Strings(late)
	for _, id := range late {
		_, err := a.CommitOn(ctx, false, a.Rows(Key(ledger.Challenge, id)),
			func(standing ledger.Standing) (ledger.Change, error) {
				c, stands := standing.Challenges[id]
				if !stands || now.Before(c.Expires) {
					return ledger.Change{}, ErrUnchanged
				}
				change := ledger.Change{Version: standing.Version}
				c.Ended, c.Outcome, c.CodeHash = now, "expired", ""
				change.Writes = ledger.Rows(c)
				return change, a.Append(&change, interlock.EventVerification, c.Requester, "system",
					auditlog.VerificationRecord{Challenge: c.ID, Result: Expired, Reason: "nobody gave the code in time"})
			})
		if errors.Is(err, ErrUnchanged) {
			continue
		}
		if err != nil {
			return recorded, err
		}
		recorded++
	}
	return recorded, nil
}

// A code is 160 random bits in Crockford's base32, in groups of four: long enough that nobody guesses it, and read out or
// typed without mistaking one letter for another (MCP-AQL 8.8.2 wants 128 bits).
const (
	CodeBytes    = 20
	CodeLength   = CodeBytes * 8 / 5
	codeGroup    = 4
	CodeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// NewCode returns a fresh code as a human is shown it.
func NewCode(random io.Reader) (string, error) {
	raw := make([]byte, CodeBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	var b strings.Builder
	bits, held := 0, uint(0)
	for _, next := range raw {
		bits, held = bits+8, held<<8|uint(next)
		for bits >= 5 {
			bits -= 5
			b.WriteByte(CodeAlphabet[held>>bits&31])
		}
		held &= 1<<bits - 1
	}
	return Grouped(b.String()), nil
}

func Grouped(code string) string {
	var groups []string
	for i := 0; i < len(code); i += codeGroup {
		groups = append(groups, code[i:i+codeGroup])
	}
	return strings.Join(groups, "-")
}

// CodeOf reads what somebody typed: in either case, with or without spaces and hyphens, O for 0, I and L for 1. Anything
// that is no code then is not one.
func CodeOf(typed string) (code string, ok bool) {
	if len(typed) > 4*CodeLength {
		return "", false
	}
	var b strings.Builder
	for _, r := range strings.ToUpper(typed) {
		switch {
		case r == ' ' || r == '-' || r == '\t' || r == '\n' || r == '\r':
			continue
		case r == 'O':
			r = '0'
		case r == 'I' || r == 'L':
			r = '1'
		}
		if r > 'Z' || !strings.ContainsRune(CodeAlphabet, r) {
			return "", false
		}
		b.WriteRune(r)
	}
	return b.String(), b.Len() == CodeLength
}

// CodeHash is what is stored of a code: a hash that is worth nothing for any other challenge.
func CodeHash(challenge, code string) string {
	plain, _ := CodeOf(code)
	sum := sha256.Sum256([]byte("interlock/code/v1\n" + challenge + "\n" + plain))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Matches compares in constant time, whether or not there is a code to compare with.
func Matches(hash, challenge, code string) bool {
	return subtle.ConstantTimeCompare([]byte(hash), []byte(CodeHash(challenge, code))) == 1 && hash != ""
}

// NewUUID returns a random UUID (version 4).
func NewUUID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:], nil
}

// How a verification ends.
const (
	Passed  = "passed"
	Wrong   = "wrong"
	Expired = "expired"
	Unknown = "unknown" // no such challenge, another agent's, or no code: nobody learns which
	Limited = "limited" // the answer was not looked at
)
