package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// FuzzEvents: however its bytes arrive, a stream of events gives the same events, none longer than the bound, and no id that a
// header can't carry.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{"data: a\n\n", "id: 1\r\ndata:b\r\ndata: c\r\n\r\n", ": x\rdata\r\rid\n\nretry: 5\n\n",
		"\xef\xbb\xbfdata: a\n\nid: \x00\ndata: y\n\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const most = 64
		var got [2][]Event
		var ends [2]error
		for i, in := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
			r := NewReader(in, most, "")
			for ends[i] == nil {
				var e Event
				if e, ends[i] = r.Next(); ends[i] != nil {
					break
				}
				if len(e.Data) > most || !ValidHeader([]byte(e.ID)) {
					t.Fatalf("%+v", e)
				}
				got[i] = append(got[i], e)
			}
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" || !errors.Is(ends[0], ends[1]) {
			t.Fatalf("%v %v %s", ends[0], ends[1], diff)
		}
	})
}

func TestEvents(t *testing.T) {
	r := NewReader(strings.NewReader("\xef\xbb\xbfdata: one\n\n:comment\n\nevent: x\nid: 7\ndata: two\n"+
		"data:  three\n\ndata\rdata\r\rid\r\n\r\nretry: 20\nretry: x\n\ndata: cut"), 100, "")
	want := []Event{{Data: []byte("one")}, {ID: "7", Data: []byte("two\n three")}, {ID: "7", Data: []byte("\n")}, {}, {Retry: 20e6}}
	var got []Event
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		e.Data = bytes.TrimSuffix(e.Data, nil)
		got = append(got, e)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzAppend: what is written as one event is read as that event, whatever its lines.
func FuzzAppend(f *testing.F) {
	f.Add("", "", []byte("{}"))
	f.Add("3-1", "message", []byte("a\r\nb\n\nc"))
	f.Add("7", "", []byte(nil))
	f.Fuzz(func(t *testing.T, id, name string, data []byte) {
		if strings.ContainsAny(id+name, "\x00\r\n") || !ValidHeader([]byte(id)) || len(id) > MaxID || strings.HasPrefix(id, " ") {
			return // the caller's to keep out
		}
		text := Append(nil, id, name, data)
		r := NewReader(bytes.NewReader(text), len(text), "")
		e, err := r.Next()
		lines := bytes.FieldsFunc(data, func(r rune) bool { return r == '\n' || r == '\r' })
		if len(data) > 0 && len(lines) == 0 && id == "" {
			return // nothing but line ends is no event
		}
		if err != nil || e.ID != id || !bytes.Equal(e.Data, bytes.Join(lines, []byte("\n"))) {
			t.Fatalf("%q is read as %+v, %v", text, e, err)
		}
		if _, err = r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("%q is more than one event", text)
		}
	})
}
