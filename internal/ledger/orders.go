package ledger

import (
	"encoding/json"
	"math"
	"time"

	"interlock"
)

// An orderBody is a standing order as it is written: what every order has in common, whatever its verb, and its own terms.
type orderBody struct {
	interlock.Order
	Left  int             `json:"left,omitempty"` // how often it still counts, where that is bounded
	Ended time.Time       `json:"ended,omitzero"`
	Terms json.RawMessage `json:"terms"`
}

// grantTerms are what a grant says besides.
type grantTerms struct {
	Principal  string                `json:"principal"`
	Ruleset    interlock.Digest      `json:"ruleset_digest"`
	Kind       interlock.Kind        `json:"kind"`
	Tool       string                `json:"tool,omitempty"`
	Rules      []string              `json:"rules,omitempty"`
	Conditions []interlock.Condition `json:"conditions,omitempty"`
	Scope      *interlock.Scope      `json:"scope,omitempty"`
	Range      *interlock.Range      `json:"range,omitempty"`
	Times      int                   `json:"times"`
}

// suppressionTerms are what a suppression says besides.
type suppressionTerms struct {
	Agent   string `json:"agent,omitempty"`
	Path    string `json:"path,omitempty"`
	Command string `json:"command,omitempty"`
	Denials bool   `json:"denials,omitempty"`

	Run      string                   `json:"run,omitempty"`
	Override *interlock.ActionRequest `json:"override,omitempty"`
}

// Ordered is the mark of the orders with one verb that stand.
func Ordered(verb interlock.Verb) string { return "verb\x00" + string(verb) }

// writeOrder is a standing order as it is written. Its value is what decisions consult: a grant, a suppression.
func writeOrder(value any) (body orderBody, err error) {
	var terms any
	switch v := value.(type) {
	case interlock.Grant:
		body = orderBody{Order: v.Order(), Left: v.Left, Ended: v.Ended}
		terms = grantTerms{v.Principal, v.Ruleset, v.Kind, v.Tool, v.Rules, v.Conditions, v.Scope, v.Range, v.Times}
	case interlock.Suppression:
		body, terms = orderBody{Order: v.Order()}, suppressionTerms{v.Agent, v.Path, v.Command, v.Denials, v.Run, v.Override}
	default:
		return body, interlock.Errorf(interlock.CodeInvalid, "change", "a %T is no order that stands", value)
	}
	body.Terms, err = json.Marshal(terms)
	return body, err
}

// readOrder is the value of a standing order.
func readOrder(body []byte) (any, error) {
	o, err := decode[orderBody](body)
	if err != nil {
		return nil, err
	}
	switch o.Verb {
	case interlock.VerbGrant:
		t, err := decode[grantTerms](o.Terms)
		agent := o.Subject
		if t.Range != nil {
			agent = ""
		}
		return interlock.Grant{ID: o.ID, Operator: o.Operator, Agent: agent, Range: t.Range, Principal: t.Principal, Ruleset: t.Ruleset,
			Kind: t.Kind, Tool: t.Tool, Rules: t.Rules, Conditions: t.Conditions, Scope: t.Scope, Times: t.Times, Left: o.Left, Created: o.At,
			Expires: o.Expires, Reason: o.Reason, Method: o.Method, Key: o.Key, Statement: o.Statement,
			Signature: o.Signature, Ended: o.Ended}, err
	case interlock.VerbSuppress:
		t, err := decode[suppressionTerms](o.Terms)
		return interlock.Suppression{ID: o.ID, Rule: o.Subject, Agent: t.Agent, Path: t.Path, Command: t.Command,
			Denials: t.Denials, Reason: o.Reason, Operator: o.Operator, Created: o.At, Expires: o.Expires, Method: o.Method,
			Key: o.Key, Statement: o.Statement, Signature: o.Signature, Run: t.Run, Override: t.Override}, err
	}
	return nil, interlock.Errorf(interlock.CodeUnavailable, "store", "no order that stands has the verb %.40q", o.Verb)
}

func orderKey(value any) string {
	switch v := value.(type) {
	case interlock.Grant:
		return v.ID
	case interlock.Suppression:
		return v.ID
	}
	return ""
}

func orderMarks(value any) []Mark {
	switch v := value.(type) {
	case interlock.Grant:
		if orderStands(v) {
			return withAll(endOf(v), Ordered(interlock.VerbGrant), concerned(v))
		}
	case interlock.Suppression:
		return withAll(nano(v.Expires), Ordered(interlock.VerbSuppress))
	}
	return nil
}

func orderLeft(value any) int {
	g, _ := value.(interlock.Grant)
	return g.Left
}

// RangesOf is the mark of the pre-approved ranges for agents of a type.
func RangesOf(kind string) string { return "range\x00" + kind }

// concerned is the mark under which decisions find a grant: of its agent, or of the type it is for.
func concerned(g interlock.Grant) string {
	if g.Range != nil {
		return RangesOf(g.Range.Type)
	}
	return Of(g.Agent, g.Principal)
}

func orderStands(value any) bool {
	g, grants := value.(interlock.Grant)
	return !grants || g.Ended.IsZero() && (g.Left > 0 || g.Unlimited())
}

// endOf is where among orders a grant is: one without an end comes after all others.
func endOf(g interlock.Grant) int64 {
	if g.Expires.IsZero() {
		return math.MaxInt64
	}
	return nano(g.Expires)
}

func orderInto(value any, to *Standing) {
	switch v := value.(type) {
	case interlock.Grant:
		put(&to.Grants, v.ID, v)
	case interlock.Suppression:
		put(&to.Suppressions, v.ID, v)
	}
}

// orderTake draws a grant. Nothing else that is in force is used up.
func orderTake(body []byte, n int64, now time.Time) ([]byte, string, error) {
	value, err := readOrder(body)
	g, grants := value.(interlock.Grant)
	switch {
	case err != nil:
		return nil, "", err
	case !grants:
		return nil, "it is not used up", nil
	case !g.InForce(now):
		return nil, "it is used up, revoked or has expired", nil
	case int64(g.Left) < n:
		return nil, "it has less left", nil
	}
	g.Left -= int(n)
	row, err := Put(Order, g.ID, g)
	return row.Body, "", err
}

// OnceOf is [Once] of the row of an order that is there already; of any other row there is none.
func OnceOf(r Row) (once Row, signed bool, err error) {
	if r.Kind != Order {
		return once, false, nil
	}
	o, err := decode[orderBody](r.Body)
	if err != nil || o.Statement == "" {
		return once, false, err
	}
	once = Once(o.Order)
	once, err = Put(once.Kind, once.Key, once.Value)
	return once, true, err
}

// The kinds that orders had before they were one, in stores of before schema 8.
const (
	FormerGrant       = "grant"
	FormerSuppression = "suppression"
)

// Formerly makes of an order's row as it was written then the row of now. Any other row stays what it is.
func Formerly(r Row) (Row, error) {
	if r.Kind != FormerGrant && r.Kind != FormerSuppression {
		return r, nil
	}
	next := Row{Kind: Order, Key: r.Key}
	var err error
	if r.Body != nil && r.Kind == FormerGrant {
		var g interlock.Grant
		if g, err = decode[interlock.Grant](r.Body); err == nil {
			next, err = Put(Order, r.Key, g)
		}
	} else if r.Body != nil {
		var s interlock.Suppression
		if s, err = decode[interlock.Suppression](r.Body); err == nil {
			next, err = Put(Order, r.Key, s)
		}
	}
	next.Version = r.Version
	return next, err
}
