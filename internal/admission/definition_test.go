package admission

import (
	"bytes"
	"encoding/json"
	"testing"

	"interlock/internal/admission/pinning"
)

// FuzzReadDefinition holds that what is read of a definition does not depend on how it is written: its text read again, or with
// blanks between, gives the same tool and digest; that the text is JSON with the name that was read; and that nothing has a
// digest without a text.
func FuzzReadDefinition(f *testing.F) {
	for _, seed := range []string{`{"name":"a"}`, `{"name":"a","name":"b"}`, `{"name":"a","n":18446744073709551615}`,
		`{"name":"\u0061"}`, `[]`, `{"name":"a","x":1e400}`,
		`{"name":"a","Name":"b"}`, `{"name":"a","d":{"b":[1.50,-0,1e2],"a":null}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := pinning.ReadDefinition("", raw)
		if d.Text == nil {
			if d.Digest != "" {
				t.Fatalf("a digest without a text: %+v", d)
			}
			return
		}
		var named map[string]any
		if err := json.Unmarshal(d.Text, &named); err != nil || named["name"] != d.Tool || d.Digest == "" {
			t.Fatalf("%s has the name %v and was read as %q (%v)", d.Text, named["name"], d.Tool, err)
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, raw, "", "  "); err != nil {
			t.Fatalf("%s was read and is no JSON: %v", raw, err)
		}
		for _, other := range [][]byte{d.Text, spaced.Bytes()} {
			if again := pinning.ReadDefinition("", other); again.Tool != d.Tool || again.Digest != d.Digest {
				t.Fatalf("%s\nis read as %q %s\nand %s\nas %q %s", raw, d.Tool, d.Digest, other, again.Tool, again.Digest)
			}
		}
	})
}
