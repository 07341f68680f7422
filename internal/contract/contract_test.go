package contract_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/contract"
)

const order = `{"type":"object","required":["id","lines"],"properties":{"id":{"type":"string","minLength":2,"maxLength":8,"pattern":"^[A-Z]"},
	"lines":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["n"],"properties":{"n":{
		"type":"integer","minimum":1,"exclusiveMaximum":100},
	"kind":{"enum":["goods","work",7]}}}},"price":{"type":"number","exclusiveMinimum":0,"maximum":10.5},"note":{"type":["string","null"]},
	"when":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"},"path":{"type":"string","format":"relative-path"},
	"ref":{"type":"string","format":"uuid"},"fixed":{"const":{"a":1}},"more":{"type":"object","additionalProperties":{"type":"boolean"}}}}`

func compiled(t testing.TB, schema string) *contract.Schema {
	t.Helper()
	s, err := contract.Compile([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCheck: what a schema says holds to the letter, the first thing that is wrong is named with its place, and nothing is made to fit.
func TestCheck(t *testing.T) {
	s := compiled(t, order)
	for value, want := range map[string]string{ // order-independent
		`{"id":"A1","lines":[{"n":1}]}`: "",
		`{"lines":[{"n":99,"kind":7}],"id":"ABCDEFGH","price":10.5,"note":null,"when":"2026-11-23","at":"2026-11-23T10:00:00Z","path":"a/b.c"}`: "",
		`{"id":"A1","lines":[{"n":1}],"fixed":{"a":1.0},"more":{"x":true,"y/z":false},"ref":"123e4567-e89b-12d3-a456-426614174000"}`:            "",
		`{"id":"\u0041 \ud83d\ude00","lines":[{"n":1e1}]}`:  "",
		`{"lines":[{"n":1}]}`:                               "/id required",
		`{"id":"A1"}`:                                       "/lines required",
		`{"id":"A","lines":[{"n":1}]}`:                      "/id minLength",
		`{"id":"ABCDEFGHI","lines":[{"n":1}]}`:              "/id maxLength",
		`{"id":"a1","lines":[{"n":1}]}`:                     "/id pattern",
		`{"id":1,"lines":[{"n":1}]}`:                        "/id type",
		`{"id":null,"lines":[{"n":1}]}`:                     "/id type",
		`{"id":"A1","lines":[]}`:                            "/lines minItems",
		`{"id":"A1","lines":[{"n":1},{"n":2},{"n":3}]}`:     "/lines maxItems",
		`{"id":"A1","lines":[{"n":1},{}]}`:                  "/lines/1/n required",
		`{"id":"A1","lines":[{"n":0}]}`:                     "/lines/0/n minimum",
		`{"id":"A1","lines":[{"n":100}]}`:                   "/lines/0/n exclusiveMaximum",
		`{"id":"A1","lines":[{"n":1.5}]}`:                   "/lines/0/n type",
		`{"id":"A1","lines":[{"n":"1"}]}`:                   "/lines/0/n type",
		`{"id":"A1","lines":[{"n":true}]}`:                  "/lines/0/n type",
		`{"id":"A1","lines":[{"n":1,"kind":"7"}]}`:          "/lines/0/kind enum",
		`{"id":"A1","lines":[{"n":1}],"price":0}`:           "/price exclusiveMinimum",
		`{"id":"A1","lines":[{"n":1}],"price":10.6}`:        "/price maximum",
		`{"id":"A1","lines":[{"n":1}],"when":"23.11.2026"}`: "/when format",
		`{"id":"A1","lines":[{"n":1}],"at":"2026-11-23"}`:   "/at format",
		`{"id":"A1","lines":[{"n":1}],"ref":"x"}`:           "/ref format",
		`{"id":"A1","lines":[{"n":1}],"fixed":{"a":2}}`:     "/fixed enum",
		`{"id":"A1","lines":[{"n":1}],"more":{"y/z":1}}`:    "/more/y~1z type",
		`{"id":"A1","lines":[{"n":1}],"Note":"x"}`:          "/Note additionalProperties",
		`{"id":"A1","lines":{"0":{"n":1}}}`:                 "/lines type",
		`"A1"`:                                              " type",
		`null`:                                              " type",
		`{"id":"A1","lines":[{"n":1}]`:                      " decode",
		``:                                                  " decode",
	} {
		canonical, wrong := s.Check([]byte(value))
		got := ""
		if wrong != nil {
			if got = wrong.At + " " + wrong.Keyword; wrong.Keyword == contract.Decode {
				got = " decode"
			}
		}
		if got != want || (wrong == nil) != (canonical != nil) {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

// TestPaths: a path that stays where it is put is one, whatever it is called; every way out of there is none.
func TestPaths(t *testing.T) {
	s := compiled(t, `{"type":"string","format":"relative-path"}`)
	for _, path := range []string{"a", "a/b.c", "a b/c", "..a/b", "a../b", ".hidden", "a/.b", "über/ß", "a:b"} {
		text, _ := json.Marshal(path)
		if _, wrong := s.Check(text); (wrong == nil) != (path != "a:b") {
			t.Errorf("%q: %+v", path, wrong)
		}
	}
	for _, path := range []string{"", "/a", "..", "../a", "a/../b", "a/..", `..\a`, `a\..\..\b`, `\a`, `c:\a`, "c:a", "~/a",
		"~root", "$HOME/a", "%2e%2e/a",
		"a/%2E%2E/b", "%252e%252e/a", "a/..%2fb", "a%00b", "a\nb", "a/.. /b", "a/.../b", "%zz", "100%25", "..%5ca"} {
		text, _ := json.Marshal(path)
		if _, wrong := s.Check(text); wrong == nil || wrong.Keyword != "format" {
			t.Errorf("%q passes", path)
		}
	}
}

// TestCompile: what a schema says that is not understood, contradicts itself or leaves open what is to come is refused with its place.
func TestCompile(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 17) + `{"type":"null"}` + strings.Repeat(`}`, 17)
	for schema, want := range map[string]string{ // order-independent
		``:                             "",
		`true`:                         "",
		`[]`:                           "",
		`{}`:                           "/type",
		`{"type":"text"}`:              "/type",
		`{"type":[]}`:                  "/type",
		`{"type":["string","string"]}`: "/type",
		`{"type":"array"}`:             "/items",
		`{"type":"object","properties":{"a":{}}}`:                                            "/properties/a/type",
		`{"type":"object","required":["a"]}`:                                                 "/required/0",
		`{"type":"object","additionalProperties":true}`:                                      "/additionalProperties",
		`{"type":"object","properties":{"a":{"type":"string","minLength":3,"maxLength":2}}}`: "/properties/a/minLength",
		`{"type":"string","maxLength":-1}`:                                                   "/maxLength",
		`{"type":"string","pattern":"("}`:                                                    "/pattern",
		`{"type":"string","pattern":"(?!x)"}`:                                                "/pattern",
		`{"type":"string","format":"email"}`:                                                 "/format",
		`{"type":"number","minimum":2,"maximum":1}`:                                          "/minimum",
		`{"enum":[1],"const":1}`:                                                             "/const",
		`{"$ref":"https://example.com/x"}`:                                                   "/$ref",
		`{"anyOf":[{"type":"string"}]}`:                                                      "/anyOf",
		`{"type":"string","$schema":"https://example.com/x"}`:                                "/$schema",
		`{"type":"string","type":"number"}`:                                                  "/type",
		deep:                                                                                 strings.Repeat("/items", 16),
	} {
		_, err := contract.Compile([]byte(schema))
		refused := (*interlock.Error)(nil)
		if !errors.As(err, &refused) || want != "" && refused.Field != want {
			t.Errorf("%.60s: %v, want %s", schema, err, want)
		}
	}
	a, b := compiled(t, `{"type":"string","maxLength":3}`), compiled(t, ` {"maxLength": 3, "type": "string"} `)
	if a.Digest() != b.Digest() || a.Digest() == compiled(t, `{"type":"string"}`).Digest() {
		t.Error("a schema is not named by what it says")
	}
}

// FuzzCheck: whatever a schema and a value are, the answer is the same twice and repeats nothing of the value; what passes is in its one
// form, passes again in it, and holds no null that the schema does not name.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(order), []byte(`{"id":"A1","lines":[{"n":1}]}`))
	f.Add([]byte(`{"type":["integer","null"]}`), []byte(`null`))
	f.Add([]byte(`{"type":"string","format":"relative-path"}`), []byte(`"a/%2e%2e"`))
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		s, err := contract.Compile(schema)
		if err != nil {
			if refused := (*interlock.Error)(nil); !errors.As(err, &refused) {
				t.Fatalf("%T", err)
			}
			return
		}
		canonical, wrong := s.Check(value)
		again, twice := s.Check(value)
		if !bytes.Equal(canonical, again) || (wrong == nil) != (twice == nil) || wrong != nil && *wrong != *twice {
			t.Fatalf("%+v and %+v", wrong, twice)
		}
		if wrong != nil {
			if wrong.Keyword == "schema" {
				t.Fatalf("only the library finds what is wrong with %s under %s", value, schema)
			}
			return
		}
		same, wrong := s.Check(canonical)
		if wrong != nil || !bytes.Equal(same, canonical) {
			t.Fatalf("%s is %s, %+v", value, same, wrong)
		}
		if bytes.Contains(canonical, []byte("null")) && !bytes.Contains(schema, []byte("null")) && !bytes.Contains(canonical, []byte(`"`)) {
			t.Fatalf("%s lets %s in", schema, canonical)
		}
	})
}
