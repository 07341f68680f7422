package rpc

import "encoding/json"

// Appended is an object with members added at its end.
func Appended(object []byte, more string) []byte {
	if len(object) < 2 || object[len(object)-1] != '}' {
		return object
	}
	out := append(make([]byte, 0, len(object)+len(more)+1), object[:len(object)-1]...)
	if !Empty(object) {
		out = append(out, ',')
	}
	return append(append(out, more...), '}')
}

// With is an object with one of its members replaced.
func With(object []byte, name string, value []byte) json.RawMessage {
	out := append(make([]byte, 0, len(object)+len(value)), '{')
	Members(object, func(n, v []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		if string(n) == name {
			v = value
		}
		out = append(append(AppendString(out, string(n)), ':'), v...)
	})
	return append(out, '}')
}
