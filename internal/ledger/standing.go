package ledger

import (
	"encoding/json"
	"fmt"
	"maps"

	"interlock"
)

// NewStanding returns a standing in which nothing stands.
func NewStanding() interlock.Standing {
	return interlock.Standing{
		Agents:       map[string]interlock.AgentRecord{},
		Operators:    map[string]interlock.OperatorRecord{},
		Requests:     map[string]interlock.ApprovalRequest{},
		Suppressions: map[string]interlock.Suppression{},
		Settings:     map[string]string{},
		Challenges:   map[string]interlock.Challenge{},
		Grants:       map[string]interlock.Grant{},
		Attempts:     map[string]interlock.Attempts{},
		Pins:         map[string]interlock.Pin{},
	}
}

// Standing lists the kinds of which an [interlock.Standing] holds every row that stands.
func Standing() []string {
	var kinds []string
	for _, k := range Kinds() {
		if k.body.into != nil {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

// put adds to a map that may not have been made yet: a decision's standing holds little.
func put[T any](to *map[string]T, key string, value T) {
	if *to == nil {
		*to = map[string]T{}
	}
	(*to)[key] = value
}

// Detach gives a standing rows of one kind of its own, so that they can change while whoever has the others reads on.
func Detach(kind string, to *interlock.Standing) {
	switch kind {
	case Agent:
		to.Agents = maps.Clone(to.Agents)
	case Operator:
		to.Operators = maps.Clone(to.Operators)
	case Request:
		to.Requests = maps.Clone(to.Requests)
	case Order:
		to.Suppressions, to.Grants = maps.Clone(to.Suppressions), maps.Clone(to.Grants)
	case Setting:
		to.Settings = maps.Clone(to.Settings)
	case Challenge:
		to.Challenges = maps.Clone(to.Challenges)
	case Attempts:
		to.Attempts = maps.Clone(to.Attempts)
	case Pin:
		to.Pins = maps.Clone(to.Pins)
	}
}

// drop takes a row out of a standing.
func drop(r Row, from *interlock.Standing) {
	switch r.Kind {
	case Agent:
		delete(from.Agents, r.Key)
	case Operator:
		delete(from.Operators, r.Key)
	case Request:
		delete(from.Requests, r.Key)
	case Order:
		delete(from.Suppressions, r.Key)
		delete(from.Grants, r.Key)
	case Setting:
		delete(from.Settings, r.Key)
	case Challenge:
		delete(from.Challenges, r.Key)
	case Attempts:
		delete(from.Attempts, r.Key)
	case Pin:
		delete(from.Pins, r.Key)
	}
}

// Put returns a row with a value as its body.
func Put(kind, key string, value any) (Row, error) {
	written, err := value, error(nil)
	if kind == Order {
		written, err = writeOrder(value)
	}
	var body []byte
	if err == nil {
		body, err = json.Marshal(written)
	}
	if err != nil {
		return Row{}, fmt.Errorf("encode a %s: %w", kind, err)
	}
	return Row{Kind: kind, Key: key, Body: body}, nil
}
