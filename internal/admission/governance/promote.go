package governance

import (
	"context"
	"path"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// The bounds of a candidate.
const (
	MaxCandidate = 1 << 20 // bytes of its documents
	MaxShadow    = 90 * 24 * time.Hour
)

// Candidate returns the ruleset that decides beside the one in force; without one its Ruleset is empty.
func (a *Governance) Candidate(ctx context.Context) (ledger.CandidateBody, int64, error) {
	rows, version, err := a.Config.Store.Load(ctx, core.Key(ledger.Candidate, ledger.CandidateKey))
	if err != nil || len(rows) == 0 {
		return ledger.CandidateBody{}, version, err
	}
	body, _ := rows[0].Value.(ledger.CandidateBody)
	return body, version, nil
}

// Shadow returns what a candidate decided otherwise than the ruleset in force; nothing if it has decided nothing.
func (a *Governance) Shadow(ctx context.Context, candidate interlock.Digest) (ledger.ShadowBody, error) {
	rows, _, err := a.Config.Store.Load(ctx, core.Key(ledger.Shadow, string(candidate)))
	if err != nil || len(rows) == 0 {
		return ledger.ShadowBody{Ruleset: candidate}, err
	}
	body, _ := rows[0].Value.(ledger.ShadowBody)
	return body, nil
}

// RulesOfCandidate makes a candidate's ruleset and holds it against the digest that names it.
func (a *Governance) RulesOfCandidate(body ledger.CandidateBody) (*ruleset.Ruleset, error) {
	documents := map[string][]byte{}
	for name, text := range body.Documents { // any order: one that is none of rules is enough
		// the digest is not over names, and a rules directory reads no others
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
			return nil, interlock.Errorf(interlock.CodeConflict, "ruleset",
				"the candidate in the store holds %.60q, which is no name of a file of rules; begin its shadow anew", name)
		}
		documents[name] = []byte(text)
	}
	rules, err := a.Config.Candidate(documents)
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

// DigestOfDocuments names an operator's documents.
func DigestOfDocuments(body ledger.CandidateBody) (interlock.Digest, error) {
	return DocumentsDigest(body.Documents)
}

// promoteRules puts the candidate into force, on an order that names both rulesets, so that what was looked at is what changes:
// the caller puts its documents where the rules are read from, and every process that starts then decides by them. It is
// refused where the candidate is another one now, and where it would loosen what denies: that takes more than having been
// watched for a while.
func (a *Governance) promoteRules(ctx context.Context, c *core.PendingOrder) (err error) {
	if c.Done.Candidate, err = a.promotable(ctx, c.Order); err != nil {
		return err
	}
	rules, err := a.RulesOfCandidate(c.Done.Candidate)
	if err == nil {
		err = a.reclassifies(ctx, c, rules)
	}
	if err != nil {
		return err
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Ended(ledger.Candidate, ledger.CandidateKey))
	return a.ordersRules(c, rules, c.Done.Candidate.Documents)
}

// promotable returns the candidate that an order is about, if it is as the order says and may be put into force.
func (a *Governance) promotable(ctx context.Context, order interlock.Order) (ledger.CandidateBody, error) {
	body, _, err := a.Candidate(ctx)
	switch {
	case err != nil:
		return body, err
	case body.Ruleset == "" || a.Config.Candidate == nil:
		return body, interlock.Errorf(interlock.CodeNotFound, "subject", "no ruleset decides in the shadow")
	case order.Subject != string(body.Ruleset):
		return body, interlock.Errorf(interlock.CodeConflict, "subject",
			"another ruleset decides in the shadow now; look at it and give the order anew")
	case order.Detail != string(a.Active.Load().Rules.Digest()):
		return body, interlock.Errorf(interlock.CodeConflict, "detail",
			"another ruleset is in force than the order is to replace; look again and give the order anew")
	}
	rules, err := a.RulesOfCandidate(body)
	if err != nil {
		return body, err
	}
	loosened, err := ruleset.Loosened(a.Active.Load().Rules, rules)
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
func (a *Governance) CandidateRules(ctx context.Context) (*ruleset.Ruleset, error) {
	body, _, err := a.Candidate(ctx)
	if err == nil && (body.Ruleset == "" || a.Config.Candidate == nil) {
		err = interlock.Errorf(interlock.CodeNotFound, "rules", "no ruleset decides in the shadow")
	}
	if err != nil {
		return nil, err
	}
	return a.RulesOfCandidate(body)
}
