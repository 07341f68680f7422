// Package limit holds bounds that are no rule's, as arithmetic on values: given what was used and the time, whether there is room
// and when there will be. It reads no clock and keeps no state; what was used is in the store and is spent in the same
// transaction as what it was spent on.
//
// attempts.go bounds wrong answers to challenges, cooldown.go how soon and how often a failed call may be repeated, and signal.go
// says which level an observer's value reaches. The limits and budgets of the rules are packages ledger's and admission's.
package limit
