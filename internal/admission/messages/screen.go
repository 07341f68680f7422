package messages

import (
	"context"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// A Screening is what the classifier said of a text that is about to be shown, sent or kept, where it said anything but OK.
type Screening struct {
	Requester interlock.Requester // whose text it is, or who would see it
	Where     string              // which way it goes, e.g. "result of a server"
	About     string              // the decision's event that it came of; empty: none
	Durable   bool                // it was about to be kept, and not only shown
	Text      string              // the whole of it; nothing of it is recorded but its keyed hash

	Classification string // REDACT, FLAG_FOR_REVIEW or BLOCK
	Rule           string // that wanted the strictest
	Ruleset        string // the snapshot's id; empty if none of that name is known, which is a failure of integrity
	Found          int
	Kinds          []string   // what was found
	Personal       []Personal // the personal data in it
}

// A Personal is one piece of personal data in a text.
type Personal struct {
	Type  string
	Tier  string // high, medium or low
	Value string // nothing of it is recorded but its keyed hash
}

// maxPersonal bounds the pieces of personal data that one text leaves an event each of; how many there were is counted.
const maxPersonal = 20

// Screened records what became of a text (MACE 3.2, 4): REDACTION_EVENT where something was taken out, SAFETY_REVIEW_REQUEST where its
// risky parts wait for a review, SAFETY_BLOCK_EVENT where none of it goes on, and PII_FLAGGED for each piece of personal data that was
// about to be kept. A text may go on as it was classified once this has returned without an error, and not before. The event's id is
// that of the first of them.
func (a *Messages) Screened(ctx context.Context, s Screening) (event string, err error) {
	kind, reason := screenedAs(s)
	if a.Config.Hash == nil {
		return "", interlock.Errorf(interlock.CodeUnavailable, "hash.key", "texts can't be recorded without the key for hashes")
	}
	var change ledger.Change
	seed, now := core.RunOf(s.Requester), a.Config.Now().UTC()
	record := auditlog.TextRecord{Where: s.Where, About: s.About, Classification: s.Classification, Rule: s.Rule, Ruleset: s.Ruleset,
		Reason: reason, Found: s.Found, Bytes: len(s.Text), Requester: s.Requester}
	record.Kinds = slices.Sorted(slices.Values(s.Kinds))
	record.Kinds = slices.Compact(record.Kinds)
	if record.Hash, record.KeyID, err = a.Config.Hash(s.Text, seed, now); err != nil {
		return "", err
	}
	if err := a.Append(&change, kind, s.Requester, "agent", record); err != nil {
		return "", err
	}
	for n := range s.Personal[:min(len(s.Personal), maxPersonal)] {
		one := &s.Personal[n]
		hash, key, err := a.Config.Hash(one.Value, seed, now)
		if err != nil {
			return "", err
		}
		err = a.Append(&change, interlock.EventPersonal, s.Requester, "agent", auditlog.PersonalRecord{Where: s.Where, About: s.About,
			Type: one.Type, Tier: one.Tier, Hash: hash, KeyID: key, Reason: reasonPersonal, Persist: s.Durable})
		if err != nil {
			return "", err
		}
	}
	if s.Ruleset == "" {
		if err := a.Containment.Unsound(&change, []string{"texts are classified by a safety ruleset that is not known here, so " +
			"none passes"}); err != nil {
			return "", err
		}
	}
	receipt, err := a.Config.Store.Commit(ctx, change)
	if err != nil {
		return "", err
	}
	return receipt.Events[0], nil
}

// Why something was taken out of a text.
const (
	reasonPersonal = "PII_DETECTED"
	reasonSecret   = "SECRET"
	reasonUnsafe   = "UNSAFE_CONTENT"
)

// screenedAs is the event that a classification leaves, and why. What is no classification blocks.
func screenedAs(s Screening) (interlock.EventType, string) {
	switch s.Classification {
	case "REDACT":
		if len(s.Personal) > 0 {
			return interlock.EventRedaction, reasonPersonal
		}
		if strings.Contains(s.Rule, "secret") {
			return interlock.EventRedaction, reasonSecret
		}
		return interlock.EventRedaction, reasonUnsafe
	case "FLAG_FOR_REVIEW":
		return interlock.EventReviewRequest, reasonUnsafe
	}
	return interlock.EventBlock, reasonUnsafe
}
