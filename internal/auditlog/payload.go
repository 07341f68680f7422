package auditlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/strictjson"
)

// checkPayload refuses a payload that is not one JSON object in canonical form: what is hashed must have one spelling.
func checkPayload(payload []byte) error {
	if len(payload) == 0 || payload[0] != '{' {
		return errors.New("auditlog: the payload is not a JSON object")
	}
	if strictjson.IsCanonical(payload) {
		return nil
	}
	canonical, err := strictjson.Canonical(payload)
	if err != nil {
		return errors.New("auditlog: the payload is not valid JSON")
	}
	if !bytes.Equal(canonical, payload) {
		return errors.New("auditlog: the payload is not in canonical form")
	}
	return nil
}

// told are the members of payloads that hold ids, names, digests, times and outcomes. What an agent wanted and what people wrote are in
// others, and one that nobody has listed is not told.
const told = " request request_id override_id id verb operator method key signature at created expires roster name role keys " +
	"requester agent principal run call call_id order signers suppression action type target decision findings gate rule rules layer " +
	"final_decision danger risk verdict answer mode profile ruleset snapshot snapshots action_digest digest display_digest roster_hash class " +
	"required_approval_type quorum vote approve reject abstain outstanding from status origin evidence hold held cause event event_id " +
	"severity state code pii_hash redaction_hash "

// Redacted is an event as who is no admin reads it (MACE safety boundaries 12): with those members of its payload alone that say who did
// what kind of thing, when, and what came of it. Its content hash is that of the whole payload.
func Redacted(body []byte) ([]byte, error) {
	e, err := ParseEvent(body)
	if err != nil {
		return nil, fmt.Errorf("auditlog: read the event: %w", err)
	}
	kept := map[string]json.RawMessage{}
	if text := withheld(e.Payload, true); text != nil {
		if err := json.Unmarshal(text, &kept); err != nil {
			return nil, fmt.Errorf("auditlog: read the payload: %w", err)
		}
	}
	kept["redacted"] = json.RawMessage("true")
	if e.Payload, err = strictjson.Marshal(kept); err != nil {
		return nil, fmt.Errorf("auditlog: redact the payload: %w", err)
	}
	return e.append(nil), nil
}

// withheld is a value without what is not told; nil: nothing of it is.
func withheld(value json.RawMessage, named bool) json.RawMessage {
	if !named || len(value) == 0 {
		return nil
	}
	switch value[0] {
	case '{':
		members := map[string]json.RawMessage{}
		if json.Unmarshal(value, &members) != nil {
			return nil
		}
		for name, member := range members { // any order: each by itself
			if members[name] = withheld(member, strings.Contains(told, " "+name+" ")); members[name] == nil {
				delete(members, name)
			}
		}
		return encoded(members, len(members))
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return nil
		}
		for n := range items {
			items[n] = withheld(items[n], true)
		}
		items = slices.DeleteFunc(items, func(item json.RawMessage) bool { return item == nil })
		return encoded(items, len(items))
	}
	return value
}

func encoded(value any, size int) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil || size == 0 {
		return nil
	}
	return text
}
