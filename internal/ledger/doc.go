// Package ledger says what is kept beside the log: the kinds of rows, what each holds, who may have it written, and how a
// store finds the rows that one decision needs without reading any others.
//
// A store knows nothing of agents, approvals or orders. It keeps rows under a kind and a key, finds them under the marks
// their kind gives them, compares versions and lets nobody spend what is not there; everything else is said here once, in
// the one slice of [Kinds]. So a new kind of standing is one entry of that slice, and every store has it.
//
// What it must never do: read a clock, a file or the order of a map, or decide anything. What is in a row is believed
// only as far as a signature or an entry of the log proves it; that is for the user of the row to see to.
//
// Open kinds.go first, then steps.go, which turns a change into the rows it writes.
package ledger
