package auditlog_test

import (
	"encoding/base64"
	"testing"

	"interlock/internal/auditlog"
)

// TestAttestation: what the server attests verifies with its log's key, over this text alone, and is neither an event nor a
// checkpoint.
func TestAttestation(t *testing.T) {
	sealers := make([]*auditlog.Sealer, 2)
	for i := range sealers {
		private, _, err := auditlog.GenerateKey(random(byte(i)))
		if err != nil {
			t.Fatal(err)
		}
		if sealers[i], err = auditlog.NewSealer(private); err != nil {
			t.Fatal(err)
		}
	}
	key := sealers[0].Public()
	signature, err := sealers[0].Attest("method: code\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := key.CheckAttestation("method: code\n", signature); err != nil {
		t.Error(err)
	}
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		t.Fatal(err)
	}
	if key.Verify([]byte("method: code\n"), raw) {
		t.Error("an attestation is a signature over the bare text")
	}
	for name, pair := range map[string][2]string{
		"another text":  {"method: session\n", signature},
		"no signature":  {"method: code\n", ""},
		"another form":  {"method: code\n", signature + "\n"},
		"a short one":   {"method: code\n", "AAAA"},
		"not base64":    {"method: code\n", "?"},
		"an empty text": {"", signature},
	} {
		if key.CheckAttestation(pair[0], pair[1]) == nil {
			t.Errorf("%s passes", name)
		}
	}
	if sealers[1].Public().CheckAttestation("method: code\n", signature) == nil {
		t.Error("another log's key accepts it")
	}
}

// random is a source of randomness that is always the same.
type random byte

func (r random) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}
