// Package core is what every room of admission is built on: the configuration and the ports, the rules in force, the rows that a
// change is made from, its events and its commit, what proves an operator's order and how orders are carried out. It decides
// nothing.
package core

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// Core is shared by all rooms. What decisions turn on is in the store: it holds the rules in force, and what checking a signature
// has come to, which would come to the same again.
type Core struct {
	Config Config
	book   ledger.Book

	Active atomic.Pointer[ActiveRules] // what decides now
	// when it was last looked whether rules that nobody had ordered are somebody's order, in unix nanoseconds
	ordersLooked atomic.Int64
	renewing     chan struct{} // held while other rules are put into force

	guard  sync.Mutex
	proofs map[string]error // what checking a standing order's signature ended with, by what was checked

	observer atomic.Pointer[func(Decided)] // of how this process decides, see Observe

	// what rooms above do for it
	Handlers map[interlock.Verb]OrderHandler            // what orders do, by their verb
	Permit   func(context.Context, *PendingOrder) error // says whether the council lets an order be carried out, where that takes it
	Declared func(context.Context, *ActiveRules) error  // declares rules in the log before anything is decided under them
	Unread   func(context.Context) error                // is told that the operator's rules can't be used
}

// New returns a Core, or an error naming the missing field.
func New(c Config) (*Core, error) {
	missing := ""
	switch {
	case c.Rules == nil:
		missing = "Rules"
	case c.Analyser == nil:
		missing = "Analyser"
	case c.Store == nil:
		missing = "Store"
	case c.Redact == nil:
		missing = "Redact"
	case c.Verify == nil:
		missing = "Verify"
	case c.Now == nil:
		missing = "Now"
	case c.Random == nil:
		missing = "Random"
	}
	if missing != "" {
		return nil, fmt.Errorf("admission: Config.%s is missing", missing)
	}
	if c.ApprovalTTL <= 0 {
		c.ApprovalTTL = time.Hour
	}
	if c.CodeTTL <= 0 {
		c.CodeTTL = codeTTL
	}
	a := &Core{Config: c, book: ledger.NewBook(), proofs: map[string]error{}, renewing: make(chan struct{}, 1)}
	a.Active.Store(newForce(c.Evaluator, 0))
	a.Config.Rules, a.Config.Own = nil, nil // they change: who decides asks what is in force
	return a, nil
}
