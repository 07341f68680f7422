package governance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// Resolve records one operator's signed answer to a request, in the same transaction as the answer takes effect. An
// answer that does not count (wrong key, own request, expired, already answered) changes nothing, is recorded as
// APPROVAL_REFUSED and comes back as an *interlock.Error.
func (a *Governance) Resolve(ctx context.Context, approval interlock.Approval) (ledger.Receipt, error) {
	approval.At = a.Config.Now().UTC()
	about := func(standing ledger.Standing) interlock.Requester {
		return standing.Requests[approval.Request].Requester
	}
	on := a.OperatorOrder(approval.Operator, about, core.Key(ledger.Request, approval.Request),
		core.Under(ledger.Challenge, ledger.Waits(approval.Request)))
	receipt, err := a.Commit(ctx, on, func(standing ledger.Standing) (ledger.Change, error) {
		request, known := standing.Requests[approval.Request]
		if !known {
			return ledger.Change{}, interlock.Errorf(interlock.CodeNotFound, "id",
				"no pending request has this id; `interlock pending` lists them")
		}
		if err := a.shown(ctx, request, approval); err != nil {
			return ledger.Change{}, err
		}
		if err := quorum.Check(request, approval, standing.Operators, standing.Agents, a.Config.Verify, approval.At); err != nil {
			return ledger.Change{}, err
		}
		if err := a.MayBeWeak(ctx, approval.Weak); err != nil {
			return ledger.Change{}, err
		}
		record := auditlog.ApprovalRecord{Request: request, Approval: approval,
			Proved: quorum.Proves(standing.Operators[approval.Operator], approval.Method)}
		payload, err := record.Payload()
		if err != nil {
			return ledger.Change{}, fmt.Errorf("encoding the approval: %w", err)
		}
		draft, err := a.Draft(interlock.EventApproval, request.Requester, "operator", payload)
		if err != nil {
			return ledger.Change{}, err
		}
		draft.Actor = approval.Operator
		return ledger.Change{Version: standing.Version, Events: []ledger.Draft{draft},
			Writes: slices.Concat(ledger.Rows(request.Answered(approval)), core.UsesAnswered(request.Answered(approval)),
				core.Answered(standing, approval))}, nil
	})
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		if _, recordErr := a.RefuseApproval(ctx, "operator", approval.Operator, approval.Request, refusal); recordErr != nil {
			return receipt, fmt.Errorf("%w (and the attempt could not be recorded)", err)
		}
	}
	return receipt, err
}

// PutAgent adds, replaces or revokes an agent and records it, on nobody's order: for tests and demonstrations. No door leads here.
func (a *Governance) PutAgent(ctx context.Context, agent interlock.AgentRecord) error {
	_, err := a.Commit(ctx, a.identity(agent.ID), func(standing ledger.Standing) (ledger.Change, error) {
		if _, taken := standing.Operators[agent.ID]; taken {
			return ledger.Change{}, interlock.Errorf(interlock.CodeConflict, "name",
				"an operator has this name; no identity is both")
		}
		return a.identityChange(standing, auditlog.IdentityRecord{Agent: &agent}, agent.ID,
			ledger.Change{Writes: ledger.Rows(agent)})
	})
	return err
}

// PutOperator adds, replaces or revokes an operator and records it, on nobody's order: for tests and demonstrations. No door leads here.
func (a *Governance) PutOperator(ctx context.Context, operator interlock.OperatorRecord) error {
	_, err := a.Commit(ctx, a.identity(operator.Name), func(standing ledger.Standing) (ledger.Change, error) {
		if _, taken := standing.Agents[operator.Name]; taken {
			return ledger.Change{}, interlock.Errorf(interlock.CodeConflict, "name",
				"an agent has this name; no identity is both")
		}
		return a.identityChange(standing, auditlog.IdentityRecord{Operator: &operator}, operator.Name,
			ledger.Change{Writes: ledger.Rows(operator)})
	})
	return err
}

// UpdateOperator changes what is known of an operator and records it: what the console sees of their own passkeys. change sees the
// operator as it is in the transaction that takes effect, so that nothing that happens meanwhile is undone; what it refuses changes nothing.
func (a *Governance) UpdateOperator(ctx context.Context, name string, change func(*interlock.OperatorRecord) error) error {
	on := a.Rows(core.Key(ledger.Operator, name), core.Key(ledger.Setting, core.SettingRegistry))
	return a.updateOperator(ctx, on, name, change)
}

// RegisterPasskey is UpdateOperator of one who gets a passkey, which nobody may have yet: one passkey is one person. allow says
// whether the operator gets it at all, before anybody is told that it is taken; its operator, no matter who else is registered
// meanwhile, is looked at again.
func (a *Governance) RegisterPasskey(ctx context.Context, name string, passkey interlock.Passkey,
	allow func(*interlock.OperatorRecord) error) error {
	on := a.Rows(core.Key(ledger.Operator, name), core.Key(ledger.Setting, core.SettingRegistry)).Also(core.Under(ledger.Operator,
		ledger.All))
	return a.updateOperator(ctx, on, name, func(o *interlock.OperatorRecord) error {
		if err := allow(o); err != nil {
			return err
		}
		taken := false
		err := core.Walk(ctx, a, ledger.Operator, func(other interlock.OperatorRecord) bool {
			taken = slices.ContainsFunc(other.Passkeys, func(known interlock.Passkey) bool {
				return known.ID == passkey.ID || known.PublicKey == passkey.PublicKey
			})
			return !taken
		})
		if err != nil {
			return fmt.Errorf("reading the operators: %w", err)
		}
		if taken {
			return interlock.Errorf(interlock.CodeConflict, "passkey",
				"this passkey is registered already; one passkey is one person")
		}
		o.Passkeys = append(o.Passkeys, passkey)
		return nil
	})
}

func (a *Governance) updateOperator(ctx context.Context, on core.RowLoader, name string,
	change func(*interlock.OperatorRecord) error) error {
	_, err := a.Commit(ctx, on, func(standing ledger.Standing) (ledger.Change, error) {
		operator, known := standing.Operators[name]
		if !known {
			return ledger.Change{}, interlock.Errorf(interlock.CodeNotFound, "name", "no operator has this name")
		}
		operator.Passkeys = slices.Clone(operator.Passkeys)
		if err := change(&operator); err != nil {
			return ledger.Change{}, err
		}
		return a.identityChange(standing, auditlog.IdentityRecord{Operator: &operator}, operator.Name,
			ledger.Change{Writes: ledger.Rows(operator)})
	})
	return err
}

// identity is the ground of a change of who has a name.
func (a *Governance) identity(name string) core.RowLoader {
	return a.Rows(core.Key(ledger.Agent, name), core.Key(ledger.Operator, name), core.Key(ledger.Setting, core.SettingRegistry))
}

func (a *Governance) identityChange(standing ledger.Standing, record auditlog.IdentityRecord, name string,
	change ledger.Change) (ledger.Change, error) {
	payload, err := record.Payload()
	if err != nil {
		return change, fmt.Errorf("encoding the identity: %w", err)
	}
	draft, err := a.Draft(interlock.EventIdentity, interlock.Requester{Agent: name}, "system", payload)
	if err != nil {
		return change, err
	}
	if err := a.registered(&change, standing, &draft); err != nil {
		return change, err
	}
	change.Version, change.Events = standing.Version, []ledger.Draft{draft}
	return change, nil
}
