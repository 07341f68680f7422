package pack

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// A hash behind a colon or a quote is folded wherever it stands, and nothing else is.
func FuzzFoldFindsEveryHash(f *testing.F) {
	long, short := strings.Repeat("0a", longBytes), strings.Repeat("1f", shortBytes)
	for _, text := range []string{`"` + long + `"`, `{"a":"sha256:` + long + `","b":"` + short + `"}`, `:` + short + long + short,
		`"` + short[1:],
		long, ` ` + long, `"` + long + `:` + short, strings.Repeat(`"`+short, 3), strings.Repeat("x", 31) + `:` + short} {
		f.Add([]byte(text))
	}
	hashes := regexp.MustCompile(`[:"](?:[0-9a-f]{64}|[0-9a-f]{32})`)
	f.Fuzz(func(t *testing.T, text []byte) {
		folded, ok := fold(nil, text)
		if !ok {
			return
		}
		found := len(text) - len(folded)
		for _, at := range hashes.FindAllIndex(text, -1) {
			found -= (at[1] - at[0] - 1) / 2 // half of its digits, and a mark
			found++
		}
		if back, err := unfold(nil, folded, len(text)); err != nil || !bytes.Equal(back, text) || found != 0 {
			t.Fatalf("%q is folded to %q, which is %d bytes off and is %q again: %v", text, folded, found, back, err)
		}
	})
}
