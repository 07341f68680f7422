// Package replay will recompute recorded decisions from the log, report the first difference, and try another ruleset on
// what has happened. It belongs to the pure set: it gets entries and rulesets as values.
//
// It must never change the log, call a model or a service again, or pass a what-if off as what was decided.
//
// Nothing is here yet. Events already record by digest everything a decision was computed from, so that what is recorded
// today can be replayed later.
package replay
