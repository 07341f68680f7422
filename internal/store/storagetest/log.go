package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
)

// logged: the log is read whole, from an entry on with what decisions were made from, and by parts; each way is the same log, in
// the process that wrote it and in another; an error of who reads ends the reading and is what they get.
func logged(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	other := p.Open(t)
	defer other.Close()
	if head, err := s.Head(t.Context()); err != nil || head.Size != 0 {
		t.Errorf("a new log has %d entries, %v", head.Size, err)
	}
	var last ledger.Receipt
	var ids []string
	inputs := func(i int64) []byte { return fmt.Appendf(nil, `{"inputs":%d}`, i) }
	for i := range int64(5) {
		c := Decision("a")
		if i%2 == 0 {
			c.Events[0].Inputs = inputs(i)
		}
		c.Blobs = []ledger.Blob{{Digest: interlock.Digest(fmt.Sprint("sha256:", i/2)), Text: fmt.Append(nil, "text ", i/2)}}
		c.Writes = ledger.Rows(*Request(fmt.Sprint("r", i)))
		last = commit(t, s, c)
		ids = append(ids, last.Events...)
	}
	for _, s := range []Store{s, other} {
		head, err := s.Head(t.Context())
		if err != nil || head.Size != 5 || !bytes.Equal(head.Checkpoint, last.Checkpoint) {
			t.Errorf("the head is %+v, %v", head, err)
		}
		var walked []string
		if err := s.Walk(t.Context(), func(e interlock.Entry) error {
			walked = append(walked, e.ID)
			hashes, err := s.Hashes(t.Context(), e.Index)
			if err != nil || len(hashes) < 32 || !bytes.Equal(hashes, e.Hashes) || len(e.Body) == 0 || e.Type != interlock.EventDecision {
				t.Errorf("the hashes of entry %d are %x, in the log %x, %v", e.Index, hashes, e.Hashes, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(ids, walked); diff != "" {
			t.Errorf("walked (-committed +walked):\n%s", diff)
		}
		if hashes, err := s.Hashes(t.Context(), 5); err == nil {
			t.Errorf("the hashes of an entry that is not there are %x", hashes)
		}
		recorded(t, s, ids, inputs)
		var texts []string
		if err := s.Blobs(t.Context(), func(b ledger.Blob) error {
			texts = append(texts, fmt.Sprintf("%s %s", b.Digest, b.Text))
			return nil
		}); err != nil {
			t.Error(err)
		}
		slices.Sort(texts)
		if diff := cmp.Diff([]string{"sha256:0 text 0", "sha256:1 text 1", "sha256:2 text 2"}, texts); diff != "" {
			t.Errorf("blobs (-want +got):\n%s", diff)
		}
		if err := s.CheckStanding(t.Context(), func(w *ledger.Tampered) error { return w }); err != nil {
			t.Errorf("the check of what nobody edited: %v", err)
		}
		enough := errors.New("enough")
		for name, err := range map[string]error{
			"walk":     s.Walk(t.Context(), func(interlock.Entry) error { return enough }),
			"recorded": s.Recorded(t.Context(), 0, func(interlock.Entry) error { return enough }),
			"blobs":    s.Blobs(t.Context(), func(ledger.Blob) error { return enough }),
		} {
			if !errors.Is(err, enough) {
				t.Errorf("%s ended with %v", name, err)
			}
		}
	}
}

// recorded reads what decisions were made from, from an entry on and by the entry.
func recorded(t *testing.T, s Store, ids []string, inputs func(int64) []byte) {
	t.Helper()
	next := int64(1)
	if err := s.Recorded(t.Context(), next, func(e interlock.Entry) error {
		if e.Index != next || e.ID != ids[next] || (next%2 == 0) != bytes.Equal(e.Inputs, inputs(next)) || len(e.Hashes) < 32 {
			t.Errorf("recorded after %d: %d with %q", next-1, e.Index, e.Inputs)
		}
		next++
		return nil
	}); err != nil || next != 5 {
		t.Errorf("recorded up to %d, %v", next, err)
	}
	for i := range int64(6) {
		text, found, err := s.Inputs(t.Context(), i)
		if want := i%2 == 0 && i < 5; err != nil || found != want || found && !bytes.Equal(text, inputs(i)) {
			t.Errorf("the inputs of entry %d: %q, %v, %v", i, text, found, err)
		}
	}
}
