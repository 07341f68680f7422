// Package strictjson reads untrusted JSON and writes the one canonical form that Interlock hashes and signs.
//
// Reading refuses what two readers could understand differently: duplicate member names, names that differ only in case
// ("TOOL" beside or instead of "tool"; only where the destination is a Go map of one type are names data and may differ in
// case), unknown members, invalid UTF-8, NUL in names, text after the value, and anything over a bound. Writing is
// RFC 8785: equal values give equal bytes. An integer that a double can't hold exactly is refused in both directions,
// because RFC 8785 would silently round it.
//
// Errors are *interlock.Error: Field is the JSON pointer of the value at fault, the message says how to mend it, and long
// input is never repeated in it. The package keeps no state but a table of struct shapes that is filled as types are
// first seen. Start with Decode and Canonical.
package strictjson

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"

	"interlock"
)

// Limits bound what is read. A zero field means its default.
type Limits struct {
	Bytes  int // of the whole text; default 1 MiB
	Depth  int // of nested objects and arrays; default 64
	String int // bytes of one string as written; default 1 MiB
	Array  int // elements of one array, or members of one object; default 10,000
}

// The default limits.
const (
	DefaultBytes  = 1 << 20
	DefaultDepth  = 64
	DefaultString = 1 << 20
	DefaultArray  = 10_000
)

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = DefaultBytes
	}
	if l.Depth == 0 {
		l.Depth = DefaultDepth
	}
	if l.String == 0 {
		l.String = DefaultString
	}
	if l.Array == 0 {
		l.Array = DefaultArray
	}
	return l
}

// Decode reads one JSON value into the value that into points to. On error into may have been partly written and must
// not be used.
func Decode(data []byte, into any) error { return decode(data, into, Limits{}, false) }

// DecodeLimited is [Decode] under other limits.
func DecodeLimited(data []byte, into any, limits Limits) error {
	return decode(data, into, limits, false)
}

// DecodeLenient is [Decode] for payloads of other programs, which grow members over time: unknown members are ignored.
// Duplicates and foreign case are refused all the same.
func DecodeLenient(data []byte, into any) error { return decode(data, into, Limits{}, true) }

// DecodeTrusted is [Decode] for JSON that is in the program itself and was checked when it was put there. It spares
// the pass that bounds and compares names; duplicates and unknown members are refused all the same.
func DecodeTrusted(data []byte, into any) error { return unmarshal(data, into, false) }

// DecodeSome is [DecodeTrusted] that leaves out members that into has no field for.
func DecodeSome(data []byte, into any) error { return unmarshal(data, into, true) }

func decode(data []byte, into any, limits Limits, lenient bool) error {
	if text, ok := into.(*string); ok && text != nil && plainString(data, limits.withDefaults()) {
		*text = string(data[1 : len(data)-1])
		return nil
	}
	if err := scan(data, into, limits.withDefaults(), lenient); err != nil {
		return err
	}
	return unmarshal(data, into, lenient)
}

// plainString reports whether data is a string of printable ASCII within the limits, which means itself.
func plainString(data []byte, limits Limits) bool {
	if len(data) < 2 || len(data) > limits.Bytes || len(data)-2 > limits.String || data[0] != '"' || data[len(data)-1] != '"' {
		return false
	}
	for _, c := range data[1 : len(data)-1] {
		if c < ' ' || c == '"' || c == '\\' || c > '~' {
			return false
		}
	}
	return true
}

func unmarshal(data []byte, into any, lenient bool) error {
	err := json.Unmarshal(data, into,
		json.RejectUnknownMembers(!lenient),
		legacy.FormatDurationAsNano(true),
	)
	if err != nil {
		return explain(err)
	}
	return nil
}

// Canonical returns the RFC 8785 form of one JSON value: no white space, members sorted by UTF-16 code units, numbers as
// ECMAScript writes them. It is idempotent. Integers beyond ±(2^53-1) and numbers beyond the range of a double are
// refused. The depth limit is [DefaultDepth]; size is the caller's to bound. Names that differ in case are different
// names here; [Decode] is what refuses them.
func Canonical(data []byte) ([]byte, error) {
	limits := Limits{Bytes: len(data) + 1, String: len(data) + 1, Array: len(data) + 1}
	if err := scan(data, nil, limits.withDefaults(), false); err != nil {
		return nil, err
	}
	return canonicalize(append(jsontext.Value(nil), data...))
}

// Marshal returns the canonical form of a Go value: what encoding/json would write, in RFC 8785 form. A nil slice or map
// is written as an empty array or object, so that nil and empty are one value and have one digest.
func Marshal(v any) ([]byte, error) {
	w := borrow()
	defer w.giveBack()
	if w.any(v); w.gaveUp {
		return general(v)
	}
	return append(make([]byte, 0, len(w.bytes)), w.bytes...), nil
}

// AppendDeclared appends what encoding/json would write of a Go value for others to read, without escapes for HTML: members in
// the order of their declaration, and empty lists where it has null. ok is false where encoding/json has to be asked: for what no
// plan knows, and for texts that are not UTF-8 or hold the line ends that it escapes.
func AppendDeclared(dst []byte, v any) (out []byte, ok bool) {
	w := borrow()
	defer w.giveBack()
	w.declared = true
	if w.any(v); w.gaveUp || bytes.Contains(w.bytes, []byte("\u2028")) || bytes.Contains(w.bytes, []byte("\u2029")) {
		return dst, false
	}
	return append(dst, w.bytes...), true
}

// general is [Marshal] of what no plan knows, and of what is not to be written at all.
func general(v any) ([]byte, error) {
	data, err := json.Marshal(v,
		legacy.FormatDurationAsNano(true),
		legacy.OmitEmptyWithLegacySemantics(true),
	)
	if err != nil {
		return nil, explain(err)
	}
	return canonicalize(data)
}

// canonicalize rewrites data in place where it can. The numbers are looked at before and after: before, because an
// integer would be rounded; after, because 1e20 would become an integer that a second pass refuses.
func canonicalize(data jsontext.Value) ([]byte, error) {
	if err := checkNumbers(data); err != nil {
		return nil, err
	}
	if err := data.Canonicalize(); err != nil {
		return nil, explain(err)
	}
	if err := checkNumbers(data); err != nil {
		return nil, err
	}
	return data, nil
}

const maxExact = "9007199254740991" // 2^53-1

// checkNumbers refuses integers that a double can't hold exactly and numbers that overflow one. It trusts that data is
// valid JSON or is about to be found invalid.
func checkNumbers(data []byte) error {
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '"':
			i = skipString(data, i)
		case c >= '0' && c <= '9':
			end, whole := i, true
			for end < len(data) && isNumberByte(data[end]) {
				if !(data[end] >= '0' && data[end] <= '9') {
					whole = false
				}
				end++
			}
			if digits := data[i:end]; whole && (len(digits) > len(maxExact) ||
				len(digits) == len(maxExact) && string(digits) > maxExact) {
				return interlock.Errorf(interlock.CodeInvalid, "",
					"an integer is beyond 2^53-1 and would lose digits; write it as a string")
			} else if !whole && overflows(string(digits)) {
				return interlock.Errorf(interlock.CodeInvalid, "",
					"a number is beyond the range of a double; write it as a string")
			}
			i = end
		default:
			i++
		}
	}
	return nil
}

// skipString returns the index after the string that opens at i.
func skipString(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}
