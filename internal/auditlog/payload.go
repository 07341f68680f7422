package auditlog

import (
	"encoding/json"
	"errors"
)

// checkPayload refuses a payload that is not one JSON object in canonical form.
func checkPayload(payload []byte) error {
	if len(payload) == 0 || payload[0] != '{' || !json.Valid(payload) {
		return errors.New("auditlog: the payload is not a JSON object")
	}
	return nil
}
