// Package judgments counts what came of asking judges, from the log alone: so that every process is counted whose decisions are in it,
// and nothing has to be kept beside it. Start with Of, which says what an entry tells, and Counts.
package judgments
