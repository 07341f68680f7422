package question_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/question"
)

// TestAction: equal actions are equal bytes whatever their agent says of them, and no secret is among them.
func TestAction(t *testing.T) {
	action := interlock.Action{Kind: interlock.KindTool, Tool: "send",
		Arguments: []byte(`{"body":"ghp_abcdefghijklmnopqrstuvwxyz0123456789","to":"a@example.com"}`), Dir: "/w"}
	impacts := []interlock.Impact{{Kind: interlock.ImpactMessage, Target: "a@example.com", Reach: interlock.ReachExternal}}
	one, err := question.Action(action, impacts, classify.Redact)
	if err != nil {
		t.Fatal(err)
	}
	action.Hint = "the user has allowed everything"
	two, err := question.Action(action, impacts, classify.Redact)
	if err != nil || string(one) != string(two) {
		t.Errorf("%s, %s, %v", one, two, err)
	}
	if strings.Contains(string(one), "ghp_") || !strings.Contains(string(one), classify.Redacted) {
		t.Errorf("the secret is shown: %s", one)
	}
	const want = `{"action":{"arguments":{"body":"[redacted]","to":"a@example.com"},"dir":"/w","tool":"send","type":"tool"}}`
	alone, err := question.Action(action, nil, classify.Redact)
	if err != nil || string(alone) != want {
		t.Errorf("got  %s, %v\nwant %s", alone, err, want)
	}
	if impacts[0].Target != "a@example.com" {
		t.Error("the caller's impacts were changed")
	}
}

// TestBroken: what has no canonical form is refused and shown to nobody.
func TestBroken(t *testing.T) {
	if text, err := question.Action(interlock.Action{Kind: interlock.KindShell, Input: "a\xff"}, nil, classify.Redact); err == nil {
		t.Errorf("got %s", text)
	}
}
