// Package meter counts: how much was used of something that is bounded, how much there is room for, and when there is room again.
// It is arithmetic on values, reads no clock and keeps nothing: what was counted is in rows of the store, see packages ledger and
// core, or with a caller that counts for one process alone.
//
// A [Bound] is read against a [Count], which is what limits and budgets do. Times are what is counted one by one: wrong answers
// to challenges, refusals, failures. attempts.go says when an answer is looked at again, cooldown.go when a failed call may be
// repeated.
package meter
