package strictjson_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"interlock/internal/strictjson"
)

func seeds(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, `null`, `""`, `0`, `-0`, `1e20`, `1e21`, `1.5`, `{"a":{"b":[1,2,{"c":"\u00e9"}]}}`,
		`{"a":1,"a":2}`, `{"a":1,"A":2}`, `9007199254740993`, `"\ud83d\ude00"`, `"\ud83d"`, `[[[[]]]]`, "\"\xff\"", ` 1 `, `1x`,
		`{"k":1,"` + "\u212a" + `":2}`, `123456789012345.6`, `5e-324`, `1.7976931348623157e308`, `{"":0}`} {
		f.Add([]byte(s))
	}
}

// Canonical is idempotent, and decoding the canonical form gives what decoding the input gives.
func FuzzCanonical(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := strictjson.Canonical(data)
		if err != nil {
			return
		}
		twice, err := strictjson.Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("Canonical(%q) = %q, again %q, %v", data, once, twice, err)
		}
		var want, got any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q is accepted and encoding/json refuses it: %v", data, err)
		}
		if err := json.Unmarshal(once, &got); err != nil || !reflect.DeepEqual(want, got) {
			t.Fatalf("%q means %v, its canonical form %v, %v", data, want, got, err)
		}
	})
}

// What is taken for canonical is what the canonical form's own writer would write.
func FuzzIsCanonical(f *testing.F) {
	seeds(f)
	for _, s := range []string{`{"a":1,"b":[true,null,"x"]}`, `{"b":1,"a":2}`, `{"a":-0}`, `[01]`, `{"a":1.0}`,
		`{"a":"\u0041"}`, `{"a": 1}`, `{"a":123456789012345}`, `{"a":1234567890123456}`, `{"":0,"a":{}}`,
		`{"a":"\"\\\b\f\n\r\t"}`, `{"a":"ü"}`, `{"a":"\/"}`, `{"a b":1,"a":2}`, `{"a":2,"a b":1}`, `{"a!":1,"a":2}`, "{\"a\":\"\xff\"}",
		`{"ü":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !strictjson.IsCanonical(data) {
			return
		}
		if canonical, err := strictjson.Canonical(data); err != nil || !bytes.Equal(canonical, data) {
			t.Fatalf("%q is taken for canonical, which is %q, %v", data, canonical, err)
		}
	})
}

// What Tree reads is what encoding/json reads, and it leaves out only what its description names.
func FuzzTree(f *testing.F) {
	seeds(f)
	for _, s := range []string{`{"a": [1, -2.5e+3, "x\ny", {"b" : null}], "c":false}`, `{"a":"\ud83d x"}`, `[1,]`, `{"a":1,}`, `01`, `-`, `1.`,
		`1e`, `"\x"`, `"a` + "\n" + `"`, `tru`, `[1 2]`, `{"a" 1}`, `{1:2}`, "1\x00", `{"\u0061":1,"a":2}`, `"\`, `[{}` + "\t" + `]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var want any
		valid := json.Valid(data) && decoder.Decode(&want) == nil
		got, ok := strictjson.Tree(data, func(text string) (any, bool) { return json.Number(text), true })
		if ok && (!valid || !reflect.DeepEqual(want, got)) {
			t.Fatalf("%q is read as %#v, want %#v", data, got, want)
		}
		if !ok && valid && utf8.Valid(data) && unique(json.NewDecoder(bytes.NewReader(data))) == nil && bytes.Count(data, []byte("[")) < 60 &&
			bytes.Count(data, []byte("{")) < 60 && !bytes.Contains(data, []byte("\\")) {
			t.Fatalf("%q is not read", data)
		}
	})
}

// Whatever Decode accepts has no object in which a name stands twice, in whatever case.
func FuzzDuplicateNames(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if err := strictjson.Decode(data, &v); err != nil {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		if err := unique(decoder); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
	})
}

type twice string

func (e twice) Error() string { return "the name stands twice: " + string(e) }

// unique walks one value by an independent reader.
func unique(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	var names []string
	for d.More() {
		if delim == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			for _, have := range names {
				if strings.EqualFold(have, name.(string)) {
					return twice(have)
				}
			}
			names = append(names, name.(string))
		}
		if err := unique(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// Marshal gives what canonicalizing its plain encoding gives.
func FuzzMarshal(f *testing.F) {
	seeds(f)
	f.Add([]byte(`{"b":{"d":1,"c":[{"z":0,"y":"\u00e9"}]},"a":-0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if err := strictjson.Decode(data, &v); err != nil {
			return
		}
		want, wantErr := strictjson.Canonical(data)
		values := []any{json.RawMessage(data)}
		if wantErr == nil {
			values = append(values, v) // a long integer has become a double in v, and is refused as text
		}
		for _, value := range values {
			got, err := strictjson.Marshal(value)
			if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("Marshal(%q) = %q, %v, want %q, %v", data, got, err, want, wantErr)
			}
		}
	})
}

// FuzzAppendString: a text is written as the general writer writes it, byte for byte.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\x00\b\f\n\r\t\x1f\x7f", "\u2028é😀<>&", "\u00ad\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // the caller's to know
		}
		want, err := strictjson.Marshal(text)
		if have := strictjson.AppendString([]byte("x"), text); err != nil || string(have) != "x"+string(want) {
			t.Fatalf("%q is written as %s, want %s, %v", text, have, want, err)
		}
	})
}
