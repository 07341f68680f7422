package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// tuneServer trades memory for time deliberately: a small live heap would otherwise be collected thousands of times a
// second under load. And the writer's thread spends most of its time in the disk's sync, where it keeps a processor from the
// others until the scheduler notices; on few CPUs that is a good part of them. An operator's own GOGC, GOMEMLIMIT and
// GOMAXPROCS win.
func tuneServer() {
	tuneMemory()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + waitingForDisk)
	}
}

// tuneMemory is the part of tuneServer for a process with one client, which waits for the sync itself: more threads would only
// hand its call from one to another.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(512 << 20)
	}
}

// waitingForDisk is how many threads may sit in a sync without taking a CPU from deciding: the writer and a checkpoint.
const waitingForDisk = 2

// tuneBrief is for a process that judges one action and exits: what it would collect, its end frees anyway, and collecting
// took a fifth of its time. Where an action needs much after all, the collector begins before the limit is reached.
func tuneBrief() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(briefMemory)
	}
}

// briefMemory is how much a brief process may hold before it collects, in bytes.
const briefMemory = 128 << 20
