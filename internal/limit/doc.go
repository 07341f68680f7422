// Package limit holds limits as arithmetic on values: given what has been spent and the time, whether there is room and when
// there will be. It reads no clock and keeps no state; what has been spent stands in the store and is spent in the same
// transaction as what it was spent on.
//
// So far it limits how often an agent may answer challenges wrongly, see attempts.go, and how soon and how often what has
// failed may be tried again, see cooldown.go. No decision is limited by rate or amount yet, and the rules say nothing about
// either.
package limit
