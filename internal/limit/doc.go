// Package limit will hold rates, absolute caps, circuit breakers and phases as arithmetic on values: given what has been
// spent, what is asked for and the time, whether there is room and when there will be. It will read no clock and keep no
// state; what has been spent stands in the store and is spent in the same transaction as the decision.
//
// It is empty so far. No decision is limited by rate or amount yet, and the rules say nothing about either.
package limit
