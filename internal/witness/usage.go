package witness

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// UsagePrefix begins the tokens by which a harness reports what an agent uses of models, and by which nothing else can be done.
const UsagePrefix = "ilu_"

// maxUsageAgent bounds the name in a token.
const maxUsageAgent = 128

// UsageToken is what a harness reports an agent's usage with. It names the agent, and nobody has another's who has not the key; so
// none of them needs to be kept. Empty for no key.
func (k Key) UsageToken(agent string) string {
	if len(k.secret) == 0 || agent == "" || len(agent) > maxUsageAgent {
		return ""
	}
	return UsagePrefix + base64.RawURLEncoding.EncodeToString([]byte(agent)) + "." + k.usage(agent)
}

func (k Key) usage(agent string) string {
	return hex.EncodeToString(keyed(k.secret, "usage v1\n"+agent)[:16])
}

// UsageAgent is whose usage a token reports, if it is one of this key's.
func (k Key) UsageAgent(token string) (agent string, ok bool) {
	rest, is := strings.CutPrefix(token, UsagePrefix)
	name, sum, split := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(name)
	if !is || !split || err != nil || len(raw) == 0 || len(raw) > maxUsageAgent || len(k.secret) == 0 {
		return "", false
	}
	if !hmac.Equal([]byte(k.usage(string(raw))), []byte(sum)) {
		return "", false
	}
	return string(raw), true
}
