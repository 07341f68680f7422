package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// A key that any process of its owner can use proves no person, so it signs nothing here. One home may be told otherwise, by an order
// that a person proved; what was signed so is marked. Only the program that signs sees what a key lacks, so this keeps people from it
// and not an attacker who has the key: see docs/threat-model.md.

// The subject and the details of an order about weak keys.
const (
	WeakKeysSubject = "this home"
	WeakKeysMay     = "they may sign"
	WeakKeysMayNot  = "they may not sign"
)

// settingWeakKeys is where the order stands that is in force.
const settingWeakKeys = "weak_keys"

func readWeakKeys(interlock.Order) []ledger.Ref {
	return []ledger.Ref{key(ledger.Setting, settingWeakKeys), key(ledger.Setting, settingRegistry)}
}

// setWeakKeys says whether weak keys may sign from now on.
func (a *Admission) setWeakKeys(_ context.Context, c *carrying) error {
	if c.Subject != WeakKeysSubject || c.Detail != WeakKeysMay && c.Detail != WeakKeysMayNot {
		return interlock.Errorf(interlock.CodeInvalid, "detail", "the order says neither that weak keys may sign nor that they may not")
	}
	text, err := json.Marshal(c.Order)
	if err != nil {
		return fmt.Errorf("encoding the order: %w", err)
	}
	return a.identified(c, auditlog.IdentityRecord{WeakKeys: true}, ledger.Settings(map[string]string{settingWeakKeys: string(text)}))
}

// WeakKeysMaySign reports whether an order is in force that lets weak keys sign. It is proved again each time.
func (a *Admission) WeakKeysMaySign(ctx context.Context) (bool, error) {
	standing, err := a.Ground(ctx, key(ledger.Setting, settingWeakKeys))
	text := standing.Settings[settingWeakKeys]
	if err != nil || text == "" {
		return false, err
	}
	var order interlock.Order
	if err := strictjson.DecodeTrusted([]byte(text), &order); err != nil || order.Verb != interlock.VerbWeakKeys {
		return false, nil //nolint:nilerror // what nobody can read permits nothing
	}
	if standing, err = a.Ground(ctx, key(ledger.Operator, order.Operator)); err != nil {
		return false, err
	}
	err = quorum.OfOrder(order, interlock.Requester{}).Stands(standing.Operators[order.Operator], a.config.Verify,
		a.config.Now().UTC())
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		return false, nil
	}
	return err == nil && order.Detail == WeakKeysMay, err
}

// mayBeWeak refuses what a key signed that anything of its owner can use, where that is not permitted.
func (a *Admission) mayBeWeak(ctx context.Context, weak string) error {
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

// recheck reports whether the yes of a request still counts when it is used: see [quorum.Recheck]. A weak key's counts as long as such
// keys may sign.
func (a *Admission) recheck(ctx context.Context, request interlock.ApprovalRequest, standing ledger.Standing, now time.Time) error {
	for _, approval := range []*interlock.Approval{request.First, request.Approval} {
		if approval == nil {
			continue
		}
		if err := a.mayBeWeak(ctx, approval.Weak); err != nil {
			return err
		}
	}
	if request.Ballot != nil {
		for _, vote := range request.Ballot.Votes {
			if err := a.mayBeWeak(ctx, vote.Weak); err != nil {
				return err
			}
		}
	}
	return quorum.Recheck(request, standing.Operators, standing.Agents, a.config.Verify, now)
}
