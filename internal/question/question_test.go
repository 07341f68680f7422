package question_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/question"
	"interlock/internal/strictjson"
	"interlock/internal/strictjson/filltest"
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

// TestActionIsWrittenAsByTheGeneralEncoder: what is written by hand is the canonical form, with every field that an impact has.
func TestActionIsWrittenAsByTheGeneralEncoder(t *testing.T) {
	full := filltest.Value[interlock.Impact]()
	for _, action := range []interlock.Action{
		{Kind: interlock.KindShell, Input: "echo \"hi\"\n<b> \u2028 é", Dir: "/w"},
		{Kind: interlock.KindTool, Tool: "send", Arguments: []byte(`{ "b": 1e2, "a": "\u00e9"}`)},
		{Kind: interlock.KindTool, Tool: "send", Arguments: []byte(`{"body":"x"}`), Input: "unused"},
		{},
	} {
		for _, impacts := range [][]interlock.Impact{nil, {full}, {full, {}}} {
			shown := map[string]any{"type": action.Kind}
			for name, value := range map[string]string{"tool": action.Tool, "input": action.Input, "dir": action.Dir} {
				if value != "" {
					shown[name] = value
				}
			}
			if len(action.Arguments) > 0 {
				shown["arguments"] = json.RawMessage(action.Arguments)
			}
			whole := map[string]any{"action": shown}
			if len(impacts) > 0 {
				whole["impacts"] = impacts
			}
			want, err := strictjson.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			got, err := question.Action(action, impacts, func(text string) (string, []string) { return text, nil })
			if err != nil || string(got) != string(want) {
				t.Errorf("got  %s, %v\nwant %s", got, err, want)
			}
		}
	}
}
