package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Memory is given back once after each load, when it is over: not in the middle of it, and not for housekeeping.
func TestHeapUse(t *testing.T) {
	const mb = 1 << 20
	var heap heapUse
	var idle []uint64
	for _, allocated := range []uint64{
		20 * mb,          // starting
		20*mb + 1,        // is over
		20*mb + 2,        // and was given back
		40 * mb, 60 * mb, // a load
		60*mb + 255<<10,  // is over
		61 * mb, 68 * mb, // a little one
		68*mb + 1, // is not worth it
		69*mb + 1, // nor when it goes on
		69*mb + 2, // until it has come to enough
	} {
		if heap.idle(allocated) {
			idle = append(idle, allocated)
		}
	}
	if diff := cmp.Diff([]uint64{20*mb + 1, 60*mb + 255<<10, 69*mb + 2}, idle); diff != "" {
		t.Error(diff)
	}
}

// TestMemoryFor: what lives always has room to grow before the collector is hurried.
func TestMemoryFor(t *testing.T) {
	for live, want := range map[uint64]int64{0: mostMemory, 20 << 20: mostMemory, 200 << 20: 456 << 20, 1 << 30: 2104 << 20} {
		if got := memoryFor(live); got != want || got < int64(live+live/2) {
			t.Errorf("%d lives: %d, want %d", live, got, want)
		}
	}
}
