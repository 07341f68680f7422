package witness_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"interlock/internal/witness"
)

// TestUsageToken: a token names its agent under the key it was made with, and under no other; none can be changed to name another agent.
func TestUsageToken(t *testing.T) {
	key := func(seed byte) witness.Key {
		raw := append([]byte{1}, make([]byte, 32)...)
		raw[1] = seed
		k, err := witness.ParseKey("PRIVATE+KEY+log+00000000+" + base64.StdEncoding.EncodeToString(raw))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	own, other := key(1), key(2)
	token := own.UsageToken("claude")
	if agent, ok := own.UsageAgent(token); !ok || agent != "claude" || !strings.HasPrefix(token, witness.UsagePrefix) {
		t.Fatalf("%q is %q, %v", token, agent, ok)
	}
	_, sum, _ := strings.Cut(token, ".")
	for _, wrong := range []string{"", "ilu_", token[:len(token)-1], token + "0", strings.TrimPrefix(token, "ilu_"), own.UsageToken("codex") + "x",
		"ilu_" + base64.RawURLEncoding.EncodeToString([]byte("codex")) + "." + sum, "ilu_." + sum, other.UsageToken("claude")} {
		if agent, ok := own.UsageAgent(wrong); ok {
			t.Errorf("%q is taken for %q's", wrong, agent)
		}
	}
	none := witness.Key{}
	if _, ok := none.UsageAgent(token); ok || none.UsageToken("claude") != "" || own.UsageToken("") != "" ||
		own.UsageToken(strings.Repeat("x", 129)) != "" {
		t.Error("without a key or a name there is a token")
	}
}
