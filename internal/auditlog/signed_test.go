package auditlog_test

import (
	"bytes"
	"testing"

	"interlock"
)

// TestSignedEvent: an event that people govern by is one only with its own signature by this key, and as it was signed.
func TestSignedEvent(t *testing.T) {
	sealer, other := testSealer(t, 1), testSealer(t, 2)
	signed := 0
	for n, e := range testLog(t, sealer, 37).entries {
		_, err := sealer.Public().SignedEvent(e)
		if governs := bytes.Contains(e.Body, []byte(`"signature":`)); governs != (err == nil) {
			t.Errorf("entry %d, %s: %v", n, e.Type, err)
		}
		if err != nil {
			continue
		}
		signed++
		for what, broken := range map[string]interlock.Entry{
			"another payload":  {ID: e.ID, Type: e.Type, Body: bytes.Replace(e.Body, []byte(`"payload":{`), []byte(`"payload":{"a":1,`), 1)},
			"another actor":    {ID: e.ID, Type: e.Type, Body: bytes.Replace(e.Body, []byte(`"actor_id":"`), []byte(`"actor_id":"x`), 1)},
			"no signature":     {ID: e.ID, Type: e.Type, Body: bytes.Replace(e.Body, []byte(`"signature":"`), []byte(`"signature":"A`), 1)},
			"in another place": {ID: e.ID + "0", Type: e.Type, Body: e.Body},
			"another type":     {ID: e.ID, Type: interlock.EventPromotion, Body: e.Body},
			"nothing":          {ID: e.ID, Type: e.Type, Body: []byte("{")},
		} {
			if bytes.Equal(broken.Body, e.Body) && broken.ID == e.ID && broken.Type == e.Type {
				t.Fatalf("%s changes nothing", what)
			}
			if _, err := sealer.Public().SignedEvent(broken); err == nil {
				t.Errorf("entry %d with %s is signed", n, what)
			}
		}
		if _, err := other.Public().SignedEvent(e); err == nil {
			t.Errorf("entry %d is signed by another key as well", n)
		}
	}
	if signed == 0 {
		t.Error("none was signed")
	}
}
