package ledger

import (
	"encoding/json"
	"fmt"
)

// put adds to a map that may not have been made yet: a decision's standing holds little.
func put[T any](to *map[string]T, key string, value T) {
	if *to == nil {
		*to = map[string]T{}
	}
	(*to)[key] = value
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
