package stats

import (
	"bytes"
	"encoding/json"
)

// Members visits the members of a JSON object as Interlock writes it, without white space, until visit has enough. It reports
// whether it could walk as far. It is for counting a million events: the general decoder reads every value, and this looks over
// most of them.
func Members(object []byte, visit func(name, value []byte) (more bool)) bool {
	if len(object) < 2 || object[0] != '{' {
		return false
	}
	for at := 1; at < len(object) && object[at] != '}'; {
		end := past(object, at)
		if object[at] != '"' || end < 0 || end >= len(object) || object[end] != ':' {
			return false
		}
		name := object[at+1 : end-1]
		at = end + 1
		if end = past(object, at); end < 0 {
			return false
		}
		if !visit(name, object[at:end]) {
			return true
		}
		if at = end; at < len(object) && object[at] == ',' {
			at++
		}
	}
	return true
}

// past is where the value that begins at a place ends; -1 where none does.
func past(data []byte, at int) int {
	if at >= len(data) {
		return -1
	}
	switch data[at] {
	case '"':
		return pastText(data, at)
	case '{', '[':
		for depth := 0; at < len(data); at++ {
			switch data[at] {
			case '"':
				end := pastText(data, at)
				if end < 0 {
					return -1
				}
				at = end - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return at + 1
				}
			}
		}
		return -1
	default:
		n := bytes.IndexAny(data[at:], ",]}")
		if n <= 0 {
			return -1
		}
		return at + n
	}
}

// pastText is where the string that begins at a place ends.
func pastText(data []byte, at int) int {
	for from := at + 1; ; {
		n := bytes.IndexByte(data[from:], '"')
		if n < 0 {
			return -1
		}
		slashes := 0
		for i := from + n - 1; i > at && data[i] == '\\'; i-- {
			slashes++
		}
		if from += n + 1; slashes%2 == 0 {
			return from
		}
	}
}

// TextOf is what a JSON string says; nothing of what is no string.
func TextOf(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if !bytes.ContainsRune(value, '\\') {
		return string(value[1 : len(value)-1])
	}
	var text string
	_ = json.Unmarshal(value, &text) // a string that can't be read names nobody
	return text
}

// FirstOf is the first element of a JSON array; nothing where there is none.
func FirstOf(array []byte) []byte {
	if len(array) < 3 || array[0] != '[' {
		return nil
	}
	if end := past(array, 1); end > 0 {
		return array[1:end]
	}
	return nil
}
