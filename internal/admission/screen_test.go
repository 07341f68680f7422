package admission_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/messages"
	"interlock/internal/classify"
	"interlock/internal/ledger"
	"interlock/rules"
	"interlock/spec"
)

// hashing gives a house a key for hashes.
func hashing(c *admission.Config) {
	c.Hash = func(value, seed string, _ time.Time) (string, string, error) {
		return "hash of " + seed, "2026-11", nil
	}
}

// screening is of one agent's text.
func screening(edit func(*messages.Screening)) messages.Screening {
	s := messages.Screening{Requester: interlock.Requester{Principal: "ada", Agent: "claude", Run: "run-1"}, Where: "memory",
		Durable: true,
		Text:    "her number is 123-45-6789", Classification: "REDACT", Rule: "safety.personal-high", Ruleset: "sha256:01", Found: 1,
		Kinds: []string{"us-ssn"}, Personal: []messages.Personal{{Type: "us-ssn", Tier: "high", Value: "123-45-6789"}}}
	edit(&s)
	return s
}

// TestScreened: each classification leaves the event of its name, signed, and none of the text (MACE 3.2, 4, 12).
func TestScreened(t *testing.T) {
	spec.Covers(t, "MACE-12-2", "MACE-12-5")
	for name, test := range map[string]struct {
		edit func(*messages.Screening)
		want []interlock.EventType
	}{
		"personal data": {func(*messages.Screening) {}, []interlock.EventType{interlock.EventRedaction, interlock.EventPersonal}},
		"a secret": {func(s *messages.Screening) {
			s.Rule, s.Personal = "safety.secret", nil
		}, []interlock.EventType{interlock.EventRedaction}},
		"an injection": {func(s *messages.Screening) { s.Classification, s.Personal = "FLAG_FOR_REVIEW", nil },
			[]interlock.EventType{interlock.EventReviewRequest}},
		"harm": {func(s *messages.Screening) {
			s.Classification, s.Personal = "BLOCK", nil
		}, []interlock.EventType{interlock.EventBlock}},
		"an unknown ruleset": {func(s *messages.Screening) { s.Classification, s.Ruleset, s.Personal = "BLOCK", "", nil },
			[]interlock.EventType{interlock.EventBlock, interlock.EventIntegrity, interlock.EventAlert}},
		"a classification that is none": {func(s *messages.Screening) { s.Classification, s.Personal = "FINE", nil },
			[]interlock.EventType{interlock.EventBlock}},
	} {
		h := newHouse(t, hashing)
		before := len(h.entries())
		done, err := h.Screened(t.Context(), screening(test.edit))
		if err != nil || done.Event == "" {
			t.Fatalf("%s: %+v, %v", name, done, err)
		}
		if left := h.entries()[before:]; !slices.Equal(left, test.want) {
			t.Errorf("%s leaves %v", name, left)
		}
		for _, kind := range test.want {
			if e := h.signed(kind); strings.Contains(string(e.Payload), "6789") {
				t.Errorf("%s holds the text: %s", kind, e.Payload)
			}
		}
	}
}

// TestScreenedNothingUnrecorded: a text whose record can't be made does not go on.
func TestScreenedNothingUnrecorded(t *testing.T) {
	fine := screening(func(*messages.Screening) {})
	h := newHouse(t)
	if _, err := h.Screened(t.Context(), fine); err == nil {
		t.Error("a text is screened without a key for hashes")
	}
	h = newHouse(t, hashing)
	h.store.commit = func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		return ledger.Receipt{}, errors.New("the disk is full")
	}
	if _, err := h.Screened(t.Context(), fine); err == nil {
		t.Error("a text is screened without a record")
	}
}

// TestOneDatumIsOnePiece: what is found twice, in a value and with its name or in two texts, is one piece of personal data.
func TestOneDatumIsOnePiece(t *testing.T) {
	all, err := classify.Parse(rules.Defaults()["safety.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	s := messages.Screening{}
	for _, text := range []string{"write to ann@mail.firm.com", `"email": "ann@mail.firm.com"`, "and bob@mail.firm.com"} {
		s.Take(text, classify.Text(all.Named("results"), text))
	}
	if s.Found != 3 || len(s.Personal) != 2 || s.Personal[1].Value != "bob@mail.firm.com" {
		t.Errorf("%+v", s)
	}
}
