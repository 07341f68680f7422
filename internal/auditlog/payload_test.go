package auditlog

import (
	"strings"
	"testing"

	"interlock/internal/strictjson"
)

var payloads = []string{
	`{}`, `{"a":1}`, `{"a":-1,"b":0}`, `{"a":[1,"x",{"c":null,"d":true}],"b":{"x":false}}`, `{"a":"\"\\\b\f\n\r\t"}`, `{"a_b":1,"ab":2}`,
	`{"a":"ü"}`, `{"a":01}`, `{"a":-0}`, `{"a":1.5}`, `{"a":1e3}`, `{"a":"\/"}`, `{"a":"\u0001"}`, `{"a":"\u0041"}`, `{"b":1,"a":2}`, `{"a":1,"a":2}`,
	`{"a" :1}`, `{"a":1,}`, `{"a":[1,]}`, `{"a":}`, `{"ü":1}`, `{"a":"` + "\x01" + `"}`, `{"a":99999999999999999}`, `{"a":999999999999999}`, `{"a":`, `{`, ``,
	`{"a.b":1,"a":2}`, `{"a":2,"a.b":1}`, `{"a":2,"a-b":1}`, "{\"a\":\"\xff\"}", strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40),
}

// Both ways together accept what is canonical, and what the quick one takes is most of it.
func TestCheckPayload(t *testing.T) {
	quick := 0
	for _, p := range payloads {
		canonical, err := strictjson.Canonical([]byte(p))
		want := err == nil && string(canonical) == p && strings.HasPrefix(p, "{")
		if got := checkPayload([]byte(p)) == nil; got != want {
			t.Errorf("%q: accepted %v, want %v", p, got, want)
		}
		if want && strictjson.IsCanonical([]byte(p)) {
			quick++
		}
	}
	if quick < 8 {
		t.Errorf("the quick check takes only %d of the test's payloads", quick)
	}
}

// Whatever byte stands wherever in a string, the quick check takes it only if the general encoder leaves it as it is, and
// takes all of ASCII that needs no escape.
func TestEveryByteOfAText(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			text := []byte("abcdefghijklmnopqrst")
			text[at] = byte(c)
			payload := `{"a":"` + string(text) + `"}`
			canonical, err := strictjson.Canonical([]byte(payload))
			same := err == nil && string(canonical) == payload
			got := strictjson.IsCanonical([]byte(payload))
			if got && !same || !got && same && c < 0x7f {
				t.Fatalf("byte %#x at %d: the quick check says %v, the general encoder %v", c, at, got, same)
			}
		}
	}
}

// TestWithheld: what nobody has listed is not told, however deep it lies, and nothing below it.
func TestWithheld(t *testing.T) {
	for payload, want := range map[string]string{`{}`: ``, `{"reason":"x"}`: ``, `{"arguments":{"id":"x"}}`: ``, `{"order":{"detail":"x"}}`: ``,
		`{"findings":[{"reason":"x"},{"rule":"r","reason":"x"}],"class":3}`: `{"class":3,"findings":[{"rule":"r"}]}`,
		`{"held":["a","b"],"why":"x"}`:                                      `{"held":["a","b"]}`, `[`: ``} {
		if got := string(withheld([]byte(payload), true)); got != want {
			t.Errorf("%s: %s, want %s", payload, got, want)
		}
	}
}
