package cli

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// TuneServer trades memory for time deliberately: a small live heap would otherwise be collected thousands of times a
// second under load. And the writer's thread spends most of its time in the disk's sync, where it keeps a processor from the
// others until the scheduler notices; on few CPUs that is a good part of them. An operator's own GOGC, GOMEMLIMIT and
// GOMAXPROCS win.
func TuneServer() {
	TuneMemory()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + waitingForDisk)
	}
}

// mostMemory is from how much memory on, in bytes, the heap is no longer let grow to several times what lives: the garbage of many
// callers at once would otherwise take more than everything else.
const mostMemory = 96 << 20

// TuneMemory is the part of TuneServer for a process with one client, which waits for the sync itself: more threads would only
// hand its call from one to another.
func TuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(mostMemory)
	}
}

// TuneWatcher is for a process with one client that waits for no disk, once it has started: its work on a call is short, and on
// one processor nothing of it is handed from thread to thread, which wakes one that sleeps each time. Measured at a fifth more
// calls a second, and a tenth less time for each. Starting has work for all of them.
func TuneWatcher(ctx context.Context) {
	TuneMemory()
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	go func() {
		select {
		case <-time.After(startTime):
			runtime.GOMAXPROCS(1)
		case <-ctx.Done():
		}
	}()
}

// startTime is how long a gateway and its servers take to start, and a little more.
const startTime = time.Second

const (
	idleCheck = time.Second
	idleBytes = 256 << 10 // allocated within idleCheck: less is housekeeping
	wornBytes = 8 << 20   // allocated since memory was last given back: less is not worth a collection
)

// ReturnIdleMemory gives memory back to the system when a load is over, until ctx ends. The heap is let grow to several times
// what lives, and most of the day an agent's servers have nothing to do.
func ReturnIdleMemory(ctx context.Context) {
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	var heap heapUse
	for started := false; ; {
		metrics.Read(sample)
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(memoryFor(sample[1].Value.Uint64()))
		}
		if heap.idle(sample[0].Value.Uint64()) {
			runtime.GC() // what pools keep goes at the second collection
			debug.FreeOSMemory()
			returnProgramPages()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !started { // whatever comes next needs other pages than the start did
			returnProgramPages()
			started = true
		}
	}
}

// memoryFor is from how much memory on the heap may no longer grow freely, by what of it lives: a limit that is close to that would have
// the collector work without end.
func memoryFor(live uint64) int64 { return max(mostMemory, int64(2*live)+56<<20) }

// A heapUse is how much a process had allocated since its start, in bytes, when it was last looked at and when memory was last
// given back.
type heapUse struct{ looked, returned uint64 }

// idle reports whether a load is over, whose memory may now be given back.
func (h *heapUse) idle(allocated uint64) bool {
	idle := h.looked > 0 && allocated-h.looked < idleBytes && allocated-h.returned > wornBytes
	if idle {
		h.returned = allocated
	}
	h.looked = allocated
	return idle
}

// waitingForDisk is how many threads may sit in a sync without taking a CPU from deciding: the writer and a checkpoint.
const waitingForDisk = 2

// TuneBrief is for a process that judges one action and exits: what it would collect, its end frees anyway, and collecting
// took a fifth of its time. Where an action needs much after all, the collector begins before the limit is reached.
func TuneBrief() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(briefMemory)
	}
}

// briefMemory is how much a brief process may hold before it collects, in bytes.
const briefMemory = 128 << 20
