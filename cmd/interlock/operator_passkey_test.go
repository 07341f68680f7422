package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/embedded"
)

// TestRemovePasskeyByCommand: one passkey of an operator goes, even the last one, and the operator stays.
func TestRemovePasskeyByCommand(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	signs := governed(t, home)
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	key := func(id string) interlock.Passkey {
		return interlock.Passkey{ID: id, PublicKey: "key-" + id, Algorithm: -7, RelyingID: "localhost", Name: "phone " + id, Created: made}
	}
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	operator := interlock.OperatorRecord{Name: "olga", Role: "operator", Created: made, Passkeys: []interlock.Passkey{key("one"), key("two")}}
	if err := backend.PutOperator(t.Context(), operator); err != nil {
		t.Fatal(err)
	}
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (int, string) {
		var out, complaint bytes.Buffer
		if args[0] == "remove" {
			args = append(args, "--key", signs)
		}
		code := run(t.Context(), append([]string{"--home", home, "operator", "passkey"}, args...), os.Getenv, nil, &out, &complaint)
		return code, out.String() + complaint.String()
	}
	for _, step := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{"remove", "olga", "one"}, 0, "passkey one of operator olga removed\n"},
		{[]string{"list", "olga"}, 0, "ID   NAME       MADE        FOR\ntwo  phone two  2026-03-01  localhost\n"},
		{[]string{"remove", "olga", "one"}, 1, "interlock: ID: this operator has no passkey with this id\n"},
		{[]string{"remove", "olga", "two"}, 0, "passkey two of operator olga removed\n"},
	} {
		code, said := command(step.args...)
		if diff := cmp.Diff([]any{step.code, step.said}, []any{code, said}); diff != "" {
			t.Errorf("%v (-want +got):\n%s", step.args, diff)
		}
	}
}
