// Package maturity says how far a home is by MASO Execution Control's levels of maturity and its gates between tiers, from what its log
// holds and how it is set up. It claims no level with an indicator that lacks evidence.
//
// Start with book.go, which reads events; levels.go and gates.go say what they come to. It decides nothing about actions.
package maturity
