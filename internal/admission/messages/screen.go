package messages

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
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
	Why            string // what that rule says
	Ruleset        string // the snapshot's id; empty if none of that name is known, which is a failure of integrity
	Found          int
	Kinds          []string   // what was found
	Personal       []Personal // the personal data in it
}

// A Screened is what became of a screening.
type Screened struct {
	Event      string // the first one that records it
	Review     string // the request by which the council reviews it
	Unreviewed string // or why nobody does, where its parts wait for that
}

// A Personal is one piece of personal data in a text.
type Personal struct {
	Type  string
	Tier  string // high, medium or low
	Value string // nothing of it is recorded but its keyed hash
}

// maxPersonal bounds the pieces of personal data that one text leaves an event each of; how many there were is counted.
const maxPersonal = 20

// Take adds what the classifier says of one more of the texts that go one way together; the strictest is what becomes of them all.
func (s *Screening) Take(text string, r classify.Result) {
	for _, span := range r.Spans {
		s.Kinds = append(s.Kinds, span.Kind)
		if span.Tier == "" || span.Verdict() == classify.Pass || len(s.Personal) == maxPersonal {
			continue
		}
		if one := (Personal{Type: span.Kind, Tier: span.Tier, Value: text[span.Start:span.End]}); !slices.Contains(s.Personal, one) {
			s.Personal = append(s.Personal, one)
		}
	}
	s.Found += r.Found
	if s.Classification == "" || r.Classification.Stricter(classify.Classification(s.Classification)) {
		s.Classification, s.Rule, s.Why, s.Ruleset = string(r.Classification), r.Rule, r.Reason, r.Ruleset
	}
}

// Classified is a result as it is answered.
func Classified(r *classify.Result) *interlock.Classified {
	c := &interlock.Classified{Classification: string(r.Classification), Rule: r.Rule, Reason: r.Reason, Message: r.Message,
		Ruleset: r.Ruleset, Spans: make([]interlock.TextSpan, 0, len(r.Spans)), Found: r.Found, Redacted: r.Redacted, Shown: r.Shown}
	for _, s := range r.Spans {
		c.Spans = append(c.Spans, interlock.TextSpan{Start: s.Start, End: s.End, Rule: s.Rule, Kind: s.Kind, Tier: s.Tier})
	}
	return c
}

// TextRecord is what is recorded of a text: nothing of it but its keyed hash.
func (a *Messages) TextRecord(s *Screening) (record auditlog.TextRecord, err error) {
	if a.Config.Hash == nil {
		return record, interlock.Errorf(interlock.CodeUnavailable, "hash.key", "texts can't be recorded without the key for hashes")
	}
	_, reason := screenedAs(s)
	record = auditlog.TextRecord{Where: s.Where, About: s.About, Classification: s.Classification, Rule: s.Rule, Ruleset: s.Ruleset,
		Reason: reason, Found: s.Found, Bytes: len(s.Text), Requester: s.Requester}
	record.Kinds = slices.Compact(slices.Sorted(slices.Values(s.Kinds)))
	record.Hash, record.KeyID, err = a.Config.Hash(s.Text, core.RunOf(s.Requester), a.Config.Now().UTC())
	return record, err
}

// WriteScreened adds to a change what became of a text (MACE 3.2, 4): REDACTION_EVENT where something was taken out,
// SAFETY_REVIEW_REQUEST where its risky parts wait for a review, SAFETY_BLOCK_EVENT where none of it goes on, and PII_FLAGGED for each
// piece of personal data in it.
func (a *Messages) WriteScreened(change *ledger.Change, s *Screening, record auditlog.TextRecord) error {
	kind, _ := screenedAs(s)
	if err := a.Append(change, kind, s.Requester, "agent", record); err != nil {
		return err
	}
	seed, now := core.RunOf(s.Requester), a.Config.Now().UTC()
	for n := range s.Personal[:min(len(s.Personal), maxPersonal)] {
		one := &s.Personal[n]
		hash, key, err := a.Config.Hash(one.Value, seed, now)
		if err != nil {
			return err
		}
		err = a.Append(change, interlock.EventPersonal, s.Requester, "agent", auditlog.PersonalRecord{Where: s.Where, About: s.About,
			Type: one.Type, Tier: one.Tier, Hash: hash, KeyID: key, Reason: reasonPersonal, Persist: s.Durable})
		if err != nil {
			return err
		}
	}
	if s.Ruleset != "" {
		return nil
	}
	return a.Containment.Unsound(change, []string{"texts are classified by a safety ruleset that is not known here, so that none passes"})
}

// Why something was taken out of a text.
const (
	reasonPersonal = "PII_DETECTED"
	reasonSecret   = "SECRET"
	reasonUnsafe   = "UNSAFE_CONTENT"
)

// screenedAs is the event that a classification leaves, and why. What is no classification blocks.
func screenedAs(s *Screening) (interlock.EventType, string) {
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
