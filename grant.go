package interlock

import (
	"encoding/json"
	"time"
)

// A Grant is an operator's standing yes within bounds: to one agent, for named tools with arguments in named ranges, so
// many times and until a time. It answers an Ask as one approval does, and nothing that one approval can't answer.
type Grant struct {
	ID         string      `json:"id"`
	Operator   string      `json:"operator"`
	Agent      string      `json:"agent"`
	Principal  string      `json:"principal"`
	Ruleset    Digest      `json:"ruleset_digest"`       // empty with a scope, which names rules
	Kind       Kind        `json:"kind"`                 // of the actions it covers
	Tool       string      `json:"tool,omitempty"`       // glob over tool names, or over commands for kinds that have text
	Rules      []string    `json:"rules,omitempty"`      // the asks it answers, by rule; empty: any ask of the covered actions
	Conditions []Condition `json:"conditions,omitempty"` // all must hold of the action's arguments
	Scope      *Scope      `json:"scope,omitempty"`      // of one that is for like actions in a project, under whatever rules
	Range      *Range      `json:"range,omitempty"`      // of one that is for the agents of a type, within bounds of every argument
	Times      int         `json:"times"`                // how often in all; 0, with a scope: as often as it comes
	Left       int         `json:"left"`                 // how often still; the store counts down
	Created    time.Time   `json:"created"`
	Expires    time.Time   `json:"expires,omitzero"` // zero, which only a grant with a scope may have: when it is ended
	Reason     string      `json:"reason,omitempty"`

	Method    string    `json:"method,omitempty"` // how it was signed, as in [Approval]
	Key       string    `json:"key,omitempty"`
	Statement string    `json:"statement,omitempty"`
	Signature string    `json:"signature,omitempty"`
	Weak      string    `json:"weak,omitempty"` // see [Approval]
	Ended     time.Time `json:"ended,omitzero"` // revoked; one that has ended is no longer in force
}

// Order is what a grant has in common with every other order. Its terms are the rest.
func (g Grant) Order() Order {
	subject := g.Agent
	if g.Range != nil {
		subject = "type:" + g.Range.Type
	}
	return Order{ID: g.ID, Verb: VerbGrant, Subject: subject, Reason: g.Reason, Operator: g.Operator, At: g.Created,
		Expires: g.Expires, Method: g.Method, Key: g.Key, Statement: g.Statement, Signature: g.Signature, Weak: g.Weak}
}

// InForce reports whether the grant may be drawn at a time.
func (g Grant) InForce(now time.Time) bool {
	return g.Ended.IsZero() && (g.Left > 0 || g.Unlimited()) && !now.Before(g.Created) &&
		(now.Before(g.Expires) || g.Scope != nil && g.Expires.IsZero())
}

// Unlimited reports whether the grant counts as often as what it is for comes, so that nothing is used up.
func (g Grant) Unlimited() bool { return (g.Scope != nil || g.Range != nil) && g.Times == 0 }

// Holds reports whether the grant is one under a ruleset and for a run. One with a scope names the rules whose questions it answers, and
// goes on when others change.
func (g Grant) Holds(ruleset Digest, run string) bool {
	if g.Range != nil {
		return true
	}
	if g.Scope != nil {
		return g.Scope.Run == "" || g.Scope.Run == run
	}
	return g.Ruleset == ruleset
}

// A Range is what a pre-approved range of parameters says besides the tool and the conditions: it answers what is asked of production and
// of others outside for every agent of a type, and nothing that is asked for another reason.
type Range struct {
	Type     string   `json:"type"`
	Free     []string `json:"free,omitempty"`     // arguments that may be anything; every other one has a condition
	Currency string   `json:"currency,omitempty"` // ISO 4217, of the money that one action may commit
	Most     int64    `json:"most,omitempty"`     // how much of it, in the smallest unit; 0 is none
}

// A Condition compares one argument of an action with a value. It holds only if the argument is there and comparable.
type Condition struct {
	Parameter string          `json:"parameter"` // dotted path into the arguments, such as "count" or "filter.limit"
	Operator  string          `json:"operator"`  // one of <, <=, >, >=, ==, !=, matches (a glob), in (a list)
	Value     json.RawMessage `json:"value"`
}
