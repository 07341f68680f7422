package ledger

import (
	"encoding/json"
	"fmt"

	"interlock"
)

// put adds to a map that may not have been made yet: a decision's standing holds little.
func put[T any](to *map[string]T, key string, value T) {
	if *to == nil {
		*to = map[string]T{}
	}
	(*to)[key] = value
}

// Encode is a value as the body of a row. A kind that has a row written with most actions may write its own.
func Encode(value any) ([]byte, error) {
	if own, is := value.(interface{ Body() []byte }); is {
		return own.Body(), nil
	}
	return json.Marshal(value)
}

// Put returns a row with a value as its body.
func Put(kind, key string, value any) (Row, error) {
	written, err := value, error(nil)
	if kind == Order {
		written, err = writeOrder(value)
	}
	var body []byte
	if err == nil {
		body, err = Encode(written)
	}
	if err != nil {
		return Row{}, fmt.Errorf("encode a %s: %w", kind, err)
	}
	return Row{Kind: kind, Key: key, Body: body}, nil
}

// Standing is what is kept beside the log: who is known, what was asked and answered, what operators have ordered. A decision
// has its agent's part of it. Version is that of the ledger it was read from, see [Change].
type Standing struct {
	Version      int64
	Agents       map[string]interlock.AgentRecord
	Operators    map[string]interlock.OperatorRecord
	Requests     map[string]interlock.ApprovalRequest // pending and approved, not yet spent or expired
	Suppressions map[string]interlock.Suppression     // not lifted; those that have expired are ignored
	Settings     map[string]string                    // standing settings as last recorded, e.g. "ruleset", "mode"
	Challenges   map[string]interlock.Challenge       // not ended
	Grants       map[string]interlock.Grant           // not ended and not used up; those that have expired are ignored
	Attempts     map[string]AttemptsBody              // by [AttemptsKey]
	Pins         map[string]interlock.Pin             // by [PinKey]
	Others       map[string]map[string]any            // of kinds that have no map of their own here, by kind and key
}

// other puts what is kept of a kind that has no map of its own into a standing.
func (s *Standing) other(kind, key string, value any) {
	if s.Others == nil {
		s.Others = map[string]map[string]any{}
	}
	if s.Others[kind] == nil {
		s.Others[kind] = map[string]any{}
	}
	s.Others[kind][key] = value
}
