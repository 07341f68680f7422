package pinning

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
)

// A Difference is one place in which two definitions differ, for people: what does not show is spelled out, as in [Display].
type Difference struct {
	Pointer string   `json:"pointer"`          // into the definition
	Before  []string `json:"before,omitempty"` // lines; none if there was nothing
	After   []string `json:"after,omitempty"`  // lines; none if there is nothing any more
}

// Differences compares the definition that was approved with the one seen last, place by place in order. Without an approved
// one everything is new.
func Differences(approved, seen json.RawMessage) []Difference {
	old, new := leaves(approved), leaves(seen)
	pointers := make([]string, 0, len(old)+len(new))
	for pointer := range old {
		pointers = append(pointers, pointer)
	}
	for pointer := range new {
		if _, both := old[pointer]; !both {
			pointers = append(pointers, pointer)
		}
	}
	sort.Strings(pointers)
	var out []Difference
	for _, pointer := range pointers {
		before, was := old[pointer]
		after, is := new[pointer]
		if was && is && before == after {
			continue
		}
		d := Difference{Pointer: core.Visible(pointer)}
		if was {
			d.Before = shownLines(before)
		}
		if is {
			d.After = shownLines(after)
		}
		out = append(out, d)
	}
	return out
}

// leaves are the values of a definition that are no objects or lists, or are empty ones, by where they stand.
func leaves(definition json.RawMessage) map[string]string {
	out := map[string]string{}
	if len(definition) == 0 {
		return out
	}
	decoder := json.NewDecoder(bytes.NewReader(definition))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		out[""] = string(definition)
		return out
	}
	collect(out, "", value)
	return out
}

func collect(out map[string]string, pointer string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v { // any order: each has its place
			collect(out, pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), item)
		}
		if len(v) == 0 {
			out[pointer] = "{}"
		}
	case []any:
		for i, item := range v {
			collect(out, pointer+"/"+strconv.Itoa(i), item)
		}
		if len(v) == 0 {
			out[pointer] = "[]"
		}
	case string:
		out[pointer] = v
	case json.Number:
		out[pointer] = v.String()
	case bool:
		out[pointer] = strconv.FormatBool(v)
	default:
		out[pointer] = "null"
	}
}

// shownLines are the lines of a text with everything spelled out that does not show.
func shownLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = core.Visible(lines[i])
	}
	return lines
}

// PinSays tells people in one sentence why a pin is in quarantine, or that it is approved.
func PinSays(p interlock.Pin) string {
	says := map[interlock.PinReason]string{
		interlock.PinFirst:        "nobody has approved it, and first use is not trusted",
		interlock.PinNew:          "the server began to offer it after it had been approved",
		interlock.PinChanged:      "its definition has changed",
		interlock.PinIdentity:     "its server has changed: another command, other arguments or another address",
		interlock.PinInstructions: "its definition speaks to the model",
		interlock.PinUnreadable:   "its definition can't be read",
		interlock.PinOrdered:      "put there by " + core.Visible(p.By),
	}[p.Why]
	switch {
	case p.Status == interlock.PinApproved && p.By != "":
		says = "approved by " + core.Visible(p.By)
	case p.Status == interlock.PinApproved:
		says = "approved at first use; not signed yet"
	}
	if p.Detail != "" {
		says += ": " + core.Visible(p.Detail)
	}
	return says
}
