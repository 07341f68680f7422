package auditlog

import (
	"encoding/json"

	"interlock"
	"interlock/internal/privacy"
)

// A TextRecord says what became of a text that was shown, sent or kept: what it is, what was found in it and by which rule. It never
// holds any of the text.
type TextRecord struct {
	Where          string              `json:"where"`                // which way it went, e.g. "result of a server"
	About          string              `json:"about,omitempty"`      // the decision's event that it came of
	Request        string              `json:"request,omitempty"`    // the ActionRequest that a review was opened as
	Unreviewed     string              `json:"unreviewed,omitempty"` // or why there is none
	Classification string              `json:"classification"`       // OK, REDACT, FLAG_FOR_REVIEW or BLOCK
	Rule           string              `json:"rule"`                 // that wanted the strictest
	Ruleset        string              `json:"safety_ruleset_id"`    // the snapshot that it was classified under
	Reason         string              `json:"redaction_reason"`     // why something was taken out: SECRET, PII_DETECTED, INJECTION or HARM
	Kinds          []string            `json:"kinds,omitempty"`      // what was found, sorted, without repeats
	Found          int                 `json:"found"`                // how often
	Hash           string              `json:"redaction_hash"`       // keyed hash of the text with the run's seed
	KeyID          string              `json:"hash_key,omitempty"`   // names the key
	Bytes          int                 `json:"bytes"`                // of the text
	Requester      interlock.Requester `json:"requester"`
}

// A ClassifiedText is what a decision about a text was made from: what the classifier said of it, and under which ruleset. It is under a
// name of its own, so that [OfText] takes no decision for the record of a text.
type ClassifiedText struct {
	Classification string `json:"classification"`
	Rule           string `json:"rule"`
	Ruleset        string `json:"safety_ruleset_id"`
}

// Payload renders the record. It is under one member, by which [OfText] tells that it is no decision.
func (r TextRecord) Payload() (json.RawMessage, error) {
	return payload("a classified text", &struct {
		Text TextRecord `json:"text"`
	}{r})
}

// A PersonalRecord says that personal data was not kept, with its keyed hash in its place (MACE 4).
type PersonalRecord struct {
	Where   string `json:"where"`
	About   string `json:"about,omitempty"`
	Type    string `json:"pii_type"`
	Tier    string `json:"tier"`
	Hash    string `json:"pii_hash"` // HMAC-SHA256 under a key of its own, over the value and the run's seed
	KeyID   string `json:"hash_key"`
	Reason  string `json:"redaction_reason"` // PII_DETECTED
	Persist bool   `json:"durable"`          // it was about to be kept, and not only shown
}

// Payload renders the record.
func (r PersonalRecord) Payload() (json.RawMessage, error) {
	return payload("personal data", &struct {
		Personal PersonalRecord `json:"personal"`
	}{r})
}

// A ConsentRecord says what a person permits to be kept of them, or permits no more. What they said is known by its digest alone.
type ConsentRecord struct {
	Consent privacy.Consent  `json:"consent"`
	Order   *interlock.Order `json:"order,omitempty"`      // redacted
	Request string           `json:"request_id,omitempty"` // by which the council approved it, or had it end
}

// Payload renders the record.
func (r ConsentRecord) Payload() (json.RawMessage, error) { return payload("a consent", &r) }

// A KeptRecord says that a text with personal data is kept, sealed under its person's key.
type KeptRecord struct {
	Kept      string              `json:"kept"`
	Subject   string              `json:"subject"`
	Consents  []string            `json:"consents,omitempty"`
	Types     []string            `json:"pii_types,omitempty"`
	Tier      string              `json:"tier,omitempty"`
	Bytes     int                 `json:"bytes"`
	Requester interlock.Requester `json:"requester"`
}

// Payload renders the record.
func (r KeptRecord) Payload() (json.RawMessage, error) { return payload("kept personal data", &r) }

// A DataRequestRecord says that a person asks for what is kept of them, or that it be deleted, and how it was made sure who they are.
type DataRequestRecord struct {
	Subject string          `json:"subject"`
	Wants   string          `json:"wants"`                // export or delete
	Request string          `json:"request_id,omitempty"` // of the council
	Order   interlock.Order `json:"order"`                // redacted; its reason says how the person was identified
}

// Payload renders the record.
func (r DataRequestRecord) Payload() (json.RawMessage, error) {
	return payload("a request of a person", &r)
}

// A DeletionRecord says what was deleted of a person, whose key is destroyed.
type DeletionRecord struct {
	Subject  string           `json:"subject"`
	Request  string           `json:"request_id"`
	Key      string           `json:"key_destroyed,omitempty"` // the public half of the key
	Texts    int              `json:"texts"`
	Facts    int              `json:"facts,omitempty"` // that agents kept about them, each with an event of its own
	Digest   interlock.Digest `json:"texts_digest"`    // over the ids of texts and facts, sorted
	Types    []string         `json:"pii_types,omitempty"`
	Consents int              `json:"consents_ended"`
}

// Payload renders the record.
func (r DeletionRecord) Payload() (json.RawMessage, error) { return payload("a deletion", &r) }

// What becomes of a fact.
const (
	FactKept    = "kept"    // in the episodic store
	FactWaits   = "waits"   // for the council
	FactStable  = "stable"  // in the semantic store
	FactDeleted = "deleted" // from it
	FactCut     = "cut"     // all that derives from a source and was written until now is taken back
	FactOver    = "over"    // its time is
)

// A MemoryRecord says what became of a fact that an agent keeps. It never holds any of its value.
type MemoryRecord struct {
	Did      string   `json:"did"`
	Store    string   `json:"store,omitempty"`
	Key      string   `json:"key"`            // the fact, and whose it is where it is not shared; or a source
	Fact     string   `json:"fact,omitempty"` // the version's id
	Bytes    int      `json:"bytes,omitempty"`
	Hash     string   `json:"value_hash,omitempty"` // keyed hash of the value with the run's seed
	KeyID    string   `json:"hash_key,omitempty"`
	Derives  []string `json:"derives,omitempty"`
	Taint    []string `json:"taint,omitempty"`
	Personal []string `json:"personal,omitempty"` // kinds of personal data in it, which its subject agreed to
	Request  string   `json:"request,omitempty"`  // the council's
}

func (r MemoryRecord) Payload() (json.RawMessage, error) { return payload("a fact", &r) }

// OfText reports whether a SAFETY_BLOCK_EVENT or a SAFETY_REVIEW_REQUEST is about a text and holds no decision.
func OfText(e *interlock.Entry) bool {
	if e.Type != interlock.EventBlock && e.Type != interlock.EventReviewRequest || Released(e) {
		return false
	}
	event, err := ParseEvent(e.Body)
	if err != nil {
		return false // and what reads it as a decision says so
	}
	var holds struct {
		Text     json.RawMessage `json:"text"`
		Decision json.RawMessage `json:"decision"`
	}
	return json.Unmarshal(event.Payload, &holds) == nil && len(holds.Text) > 0 && len(holds.Decision) == 0
}
