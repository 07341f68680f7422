package strictjson

import (
	"cmp"
	"encoding"
	"encoding/base64"
	std "encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A plan writes the values of one type as [Marshal] has them, members in canonical order. It is made once for each type, out of
// the type's own tags, so that a member is named in one place and every record, snapshot and answer is written by one mechanism,
// several times faster than by an encoder that looks at the tags each time and sorts afterwards. What a plan does not know
// (floating-point numbers, types that write themselves) goes to the general encoder.
type plan struct {
	write  func(w *writer, v reflect.Value)
	fields []planField // of a struct

	declared []planField // the same in the order of their declaration
}

// A planField is a member of a struct.
type planField struct {
	at    int          // of the field
	inner []int        // and of that in it, where structs are embedded
	kind  reflect.Kind // how the plan's loop treats it
	later string       // the name as a member begins with it, e.g. `,"user":`
	skip  func(v reflect.Value) bool
	value *plan
}

// plans holds the plan of every type seen. Entries are functions of their type, so filling the table late changes nothing that
// can be observed.
var plans sync.Map // filled late: reflect.Type -> *plan, a function of its type

func planOf(t reflect.Type) *plan {
	if have, ok := plans.Load(t); ok {
		return have.(*plan)
	}
	p := planner{}
	made := p.plan(t)
	for t, one := range p { // order-independent: fills a map
		plans.LoadOrStore(t, one)
	}
	return made
}

// A planner makes plans of types that may hold themselves.
type planner map[reflect.Type]*plan

var (
	timeType  = reflect.TypeFor[time.Time]()
	rawTypes  = []reflect.Type{reflect.TypeFor[std.RawMessage](), reflect.TypeFor[jsontext.Value]()}
	selfTypes = []reflect.Type{reflect.TypeFor[json.MarshalerTo](), reflect.TypeFor[json.Marshaler](),
		reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextMarshaler]()}
)

func (p planner) plan(t reflect.Type) *plan {
	if have, ok := plans.Load(t); ok {
		return have.(*plan)
	}
	if have := p[t]; have != nil {
		return have
	}
	made := &plan{}
	p[t] = made
	switch {
	case t == timeType:
		made.write = writeTime
	case slices.Contains(rawTypes, t):
		made.write = func(w *writer, v reflect.Value) { w.raw(v.Bytes()) }
	case t.Kind() == reflect.Uint8 && t.Implements(selfTypes[3]) && !reflect.PointerTo(t).Implements(selfTypes[2]):
		made.write = enumeration(t)
	case writesItself(t):
		made.write = writeGeneral
	default:
		p.byKind(t, made)
	}
	return made
}

// writesItself reports whether a type, or a pointer to it, has a method that writes it.
func writesItself(t reflect.Type) bool {
	if t.PkgPath() == "" && t.Kind() != reflect.Struct && t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		return false // such a type has no methods
	}
	return slices.ContainsFunc(selfTypes, reflect.PointerTo(t).Implements)
}

func (p planner) byKind(t reflect.Type, made *plan) {
	made.write = writeGeneral
	switch t.Kind() {
	case reflect.String:
		made.write = func(w *writer, v reflect.Value) { w.string(v.String()) }
	case reflect.Bool:
		made.write = func(w *writer, v reflect.Value) { w.bool(v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		made.write = func(w *writer, v reflect.Value) { w.int(v.Int()) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		made.write = func(w *writer, v reflect.Value) { w.uint(v.Uint()) }
	case reflect.Interface:
		made.write = writeDynamic
	case reflect.Pointer:
		to := p.plan(t.Elem())
		made.write = func(w *writer, v reflect.Value) {
			if v.IsNil() {
				w.word("null")
				return
			}
			to.write(w, v.Elem())
		}
	case reflect.Slice:
		made.write = p.list(t)
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !writesItself(t.Key()) {
			made.write = p.table(t)
		}
	case reflect.Struct:
		if fields, ok := p.members(t); ok {
			made.fields, made.declared = fields, slices.Clone(fields)
			slices.SortFunc(made.declared, func(a, b planField) int {
				return cmp.Or(cmp.Compare(a.at, b.at), slices.Compare(a.inner, b.inner))
			})
			made.write = made.object
		}
	}
}

// members are the members of a struct in canonical order, with those of structs embedded in it. ok is false where its tags say
// what a plan does not know.
func (p planner) members(t reflect.Type) (fields []planField, ok bool) {
	fields = make([]planField, 0, t.NumField())
	if !p.collect(t, nil, &fields) {
		return nil, false
	}
	slices.SortFunc(fields, func(a, b planField) int {
		return cmp.Or(strings.Compare(a.name(), b.name()), cmp.Compare(len(a.inner), len(b.inner)))
	})
	kept := fields[:0]
	for n := range fields {
		f := &fields[n]
		if last := len(kept) - 1; last < 0 || kept[last].name() != f.name() {
			kept = append(kept, *f)
		} else if len(kept[last].inner) == len(f.inner) {
			return nil, false // neither hides the other
		}
	}
	return kept, true
}

func (p planner) collect(t reflect.Type, index []int, fields *[]planField) bool {
	for n := range t.NumField() {
		f := t.Field(n)
		at := append(slices.Clip(index), n)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		embeds := name == "" && (f.Anonymous || options == "inline")
		switch {
		case tag == "-", !f.IsExported() && !embeds:
			continue
		case embeds:
			if f.Type.Kind() != reflect.Struct || writesItself(f.Type) || !p.collect(f.Type, at, fields) {
				return false
			}
			continue
		case name == "":
			name = f.Name
		}
		skip, known := skipping(f.Type, options)
		if !known || !plain(name) {
			return false
		}
		*fields = append(*fields, planField{at: at[0], inner: at[1:], kind: shortcut(f.Type, options), later: `,"` + name + `":`,
			skip: skip, value: p.plan(f.Type)})
	}
	return true
}

// shortcut is the kind of a type that is written without a call: a text, a whole number with a sign, a list or a pointer.
func shortcut(t reflect.Type, options string) reflect.Kind {
	switch kind := t.Kind(); {
	case kind == reflect.Pointer, kind == reflect.Slice && options != "omitzero":
		return kind
	case kind == reflect.String && !writesItself(t):
		return kind
	case (kind == reflect.Int || kind == reflect.Int64) && !writesItself(t):
		return reflect.Int64
	}
	return reflect.Invalid
}

func (f *planField) name() string { return f.later[2 : len(f.later)-2] }

// skipping tells when a member is left out; nil where it never is.
func skipping(t reflect.Type, options string) (skip func(v reflect.Value) bool, known bool) {
	switch options {
	case "":
		return nil, true
	case "omitempty":
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			return func(v reflect.Value) bool { return v.Len() == 0 }, true
		case reflect.String:
			return func(v reflect.Value) bool { return v.Len() == 0 }, true
		case reflect.Struct, reflect.Array:
			return nil, t.Kind() == reflect.Struct // a struct is never empty
		}
		return reflect.Value.IsZero, true
	case "omitzero":
		if t == timeType {
			return func(v reflect.Value) bool { return timeOf(v).IsZero() }, true
		}
		type zeroer interface{ IsZero() bool }
		return reflect.Value.IsZero, !reflect.PointerTo(t).Implements(reflect.TypeFor[zeroer]())
	}
	return nil, false
}

func (w *writer) any(v any) {
	if v == nil {
		w.word("null")
		return
	}
	value := reflect.ValueOf(v)
	planOf(value.Type()).write(w, value)
}

func (p *plan) object(w *writer, v reflect.Value) {
	if w.deeper(); w.gaveUp {
		return
	}
	w.word("{")
	begin := len(w.bytes)
	fields := p.fields
	if w.declared {
		fields = p.declared
	}
	for n := range fields {
		f := &fields[n]
		field := v.Field(f.at)
		for _, at := range f.inner {
			field = field.Field(at)
		}
		switch omits := f.skip != nil; f.kind { // the frequent ones without a call
		case reflect.String:
			if text := field.String(); text != "" || !omits {
				w.name(f, begin)
				w.string(text)
			}
			continue
		case reflect.Int64:
			if number := field.Int(); number != 0 || !omits {
				w.name(f, begin)
				w.int(number)
			}
			continue
		case reflect.Slice:
			if omits && field.Len() == 0 {
				continue
			}
		case reflect.Pointer:
			if omits && field.IsNil() {
				continue
			}
		default:
			if omits && f.skip(field) {
				continue
			}
		}
		w.name(f, begin)
		f.value.write(w, field)
	}
	w.word("}")
	w.depth--
}

// name begins a member of the object whose first one is at begin.
func (w *writer) name(f *planField, begin int) {
	if len(w.bytes) == begin {
		w.word(f.later[1:])
		return
	}
	w.word(f.later)
}

func (p planner) list(t reflect.Type) func(w *writer, v reflect.Value) {
	if t.Elem() == reflect.TypeFor[byte]() {
		return func(w *writer, v reflect.Value) {
			w.bytes = append(base64.StdEncoding.AppendEncode(append(w.bytes, '"'), v.Bytes()), '"')
		}
	}
	if t.Elem().Kind() == reflect.Uint8 {
		return writeGeneral
	}
	one := p.plan(t.Elem())
	return func(w *writer, v reflect.Value) {
		if w.deeper(); w.gaveUp {
			return
		}
		w.word("[")
		for n := range v.Len() {
			if n > 0 {
				w.word(",")
			}
			one.write(w, v.Index(n))
		}
		w.word("]")
		w.depth--
	}
}

func (p planner) table(t reflect.Type) func(w *writer, v reflect.Value) {
	one := p.plan(t.Elem())
	return func(w *writer, v reflect.Value) {
		if w.deeper(); w.gaveUp {
			return
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		w.word("{")
		for n, key := range keys {
			if n > 0 {
				w.word(",")
			}
			if !plain(key.String()) {
				w.gaveUp = true // its place among the others is not that of its bytes
				return
			}
			w.string(key.String())
			w.word(":")
			one.write(w, v.MapIndex(key))
		}
		w.word("}")
		w.depth--
	}
}

// enumeration writes the values of a closed enumeration, such as a verdict, by their names.
func enumeration(t reflect.Type) func(w *writer, v reflect.Value) {
	var names []string
	for v := reflect.New(t).Elem(); v.Uint() < 64; v.SetUint(v.Uint() + 1) {
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			break
		}
		names = append(names, string(AppendString(nil, string(text))))
	}
	return func(w *writer, v reflect.Value) {
		n := v.Uint()
		if n >= uint64(len(names)) {
			w.gaveUp = true
			return
		}
		w.word(names[n])
	}
}

func writeTime(w *writer, v reflect.Value) { w.time(timeOf(v)) }

func timeOf(v reflect.Value) time.Time {
	if v.CanAddr() {
		return *v.Addr().Interface().(*time.Time) // without a copy of its own
	}
	return v.Interface().(time.Time)
}

func writeDynamic(w *writer, v reflect.Value) {
	if v.IsNil() {
		w.word("null")
		return
	}
	v = v.Elem()
	planOf(v.Type()).write(w, v)
}

func writeGeneral(w *writer, v reflect.Value) {
	if w.declared {
		w.gaveUp = true // the general encoder sorts
		return
	}
	data, err := general(v.Interface())
	if err != nil {
		w.gaveUp = true
		return
	}
	w.bytes = append(w.bytes, data...)
}
