package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// Requests returns up to limit requests that still wait for a human or to be spent, those that expire first, ordered by id;
// without a limit all of them.
func (a *Admission) Requests(ctx context.Context, limit int) (List[interlock.ApprovalRequest], error) {
	live, err := Listed[interlock.ApprovalRequest](ctx, a, ledger.Request, ledger.From(a.config.Now().UnixNano()+1, limit))
	sortRequests(live.Rows)
	return live, err
}

// Ground returns what refs name of what stands, as it is now, and the version of the ledger.
func (a *Admission) Ground(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error) {
	g, err := a.rows(refs...)(ctx, a.config.Store.Load)
	return g.Standing, err
}

// Known is Ground as this process last saw it: what it has committed itself at once, what others have a few milliseconds
// late; see [Store].
func (a *Admission) Known(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error) {
	g, err := a.rows(refs...)(ctx, a.config.Store.Recall)
	return g.Standing, err
}

// Resolve records one operator's signed answer to a request, in the same transaction as the answer takes effect. An
// answer that does not count (wrong key, own request, expired, already answered) changes nothing, is recorded as
// APPROVAL_REFUSED and comes back as an *interlock.Error.
func (a *Admission) Resolve(ctx context.Context, approval interlock.Approval) (ledger.Receipt, error) {
	approval.At = a.config.Now().UTC()
	about := func(standing ledger.Standing) interlock.Requester {
		return standing.Requests[approval.Request].Requester
	}
	on := a.said(approval.Operator, about, key(ledger.Request, approval.Request),
		under(ledger.Challenge, ledger.Waits(approval.Request)))
	receipt, err := a.commit(ctx, on, func(standing ledger.Standing) (ledger.Change, error) {
		request, known := standing.Requests[approval.Request]
		if !known {
			return ledger.Change{}, interlock.Errorf(interlock.CodeNotFound, "id",
				"no pending request has this id; `interlock pending` lists them")
		}
		if err := a.shown(ctx, request, approval); err != nil {
			return ledger.Change{}, err
		}
		if err := quorum.Check(request, approval, standing.Operators, standing.Agents, a.config.Verify, approval.At); err != nil {
			return ledger.Change{}, err
		}
		if err := a.mayBeWeak(ctx, approval.Weak); err != nil {
			return ledger.Change{}, err
		}
		record := auditlog.ApprovalRecord{Request: request, Approval: approval,
			Proved: quorum.Proves(standing.Operators[approval.Operator], approval.Method)}
		payload, err := record.Payload()
		if err != nil {
			return ledger.Change{}, fmt.Errorf("encoding the approval: %w", err)
		}
		draft, err := a.draft(interlock.EventApproval, request.Requester, "operator", payload)
		if err != nil {
			return ledger.Change{}, err
		}
		draft.Actor = approval.Operator
		return ledger.Change{Version: standing.Version, Events: []ledger.Draft{draft},
			Writes: slices.Concat(ledger.Rows(request.Answered(approval)), usesAnswered(request.Answered(approval)),
				answered(standing, approval))}, nil
	})
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		if _, recordErr := a.RefuseApproval(ctx, "operator", approval.Operator, approval.Request, refusal); recordErr != nil {
			return receipt, fmt.Errorf("%w (and the attempt could not be recorded)", err)
		}
	}
	return receipt, err
}

// RefuseApproval records an attempt to answer a request that did not count, or that came from somebody who may never
// answer, such as an agent's credential on an approval endpoint.
func (a *Admission) RefuseApproval(ctx context.Context, role, actor, request string, cause error) (ledger.Receipt, error) {
	if actor == "" {
		actor = interlock.NoName
	}
	if a.config.Alert != nil {
		a.config.Alert("approval-refused", actor+": "+reason(cause))
	}
	record := auditlog.RefusalRecord{Door: "approval", Code: code(cause), Reason: reason(cause), Request: request}
	return a.event(ctx, interlock.EventApprovalRefused, interlock.Requester{Agent: actor}, role, record)
}

// PutAgent adds, replaces or revokes an agent and records it, on nobody's order: for tests and demonstrations. No door leads here.
func (a *Admission) PutAgent(ctx context.Context, agent interlock.AgentRecord) error {
	_, err := a.commit(ctx, a.identity(agent.ID), func(standing ledger.Standing) (ledger.Change, error) {
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
func (a *Admission) PutOperator(ctx context.Context, operator interlock.OperatorRecord) error {
	_, err := a.commit(ctx, a.identity(operator.Name), func(standing ledger.Standing) (ledger.Change, error) {
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
func (a *Admission) UpdateOperator(ctx context.Context, name string, change func(*interlock.OperatorRecord) error) error {
	on := a.rows(key(ledger.Operator, name), key(ledger.Setting, settingRegistry))
	return a.updateOperator(ctx, on, name, change)
}

// RegisterPasskey is UpdateOperator of one who gets a passkey, which nobody may have yet: one passkey is one person. allow says
// whether the operator gets it at all, before anybody is told that it is taken; its operator, whoever else is registered meanwhile,
// is looked at again.
func (a *Admission) RegisterPasskey(ctx context.Context, name string, passkey interlock.Passkey,
	allow func(*interlock.OperatorRecord) error) error {
	on := a.rows(key(ledger.Operator, name), key(ledger.Setting, settingRegistry)).also(under(ledger.Operator, ledger.All))
	return a.updateOperator(ctx, on, name, func(o *interlock.OperatorRecord) error {
		if err := allow(o); err != nil {
			return err
		}
		taken := false
		err := Walk(ctx, a, ledger.Operator, func(other interlock.OperatorRecord) bool {
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

func (a *Admission) updateOperator(ctx context.Context, on grounds, name string,
	change func(*interlock.OperatorRecord) error) error {
	_, err := a.commit(ctx, on, func(standing ledger.Standing) (ledger.Change, error) {
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
func (a *Admission) identity(name string) grounds {
	return a.rows(key(ledger.Agent, name), key(ledger.Operator, name), key(ledger.Setting, settingRegistry))
}

func (a *Admission) identityChange(standing ledger.Standing, record auditlog.IdentityRecord, name string,
	change ledger.Change) (ledger.Change, error) {
	payload, err := record.Payload()
	if err != nil {
		return change, fmt.Errorf("encoding the identity: %w", err)
	}
	draft, err := a.draft(interlock.EventIdentity, interlock.Requester{Agent: name}, "system", payload)
	if err != nil {
		return change, err
	}
	if err := a.registered(&change, standing, &draft); err != nil {
		return change, err
	}
	change.Version, change.Events = standing.Version, []ledger.Draft{draft}
	return change, nil
}
