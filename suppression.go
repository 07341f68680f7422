package interlock

import "time"

// A Suppression is an operator's standing order that keeps one rule silent in one scope until a time. It answers no request
// and grants nothing: whatever else objects still does. What protects systems and Interlock itself can't be suppressed.
type Suppression struct {
	ID       string    `json:"id"`
	Rule     string    `json:"rule"`              // id of a rule, or of a profile's row as findings name it
	Agent    string    `json:"agent,omitempty"`   // glob over agents; all, if empty
	Path     string    `json:"path,omitempty"`    // what the finding is about lies in this directory; anywhere, if empty
	Command  string    `json:"command,omitempty"` // glob that each executed text meets as a whole; any, if empty
	Denials  bool      `json:"denials,omitempty"` // silences denials of the rule too, which takes an admin
	Run      string    `json:"run,omitempty"`     // in this run of the agent alone; only an override says so
	Reason   string    `json:"reason"`
	Operator string    `json:"operator"` // who gave the order
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`

	Method    string `json:"method,omitempty"`    // how it was signed; empty: with an SSH key
	Key       string `json:"key,omitempty"`       // fingerprint of the operator's key, or what else proves it by its method
	Statement string `json:"statement,omitempty"` // what was signed
	Signature string `json:"signature,omitempty"`
	Weak      string `json:"weak,omitempty"` // see [Approval]

	// the request that people have approved together and that gives the order, in place of one operator's signature (MACE 11)
	Override *ActionRequest `json:"override,omitempty"`
}

// Order is what a suppression has in common with every other order. Its terms are the rest.
func (s Suppression) Order() Order {
	return Order{ID: s.ID, Verb: VerbSuppress, Subject: s.Rule, Reason: s.Reason, Operator: s.Operator, At: s.Created,
		Expires: s.Expires, Method: s.Method, Key: s.Key, Statement: s.Statement, Signature: s.Signature, Weak: s.Weak}
}

// InForce reports whether the order is in force at a time.
func (s Suppression) InForce(now time.Time) bool {
	return !now.Before(s.Created) && now.Before(s.Expires)
}
