package ledger

import (
	"maps"
	"slices"
	"time"

	"interlock/internal/personal"
	"interlock/internal/privacy"
)

// A PersonBody is somebody of whom something may be kept: the key that it is sealed under. Without it what was sealed is gone, also from
// where nobody deletes anything.
type PersonBody struct {
	Subject   string    `json:"subject"`
	Public    string    `json:"public"`        // what is kept of them is sealed for it
	Key       []byte    `json:"key,omitempty"` // opens that; itself sealed for the home, and gone once it is destroyed
	Made      time.Time `json:"made"`
	Destroyed time.Time `json:"destroyed,omitzero"`
	Request   string    `json:"request,omitempty"` // by which the council had it destroyed
}

// A PersonalBody is a text with personal data that is kept with consent, sealed under its person's key.
type PersonalBody struct {
	ID       string        `json:"id"`
	Subject  string        `json:"subject"`
	Agent    string        `json:"agent"`
	Run      string        `json:"run,omitempty"`
	Consents []string      `json:"consents,omitempty"`
	Types    []string      `json:"types,omitempty"` // of the personal data in it
	Tier     personal.Tier `json:"tier,omitempty"`  // the most sensitive of them
	Bytes    int           `json:"bytes"`
	At       time.Time     `json:"at"`
	Sealed   []byte        `json:"sealed"`
}

// OfPerson is the mark of what is kept of a person.
func OfPerson(subject string) string { return "person\x00" + subject }

func personMarks(p PersonBody) []Mark       { return withAll(nano(p.Made)) }
func personalMarks(p PersonalBody) []Mark   { return withAll(nano(p.At), OfPerson(p.Subject)) }
func consentMarks(c privacy.Consent) []Mark { return withAll(nano(c.At), OfPerson(c.Subject)) }

// personNext lets a key be made once and destroyed once.
func personNext(was, is PersonBody, there bool, _ time.Time) error {
	switch {
	case there && !was.Destroyed.IsZero():
		return moved(Person, "its key is destroyed")
	case there && is.Destroyed.IsZero():
		return moved(Person, "it is there already")
	}
	return nil
}

// consentNext lets a consent be given once, approved by the council once, and revoked.
func consentNext(was, is privacy.Consent, there bool, _ time.Time) error {
	if there && (!was.Revoked.IsZero() || is.Revoked.IsZero() && (was.Council != "" || is.Council == "")) {
		return moved(Consent, "it is on record already")
	}
	return nil
}

// Person is somebody of whom something may be kept.
func (s *Standing) Person(subject string) (PersonBody, bool) {
	p, known := s.Others[Person][subject].(PersonBody)
	return p, known
}

// Consents are those of a person, by their ids.
func (s *Standing) Consents(subject string) (list []privacy.Consent) {
	for _, id := range slices.Sorted(maps.Keys(s.Others[Consent])) {
		if c, is := s.Others[Consent][id].(privacy.Consent); is && c.Subject == subject {
			list = append(list, c)
		}
	}
	return list
}

// KeptOf is what is kept of a person, the oldest first.
func (s *Standing) KeptOf(subject string) (list []PersonalBody) {
	for _, id := range slices.Sorted(maps.Keys(s.Others[Personal])) {
		if p, is := s.Others[Personal][id].(PersonalBody); is && p.Subject == subject {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b PersonalBody) int { return a.At.Compare(b.At) })
	return list
}
