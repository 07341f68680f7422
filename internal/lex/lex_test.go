package lex

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ scheme, text, want string }{
		{"base64", "cm0gLXJm\nIH4=", "rm -rf ~"},
		{"base64", "cm0gLXJmIH4", "rm -rf ~"},
		{"base64", "_-8=", "\xff\xef"},
		{"base32", "ON2WI3Y=", "sudo"},
		{"hex", `\x72\x6d`, "rm"},
		{"hex", "72 6d", "rm"},
		{"reverse", "~ fr- mr\nab\n", "rm -rf ~\nba\n"},
		{"rot13", "Ez -es ~", "Rm -rf ~"},
		{"gzip", zipped(t, "rm -rf ~"), "rm -rf ~"},
	} {
		if got, ok := Decode(c.scheme, c.text); !ok || got != c.want {
			t.Errorf("%s of %q: %q, %v", c.scheme, c.text, got, ok)
		}
	}
}

// What is no such encoding, of an unknown scheme or longer than is followed is not decoded, and is said not to be.
func TestDecodeRefuses(t *testing.T) {
	long := strings.Repeat("a", MaxText+1)
	for _, c := range []struct{ name, scheme, text string }{
		{"unknown scheme", "rot47", "x"}, {"no base64", "base64", "a*b"}, {"no hex", "hex", "zz"}, {"half a byte", "hex", "abc"}, {"no text", "hex", "ff"},
		{"no gzip", "gzip", "x"}, {"base64 too long", "base64", base64.StdEncoding.EncodeToString([]byte(long))},
		{"hex too long", "hex", hex.EncodeToString([]byte(long))},
		{"reverse too long", "reverse", long}, {"rot13 too long", "rot13", long},
		{"a small archive of much", "gzip", zipped(t, strings.Repeat("a", 100*MaxText))},
	} {
		if got, ok := Decode(c.scheme, c.text); ok || got != "" {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), ok)
		}
	}
	if _, ok := Decode("rot13", long[:MaxText]); !ok {
		t.Error("as much as is followed is not decoded")
	}
}

func TestNameWords(t *testing.T) {
	for name, want := range map[string][]string{
		"": nil, "delete_file": {"delete", "file"}, "deleteFile": {"delete", "file"}, "HTTPRequest": {"http", "request"}, "getURL": {"get", "url"},
		"mcp__github__create-issue": {"mcp", "github", "create", "issue"}, "a.b/c d": {"a", "b", "c", "d"},
		"S3Upload": {"s3", "upload"}, "__": nil, "löschen": {"löschen"},
	} {
		if diff := cmp.Diff(want, NameWords(name)); diff != "" {
			t.Errorf("%s: want(-) got(+):\n%s", name, diff)
		}
	}
	if n := len(NameWords(strings.Repeat("a_", 10_000))); n > 64 {
		t.Errorf("%d words of one name", n)
	}
}

func TestBaseName(t *testing.T) {
	for word, want := range map[string]string{"rm": "rm", "/usr/bin/rm": "rm", "./rm": "rm", "rm.exe": "rm",
		`C:\Windows\System32\reg.EXE`: "reg", ".exe": ".exe"} {
		if got, _ := BaseName(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{"plain": "plain", `a\tb`: "a\tb", `\x72\x6d`: "rm", `\162\155`: "rm",
		`\u0072m`: "rm", `\q`: "q", `\`: `\`, `\x`: ""} {
		if got := AnsiC(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"a": "a", "%2e%2E/": "../", "%": "%", "%zz": "%zz", "%252e": "%2e"} {
		if got := PercentDecode(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A list of words stays that list: what is quoted comes back as one word.
func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{"rm -rf x", "rm -rf x"},
		{[]any{"rm", "a b", ""}, "rm 'a b' ''"},
		{[]any{"echo", "it's; rm x"}, `echo 'it'\''s; rm x'`},
		{[]any{"/bin/sh", "-c", "rm x"}, "rm x"},
		{[]any{"python3", "-c", "rm x"}, "python3 -c 'rm x'"},
		{[]any{"rm", 1.0}, ""},
		{map[string]any{}, ""},
	} {
		if got := CommandLine(c.value); got != c.want {
			t.Errorf("%v: %s, want %s", c.value, got, c.want)
		}
	}
}
