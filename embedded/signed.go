package embedded

import (
	"context"
	"encoding/json"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	admissiongovernance "interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/store"
)

// orderedRules finds out who ordered the operator's rules in the rules directory. The program's own need no order, and where nobody has
// the admin role nobody can give one. Where the settings want an order and there is none, the last documents that were ordered take
// their place in the evaluator; where those can't be had either, nothing is decided.
func orderedRules(ctx context.Context, c config.Config, port store.Port, key *auditlog.PublicKey,
	evaluator *admission.Evaluator, asWritten ...bool) error {
	evaluator.Ordered = core.Ordering{}
	if len(evaluator.Own) == 0 {
		return nil
	}
	digest, err := admissiongovernance.DocumentsDigest(admissiongovernance.Documents(evaluator.Own))
	if err != nil {
		return err
	}
	last, err := lastOrder(ctx, port, key)
	if err != nil {
		return err
	}
	if last.documents == digest {
		evaluator.Ordered.By = last.event
		return nil
	}
	governed, err := hasAdmin(ctx, port)
	if err != nil || !governed {
		return err
	}
	need := c.RulesNeedOrder()
	if len(asWritten) == 0 && !need {
		need = last.tier >= tierWithTeams // whatever the settings say, it takes people to weaken these
	}
	if !need {
		evaluator.Ordered.By = core.RulesUnordered
		return nil
	}
	own, err := last.read(ctx, port)
	if err != nil {
		return err
	}
	if evaluator.Rules, err = candidate(own); err != nil {
		return unorderedError("can't be made of what is stored of them")
	}
	evaluator.Own = own
	evaluator.Ordered = core.Ordering{By: last.event, Refused: digest}
	return nil
}

// tierWithTeams is the tier from which on rules that classify actions change by order alone, which may take two teams.
const tierWithTeams = 2

// lastOrdered returns the documents that an admin ordered last, where it takes two teams to weaken them; else nil.
func lastOrdered(port store.Port, key *auditlog.PublicKey) func(context.Context) (map[string][]byte, error) {
	return func(ctx context.Context) (map[string][]byte, error) {
		last, err := lastOrder(ctx, port, key)
		if err != nil || last.tier < tierWithTeams {
			return nil, err
		}
		return last.read(ctx, port)
	}
}

// unorderedError says that nothing is decided because nobody ordered the rules, and what is wrong with those that were ordered last.
func unorderedError(last string) error {
	return interlock.Errorf(interlock.CodeUnavailable, "rules",
		"no operator with the admin role has ordered the rules in the rules directory, which is required here, and the last that were "+
			"ordered %s; an admin orders them with interlock rules adopt", last)
}

// An order is the newest event by which an admin ordered rules.
type order struct {
	event     string
	documents interlock.Digest // empty where there is none
	blob      interlock.Digest
	tier      int // MASO's, of the rules that were ordered
}

// lastOrder reads the newest order. An event that the log's key has not signed orders nothing, and neither does an older one: rules that
// an order has replaced come back by another order.
func lastOrder(ctx context.Context, port store.Port, key *auditlog.PublicKey) (order, error) {
	entries, err := port.Entries(ctx, interlock.EventPromotion, ledger.Before(-1, 1))
	if err != nil || len(entries) == 0 {
		return order{}, err
	}
	event, err := key.SignedEvent(entries[0])
	if err != nil {
		return order{}, nil // its maker had no key: it is nobody's order
	}
	var record struct {
		Documents interlock.Digest `json:"documents"`
		Tier      int              `json:"tier"`
	}
	if err := json.Unmarshal(event.Payload, &record); err != nil {
		return order{}, nil
	}
	return order{event: event.ID, documents: record.Documents, tier: record.Tier, blob: interlock.Digest(event.Snapshots["documents"])}, nil
}

// read returns the documents that were ordered.
func (o *order) read(ctx context.Context, port store.Port) (map[string][]byte, error) {
	if o.documents == "" {
		return nil, unorderedError("are none")
	}
	if o.blob == "" {
		return nil, unorderedError("were not stored")
	}
	text, found, err := port.Blob(ctx, o.blob)
	if err != nil || !found || auditlog.BlobDigest(text) != o.blob {
		return nil, unorderedError("are missing from the store or damaged")
	}
	var documents map[string]string
	if err := json.Unmarshal(text, &documents); err != nil {
		return nil, unorderedError("can't be read")
	}
	if digest, err := admissiongovernance.DocumentsDigest(documents); err != nil || digest != o.documents {
		return nil, unorderedError("are others than the order names")
	}
	own := make(map[string][]byte, len(documents))
	for path, text := range documents { // order-independent: fills a map
		own[path] = []byte(text)
	}
	return own, nil
}

// hasAdmin reports whether an operator in office could order rules.
func hasAdmin(ctx context.Context, port store.Port) (bool, error) {
	verb, _ := quorum.VerbOf(interlock.VerbAdoptRules)
	rows, _, err := port.Load(ctx, ledger.Ref{Kind: ledger.Operator, Mark: ledger.All}) // with proofs that nobody is missing
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if o, ok := row.Value.(interlock.OperatorRecord); ok && verb.Role(o.Role) && (o.Revoked.IsZero() || time.Now().Before(o.Revoked)) {
			return true, nil
		}
	}
	return false, nil
}
