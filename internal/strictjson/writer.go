package strictjson

import (
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A writer holds what plans have written. Where a value is out of the ordinary it gives up, and the general encoder writes the
// whole or says what is wrong with it.
type writer struct {
	bytes  []byte
	depth  int
	gaveUp bool // bytes are not what the general encoder would write

	declared bool // members stand in the order of their declaration
}

// writers lends out writers for texts that are hashed or copied at once. What one of them has written before is not seen.
var writers = sync.Pool{New: func() any { return &writer{bytes: make([]byte, 0, 4<<10)} }}

const (
	keptWriter   = 64 << 10 // how large a text may be whose room is kept for the next one, in bytes
	deepestWrite = 100      // how deep a value may be nested; a deeper one may hold itself
)

func borrow() *writer {
	w := writers.Get().(*writer)
	*w = writer{bytes: w.bytes[:0]}
	return w
}

func (w *writer) giveBack() {
	if cap(w.bytes) <= keptWriter {
		writers.Put(w)
	}
}

func (w *writer) deeper() {
	if w.depth++; w.depth > deepestWrite {
		w.gaveUp = true
	}
}

func (w *writer) word(text string) { w.bytes = append(w.bytes, text...) }

func (w *writer) string(value string) {
	if plain(value) {
		w.bytes = append(append(append(w.bytes, '"'), value...), '"')
		return
	}
	if !utf8.ValidString(value) {
		w.gaveUp = true
		return
	}
	w.bytes = AppendString(w.bytes, value)
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

const maxExactInt = 1<<53 - 1

func (w *writer) int(value int64) {
	if value > maxExactInt || value < -maxExactInt {
		w.gaveUp = true
	}
	w.bytes = strconv.AppendInt(w.bytes, value, 10)
}

func (w *writer) uint(value uint64) {
	if value > maxExactInt {
		w.gaveUp = true
	}
	w.bytes = strconv.AppendUint(w.bytes, value, 10)
}

func (w *writer) bool(value bool) { w.bytes = strconv.AppendBool(w.bytes, value) }

func (w *writer) time(value time.Time) {
	text, err := value.AppendText(append(w.bytes, '"'))
	if err != nil {
		w.gaveUp = true
		return
	}
	w.bytes = append(text, '"')
}

// raw writes a value that is JSON already.
func (w *writer) raw(value []byte) {
	switch {
	case value == nil:
		w.word("null")
	case IsCanonical(value):
		w.bytes = append(w.bytes, value...)
	case w.declared:
		w.gaveUp = true
	default:
		canonical, err := general(jsontext.Value(value))
		if err != nil {
			w.gaveUp = true
			return
		}
		w.bytes = append(w.bytes, canonical...)
	}
}
