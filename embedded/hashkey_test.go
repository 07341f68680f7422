package embedded_test

import (
	"testing"

	"interlock/embedded"
	"interlock/spec"
)

// TestKeyedHash: the published vector of MACE's companion about privacy.
func TestKeyedHash(t *testing.T) {
	spec.Covers(t, "MACE-PII-1")
	const want = "4226ea60d8bbf4902eddf9a780ba5b0380cf79ae2de0e7f1d3e1477668d1e203"
	if got := embedded.KeyedHash("test-server-key", "123-45-6789", "seed-0001"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
