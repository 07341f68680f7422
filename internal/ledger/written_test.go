package ledger

import (
	"fmt"
	"testing"
	"time"

	"interlock"
)

// TestWritersOfAFile: who writes a file is put to who did within a day, each by when it did last, and no more are remembered than matter.
func TestWritersOfAFile(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	by := func(at time.Time, names ...string) WrittenBody {
		w := WrittenBody{File: WrittenAt("f"), At: at, By: map[string]time.Time{}}
		for _, name := range names {
			w.By[name] = at
		}
		return w
	}
	w, _ := writtenMerge(WrittenBody{}, by(now, "a", "b"))
	w, _ = writtenMerge(w, by(now.Add(interlock.WrittenWindow), "b", "c"))
	if len(w.By) != 3 || !w.By["a"].Equal(now) || !w.By["b"].After(now) {
		t.Errorf("%v", w.By)
	}
	w, _ = writtenMerge(w, by(now.Add(interlock.WrittenWindow+1), "c"))
	if _, there := w.By["a"]; there || len(w.By) != 2 {
		t.Errorf("more than a day later: %v", w.By)
	}
	late, _ := writtenMerge(w, by(now, "d")) // by a clock that was set back
	if !late.At.Equal(w.At) || len(late.By) != 3 {
		t.Errorf("set back: %v", late)
	}
	for n := range 2 * MaxWriters {
		w, _ = writtenMerge(w, by(now.Add(interlock.WrittenWindow+time.Duration(n)), fmt.Sprint("n", n)))
	}
	if _, last := w.By[fmt.Sprint("n", 2*MaxWriters-1)]; len(w.By) != MaxWriters || !last {
		t.Errorf("%d are remembered, the last %v", len(w.By), last)
	}
	if own, _ := writtenMerge(WrittenBody{File: "f", At: now}, WrittenBody{File: "f", At: now.Add(1)}); own.By != nil || !own.At.After(now) {
		t.Errorf("one agent's own: %v", own)
	}
}
