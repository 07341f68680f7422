package witness

import (
	"crypto/sha256"
	"strings"
	"testing"
)

const private = "PRIVATE+KEY+interlock/0011223344556677+a9a16d07+AVYtp9Q8uVrUsvSnJZ4hlJLFcKZZkTYs2oGC7tmc0XyC"

// TestSigned: a signature is for one answer to one question under one key.
func TestSigned(t *testing.T) {
	key, err := ParseKey(private + "\n")
	if err != nil || key.Origin() != "interlock/0011223344556677" {
		t.Fatal(key.Origin(), err)
	}
	answer := Answer{Nonce: key.Nonce("1"), Method: "POST", Path: "/v1/decide", Asked: sha256.Sum256([]byte("a")), Status: 200,
		Reply: sha256.Sum256([]byte("b"))}
	signature := key.Sign(&answer)
	if !key.Signed(&answer, signature) || key.Nonce("1") == key.Nonce("2") || key.Pin() == signature {
		t.Error("its own signature does not hold")
	}
	for name, change := range map[string]func(a *Answer){
		"nonce": func(a *Answer) { a.Nonce = "2" }, "method": func(a *Answer) { a.Method = "GET" },
		"path": func(a *Answer) { a.Path = "/healthz" }, "asked": func(a *Answer) { a.Asked[0]++ },
		"status": func(a *Answer) { a.Status = 201 }, "reply": func(a *Answer) { a.Reply[31]++ },
	} {
		other := answer
		change(&other)
		if key.Signed(&other, signature) {
			t.Errorf("another %s has the same signature", name)
		}
	}
	for _, forged := range []string{"", signature[:63], strings.ToUpper(signature) + "0", strings.Repeat("0", 64)} {
		if key.Signed(&answer, forged) {
			t.Errorf("%q holds", forged)
		}
	}
	if (Key{}).Signed(&answer, "") || (Key{}).Signed(&answer, Key{}.Sign(&answer)) || (Key{}).Pin() != "" {
		t.Error("no key signs")
	}
	renamed, err := ParseKey(strings.Replace(private, "0011", "0012", 1))
	if err != nil || renamed.Pin() == key.Pin() {
		t.Error("a key of another log is the same")
	}
}

func TestParseKey(t *testing.T) {
	for _, text := range []string{"", "interlock/0011223344556677+a9a16d07+AVYtp9Q8uVrUsvSnJZ4hlJLFcKZZkTYs2oGC7tmc0XyC",
		"PRIVATE+KEY++a9a16d07+AVYtp9Q8uVrUsvSnJZ4hlJLFcKZZkTYs2oGC7tmc0XyC", "PRIVATE+KEY+x+y+AAAA", "PRIVATE+KEY+x+y+%"} {
		if key, err := ParseKey(text); err == nil || key.Pin() != "" {
			t.Errorf("%q is a key", text)
		}
	}
}
