package core

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// The subject and the details of an order about weak keys.
const (
	WeakKeysSubject = "this home"
	WeakKeysMay     = "they may sign"
	WeakKeysMayNot  = "they may not sign"
)

// SettingWeakKeys is where the order is kept that is in force.
const SettingWeakKeys = "weak_keys"

// WeakKeysMaySign reports whether an order is in force that lets weak keys sign. It is proved again each time.
func (a *Core) WeakKeysMaySign(ctx context.Context) (bool, error) {
	standing, err := a.Ground(ctx, Key(ledger.Setting, SettingWeakKeys))
	text := standing.Settings[SettingWeakKeys]
	if err != nil || text == "" {
		return false, err
	}
	var order interlock.Order
	if err := strictjson.DecodeTrusted([]byte(text), &order); err != nil || order.Verb != interlock.VerbWeakKeys {
		return false, nil //nolint:nilerror // what nobody can read permits nothing
	}
	if standing, err = a.Ground(ctx, Key(ledger.Operator, order.Operator)); err != nil {
		return false, err
	}
	err = quorum.OfOrder(order, interlock.Requester{}).Stands(standing.Operators[order.Operator], a.Config.Verify,
		a.Config.Now().UTC())
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		return false, nil
	}
	return err == nil && order.Detail == WeakKeysMay, err
}

// MayBeWeak refuses what a key signed that anything of its owner can use, where that is not permitted.
func (a *Core) MayBeWeak(ctx context.Context, weak string) error {
	if weak == "" || weak == interlock.WeakAgent {
		return nil
	}
	if may, err := a.WeakKeysMaySign(ctx); may || err != nil {
		return err
	}
	return interlock.Errorf(interlock.CodeUnauthorized, "key",
		"this key has no passphrase, so anything of your user can sign with it; give it one (ssh-keygen -p -f FILE), or use a "+
			"passkey or a security key")
}

// Recheck reports whether the yes of a request still counts when it is used: see [quorum.Recheck]. A weak key's counts as long as
// such keys may sign.
func (a *Core) Recheck(ctx context.Context, request interlock.ApprovalRequest, standing ledger.Standing, now time.Time) error {
	for _, approval := range []*interlock.Approval{request.First, request.Approval} {
		if approval == nil {
			continue
		}
		if err := a.MayBeWeak(ctx, approval.Weak); err != nil {
			return err
		}
	}
	if request.Ballot != nil {
		for _, vote := range request.Ballot.Votes {
			if err := a.MayBeWeak(ctx, vote.Weak); err != nil {
				return err
			}
		}
	}
	return quorum.Recheck(request, standing.Operators, standing.Agents, a.Config.Verify, now)
}
