package ruleset_test

import (
	"encoding/json"
	"testing"

	"interlock"
	"interlock/internal/ruleset"
	"interlock/spec"
)

func TestConditions(t *testing.T) {
	spec.Covers(t, "AQL-D-9.1")
	const arguments = `{"count":101,"big":9007199254740993,"name":"Prod-db","nested":{"limit":5},"ids":[1,2,3],"flag":true,"text":"12",` +
		`"huge":1e400000000,"spelled":"0x10"}`
	for _, test := range []struct {
		parameter, operator, value string
		holds, may                 bool // for what loosens, for what tightens
	}{
		{"params.count", ">", `100`, true, true},
		{"count", ">", `101`, false, false},
		{"count", ">=", `101`, true, true},
		{"count", "<", `101.5`, true, true},
		{"count", "<=", `100`, false, false},
		{"big", "==", `9007199254740993`, true, true},
		{"big", "==", `9007199254740992`, false, false}, // which a float can't tell apart
		{"big", "!=", `9007199254740992`, true, true},
		{"name", "matches", `"prod*"`, true, true},
		{"name", "matches", `"dev*"`, false, false},
		{"name", "in", `["Prod-db","x"]`, true, true},
		{"name", "in", `["prod-db"]`, false, false},
		{"nested.limit", "<", `6`, true, true},
		{"nested.other", "<", `6`, false, false},
		{"ids", ">", `2`, true, true}, // a list counts as its length
		{"text", ">", `11`, true, true},
		{"flag", "==", `true`, true, true},
		{"flag", ">", `1`, false, true}, // can't be compared: loosens nothing, and may be what was meant
		{"huge", ">", `1`, false, true},
		{"spelled", "<", `100`, false, true},
		{"count", "~", `1`, false, true},
		{"missing", "==", `1`, false, false},
	} {
		c := []interlock.Condition{{Parameter: test.parameter, Operator: test.operator, Value: json.RawMessage(test.value)}}
		if got := ruleset.Hold(c, []byte(arguments)); got != test.holds {
			t.Errorf("%s %s %s: holds %v", test.parameter, test.operator, test.value, got)
		}
		if got := ruleset.MayHold(c, []byte(arguments)); got != test.may {
			t.Errorf("%s %s %s: may hold %v", test.parameter, test.operator, test.value, got)
		}
	}
	if !ruleset.Hold(nil, nil) || !ruleset.MayHold(nil, nil) {
		t.Error("no condition does not hold")
	}
}

func TestConfirmationMessage(t *testing.T) {
	d := ruleset.DangerRule{Message: "Delete {params.count} of {table}{missing} {unclosed"}
	const want = "Delete 3 of users{missing} {unclosed"
	if got := d.Say([]byte(`{"params":{"count":3},"count":3,"table":"us\u202e\ners"}`)); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// FuzzConditions: a condition never panics, and what certainly holds may hold.
func FuzzConditions(f *testing.F) {
	f.Add("count", ">", `100`, `{"count":101}`)
	f.Add("a.b", "in", `[1,"x"]`, `{"a":{"b":"x"}}`)
	f.Add("a", "==", `1e999999999`, `{"a":1e999999999}`)
	f.Fuzz(func(t *testing.T, parameter, operator, value, arguments string) {
		c := []interlock.Condition{{Parameter: parameter, Operator: operator, Value: json.RawMessage(value)}}
		if ruleset.Hold(c, []byte(arguments)) && !ruleset.MayHold(c, []byte(arguments)) {
			t.Error("it holds and may not hold")
		}
	})
}
