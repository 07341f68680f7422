package strictyaml_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/strictjson"
	"interlock/internal/strictyaml"
)

func TestToJSON(t *testing.T) {
	for input, want := range map[string]string{
		"a: 1\nb: [x, 'y', \"z\\n\"]\nc:\n  - d: true\n    e: ~\n": `{"a":1,"b":["x","y","z\n"],"c":[{"d":true,"e":null}]}`,
		"# only a comment before\n---\na: 1.5\n":                   `{"a":1.5}`,
		"a: |\n  line one\n  line two\nb: >-\n  folded\n  text\n":  `{"a":"line one\nline two\n","b":"folded text"}`,
		"a: yes\nb: no\nc: on\n":                                   `{"a":"yes","b":"no","c":"on"}`,
		"a:\nb: {c: d}\n":                                          `{"a":null,"b":{"c":"d"}}`,
		"a: 'it''s'\nb: '^rm\\b[^|]*'\n":                           `{"a":"it's","b":"^rm\\b[^|]*"}`,
	} {
		got, err := strictyaml.ToJSON("f.yaml", []byte(input))
		if err != nil || string(got) != want {
			t.Errorf("%q: have %s, %v, want %s", input, got, err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	type config struct {
		Name  string   `json:"name"`
		Count int      `json:"count"`
		List  []string `json:"list"`
		Inner struct {
			Mode interlock.Mode `json:"mode"`
		} `json:"inner"`
	}
	for _, test := range []struct{ name, input, want string }{
		{"unknown key", "name: x\nnmae: y\n", "f.yaml:2:1: nmae: the member is not known here"},
		{"unknown nested key", "inner:\n  moed: x\n", "f.yaml:2:3: inner.moed: the member is not known"},
		{"duplicate key", "name: x\nname: y\n", "f.yaml:2:"},
		{"foreign case", "name: x\nNAME: y\n", `f.yaml:2:1: NAME: the name must be written "name"`},
		{"wrong type", "list:\n  - a\n  - [b]\n", "f.yaml:3:5: list[1]: have an array, want a string"},
		{"unknown enumeration", "inner:\n  mode: off\n", "f.yaml:2:3: inner.mode: unknown mode \"off\""},
		{"anchor", "name: &a x\nlist: [*a]\n", "f.yaml:1:1: name: anchors"},
		{"alias bomb", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "anchors"},
		{"merge", "a: 1\n<<: {b: 1}\n", "merge keys"},
		{"tag", "name: !!str x\n", "tags are not read"},
		{"two documents", "a: 1\n---\nb: 2\n", "second document"},
		{"number key", "1: x\n", "f.yaml:1:1: a name must be plain text"},
		{"hexadecimal", "count: 0x10\n", "plain decimal"},
		{"octal", "count: 010\n", "plain decimal"},
		{"infinite", "count: .inf\n", "not read"},
		{"large integer", "count: 9007199254740993\n", "2^53-1"},
		{"empty", "\n# nothing\n", "empty"},
		{"tabs", "a:\n\tb: 1\n", "f.yaml:2:"},
		{"unclosed", "list: [a, b\n", "f.yaml:"},
		{"invalid UTF-8", "name: \xff\n", "UTF-8"},
		{"NUL", "name: a\x00b\n", "NUL"},
		{"deep brackets", "a: " + strings.Repeat("[", 5000), "nested"},
		{"deep lists", strings.Repeat("- ", 5000) + "x\n", "nested"},
		{"deep mappings", deepMapping(40), "nested"},
		{"long", strings.Repeat("#", 2<<20), "at most"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var into config
			err := strictyaml.Decode("f.yaml", []byte(test.input), &into)
			var refused *interlock.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Error(), test.want) {
				t.Errorf("have %v, want %q", err, test.want)
			}
		})
	}
}

func deepMapping(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestErrorfNamesTheNearestPlace(t *testing.T) {
	d, err := strictyaml.Parse("r.yaml", []byte("rules:\n  - id: x\n    match: {kind: [read]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"/rules/0/match/kind": "r.yaml:3:13: rules[0].match.kind: wrong",
		"/rules/0/reason":     "r.yaml:2:7: rules[0].reason: wrong",
		"":                    "r.yaml:1:", // the first token the parser names
	} {
		if got := d.Errorf(pointer, "wrong").Error(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: have %q, want %q", pointer, got, want)
		}
	}
}

// Whatever is accepted is canonical JSON that the strict reader accepts too.
func FuzzToJSON(f *testing.F) {
	for _, s := range []string{"a: 1\n", "- a\n- b: c\n", "a: |\n x\n", "{a: [b, {c: d}]}", "a: &x 1\nb: *x\n", "? a\n: b\n",
		"a: \"\\xff\\ud800\"\n", "a: 1_000\n", "---\n...\n", "%YAML 1.2\n---\na: b\n", "a: 'b\n\n c'\n", "\ufeffa: b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := strictyaml.ToJSON("f", data)
		if err != nil {
			return
		}
		again, err := strictjson.Canonical(got)
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("%q became %q, canonical %q, %v", data, got, again, err)
		}
	})
}
