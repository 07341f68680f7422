package governance

import (
	"context"
	"errors"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// Screened records what became of a text, and where its risky parts wait for a review asks the council for that in the same change, of
// which people are told (MACE 3.2). A text may go on as it was classified once this has returned without an error, and not before.
// Where nobody can review it, its parts stay out all the same.
func (a *Governance) Screened(ctx context.Context, s messages.Screening) (out messages.Screened, err error) {
	record, err := a.Messages.TextRecord(&s)
	if err != nil {
		return out, err
	}
	var receipt ledger.Receipt
	if s.Classification == string(classify.Review) {
		receipt, err = a.toReview(ctx, &s, &record)
	} else {
		var change ledger.Change
		if err := a.Messages.WriteScreened(&change, &s, record); err != nil {
			return out, err
		}
		receipt, err = a.Config.Store.Commit(ctx, change)
	}
	if err != nil {
		return out, err
	}
	return messages.Screened{Event: receipt.Events[0], Review: record.Request, Unreviewed: record.Unreviewed}, nil
}

// toReview records a text whose risky parts are left out, with the request for their review. A text that waits already, of the same run,
// opens no second request; nor does one of an agent of which too many wait.
func (a *Governance) toReview(ctx context.Context, s *messages.Screening, record *auditlog.TextRecord) (ledger.Receipt, error) {
	terms := RequestTerms{Target: "text:" + record.Hash, Params: "rule " + s.Rule + " of " + s.Ruleset}
	if s.About != "" {
		terms.Evidence = []string{s.About}
	}
	waits, err := a.reviewOfText(ctx, terms)
	if err != nil {
		return ledger.Receipt{}, err
	}
	many, err := a.waitingOf(ctx, s.Requester.Agent)
	if err != nil {
		return ledger.Receipt{}, err
	}
	why := s.Where + ": " + s.Why + "; its risky parts are left out until the council releases them"
	refs := append(everybody(), core.Key(ledger.Agent, s.Requester.Agent))
	return a.CommitOn(ctx, false, a.Rows(refs...), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		var r interlock.ActionRequest
		record.Request, record.Unreviewed = waits, ""
		if waits == "" {
			var err error
			var refusal *interlock.Error
			if many >= maxPending {
				err = tooMany(many)
			} else {
				r, err = a.ask(&standing, quorum.ActTextReview, terms, why, core.Owned(s.Requester, standing), "agent", a.Config.Now().UTC())
			}
			if errors.As(err, &refusal) {
				record.Unreviewed = "nobody reviews it: " + refusal.Message
			} else if err != nil {
				return change, err
			} else {
				record.Request = r.ID
			}
		}
		if err := a.Messages.WriteScreened(&change, s, *record); err != nil || record.Request == "" || record.Request == waits {
			return change, err
		}
		return change, a.asked(&change, r, "agent", nil)
	})
}

// reviewOfText is the request that waits for the review of just this text, or nothing.
func (a *Governance) reviewOfText(ctx context.Context, terms RequestTerms) (string, error) {
	digest, err := quorum.ActionDigest(interlock.GovernedAction{Type: quorum.ActTextReview, Target: terms.Target, Params: terms.Params})
	if err != nil {
		return "", err
	}
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.ActionRequest, ledger.ActionFor(digest)), ledger.Every(maxPending))
	if err != nil {
		return "", err
	}
	for _, row := range rows {
		if r, ok := row.Value.(interlock.ActionRequest); ok && r.Status == interlock.ActionPending && a.Config.Now().Before(r.Ballot.Closes) {
			return r.ID, nil
		}
	}
	return "", nil
}

// waitingOf counts the requests of one agent that wait, or are to be carried out.
func (a *Governance) waitingOf(ctx context.Context, agent string) (int, error) {
	return a.Config.Store.Count(ctx, core.Under(ledger.ActionRequest, ledger.ActionBy(agent)), ledger.Every(maxPending))
}

func tooMany(waiting int) error {
	return interlock.Errorf(interlock.CodeLimited, "", "%d requests of this agent wait already", waiting)
}
