package admission

import (
	"context"
	"path"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// The bounds of a candidate.
const (
	maxCandidate = 1 << 20 // bytes of its documents
	MaxShadow    = 90 * 24 * time.Hour
)

// Candidate returns the ruleset that decides beside the one in force; without one its Ruleset is empty.
func (a *Admission) Candidate(ctx context.Context) (ledger.CandidateBody, int64, error) {
	rows, version, err := a.config.Store.Load(ctx, key(ledger.Candidate, ledger.CandidateKey))
	if err != nil || len(rows) == 0 {
		return ledger.CandidateBody{}, version, err
	}
	body, _ := rows[0].Value.(ledger.CandidateBody)
	return body, version, nil
}

// Shadow returns what a candidate decided otherwise than the ruleset in force; nothing if it has decided nothing.
func (a *Admission) Shadow(ctx context.Context, candidate interlock.Digest) (ledger.ShadowBody, error) {
	rows, _, err := a.config.Store.Load(ctx, key(ledger.Shadow, string(candidate)))
	if err != nil || len(rows) == 0 {
		return ledger.ShadowBody{Ruleset: candidate}, err
	}
	body, _ := rows[0].Value.(ledger.ShadowBody)
	return body, nil
}

// candidateRules makes a candidate's ruleset and holds it against the digest that names it.
func (a *Admission) candidateRules(body ledger.CandidateBody) (*ruleset.Ruleset, error) {
	documents := map[string][]byte{}
	for name, text := range body.Documents { // any order: one that is none of rules is enough
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" { // the digest is not over names, and a rules directory reads no others
			return nil, interlock.Errorf(interlock.CodeConflict, "ruleset",
				"the candidate in the store holds %.60q, which is no name of a file of rules; begin its shadow anew", name)
		}
		documents[name] = []byte(text)
	}
	rules, err := a.config.Candidate(documents)
	if err != nil {
		return nil, err
	}
	if rules.Digest() != body.Ruleset {
		return nil, interlock.Errorf(interlock.CodeConflict, "ruleset",
			"the candidate is another ruleset than it was: the program's own rules, or the store, have changed since; "+
				"begin its shadow anew")
	}
	return rules, nil
}

// BeginShadow has a ruleset decide beside the one in force until a time, instead of any that does so now. It answers nobody, so
// it takes no order.
func (a *Admission) BeginShadow(ctx context.Context, documents map[string][]byte, until time.Time) (ledger.CandidateBody, error) {
	now := a.config.Now().UTC().Truncate(time.Microsecond)
	body := ledger.CandidateBody{Name: ledger.CandidateKey, Documents: map[string]string{}, Began: now, Until: until.UTC()}
	size := 0
	for path, text := range documents { // order-independent: fills a map
		body.Documents[path] = string(text)
		size += len(path) + len(text)
	}
	switch {
	case a.config.Candidate == nil:
		return body, interlock.Errorf(interlock.CodeUnavailable, "rules", "no ruleset can decide beside another here")
	case len(documents) == 0:
		return body, interlock.Errorf(interlock.CodeInvalid, "rules", "there are no YAML files with rules there")
	case size > maxCandidate:
		return body, interlock.Errorf(interlock.CodeInvalid, "rules", "they are longer than %d bytes", maxCandidate)
	case !until.After(now) || until.After(now.Add(MaxShadow)):
		return body, interlock.Errorf(interlock.CodeInvalid, "until", "a candidate decides in the shadow for at most 90 days")
	}
	rules, err := a.config.Candidate(documents)
	if err != nil {
		return body, err
	}
	if body.Ruleset = rules.Digest(); body.Ruleset == a.force.Load().Rules.Digest() {
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
	digest, err := documentsDigest(body)
	if err != nil {
		return err
	}
	err = a.append(&change, interlock.EventShadow, interlock.Requester{Agent: "interlock"}, "system",
		auditlog.ShadowRecord{Step: step, Ruleset: body.Ruleset, InForce: a.force.Load().Rules.Digest(), Documents: digest,
			Until: body.Until})
	if err == nil {
		_, err = a.config.Store.Commit(ctx, change)
	}
	a.shadow.changed()
	return err
}

// documentsDigest names an operator's documents.
func documentsDigest(body ledger.CandidateBody) (interlock.Digest, error) {
	return DocumentsDigest(body.Documents)
}

// promoteRules puts the candidate into force, on an order that names both rulesets, so that what was looked at is what changes:
// the caller puts its documents where the rules are read from, and every process that starts then decides by them. It is
// refused where the candidate is another one now, and where it would loosen what denies: that takes more than having been
// watched for a while.
func (a *Admission) promoteRules(ctx context.Context, c *carrying) (err error) {
	if c.done.Candidate, err = a.promotable(ctx, c.Order); err != nil {
		return err
	}
	rules, err := a.candidateRules(c.done.Candidate)
	if err == nil {
		err = a.reclassifies(ctx, c, rules)
	}
	if err != nil {
		return err
	}
	c.change.Writes = append(c.change.Writes, ledger.Ended(ledger.Candidate, ledger.CandidateKey))
	return a.ordersRules(c, rules, c.done.Candidate.Documents)
}

// promotable returns the candidate that an order is about, if it is as the order says and may be put into force.
func (a *Admission) promotable(ctx context.Context, order interlock.Order) (ledger.CandidateBody, error) {
	body, _, err := a.Candidate(ctx)
	switch {
	case err != nil:
		return body, err
	case body.Ruleset == "" || a.config.Candidate == nil:
		return body, interlock.Errorf(interlock.CodeNotFound, "subject", "no ruleset decides in the shadow")
	case order.Subject != string(body.Ruleset):
		return body, interlock.Errorf(interlock.CodeConflict, "subject",
			"another ruleset decides in the shadow now; look at it and give the order anew")
	case order.Detail != string(a.force.Load().Rules.Digest()):
		return body, interlock.Errorf(interlock.CodeConflict, "detail",
			"another ruleset is in force than the order is to replace; look again and give the order anew")
	}
	rules, err := a.candidateRules(body)
	if err != nil {
		return body, err
	}
	loosened, err := ruleset.Loosened(a.force.Load().Rules, rules)
	if err != nil {
		return body, err
	}
	if len(loosened) > 0 {
		return body, interlock.Errorf(interlock.CodeUnauthorized, "subject",
			"the candidate denies less than the rules in force (%s); what denies is taken back in the rules directory, by hand",
			strings.Join(loosened[:min(len(loosened), 5)], ", "))
	}
	return body, nil
}

// CandidateRules returns the ruleset that decides beside the one in force.
func (a *Admission) CandidateRules(ctx context.Context) (*ruleset.Ruleset, error) {
	body, _, err := a.Candidate(ctx)
	if err == nil && (body.Ruleset == "" || a.config.Candidate == nil) {
		err = interlock.Errorf(interlock.CodeNotFound, "rules", "no ruleset decides in the shadow")
	}
	if err != nil {
		return nil, err
	}
	return a.candidateRules(body)
}
