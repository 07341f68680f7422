package auditlog

import (
	"strconv"
	"strings"

	"interlock"
)

// classified tells an event about a text.
func (t *telling) classified() {
	var text TextRecord
	if t.read("text", &text); text.Classification == "" {
		return
	}
	t.say(text.Classification+" by "+text.Rule, text.Where, strconv.Itoa(text.Found)+" found", strings.Join(text.Kinds, ", "))
}

// private tells an event about what is kept of people, and reports whether it is one.
func (t *telling) private(kind interlock.EventType) bool {
	switch kind {
	case interlock.EventConsent, interlock.EventConsentRevoked:
		t.add("consent", "subject", "tier", "consent_id")
		t.say(t.text("request_id"))
		t.order()
	case interlock.EventPersonalKept:
		t.add("", "kept", "subject", "tier")
	case interlock.EventDataRequest, interlock.EventDataDelete:
		t.add("", "subject", "wants", "request_id")
		t.order()
	case interlock.EventDeletedPersonal:
		var texts, facts int
		t.read("texts", &texts)
		t.read("facts", &facts)
		t.say(t.text("subject"), strconv.Itoa(texts)+" texts, "+strconv.Itoa(facts)+" facts", t.text("request_id"))
	default:
		return false
	}
	return true
}
