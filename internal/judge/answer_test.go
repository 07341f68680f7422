package judge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/judge"
	"interlock/spec"
)

// TestAnswers: by one form it allows and by one it denies; everything else is a denial without a verdict.
func TestAnswers(t *testing.T) {
	spec.Covers(t, "ASA-9.1-3")
	good, err := judge.ParseAnswer(allows, grounds{})
	if err != nil || good.Verdict != interlock.Allow || good.Reason != "it only looks" || good.Percent != 93 || good.Rule != "" {
		t.Errorf("%+v, %v", good, err)
	}
	bad, err := judge.ParseAnswer(" "+denies+"\n", grounds{})
	if err != nil || bad.Verdict != interlock.Deny || bad.Layer != 1 || bad.Rule != "L1-1" || bad.Percent != 100 {
		t.Errorf("%+v, %v", bad, err)
	}
	for name, text := range map[string]string{
		"nothing":                 "",
		"words":                   "ALLOW",
		"ALLOWED? NO":             "ALLOWED? NO",
		"a prefix":                "ALLOW: fine",
		"text before":             "Sure: " + allows,
		"text behind":             allows + " I hope this helps",
		"a code fence":            "```json\n" + allows + "\n```",
		"a second object":         allows + denies,
		"a list":                  "[" + allows + "]",
		"an unknown member":       strings.Replace(allows, "{", `{"note":1,`, 1),
		"a member twice":          strings.Replace(denies, "{", `{"decision":"ALLOW",`, 1),
		"another case, and twice": strings.Replace(denies, "{", `{"Decision":"ALLOW",`, 1),
		"a name in another case":  strings.Replace(allows, `"decision"`, `"Decision"`, 1),
		"lower case":              strings.Replace(allows, "ALLOW", "allow", 1),
		"another word":            strings.Replace(allows, "ALLOW", "ALLOW ", 1),
		"allowed":                 strings.Replace(allows, "ALLOW", "ALLOWED", 1),
		"no decision":             strings.Replace(allows, `"decision":"ALLOW",`, "", 1),
		"no layer":                strings.Replace(allows, `"layer":null,`, "", 1),
		"no rule":                 strings.Replace(allows, `"rule_id":null,`, "", 1),
		"no reason":               strings.Replace(allows, `"reason":"it only looks",`, "", 1),
		"an empty reason":         strings.Replace(allows, "it only looks", "\u200b", 1),
		"no confidence":           strings.Replace(allows, `,"confidence":0.93`, "", 1),
		"confidence above":        strings.Replace(allows, "0.93", "1.01", 1),
		"confidence below":        strings.Replace(allows, "0.93", "-0.1", 1),
		"confidence as text":      strings.Replace(allows, "0.93", `"0.93"`, 1),
		"confidence null":         strings.Replace(allows, "0.93", `null`, 1),
		"allowed by a rule":       strings.Replace(strings.Replace(allows, `"rule_id":null`, `"rule_id":"L1-1"`, 1), `"layer":null`, `"layer":1`, 1),
		"allowed with a layer":    strings.Replace(allows, `"layer":null`, `"layer":4`, 1),
		"denied without a rule":   strings.Replace(denies, `"rule_id":"L1-1"`, `"rule_id":null`, 1),
		"an empty rule":           strings.Replace(denies, `"rule_id":"L1-1"`, `"rule_id":""`, 1),
		"a foreign rule":          strings.Replace(denies, "L1-1", "L1-9", 1),
		"a rule in another case":  strings.Replace(denies, "L1-1", "l1-1", 1),
		"a layer of another rule": strings.Replace(denies, `"layer":1`, `"layer":2`, 1),
		"no layer of the rule":    strings.Replace(denies, `"layer":1`, `"layer":null`, 1),
		"a layer as text":         strings.Replace(denies, `"layer":1`, `"layer":"1"`, 1),
		"a layer as a fraction":   strings.Replace(denies, `"layer":1`, `"layer":1.0`, 1),
		"too long":                strings.Replace(allows, "looks", strings.Repeat("x", 20_000), 1),
		"invalid text":            strings.Replace(allows, "looks", "\xff", 1),
	} {
		got, err := judge.ParseAnswer(text, grounds{})
		if err == nil || got.Verdict != interlock.Deny {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "fine") || strings.Contains(err.Error(), "L1-9")) {
			t.Errorf("%s: the error repeats the answer: %v", name, err)
		}
	}
}

// FuzzParseAnswer: whatever is allowed is one object of exactly the five members, says ALLOW, and names no rule; whatever is denied by a
// rule names one of the ground rules with its own layer.
func FuzzParseAnswer(f *testing.F) {
	for _, seed := range []string{allows, denies, allows + denies, "ALLOWED? NO", `{"decision":"ALLOW"}`, "```json\n" + allows + "\n```",
		`{"decision":"ALLOW","layer":null,"rule_id":null,"reason":"x","confidence":1e-1}`, strings.ToLower(allows)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j, err := judge.ParseAnswer(text, grounds{})
		if err != nil {
			if j.Verdict != interlock.Deny {
				t.Fatalf("%q: %v with %v", text, err, j.Verdict)
			}
			return
		}
		var members map[string]any
		if err := json.Unmarshal([]byte(text), &members); err != nil || len(members) != 5 {
			t.Fatalf("%q counts and is %v, %v", text, members, err)
		}
		confidence, number := members["confidence"].(float64)
		if !number || confidence < 0 || confidence > 1 || j.Percent < 0 || j.Percent > 100 || len(j.Reason) > 500 {
			t.Fatalf("%q: %+v", text, j)
		}
		switch {
		case j.Verdict == interlock.Allow:
			if members["decision"] != "ALLOW" || members["layer"] != nil || members["rule_id"] != nil || j.Rule != "" {
				t.Fatalf("%q is allowed: %+v", text, j)
			}
		default:
			layer, known := grounds{}.Layer(j.Rule)
			if members["decision"] != "DENY" || !known || layer != j.Layer || members["layer"] != float64(layer) {
				t.Fatalf("%q is denied: %+v", text, j)
			}
		}
	})
}
