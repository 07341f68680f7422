package mcpaql

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestWorkersDoEachThingOnce: however many come at once and one after another, each is done once before do returns, and no more
// are kept than are said.
func TestWorkersDoEachThingOnce(t *testing.T) {
	w := newWorkers()
	var done atomic.Int64
	var callers sync.WaitGroup
	for range 4 * keptWorkers {
		callers.Go(func() {
			for range 50 {
				own := 0
				w.do(func() { own++; done.Add(1) })
				if own != 1 {
					t.Errorf("do returned when the work was done %d times", own)
				}
			}
		})
	}
	callers.Wait()
	if got, want := done.Load(), int64(4*keptWorkers*50); got != want {
		t.Errorf("%d things were done of %d", got, want)
	}
	if kept := len(w.idle); kept > keptWorkers {
		t.Errorf("%d workers are kept", kept)
	}
	w.dismiss()
	w.do(func() { done.Add(1) }) // and afterwards a new one is found
	if done.Load() != 4*keptWorkers*50+1 {
		t.Error("nothing was done after the others were dismissed")
	}
}
