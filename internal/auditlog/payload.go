package auditlog

import (
	"bytes"
	"errors"

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
