package know

import (
	"fmt"
	"strings"
)

// Members calls visit for each member of a JSON object with its key and raw value. The document comes from a converter
// that emits valid JSON; what is not so shaped is an error.
func Members(document []byte, visit func(key string, value []byte) error) error {
	i := skipSpace(document, 0)
	if i >= len(document) || document[i] != '{' {
		return fmt.Errorf("not an object")
	}
	for i = skipSpace(document, i+1); i < len(document) && document[i] != '}'; {
		start := i
		if i = skipString(document, i); i < 0 {
			return fmt.Errorf("malformed key")
		}
		key := string(document[start+1 : i-1])
		if strings.IndexByte(key, '\\') >= 0 {
			return fmt.Errorf("escaped key %q", key)
		}
		if i = skipSpace(document, i); i >= len(document) || document[i] != ':' {
			return fmt.Errorf("malformed member %q", key)
		}
		start = skipSpace(document, i+1)
		if i = skipValue(document, start); i < 0 {
			return fmt.Errorf("malformed value of %q", key)
		}
		if err := visit(key, document[start:i]); err != nil {
			return err
		}
		if i = skipSpace(document, i); i < len(document) && document[i] == ',' {
			i = skipSpace(document, i+1)
		}
	}
	if i >= len(document) {
		return fmt.Errorf("unterminated object")
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// skipValue returns the index after the value at i, or -1. It counts brackets rather than recursing.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}
