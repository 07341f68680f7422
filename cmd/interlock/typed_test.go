package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"interlock"
	"interlock/cmd/interlock/cli"
)

// Every word an error may be given is one that some command takes, so that none outlives what it names.
func TestWordsAreTyped(t *testing.T) {
	parser, err := newParser(&cli.Program{}, commandTable())
	if err != nil {
		t.Fatal(err)
	}
	leaves := parser.Model.Leaves(false)
	for _, field := range []string{"id", "request", "subject", "name", "operator", "agent", "rule", "tool", "event", "proof", "key", "kind",
		"times", "signature", "checkpoint", "sandbox", "reason", "detail", "expires", "scope", "conditions", "--rules"} {
		words := wordsFor(field)
		if len(words) == 0 {
			t.Errorf("%s has no word", field)
		}
		for _, word := range words {
			if !slices.ContainsFunc(leaves, func(command *kong.Node) bool { return takes(command, word) }) {
				t.Errorf("%s: no command takes %s", field, word)
			}
		}
	}
	if words := wordsFor("gateway.servers"); words != nil {
		t.Errorf("a setting is called %v", words)
	}
}

func TestAsTyped(t *testing.T) {
	parser, err := newParser(&cli.Program{}, commandTable())
	if err != nil {
		t.Fatal(err)
	}
	command := func(path string) *kong.Node {
		for _, leaf := range parser.Model.Leaves(false) {
			if strings.HasSuffix(leaf.FullPath(), " "+path) {
				return leaf
			}
		}
		t.Fatalf("there is no command %s", path)
		return nil
	}
	refused := func(field string) error { return interlock.Errorf(interlock.CodeInvalid, field, "no") }
	for _, c := range []struct {
		path string
		err  error
		want string
	}{
		{"trust promote", refused("subject"), "AGENT: no"},
		{"tools approve", refused("subject"), "TOOL: no"},
		{"block lift", refused("subject"), "ID: no"},
		{"block lift", refused("operator"), "--as: no"},
		{"approve", cli.Usage(refused("request")), "ID: no"},
		{"grant give", refused("request"), "--request: no"},
		{"trust promote", refused("reason"), "--evidence: no"},
		{"trust demote", refused("reason"), "--reason: no"},
		{"approve", fmt.Errorf("%w; and so on", refused("key")), "--key: no; and so on"},
		{"approve", fmt.Errorf("while reading: %w", refused("key")), "while reading: key: no"},
		{"approve", refused("--as"), "--as: no"},
		{"approve", refused("gateway.servers"), "gateway.servers: no"},
		{"version", refused("key"), "key: no"},
		{"approve", errors.New("key: no"), "key: no"},
	} {
		got := asTyped(c.err, command(c.path))
		if got.Error() != c.want {
			t.Errorf("%s: %q is said as %q, want %q", c.path, c.err, got, c.want)
		}
		var before, after *cli.ExitCode
		if errors.As(c.err, &before) && (!errors.As(got, &after) || after.Code != before.Code) {
			t.Errorf("%s: the exit status was %d and is %v", c.path, before.Code, after)
		}
	}
	if asTyped(nil, command("approve")) != nil {
		t.Error("no error became one")
	}
}
