package ruleset

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"

	"interlock"
)

// An answer to whether a condition holds: one that can't be compared is neither.
type holds uint8

const (
	holdsNot  holds = iota // the argument is not there, or the comparison fails
	holdsTrue              //
	holdsOdd               // the argument is there and not of a kind that can be compared
)

// Hold reports whether every condition holds of an action's arguments. What can't be compared does not hold, so this is for
// conditions under which more is allowed or something is added.
func Hold(conditions []interlock.Condition, arguments json.RawMessage) bool {
	for _, c := range conditions {
		if hold(c, arguments) != holdsTrue {
			return false
		}
	}
	return true
}

// MayHold is [Hold] for conditions under which less is allowed: an argument that is there and can't be compared counts.
func MayHold(conditions []interlock.Condition, arguments json.RawMessage) bool {
	for _, c := range conditions {
		if hold(c, arguments) == holdsNot {
			return false
		}
	}
	return true
}

func hold(c interlock.Condition, arguments json.RawMessage) holds {
	value, found := argument(arguments, c.Parameter)
	if !found {
		return holdsNot
	}
	answer := func(yes bool) holds {
		if yes {
			return holdsTrue
		}
		return holdsNot
	}
	switch c.Operator {
	case "==":
		return answer(same(value, c.Value))
	case "!=":
		return answer(!same(value, c.Value))
	case "in":
		var list []json.RawMessage
		if json.Unmarshal(c.Value, &list) != nil {
			return holdsOdd
		}
		for _, one := range list {
			if same(value, one) {
				return holdsTrue
			}
		}
		return holdsNot
	case "matches":
		var glob, text string
		if json.Unmarshal(c.Value, &glob) != nil || json.Unmarshal(value, &text) != nil {
			return holdsOdd
		}
		return answer(Glob(glob, text))
	}
	have, ok := number(value)
	want, known := number(c.Value)
	if !ok || !known {
		return holdsOdd
	}
	order := have.Cmp(want)
	switch c.Operator {
	case "<":
		return answer(order < 0)
	case "<=":
		return answer(order <= 0)
	case ">":
		return answer(order > 0)
	case ">=":
		return answer(order >= 0)
	}
	return holdsOdd
}

// argument finds a dotted path in a JSON object. "params." before it is allowed, as MCP-AQL writes it.
func argument(arguments json.RawMessage, path string) (json.RawMessage, bool) {
	value := arguments
	for _, name := range strings.Split(strings.TrimPrefix(path, "params."), ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return nil, false
		}
		inner, found := object[name]
		if !found {
			return nil, false
		}
		value = inner
	}
	return value, true
}

// number reads a JSON number, or a string that is one and nothing else, exactly. A list counts as its length. Spellings so
// long that they could only be meant to cost something are none.
func number(value json.RawMessage) (*big.Rat, bool) {
	text := string(bytes.TrimSpace(value))
	var quoted string
	if json.Unmarshal(value, &quoted) == nil {
		text = quoted
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil && strings.HasPrefix(text, "[") {
		return new(big.Rat).SetInt64(int64(len(list))), true
	}
	if len(text) == 0 || len(text) > 40 || strings.ContainsAny(text, "eEpPxXoO/_ ") {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// same compares two values: numbers by what they are, everything else by its canonical text.
func same(a, b json.RawMessage) bool {
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return x.Cmp(y) == 0
		}
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	left, err := json.Marshal(x)
	right, failed := json.Marshal(y)
	return err == nil && failed == nil && bytes.Equal(left, right)
}
