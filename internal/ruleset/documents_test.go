package ruleset_test

import (
	"testing"

	"interlock/internal/ruleset"
	"interlock/rules"
)

// The recorded text of a ruleset makes the ruleset of the same digest, and one that was changed makes none.
func TestARulesetIsMadeOfItsText(t *testing.T) {
	user := map[string][]byte{"team.yaml": []byte("policy: {deny: [\"mkfs*\"]}\n")}
	set, err := ruleset.Load(rules.Defaults(), user)
	if err != nil {
		t.Fatal(err)
	}
	text, err := ruleset.Documents(rules.Defaults(), user)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ruleset.FromDocuments(text, set.Digest())
	if err != nil || again.Digest() != set.Digest() || len(again.Rules()) != len(set.Rules()) {
		t.Fatalf("%v", err)
	}
	other, err := ruleset.Documents(rules.Defaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ruleset.FromDocuments(other, set.Digest()); err == nil {
		t.Error("another ruleset's text passes for this one's")
	}
	if _, err := ruleset.FromDocuments([]byte("{"), set.Digest()); err == nil {
		t.Error("a broken text makes a ruleset")
	}
}
