// Package sandbox will run an allowed action inside bounds: files, network, processes, memory and time by profile, with
// bubblewrap where the system has it, and thrown away after each run.
//
// It must never decide whether something may run, and it must never run anything outside the bounds it was asked for
// because they could not be set up: then it refuses.
//
// Nothing is here yet. Interlock decides about actions and does not run them.
package sandbox
