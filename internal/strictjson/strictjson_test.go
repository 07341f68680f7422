package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/strictjson"
	"interlock/spec"
)

type call struct {
	Tool    string          `json:"tool"`
	Count   int             `json:"count,omitempty"`
	Nested  *inner          `json:"nested,omitempty"`
	List    []inner         `json:"list,omitempty"`
	ByName  map[string]int  `json:"by_name,omitempty"`
	Raw     json.RawMessage `json:"raw,omitempty"`
	Verdict interlock.Verdict
	embedded
}

type embedded struct {
	Kind string `json:"kind"`
}

type inner struct {
	Path string `json:"path"`
}

func TestDecodeReadsValidInput(t *testing.T) {
	var got call
	err := strictjson.Decode([]byte(` {"tool":"Bash","count":3,"nested":{"path":"a"},"list":[{"path":"b"}],
		"by_name":{"x":1},"raw":{"A":1,"b":[true]},"Verdict":"ask"} `), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := call{Tool: "Bash", Count: 3, Nested: &inner{"a"}, List: []inner{{"b"}}, ByName: map[string]int{"x": 1},
		Raw: json.RawMessage(`{"A":1,"b":[true]}`), Verdict: interlock.Ask}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(call{})); diff != "" {
		t.Error(diff)
	}
}

func TestNamesThatAreDataMayDifferInCase(t *testing.T) {
	var flags map[string]string
	if err := strictjson.Decode([]byte(`{"-c":"x","-C":"y"}`), &flags); err != nil || len(flags) != 2 {
		t.Errorf("have %v, %v", flags, err)
	}
	if err := strictjson.Decode([]byte(`{"-c":"x","-c":"y"}`), &flags); err == nil {
		t.Error("equal names were accepted")
	}
	if got, err := strictjson.Canonical([]byte(`{"b":1,"B":2}`)); err != nil || string(got) != `{"B":2,"b":1}` {
		t.Errorf("have %s, %v", got, err)
	}
	var free map[string]any
	if err := strictjson.Decode([]byte(`{"command":"ls","Command":"rm"}`), &free); err == nil {
		t.Error("an object of anything was accepted with names that differ in case only")
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	for _, test := range []struct {
		name, input, field, says string
		lenientToo               bool
	}{
		{"empty", ``, "", "no JSON value", true},
		{"white space", " \n", "", "no JSON value", true},
		{"truncated", `{"tool":"Ba`, "", "ends in the middle", true},
		{"truncated after comma", `{"tool":"x",`, "", "ends in the middle", true},
		{"trailing value", `{} {}`, "", "text after", true},
		{"trailing garbage", `{}x`, "", "text after", true},
		{"duplicate", `{"tool":"a","tool":"b"}`, "/tool", "twice", true},
		{"duplicate by escape", `{"tool":"a","too\u006c":"b"}`, "/tool", "twice", true},
		{"foreign case beside", `{"tool":"a","TOOL":"b"}`, "/TOOL", "twice", true},
		{"foreign case instead", `{"TOOL":"b"}`, "/TOOL", `"tool"`, true},
		{"foreign case by Kelvin sign", "{\"\u212aind\":\"b\"}", "/\u212aind", `"kind"`, true},
		{"foreign case nested", `{"list":[{"path":"a"},{"Path":"b"}]}`, "/list/1/Path", `"path"`, true},
		{"foreign case in free part", `{"raw":{"command":"ls","Command":"rm"}}`, "/raw/Command", "twice", true},
		{"foreign case in embedded", `{"KIND":"b"}`, "/KIND", `"kind"`, true},
		{"unknown", `{"tool":"a","extra":1}`, "/extra", "not known", false},
		{"unknown nested", `{"nested":{"paht":1}}`, "/nested/paht", "known are path", false},
		{"NUL in name", `{"raw":{"a\u0000b":1}}`, "/raw/a\x00b", "NUL", true},
		{"invalid UTF-8", "{\"tool\":\"\xff\"}", "/tool", "UTF-8", true},
		{"lone surrogate", `{"tool":"\ud800"}`, "/tool", "", true},
		{"too deep", `{"raw":` + deep + `}`, "", "deep", true},
		{"wrong type", `{"tool":1}`, "/tool", "have a number, want a string", true},
		{"wrong type nested", `{"list":[{"path":[]}]}`, "/list/0/path", "have an array, want a string", true},
		{"fraction for whole", `{"count":1.5}`, "/count", "whole number", true},
		{"unknown enumeration", `{"Verdict":"allow!"}`, "/Verdict", "want one of", true},
		{"array for object", `[]`, "", "have an array, want an object", true},
		{"byte order mark", "\ufeff{}", "", "valid JSON", true},
		{"comment", `{/*x*/}`, "", "valid JSON", true},
		{"single quotes", `{'tool':'x'}`, "", "valid JSON", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, lenient := range []bool{false, true} {
				decode := strictjson.Decode
				if lenient {
					decode = strictjson.DecodeLenient
				}
				var into call
				err := decode([]byte(test.input), &into)
				if lenient && !test.lenientToo {
					if err != nil {
						t.Errorf("lenient: %v", err)
					}
					continue
				}
				var refused *interlock.Error
				if !errors.As(err, &refused) {
					t.Fatalf("lenient %v: error is %v, want an *interlock.Error", lenient, err)
				}
				if test.field != "" && refused.Field != test.field || !strings.Contains(refused.Message, test.says) {
					t.Errorf("lenient %v: refused with %q: %q, want %q and %q", lenient, refused.Field, refused.Message, test.field, test.says)
				}
			}
		})
	}
}

func TestLimits(t *testing.T) {
	limits := strictjson.Limits{Bytes: 100, Depth: 2, String: 5, Array: 3}
	for input, ok := range map[string]bool{
		`[1,2,3]`:                           true,
		`[1,2,3,4]`:                         false,
		`{"a":1,"b":1,"c":1}`:               true,
		`{"a":1,"b":1,"c":1,"d":1}`:         false,
		`"12345"`:                           true,
		`"123456"`:                          false,
		`[[1]]`:                             true,
		`[[[1]]]`:                           false,
		strings.Repeat(" ", 99) + `1`:       true,
		strings.Repeat(" ", 100) + `1`:      false,
		`["12345","12345","12345"]`:         true,
		`{"a":[1,2,3],"b":[1,2,3]}`:         true,
		`{"a":[1,2,3],"b":[1,2,3],"B":"x"}`: false,
	} {
		var v any
		if err := strictjson.DecodeLimited([]byte(input), &v, limits); (err == nil) != ok {
			t.Errorf("%q: %v, want accepted %v", input, err, ok)
		}
	}
	var many strings.Builder // many members, so that the table of names changes its form
	for i := range 200 {
		fmt.Fprintf(&many, `,"k%d":1`, i)
	}
	var v any
	if err := strictjson.Decode([]byte("{"+many.String()[1:]+"}"), &v); err != nil {
		t.Error(err)
	}
	if err := strictjson.Decode([]byte("{"+many.String()[1:]+`,"K150":2}`), &v); err == nil {
		t.Error("a repeated name among many was accepted")
	}
}

func TestErrorsDoNotRepeatLongInput(t *testing.T) {
	long := strings.Repeat("secret", 1000)
	for _, input := range []string{
		`{"` + long + `":1}`, `{"Verdict":"` + long + `"}`, `{"count":"` + long + `"}`, `{"tool":` + long + `}`,
	} {
		var into call
		err := strictjson.Decode([]byte(input), &into)
		if err == nil || len(err.Error()) > 600 {
			t.Errorf("error has %d bytes: %.80v", len(fmt.Sprint(err)), err)
		}
	}
}

func TestCanonical(t *testing.T) {
	spec.Covers(t, "MACE-CAN-1")
	for input, want := range map[string]string{
		`{"b":1, "a":[ 1.0, -0, 1e2 ]}`:      `{"a":[1,0,100],"b":1}`,
		`"\u00e9\/\u0001"`:                   `"é/\u0001"`,
		`{"\u20ac":1,"\r":2,"\ufb33":3}`:     "{\"\\r\":2,\"€\":1,\"\ufb33\":3}",
		`9007199254740991`:                   `9007199254740991`,
		`-9007199254740991`:                  `-9007199254740991`,
		`[1e21,0.1,1e-7,333333333.33333329]`: `[1e+21,0.1,1e-7,333333333.3333333]`,
	} {
		got, err := strictjson.Canonical([]byte(input))
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s) = %s, %v, want %s", input, got, err, want)
		}
	}
	for _, input := range []string{`9007199254740992`, `-9007199254740992`, `[12345678901234567890]`, `1e20`, `1e999`,
		`-1e999`, `{"a":1,"a":1}`, `{"a":1,"\u0061":1}`, `[1,]`, `1 2`, ``, `nan`, `01`,
		strings.Repeat("[", 70) + strings.Repeat("]", 70)} {
		if got, err := strictjson.Canonical([]byte(input)); err == nil {
			t.Errorf("Canonical(%.30s) = %s, want a refusal", input, got)
		}
	}
}

func TestCanonicalLeavesItsInputAlone(t *testing.T) {
	input := []byte(`{"b":1,"a":2}`)
	if _, err := strictjson.Canonical(input); err != nil || string(input) != `{"b":1,"a":2}` {
		t.Errorf("input became %s, %v", input, err)
	}
}

func TestMarshal(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	for _, test := range []struct {
		value any
		want  string
	}{
		{interlock.Outcome{Status: interlock.OutcomeSuccess, Duration: 1500}, `{"duration_ns":1500,"outcome":"success"}`},
		{interlock.Impact{Kind: "read", Reach: "home"}, `{"confidence":"","kind":"read","reach":"home","reversibility":""}`},
		{interlock.Finding{Gate: "g", Verdict: interlock.Ask}, `{"gate":"g","layer":0,"reason":"","rule":"","verdict":"ask"}`},
		{struct{ B, A []string }{}, `{"A":[],"B":[]}`},
		{struct {
			At time.Time `json:"at"`
		}{at}, `{"at":"2026-01-02T03:04:05.0000006Z"}`},
		{map[string]any{"z": 1, "a": "<&>\u2028"}, "{\"a\":\"<&>\u2028\",\"z\":1}"},
	} {
		got, err := strictjson.Marshal(test.value)
		if err != nil || string(got) != test.want {
			t.Errorf("Marshal(%+v) = %s, %v, want %s", test.value, got, err, test.want)
		}
	}
	for _, value := range []any{int64(1) << 60, func() {}, "\xff", interlock.Verdict(9), json.RawMessage(`{`)} {
		if got, err := strictjson.Marshal(value); err == nil {
			t.Errorf("Marshal(%T) = %s, want an error", value, got)
		}
	}
}

func TestDecodeUndoesMarshal(t *testing.T) {
	want := interlock.Outcome{Status: interlock.OutcomeFailure, Detail: "x", Duration: 3 * time.Second,
		Effects: []interlock.Effect{{Path: "a", Change: interlock.EffectAdded, Kind: "file", After: 2}}, Overlay: true}
	data, err := strictjson.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got interlock.Outcome
	if err := strictjson.Decode(data, &got); err != nil || !cmp.Equal(got, want) {
		t.Errorf("have %+v, %v, want %+v", got, err, want)
	}
}

func TestDigest(t *testing.T) {
	one, err := strictjson.Digest("d", map[string]int{"b": 1, "a": 2})
	if err != nil {
		t.Fatal(err)
	}
	// printf 'd\n{"a":2,"b":1}' | sha256sum
	if want := interlock.Digest("sha256:cc97e9727dabc475c3e92a06ede6c8cfc0ed8cb65074cd58babd250ff8e8efe5"); one != want {
		t.Errorf("have %s, want %s", one, want)
	}
	other, _ := strictjson.Digest("e", map[string]int{"b": 1, "a": 2})
	if one == other {
		t.Error("the domain does not enter the digest")
	}
}

func TestActionDigestCoversAllButTheHint(t *testing.T) {
	base := interlock.Action{Kind: interlock.KindTool, Tool: "t", Input: "i", Arguments: json.RawMessage(`{"b":1,"a":2}`), Dir: "/d", Hint: "h"}
	digest := func(change func(*interlock.Action)) interlock.Digest {
		a := base
		change(&a)
		d, err := strictjson.ActionDigest(a)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := digest(func(*interlock.Action) {})
	for name, change := range map[string]func(*interlock.Action){
		"hint":             func(a *interlock.Action) { a.Hint = "other" },
		"order of members": func(a *interlock.Action) { a.Arguments = json.RawMessage(`{ "a":2, "b":1 }`) },
	} {
		if digest(change) != want {
			t.Errorf("another %s changes the digest", name)
		}
	}
	for name, change := range map[string]func(*interlock.Action){
		"kind":      func(a *interlock.Action) { a.Kind = interlock.KindHTTP },
		"tool":      func(a *interlock.Action) { a.Tool = "u" },
		"input":     func(a *interlock.Action) { a.Input = "j" },
		"arguments": func(a *interlock.Action) { a.Arguments = json.RawMessage(`{"b":1,"a":3}`) },
		"dir":       func(a *interlock.Action) { a.Dir = "/e" },
	} {
		if digest(change) == want {
			t.Errorf("another %s does not change the digest", name)
		}
	}
	for _, a := range []interlock.Action{base, {}, {Input: "é\u2028<&>\"\\\x00\x1f\x7f"}, {Arguments: json.RawMessage(`{"b":[1e2,"\u00e9"],"a":{}}`)}} {
		var arguments any
		if a.Arguments != nil {
			arguments = a.Arguments
		}
		plain, err := strictjson.Digest("interlock/action/v1",
			map[string]any{"arguments": arguments, "dir": a.Dir, "input": a.Input, "kind": a.Kind, "tool": a.Tool})
		if got, _ := strictjson.ActionDigest(a); got != plain || err != nil {
			t.Errorf("%+v: have %s, want %s, %v", a, got, plain, err)
		}
	}
	if _, err := strictjson.ActionDigest(interlock.Action{Input: "\xff"}); err == nil {
		t.Error("an action that is not UTF-8 has a digest")
	}
}

func BenchmarkMarshalDecision(b *testing.B) {
	d := interlock.Decision{Verdict: interlock.Ask, Answer: interlock.Ask, Risk: 40, Profile: "guard",
		Findings: []interlock.Finding{{Gate: "rules", Rule: "git.force-push", Layer: 3, Verdict: interlock.Ask, Reason: "it rewrites what others have"}},
		Impacts: []interlock.Impact{{Kind: "network", Target: "origin", Reach: "external", Reversibility: "window",
			Confidence: "parsed", Via: "git push", Traits: []string{"force"}}}}
	for b.Loop() {
		if _, err := strictjson.Marshal(d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(`{"kind":"shell","tool":"Bash","input":"git status && go test ./...","dir":"/home/me/project","hint":"run the tests"}`)
	for b.Loop() {
		var a interlock.Action
		if err := strictjson.Decode(data, &a); err != nil {
			b.Fatal(err)
		}
	}
}
