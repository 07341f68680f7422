package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// bareWord is a text that YAML reads as itself without quotes.
var bareWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)
})

// AsWritten is a value as people write rules: YAML, in the order of its members.
func AsWritten(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("writing a rule: %w", err)
	}
	var out strings.Builder
	if err := written(&out, b.Bytes(), 0); err != nil {
		return "", fmt.Errorf("writing a rule: %w", err)
	}
	return strings.TrimPrefix(out.String(), "\n"), nil
}

// written writes a JSON value behind a name: an object as lines further in, a list on one line, anything else as it is read.
func written(out *strings.Builder, raw json.RawMessage, depth int) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		list := t == '['
		if list {
			out.WriteString(" [")
		}
		for n := 0; d.More(); n++ {
			if err := writtenMember(out, d, list, n, depth); err != nil {
				return err
			}
		}
		if list {
			out.WriteString("]")
		}
	case string:
		if bareWord().MatchString(t) && t != "null" && t != "true" && t != "false" && t != "yes" && t != "no" && t != "on" && t != "off" {
			out.WriteString(" " + t)
		} else {
			out.WriteString(" " + string(raw))
		}
	default:
		fmt.Fprintf(out, " %s", bytes.TrimSpace(raw))
	}
	return nil
}

func writtenMember(out *strings.Builder, d *json.Decoder, list bool, n, depth int) error {
	if list {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return err
		}
		if n > 0 {
			out.WriteString(",")
		}
		if item = bytes.TrimSpace(item); item[0] == '{' || item[0] == '[' {
			out.WriteString(" " + string(item)) // which is YAML, too
			return nil
		}
		var inner strings.Builder
		if err := written(&inner, item, depth); err != nil {
			return err
		}
		text := inner.String()
		if n == 0 {
			text = strings.TrimPrefix(text, " ")
		}
		out.WriteString(text)
		return nil
	}
	name, err := d.Token()
	if err != nil {
		return err
	}
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return err
	}
	out.WriteString("\n" + strings.Repeat("  ", depth) + fmt.Sprint(name) + ":")
	return written(out, bytes.TrimSpace(value), depth+1)
}
