package containment

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// ProposeKill is an observer's wish to stop everything (MASO PA-2.6). It happens at once where a second observer wishes it too, or a person stops
// everything; an admin declines it by ending it. If nobody answers within the time that is set, it happens: those who would have
// to confirm may be what is wrong. A time of 0 waits for nobody.
func (a *Containment) ProposeKill(ctx context.Context, observer, why string) (ledger.HoldBody, error) {
	stands, any, err := a.Killed(ctx)
	now := a.Config.Now().UTC().Truncate(time.Microsecond)
	switch {
	case err != nil || a.Config.KillConfirm <= 0: // what can't be looked up is not waited for
		return a.Kill(ctx, ledger.KillHard, why, observer)
	case any && stands.Step(now) != ledger.KillNone:
		return stands, nil
	case any && stands.By != observer:
		return a.Kill(ctx, ledger.KillHard, "the observers "+stands.By+" and "+observer+" both ask for it: "+stands.Why, observer)
	case any:
		return stands, nil
	}
	h := ledger.Kill(ledger.KillProposed, a.Redact(why), observer, now)
	h.Deadline = now.Add(a.Config.KillConfirm)
	return a.writeKill(ctx, h)
}

// unanswered has everything stop that an observer asked for and nobody declined in time.
func (a *Containment) unanswered(ctx context.Context, asked ledger.HoldBody) error {
	_, err := a.Kill(ctx, ledger.KillHard, "nobody has declined in time what the observer "+asked.By+" asked for: "+asked.Why, asked.By)
	return err
}

// ProposalDue has a stop happen that was asked for and whose time is over, whether anybody acts meanwhile or not.
func (a *Containment) ProposalDue(ctx context.Context, now time.Time) (recorded int, err error) {
	h, any, err := a.Killed(ctx)
	if err != nil || !any || h.Mode != ledger.KillProposed || h.Step(now) == ledger.KillNone {
		return 0, err
	}
	return 1, a.unanswered(ctx, h)
}

// The bounds of what is kept when everything is stopped: a stop waits for nothing that grows.
const maxEvidence = 1000

// evidence adds to a change what stood when everything was stopped, for those who look into it (EC-ENV-24), and returns its
// digest: what is held, what counted towards breakers, what waits, and the runs that were open. It is a blob of the log, which
// the event names, so that nobody changes it unseen. Nothing is returned where it can't be gathered: stopping comes first.
func (a *Containment) evidence(ctx context.Context, change *ledger.Change, now time.Time) string {
	s := auditlog.PaceSnapshot{Schema: auditlog.PaceSchema, On: ledger.KillName, At: now.UTC(), Holds: []ledger.HoldBody{},
		Counts: []ledger.BreakerBody{}, Requests: []auditlog.PendingRequest{}, Last: []ledger.Act{}}
	for _, kind := range []struct{ of, mark string }{{ledger.Hold, ledger.All}, {ledger.Breaker, ledger.All},
		{ledger.Tally, ledger.Until}, {ledger.Run, ledger.All}, {ledger.Request, ledger.Is(interlock.RequestPending)},
		{ledger.Request, ledger.Is(interlock.RequestApproved)}} {
		rows, _, err := a.Config.Store.Scan(ctx, core.Under(kind.of, kind.mark), ledger.Every(maxEvidence))
		if err != nil {
			return ""
		}
		for _, row := range rows {
			switch value := row.Value.(type) {
			case ledger.HoldBody:
				s.Holds = append(s.Holds, value)
			case ledger.BreakerBody:
				s.Counts = append(s.Counts, value)
			case ledger.TallyBody:
				s.Last = append(s.Last, value.Last...)
			case interlock.Run:
				s.Runs = append(s.Runs, auditlog.RunState{Run: value})
			case interlock.ApprovalRequest:
				s.Requests = append(s.Requests, auditlog.PendingRequest{ID: value.ID, Agent: value.Requester.Agent,
					Action: value.Action, Status: value.Status, Created: value.Created})
			}
		}
	}
	text, err := s.Text()
	if err != nil {
		return ""
	}
	digest := auditlog.BlobDigest(text)
	change.Blobs = append(change.Blobs, ledger.Blob{Digest: digest, Text: text})
	return string(digest)
}

// named has the event that was added last name what was kept with it.
func named(change *ledger.Change, evidence string) {
	if evidence != "" {
		change.Events[len(change.Events)-1].Snapshots[auditlog.SnapshotPace] = evidence
	}
}
