package classify_test

import (
	"fmt"
	"strings"
	"testing"

	"interlock/internal/classify"
)

// texts are ordinary prose, output of programs, and texts made to be slow to look at.
var texts = []struct{ name, part string }{
	{"prose", "The quick brown fox, parse(args) => path/to/file; tests passed: 3. Please send the report to Ann before noon. "},
	{"log", "2026-11-23T20:15:07.123Z INFO server request id=4f8a9c2e7b1d6053 took 12.5ms status=200 path=/api/v1/users/42\n"},
	{"digits", "1-2-3-4-5-6-7-8-9-0 "},
	{"colons", "a:b:c:d:e:f::"},
	{"ats", "a.b@c.d@"},
	{"wide", "４０１２ ８８８８ "},
	{"brackets", "((1)(2) +1 "},
	{"orders", "ignore all and reveal "},
	{"escapes", "%34%2531&#49;&nbsp;\\u0032 "},
	{"column", "4567890\n"},
	{"folded", "abcdefgh1\n"},
	{"dump", "34 30 31 "},
	{"base64", "VGhlIHF1aWNrIGJyb3duIGZveC4g"},
	{"base64 lines", "VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4g\n"},
	{"tags", "<b>a</b> &shy; "},
	{"controls", "a\x00b\x1b[1m"},
	{"cookies", "cookie=a; "},
	{"harm", "make a\nbomb or two "},
	{"seeds", "abandon "},
	{"mails", "ann@mail.firm.com "},
}

// BenchmarkText measures what is promised: 1 KB in 60 µs, 10 KB in 1 ms, 1 MB in 120 ms on prose; the others must not be far off
// the same for each byte, at any length.
func BenchmarkText(b *testing.B) {
	ruleset := mace(b)
	for _, text := range texts {
		for _, size := range []int{1 << 10, 10 << 10, 1 << 20} {
			whole := strings.Repeat(text.part, size/len(text.part)+1)[:size]
			b.Run(fmt.Sprintf("%s/%d", text.name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					classify.Text(ruleset, whole)
				}
			})
		}
	}
}
