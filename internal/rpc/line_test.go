package rpc

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// FuzzLines: however its bytes arrive, a stream gives the lines that are within the bound, in order and whole; and no line over
// it leads to anything but an error for an id that JSON sees in it, too.
func FuzzLines(f *testing.F) {
	for _, text := range []string{"{}\n[]\r\n\n", `{"result":{"id":3},"id":"x"}` + "\n",
		"\f\n \t\r\n",
		`{"id":1,"id":2,"r":"` + strings.Repeat("y", 100) + `"}` + "\n", `{"r":"` + strings.Repeat(`\"`, 60) + `","id":7}` + "\nx"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const most = 64
		var got [2][][]byte
		for i, in := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
			r := NewLineReader(in, most)
			for {
				line, err := r.Next()
				if err != nil {
					break
				}
				got[i] = append(got[i], line)
			}
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Fatal(diff)
		}
		at := 0
		for _, line := range bytes.SplitAfter(text, []byte("\n")) {
			switch whole := bytes.HasSuffix(line, []byte("\n")); {
			case !whole || len(bytes.Trim(line, Space)) == 0 && len(line) <= most+1:
			case len(line) <= most+1:
				if at >= len(got[0]) || !bytes.Equal(got[0][at], bytes.Trim(line, Space)) {
					t.Fatalf("%q is missing in %q", line, got[0])
				}
				at++
			case at < len(got[0]) && bytes.HasSuffix(got[0][at], []byte(`"data":{"interlock":"answer_dropped"}}}`)):
				var said, have struct {
					ID json.RawMessage `json:"id"`
				}
				if err := json.Unmarshal(got[0][at], &said); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(line, &have); err == nil && !bytes.Equal(said.ID, have.ID) {
					t.Fatalf("%q is answered with %q", line, got[0][at])
				}
				at++
			}
		}
		if at != len(got[0]) {
			t.Fatalf("%q has more than %q", got[0], text)
		}
	})
}

func TestTheIDOfAnAnswerThatIsTooLong(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":1,"result":{}}`: `1`, `{"result":{"id":2},"id": "a-b" }`: `"a-b"`, `{"x":"\"id\":3","id":-4}`: `-4`, `{"x":[{"id":5}],"id":6,"y":{}}`: `6`,
		`{"id":1,"method":"x"}`: ``, `{"id":null}`: ``, `{"id":1.5}`: ``, `{"id":{}}`: ``, `{"id":1,"id":2}`: ``,
		`[{"id":1}]`: ``, `{"id":1`: ``, `{"id":"a\"b"}`: ``, `x`: ``,
		`{"id":"` + strings.Repeat("x", 100) + `"}`: ``,
	} {
		var f idFinder
		for i := range text {
			f.write([]byte(text[i : i+1]))
		}
		if got := string(f.answered()); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
