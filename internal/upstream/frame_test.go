package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
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
		`{"id":1,"id":2,"r":"` + strings.Repeat("y", 100) + `"}` + "\n", `{"r":"` + strings.Repeat(`\"`, 60) + `","id":7}` + "\nx"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const most = 64
		var got [2][][]byte
		for i, in := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
			r := newLineReader(in, most)
			for {
				line, err := r.next()
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
			case !whole || len(bytes.TrimSpace(line)) == 0 && len(line) <= most+1:
			case len(line) <= most+1:
				if at >= len(got[0]) || !bytes.Equal(got[0][at], bytes.TrimSpace(line)) {
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
				if err := json.Unmarshal(line, &have); err == nil && !sameID(said.ID, have.ID) {
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

// FuzzEvents: however its bytes arrive, a stream of events gives the same events, none longer than the bound, and no id that a
// header can't carry.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{"data: a\n\n", "id: 1\r\ndata:b\r\ndata: c\r\n\r\n", ": x\rdata\r\rid\n\nretry: 5\n\n",
		"\xef\xbb\xbfdata: a\n\nid: \x00\ndata: y\n\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const most = 64
		var got [2][]event
		var ends [2]error
		for i, in := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
			r := newEventReader(in, most)
			for ends[i] == nil {
				var e event
				if e, ends[i] = r.next(); ends[i] != nil {
					break
				}
				if len(e.data) > most || !validHeaderValue([]byte(e.id)) {
					t.Fatalf("%+v", e)
				}
				got[i] = append(got[i], e)
			}
		}
		if diff := cmp.Diff(got[0], got[1], cmp.AllowUnexported(event{})); diff != "" || !errors.Is(ends[0], ends[1]) {
			t.Fatalf("%v %v %s", ends[0], ends[1], diff)
		}
	})
}

func TestEvents(t *testing.T) {
	r := newEventReader(strings.NewReader("\xef\xbb\xbfdata: one\n\n:comment\n\nevent: x\nid: 7\ndata: two\ndata:  three\n\ndata\rdata\r\rid\r\n\r\nretry: 20\nretry: x\n\ndata: cut"), 100)
	want := []event{{data: []byte("one")}, {id: "7", data: []byte("two\n three")}, {id: "7", data: []byte("\n")}, {}, {retry: 20e6}}
	var got []event
	for {
		e, err := r.next()
		if err != nil {
			break
		}
		e.data = bytes.TrimSuffix(e.data, nil)
		got = append(got, e)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(event{})); diff != "" {
		t.Error(diff)
	}
}
