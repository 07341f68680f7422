package strictjson

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A Writer writes canonical JSON of values whose members are known beforehand, several times faster than [Marshal] does
// of any value: every decision is encoded more than once. The caller names members in canonical order, leaves empty ones
// out, and holds the result to Marshal's in a test. Where a value is out of the ordinary the Writer gives up, and the
// caller takes Marshal, which writes it or says what is wrong with it. The zero Writer is ready for use.
type Writer struct {
	Bytes  []byte // what has been written
	GaveUp bool   // Bytes are not what Marshal would write
}

// writers lends out writers for texts that are hashed or copied at once. What one of them has written before is not seen.
var writers = sync.Pool{New: func() any { return &Writer{Bytes: make([]byte, 0, 4<<10)} }}

// keptWriter is how large a text may be whose room is kept for the next one, in bytes.
const keptWriter = 64 << 10

func borrow() *Writer {
	w := writers.Get().(*Writer)
	w.Bytes, w.GaveUp = w.Bytes[:0], false
	return w
}

func (w *Writer) giveBack() {
	if cap(w.Bytes) <= keptWriter {
		writers.Put(w)
	}
}

// Text returns what a function writes, in memory of just its size. ok is false if the writer gave up.
func Text(write func(w *Writer)) (text []byte, ok bool) {
	w := borrow()
	defer w.giveBack()
	if write(w); w.GaveUp {
		return nil, false
	}
	return append(make([]byte, 0, len(w.Bytes)), w.Bytes...), true
}

// Open begins an object.
func (w *Writer) Open() { w.Bytes = append(w.Bytes, '{') }

// Close ends an object.
func (w *Writer) Close() { w.Bytes = append(w.Bytes, '}') }

// Name begins a member of the innermost open object. The name is ASCII that needs no escapes.
func (w *Writer) Name(name string) {
	if len(w.Bytes) > 0 && w.Bytes[len(w.Bytes)-1] != '{' {
		w.Bytes = append(w.Bytes, ',')
	}
	w.Bytes = append(append(append(w.Bytes, '"'), name...), '"', ':')
}

// String writes a value.
func (w *Writer) String(value string) {
	if !plain(value) {
		w.quote(value)
		return
	}
	w.Bytes = append(append(append(w.Bytes, '"'), value...), '"')
}

// plain reports whether a string is ASCII without anything that must be escaped. It looks at eight bytes at a time: every
// decision has some thousand bytes of such strings.
func plain(value string) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(value); i += 8 {
		w := uint64(value[i]) | uint64(value[i+1])<<8 | uint64(value[i+2])<<16 | uint64(value[i+3])<<24 |
			uint64(value[i+4])<<32 | uint64(value[i+5])<<40 | uint64(value[i+6])<<48 | uint64(value[i+7])<<56
		quote, escape := w^ones*'"', w^ones*'\\'
		// Each term has a byte's top bit set if the byte is below a space, a quote, a backslash or beyond ASCII.
		if ((w-ones*' ')|(quote-ones)|(escape-ones)|w)&tops != 0 {
			return false
		}
	}
	for ; i < len(value); i++ {
		if c := value[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

func (w *Writer) quote(value string) {
	if !utf8.ValidString(value) {
		w.GaveUp = true
		return
	}
	w.Bytes = AppendString(w.Bytes, value)
}

// General writes any value as [Marshal] does, and as fast.
func (w *Writer) General(value any) {
	data, err := Marshal(value)
	if err != nil {
		w.GaveUp = true
		return
	}
	w.Bytes = append(w.Bytes, data...)
}

// Int writes a value.
func (w *Writer) Int(value int64) {
	if value > 1<<53-1 || value < -(1<<53-1) {
		w.GaveUp = true
	}
	w.Bytes = strconv.AppendInt(w.Bytes, value, 10)
}

// Bool writes a value.
func (w *Writer) Bool(value bool) { w.Bytes = strconv.AppendBool(w.Bytes, value) }

// Named writes a value of a closed enumeration, such as a verdict. One that has no name prints as "unknown(n)".
func (w *Writer) Named(value fmt.Stringer) {
	name := value.String()
	if strings.IndexByte(name, '(') >= 0 {
		w.GaveUp = true
	}
	w.String(name)
}

// Time writes a value.
func (w *Writer) Time(value time.Time) {
	text, err := value.AppendText(append(w.Bytes, '"'))
	if err != nil {
		w.GaveUp = true
		return
	}
	w.Bytes = append(text, '"')
}

// Raw writes a value that is JSON already.
func (w *Writer) Raw(value []byte) {
	if IsCanonical(value) {
		w.Bytes = append(w.Bytes, value...)
		return
	}
	canonical, err := Marshal(jsontext.Value(value))
	if err != nil {
		w.GaveUp = true
		return
	}
	w.Bytes = append(w.Bytes, canonical...)
}

// Strings writes an array.
func (w *Writer) Strings(values []string) {
	List(w, values, func(w *Writer, value *string) { w.String(*value) })
}

// OptionalString writes a member, unless the value is empty.
func (w *Writer) OptionalString(name, value string) {
	if value != "" {
		w.Name(name)
		w.String(value)
	}
}

// OptionalStrings writes a member, unless the list is empty.
func (w *Writer) OptionalStrings(name string, values []string) {
	if len(values) > 0 {
		w.Name(name)
		w.Strings(values)
	}
}

// OptionalMap writes a member, unless the map is empty.
func (w *Writer) OptionalMap(name string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	names := make([]string, 0, len(values))
	for member := range values {
		if !plain(member) {
			w.GaveUp = true // its place among the others is not that of its bytes
			return
		}
		names = append(names, member)
	}
	sort.Strings(names)
	w.Name(name)
	w.Open()
	for _, member := range names {
		w.Name(member)
		w.String(values[member])
	}
	w.Close()
}

// List writes an array of values that one writes.
func List[T any](w *Writer, values []T, one func(w *Writer, value *T)) {
	w.Bytes = append(w.Bytes, '[')
	for i := range values {
		if i > 0 {
			w.Bytes = append(w.Bytes, ',')
		}
		one(w, &values[i])
	}
	w.Bytes = append(w.Bytes, ']')
}
