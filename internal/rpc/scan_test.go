package rpc

import (
	"strings"
	"testing"
)

// TestValue: a text that is one value is that value without the blanks around it, and anything else is none.
func TestValue(t *testing.T) {
	for text, want := range map[string]string{
		"\n {\"a\" : [1, 2]}\t": `{"a" : [1, 2]}`, `"a"`: `"a"`, "12": "12", "": "", "{": "", "1 2": "", `{"a":1,"a":2}`: "", "\"\xff\"": "",
		strings.Repeat("[", 101) + strings.Repeat("]", 101): "",
	} {
		if got := string(Value([]byte(text))); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
