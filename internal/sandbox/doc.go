// Package sandbox runs a command that was allowed inside bounds: namespaces of its own with a read-only system and one
// writable workspace, a filter over its system calls, and limits on time, memory, disk, processes, files and output. It
// builds the walls with bubblewrap, on Linux; elsewhere it refuses. Each run has a sandbox of its own, which is gone when
// the run is over, however it ended.
//
// It must never decide whether something may run, and it must never run anything outside the bounds it was asked for
// because they could not be set up: then it refuses. A wall that a host can't give and that a run can do without is named
// in the result and in the report.
//
// Start with Spec and Result in spec.go; run_linux.go is one run from beginning to end, arguments_linux.go what is seen
// inside, filter.go the system calls, proxy.go the only way out.
package sandbox
