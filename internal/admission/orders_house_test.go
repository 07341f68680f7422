package admission_test

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// What operators do by one kind of order, as the doors do it.

func (h *house) NewCode(ctx context.Context, o interlock.Order) (string, time.Time, error) {
	done, err := h.CarryOut(ctx, quorum.OfOrder(o, interlock.Requester{}), interlock.VerbNewCode)
	return done.Code, done.Expires, err
}

func (h *house) Unblock(ctx context.Context, o interlock.Order) (ledger.Receipt, error) {
	done, err := h.CarryOut(ctx, quorum.OfOrder(o, interlock.Requester{}), interlock.VerbUnblock)
	return done.Receipt, err
}

func (h *house) ChangeTrust(ctx context.Context, o interlock.Order) (ledger.Receipt, error) {
	done, err := h.CarryOut(ctx, quorum.OfOrder(o, interlock.Requester{}), interlock.VerbPromote, interlock.VerbDemote)
	return done.Receipt, err
}

func (h *house) ChangePins(ctx context.Context, o interlock.Order) (ledger.Receipt, error) {
	done, err := h.CarryOut(ctx, quorum.OfOrder(o, interlock.Requester{}), interlock.VerbApproveTool, interlock.VerbQuarantineTool,
		interlock.VerbSignTools)
	return done.Receipt, err
}

func (h *house) PromoteRules(ctx context.Context, o interlock.Order) (ledger.CandidateBody, ledger.Receipt, error) {
	done, err := h.CarryOut(ctx, quorum.OfOrder(o, interlock.Requester{}), interlock.VerbPromoteRules)
	return done.Candidate, done.Receipt, err
}

func (h *house) EndGrant(ctx context.Context, id, operator, why string) (ledger.Receipt, error) {
	return h.end(ctx, interlock.VerbEndGrant, id, operator, why)
}

func (h *house) Lift(ctx context.Context, id, operator, why string) (ledger.Receipt, error) {
	return h.end(ctx, interlock.VerbLift, id, operator, why)
}

func (h *house) end(ctx context.Context, verb interlock.Verb, id, operator, why string) (ledger.Receipt, error) {
	o := interlock.Order{ID: "ord_end", Verb: verb, Subject: id, Operator: operator, Reason: why, At: h.now, Expires: h.now.Add(time.Minute)}
	given := quorum.OfOrder(o, interlock.Requester{}).Signed(interlock.MethodSSH, "fingerprint of "+operator+"'s", operator+"'s")
	done, err := h.CarryOut(ctx, given, verb)
	return done.Receipt, err
}

func (h *house) Grant(ctx context.Context, g interlock.Grant) (ledger.Receipt, error) {
	done, err := h.CarryOut(ctx, quorum.OfGrant(g))
	return done.Receipt, err
}

func (h *house) Suppress(ctx context.Context, s interlock.Suppression) (ledger.Receipt, error) {
	done, err := h.CarryOut(ctx, quorum.OfSuppression(s))
	return done.Receipt, err
}
