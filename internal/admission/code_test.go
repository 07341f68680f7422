package admission

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/spec"
)

// TestCodes: 160 bits as they are read, every one of them told apart, and a hash that is worth nothing for another challenge.
func TestCodes(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2a")
	for raw, want := range map[string]string{
		strings.Repeat("\x00", core.CodeBytes):                                             "0000-0000-0000-0000-0000-0000-0000-0000",
		strings.Repeat("\xff", core.CodeBytes):                                             "ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ",
		"\x08" + strings.Repeat("\x00", core.CodeBytes-1):                                  "1000-0000-0000-0000-0000-0000-0000-0000",
		strings.Repeat("\x00", core.CodeBytes-1) + "\x01":                                  "0000-0000-0000-0000-0000-0000-0000-0001",
		"\x00\x44\x32\x14\xc7\x42\x54\xb6\x35\xcf\x84\x65\x3a\x56\xd7\xc6\x75\xbe\x77\xdf": "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ",
	} {
		if got, err := core.NewCode(strings.NewReader(raw)); err != nil || got != want {
			t.Errorf("%x is read as %q, %v, want %q", raw, got, err, want)
		}
	}
	if _, err := core.NewCode(strings.NewReader("short")); err == nil {
		t.Error("a code was made of too little randomness")
	}
	hash := core.CodeHash("challenge", "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ")
	if !core.Matches(hash, "challenge", "o i23 4567 89ab cdef ghjk mnpq rstv wxyz") {
		t.Error("what a human types does not match")
	}
	for name, other := range map[string][2]string{"another challenge": {"other", "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ"},
		"one letter": {"challenge", "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYY"}} {
		if core.Matches(hash, other[0], other[1]) {
			t.Errorf("%s matches", name)
		}
	}
	if core.Matches("", "challenge", "") || core.Matches(core.CodeHash("challenge", ""), "", "") {
		t.Error("no code matches")
	}
}

// FuzzCode: whatever is typed, it is a code of exactly 32 symbols or none; reading what was read changes nothing; and every
// code that is made is read as itself.
func FuzzCode(f *testing.F) {
	for _, seed := range []string{"", "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ", "oOiIlL", "\u017f\u212a", "U", strings.Repeat("-", 200), "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		code, ok := core.CodeOf(typed)
		if ok {
			if len(code) != core.CodeLength || strings.Trim(code, core.CodeAlphabet) != "" {
				t.Fatalf("%q is read as %q", typed, code)
			}
			if again, ok := core.CodeOf(core.Grouped(code)); !ok || again != code {
				t.Fatalf("%q is read as %q and then as %q", typed, code, again)
			}
		}
		raw := append([]byte(typed), make([]byte, core.CodeBytes)...)[:core.CodeBytes]
		made, err := core.NewCode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if read, ok := core.CodeOf(made); !ok || core.Grouped(read) != made {
			t.Fatalf("the code %q is read as %q", made, read)
		}
	})
}

func TestUUIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		id, err := core.NewUUID(rand.Reader)
		if err != nil || seen[id] || governance.IdOf(id) != id {
			t.Fatalf("%q, %v", id, err)
		}
		seen[id] = true
	}
	for _, given := range []string{"", "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ", strings.Repeat("a", 36), strings.Repeat("a", 40)} {
		if governance.IdOf(given) == given {
			t.Errorf("%q passes for an id", given)
		}
	}
}
