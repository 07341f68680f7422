// Package replay makes recorded decisions again from what was recorded of them, and tries other rules on what has happened. It
// belongs to the pure set: it gets entries, blobs and rulesets as values, and has nothing to execute, notify or spend with.
//
// A decision is made again on two levels. From the recorded analysis every build decides byte for byte the same; that is what
// [Replay.Decision] holds a record to. Whether the analysis itself comes out the same is told by [Replay.Analysis], where the
// code that analysed is the same, and is otherwise another program's business.
//
// What was recorded is believed as far as the log proves it: the event is in the tree, it names its inputs by digest, and
// these name the rest. Start with replay.go; whatif.go tries other rules.
package replay
