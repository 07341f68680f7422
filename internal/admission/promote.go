package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// BeginShadow has a ruleset decide beside the one in force until a time, instead of any that does so now. It answers nobody, so
// it takes no order.
func (a *Admission) BeginShadow(ctx context.Context, documents map[string][]byte, until time.Time) (ledger.CandidateBody, error) {
	now := a.Config.Now().UTC().Truncate(time.Microsecond)
	body := ledger.CandidateBody{Name: ledger.CandidateKey, Documents: map[string]string{}, Began: now, Until: until.UTC()}
	size := 0
	for path, text := range documents { // order-independent: fills a map
		body.Documents[path] = string(text)
		size += len(path) + len(text)
	}
	switch {
	case a.Config.Candidate == nil:
		return body, interlock.Errorf(interlock.CodeUnavailable, "rules", "no ruleset can decide beside another here")
	case len(documents) == 0:
		return body, interlock.Errorf(interlock.CodeInvalid, "rules", "there are no YAML files with rules there")
	case size > governance.MaxCandidate:
		return body, interlock.Errorf(interlock.CodeInvalid, "rules", "they are longer than %d bytes", governance.MaxCandidate)
	case !until.After(now) || until.After(now.Add(governance.MaxShadow)):
		return body, interlock.Errorf(interlock.CodeInvalid, "until", "a candidate decides in the shadow for at most 90 days")
	}
	rules, err := a.Config.Candidate(documents)
	if err != nil {
		return body, err
	}
	if body.Ruleset = rules.Digest(); body.Ruleset == a.Active.Load().Rules.Digest() {
		return body, interlock.Errorf(interlock.CodeConflict, "rules", "this ruleset is in force already")
	}
	change := ledger.Change{Writes: []ledger.Row{{Kind: ledger.Candidate, Key: ledger.CandidateKey, Value: body}}}
	return body, a.shadowed(ctx, change, "begun", body)
}

// EndShadow has the candidate decide no more. What it decided is kept for a while.
func (a *Admission) EndShadow(ctx context.Context) (ledger.CandidateBody, error) {
	body, _, err := a.Candidate(ctx)
	if err == nil && body.Ruleset == "" {
		err = interlock.Errorf(interlock.CodeNotFound, "rules", "no ruleset decides in the shadow")
	}
	if err != nil {
		return body, err
	}
	change := ledger.Change{Writes: []ledger.Row{ledger.Ended(ledger.Candidate, ledger.CandidateKey)}}
	return body, a.shadowed(ctx, change, "stopped", body)
}

// shadowed commits a change of the candidate with its event.
func (a *Admission) shadowed(ctx context.Context, change ledger.Change, step string, body ledger.CandidateBody) error {
	digest, err := governance.DigestOfDocuments(body)
	if err != nil {
		return err
	}
	err = a.Append(&change, interlock.EventShadow, interlock.Requester{Agent: "interlock"}, "system",
		auditlog.ShadowRecord{Step: step, Ruleset: body.Ruleset, InForce: a.Active.Load().Rules.Digest(), Documents: digest,
			Until: body.Until})
	if err == nil {
		_, err = a.Config.Store.Commit(ctx, change)
	}
	a.shadow.changed()
	return err
}
