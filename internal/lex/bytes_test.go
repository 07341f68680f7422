package lex_test

import (
	"testing"

	"interlock/internal/lex"
)

// TestPlainText: UTF-8 that is cut or steers a terminal is a text, UTF-16 in either order as well; other bytes are none.
func TestPlainText(t *testing.T) {
	for raw, want := range map[string]string{
		"my card is 4012":                "my card is 4012",
		"the first\x1b[1m line\xe9":      "the first\x1b[1m line\xe9",
		"4\x000\x001\x002\x00 \x00":      "4012 ",
		"\x004\x000\x001\x002\x00 ":      "4012 ",
		"\xff\xfe4\x000\x00":             "40",
		"\xfe\xff\x004\x000":             "40",
		"\xff\xfe\x48\x51":               "\u5148",
		"\xfe\xff\x51\x48":               "\u5148",
		"\x89PNG\r\n\x1a\n\x00\x00\x00":  "",
		"\xd3^4\xb5\xd5\xe3\x8d\x78\xff": "",
		"ab":                             "",
		"":                               "",
	} {
		if got := lex.PlainText([]byte(raw)); got != want {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
	}
}
