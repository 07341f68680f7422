package auditlog

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// A reader walks the fixed layout of an event. The first fault sticks; after it every method returns a zero value.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// literal consumes exactly text.
func (r *reader) literal(text string) {
	if r.err != nil {
		return
	}
	if len(r.rest) < len(text) || string(r.rest[:len(text)]) != text {
		r.fail("it lacks %s where it belongs", text)
		return
	}
	r.rest = r.rest[len(text):]
}

// text consumes a member whose value is a string.
func (r *reader) text(member string) string {
	r.literal(member)
	return r.quoted()
}

// kept is text that takes the string it finds if the value equals it: most of what an event says, the one before has said
// too, and verification reads millions.
func (r *reader) kept(member, have string) string {
	r.literal(member)
	return r.quotedAs(have)
}

// quotedAs is quoted, and returns have, which needs no escapes, if the value is spelled like it.
func (r *reader) quotedAs(have string) string {
	if r.err == nil && r.comes(have) {
		r.rest = r.rest[len(have)+2:]
		return have
	}
	return r.quoted()
}

// comes reports whether the string text, which needs no escapes, is what comes next.
func (r *reader) comes(text string) bool {
	n := len(text)
	return n > 0 && len(r.rest) > n+1 && r.rest[0] == '"' && r.rest[n+1] == '"' && string(r.rest[1:n+1]) == text && plain(text)
}

// optional consumes a member if it is here. An empty value is refused: the encoder leaves the member out instead.
func (r *reader) optional(member string) string {
	if r.err != nil || !bytes.HasPrefix(r.rest, []byte(member)) {
		return ""
	}
	value := r.text(member)
	if value == "" {
		r.fail("%s is empty", member)
	}
	return value
}

// number consumes a member whose value is a positive integer.
func (r *reader) number(member string) int64 {
	r.literal(member)
	if r.err != nil {
		return 0
	}
	end := 0
	for end < len(r.rest) && r.rest[end] >= '0' && r.rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(r.rest[:end]), 10, 64)
	if err != nil || n < 1 || n > 1<<53-1 {
		r.fail("%s is not a positive integer", member)
		return 0
	}
	r.rest = r.rest[end:]
	return n
}

// time consumes a member whose value is a time in the given layout.
func (r *reader) time(member, layout string) time.Time {
	r.literal(member)
	if n := len(layout) + 2; r.err == nil && len(r.rest) >= n && r.rest[0] == '"' && r.rest[n-1] == '"' {
		if at, ok := timeIn(r.rest[1:n-1], layout); ok {
			r.rest = r.rest[n:]
			return at
		}
	}
	text := r.quoted()
	if r.err != nil {
		return time.Time{}
	}
	at, err := time.Parse(layout, text)
	if err != nil {
		r.fail("%s is not a time", member)
	}
	return at
}

// timeIn reads a time of an event's layouts, which has the layout's length, at a fifth of Parse's price. What it does not find to be
// one is for Parse to judge.
func timeIn(text []byte, layout string) (time.Time, bool) {
	var part [8]int // year to microsecond
	n := 0
	for i, c := range text {
		switch like := layout[i]; {
		case like != c && (like < '0' || like > '9' || c < '0' || c > '9'):
			return time.Time{}, false
		case like < '0' || like > '9':
			n++
		default:
			part[n] = 10*part[n] + int(c-'0')
		}
	}
	at := time.Date(part[0], time.Month(part[1]), part[2], part[3], part[4], part[5], 1000*part[6], time.UTC)
	_, month, day := at.Date() // what is beyond a month's end or a day's would be of the next
	hour, minute, second := at.Clock()
	return at, [5]int{int(month), day, hour, minute, second} == [5]int(part[1:6])
}

// stamps consumes a member whose value is an object of strings. It uses the map it is given, whose content is known text.
func (r *reader) stamps(member string, known map[string]string) map[string]string {
	r.literal(member)
	r.literal(`{`)
	if r.err != nil {
		return nil
	}
	var names, values [maxStamps]string
	have := 0
	for name, value := range known { // any order: which of them a text is compared with changes nothing
		if have < maxStamps {
			names[have], values[have] = name, value
			have++
		}
	}
	stamps := known
	if stamps == nil {
		stamps = make(map[string]string, 2)
	}
	clear(stamps)
	for r.err == nil && len(r.rest) > 0 && r.rest[0] != '}' {
		if len(stamps) > 0 {
			r.literal(`,`)
		}
		if len(stamps) == maxStamps {
			r.fail("it names more than %d snapshots", maxStamps)
		}
		name, value := "", ""
		for i := range names[:have] {
			if r.comes(names[i]) {
				name, value = names[i], values[i]
			}
		}
		name = r.quotedAs(name)
		r.literal(`:`)
		stamps[name] = r.quotedAs(value)
	}
	r.literal(`}`)
	return stamps
}

// object consumes a member whose value is a JSON object and returns the object's bytes. Only its extent is established
// here: its content is bound by content_hash.
func (r *reader) object(member string) []byte {
	r.literal(member)
	if r.err != nil {
		return nil
	}
	end, err := extent(r.rest)
	if err != nil {
		r.err = err
		return nil
	}
	value := r.rest[:end]
	r.rest = r.rest[end:]
	return value
}

// extent returns the length of the JSON object that data starts with.
func extent(data []byte) (int, error) {
	if len(data) == 0 || data[0] != '{' {
		return 0, errors.New("its payload is not an object")
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return 0, errors.New("its payload has no end")
}

// quoted consumes a JSON string. Whether its escapes are the canonical ones shows when the event is encoded again.
func (r *reader) quoted() string {
	r.literal(`"`)
	if r.err != nil {
		return ""
	}
	for i, c := range r.rest {
		if c == '"' {
			value := string(r.rest[:i])
			r.rest = r.rest[i+1:]
			if !utf8.ValidString(value) {
				r.fail("it is not UTF-8")
			}
			return value
		}
		if c == '\\' {
			return r.escaped()
		}
	}
	r.fail("a string has no end")
	return ""
}

// escaped consumes the rest of a string that has escapes.
func (r *reader) escaped() string {
	var value []byte
	for i := 0; i < len(r.rest); i++ {
		switch c := r.rest[i]; c {
		case '"':
			r.rest = r.rest[i+1:]
			if !utf8.Valid(value) {
				r.fail("it is not UTF-8")
			}
			return string(value)
		case '\\':
			i++
			if i == len(r.rest) {
				break
			}
			if r.rest[i] == 'u' && i+4 < len(r.rest) {
				code, err := strconv.ParseUint(string(r.rest[i+1:i+5]), 16, 16)
				if err != nil || utf16.IsSurrogate(rune(code)) {
					r.fail("a string has a bad escape")
					return ""
				}
				value = utf8.AppendRune(value, rune(code))
				i += 4
				continue
			}
			plain, known := unescape(r.rest[i])
			if !known {
				r.fail("a string has a bad escape")
				return ""
			}
			value = append(value, plain)
		default:
			value = append(value, c)
		}
	}
	r.fail("a string has no end")
	return ""
}

func unescape(c byte) (byte, bool) {
	switch c {
	case '"', '\\':
		return c, true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	default:
		return 0, false
	}
}
