// Package telling finds the texts in a JSON value that a tool or server says, whatever they are in: strings, names of members, numbers,
// bytes that carry text. It writes the value again with what may be shown of them, and everything else as it was, in its order and
// spelling. What may be shown is for others to say.
package telling

import (
	"strconv"
	"strings"

	"interlock/internal/rpc"
)

// Options say what a value is, and what its names are.
type Options struct {
	Definition bool                   // of a tool, prompt or resource: calls go by its names
	Before     []string               // what was told before in pieces, with which Chunk is read
	Chunk      string                 // the member that goes on with that
	Speaks     func(name string) bool // whether a name says of a value what it is; nil: none does
}

// A Value is a JSON value with the texts in it. It is used by one goroutine.
type Value struct {
	value   []byte
	options Options
	pieces  []piece
	lists   int      // arrays of texts so far, each of which is a run
	shown   []string // of each piece; nil while they are collected
	at      int
	out     []byte
	stuck   bool // something was found where nothing can be taken out
}

// Read finds the texts in a value that was scanned before.
func Read(value []byte, o Options) *Value {
	v := &Value{value: value, options: o}
	if len(value) > 0 {
		v.walk(value, place{})
	}
	return v
}

// Texts are the texts, behind those that were told before, and which of them are read one behind the other, by their indices.
func (v *Value) Texts() (texts []string, runs [][]int) {
	before := len(v.options.Before)
	texts = append(make([]string, 0, before+len(v.pieces)), v.options.Before...)
	runs = make([][]int, runBlocks+v.lists+1)
	for n := range texts {
		runs[runBlocks] = append(runs[runBlocks], n)
	}
	for n, p := range v.pieces {
		texts = append(texts, p.text)
		if p.run > 0 {
			runs[p.run] = append(runs[p.run], before+n)
		}
	}
	return texts, runs
}

// Empty reports whether there is nothing to look at.
func (v *Value) Empty() bool { return len(v.pieces) == 0 }

// Show writes the value with what may be shown of each of its texts, those left out that were told before. It reports false where
// something was taken out of what programs go by, such as a tool's name, so that the value can't go on at all.
func (v *Value) Show(shown []string) (out []byte, whole bool) {
	if len(shown) != len(v.pieces) {
		return nil, false
	}
	v.shown, v.at, v.lists, v.stuck = shown, 0, 0, false
	v.out = make([]byte, 0, len(v.value))
	v.walk(v.value, place{})
	return v.out, !v.stuck
}

// Chunks are the texts that go on with what was told before; shown is of [Value.Show], and of theirs what may be.
func (v *Value) Chunks(shown []string) (said, told []string) {
	for n, p := range v.pieces {
		if p.chunk {
			said, told = append(said, p.text), append(told, shown[n])
		}
	}
	return said, told
}

// A piece is one text as its reader has it.
type piece struct {
	text  string
	run   int  // pieces of one run are read one behind the other; 0: this one is read by itself
	exact bool // programs go by its spelling
	chunk bool // it goes on with what was told before
}

// runBlocks is the run of what a message consists of: its blocks, contents and messages. Behind it come arrays of texts.
const runBlocks = 1

// A place is where in a message a value stands.
type place struct {
	name   string // of the member it is, or is an element of
	run    int    // of the array it is an element of
	schema bool   // it is in a schema, where names and values are spelled
	chunk  bool   // it is in the member that goes on with what was told before
}

// schemas are members that hold one; proseOf are the members of schemas and definitions that are only read.
var (
	schemas = map[string]bool{"inputSchema": true, "outputSchema": true, "requestedSchema": true}
	proseOf = map[string]bool{"title": true, "description": true, "$comment": true, "examples": true, "enumNames": true}
	// spelled are the members of a definition that it is called by.
	spelled = map[string]bool{"name": true, "uri": true, "uriTemplate": true}
)

// plainest is the length up to which a word of letters holds nothing that any rule is about.
const plainest = 20

// plain reports a short word of letters. It is what most names and many texts are, and needs no look.
func plain(text string) bool {
	if len(text) > plainest {
		return false
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; !(c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-' || c == '/' || c == '.') {
			return false
		}
	}
	return true
}

// take collects a piece, or says what of it is shown.
func (v *Value) take(p piece) (shown string, cut bool) {
	if v.shown == nil {
		v.pieces = append(v.pieces, p)
		return p.text, false
	}
	shown = v.shown[v.at]
	cut = shown != p.text
	v.stuck = v.stuck || cut && p.exact
	v.at++
	return shown, cut
}

// write writes a part of the value, the second time.
func (v *Value) write(part []byte) {
	if v.shown != nil {
		v.out = append(v.out, part...)
	}
}

func (v *Value) sign(c byte) {
	if v.shown != nil {
		v.out = append(v.out, c)
	}
}

func (v *Value) walk(value []byte, in place) {
	switch c := value[0]; {
	case c == '{':
		v.object(value, in)
	case c == '[':
		v.array(value, in)
	case c == '"':
		v.text(value, in)
	case c == '-' || c >= '0' && c <= '9':
		v.number(value, in)
	default:
		v.write(value)
	}
}

func (v *Value) object(object []byte, in place) {
	v.sign('{')
	first := true
	var names map[string]int // that the object has, and how often what was put in their place
	rpc.Members(object, func(name, value []byte) {
		if !first {
			v.sign(',')
		}
		first = false
		shown := string(name)
		if !plain(shown) {
			var cut bool
			if shown, cut = v.take(piece{text: shown, exact: in.schema, chunk: in.chunk}); cut {
				if names == nil {
					names = map[string]int{}
					rpc.Members(object, func(name, _ []byte) { names[string(name)] = 1 })
				}
				shown = another(names, shown)
			}
		}
		if v.shown != nil {
			v.out = append(rpc.AppendString(v.out, shown), ':')
		}
		if value[0] == '"' && (string(name) == "blob" || string(name) == "data") && v.carried(object, string(name), value, in) {
			return
		}
		v.walk(value, place{name: string(name), schema: in.schema || schemas[string(name)],
			chunk: in.chunk || in.name == "" && v.options.Chunk != "" && string(name) == v.options.Chunk})
	})
	v.sign('}')
}

// another is a name, or what of it no name is yet, and takes it.
func another(names map[string]int, name string) string {
	for used := names[name]; used > 0; used = names[name] {
		names[name]++
		name += "-" + strconv.Itoa(used+1)
	}
	names[name] = 1
	return name
}

func (v *Value) array(array []byte, in place) {
	v.sign('[')
	first, run := true, 0
	rpc.Elements(array, func(value []byte) {
		if !first {
			v.sign(',')
		}
		first = false
		if value[0] == '"' && run == 0 {
			v.lists++
			run = runBlocks + v.lists
		}
		in.run = run
		v.walk(value, in)
	})
	v.sign(']')
}

// text is a string. Under a name that says what it is, it is read with that, as it is written.
func (v *Value) text(value []byte, in place) {
	p := piece{text: rpc.Unquoted(value), run: in.run, chunk: in.chunk,
		exact: in.schema && !proseOf[in.name] || v.options.Definition && spelled[in.name]}
	if in.name == "text" || in.chunk {
		p.run = runBlocks
	}
	if p.run == 0 && !p.exact && p.text != "" && v.options.Speaks != nil && v.options.Speaks(in.name) {
		v.under(value, p, in.name)
		return
	}
	if p.run == 0 && plain(p.text) {
		v.write(value)
		return
	}
	if shown, cut := v.take(p); cut {
		v.out = rpc.AppendString(v.out, shown)
		return
	}
	v.write(value)
}

// under is a string under a name that says what it is.
func (v *Value) under(value []byte, p piece, name string) {
	before := `"` + name + `": "`
	p.text = before + p.text + `"`
	shown, cut := v.take(p)
	if !cut {
		v.write(value)
		return
	}
	if rest, whole := strings.CutPrefix(shown, before); whole {
		shown = strings.TrimSuffix(rest, `"`)
	} else if shown != "" { // the name is a part of what is taken out
		shown = redacted
	}
	v.out = rpc.AppendString(v.out, shown)
}

// fewDigits is how many digits a number of a person, an account or a card has at least.
const fewDigits = 9

// number is a number with digits enough to be one of a card, an account or a person. It is read behind its name, which says of many
// what they are; without it they are numbers.
func (v *Value) number(value []byte, in place) {
	digits := 0
	for _, c := range value {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	if digits < fewDigits {
		v.write(value)
		return
	}
	spelling := string(value)
	if whole, err := strconv.ParseFloat(spelling, 64); err == nil && strings.ContainsAny(spelling, ".eE") && whole < 1e19 && whole > 0 {
		if plainly := strconv.FormatFloat(whole, 'f', -1, 64); !strings.Contains(plainly, ".") {
			spelling = plainly // 4.1e3 is 4100 to those who read it
		}
	}
	if shown, cut := v.take(piece{text: in.name + ": " + spelling, exact: in.schema, chunk: in.chunk}); cut {
		if kept, found := strings.CutSuffix(shown, spelling); found && strings.HasSuffix(kept, " ") { // it was the name
			v.write(value)
			return
		}
		v.out = rpc.AppendString(v.out, redacted)
		return
	}
	v.write(value)
}

// redacted takes a number's place. It is no number, which a reader could take for the true one.
const redacted = "[redacted]"
