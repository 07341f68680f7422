package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"interlock"
)

// A level is one open object or array.
type level struct {
	object bool
	shape  shape        // of the object's struct; nil where any name may stand
	next   reflect.Type // of the member or element that comes next
	count  int
	names  []string            // folded names seen, while there are few
	seen   map[string]struct{} // folded names seen, once there are many
	data   bool                // names are data, as in a Go map: only equal ones clash, and the decoder refuses those
	inName bool                // the next string is a member name
}

// scan reads the whole text once and refuses what this package refuses, before anything is built from it. Without a
// destination there is no reader that could take one case for another, and names may differ in case.
func scan(data []byte, into any, limits Limits, lenient bool) error {
	if len(data) > limits.Bytes {
		return interlock.Errorf(interlock.CodeLimited, "", "the JSON text has %d bytes, at most %d are read",
			len(data), limits.Bytes)
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return interlock.Errorf(interlock.CodeInvalid, "", "there is no JSON value; send one")
	}
	s := &scanner{decoder: jsontext.NewDecoder(bytes.NewBuffer(data)), limits: limits, lenient: lenient, anyCase: into == nil}
	var top reflect.Type
	if into != nil {
		top = pointee(reflect.TypeOf(into))
	}
	if err := s.value(top); err != nil {
		return err
	}
	for len(s.levels) > 0 {
		if err := s.step(); err != nil {
			return err
		}
	}
	if _, err := s.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return interlock.Errorf(interlock.CodeInvalid, "", "there is text after the JSON value; send one value only")
	}
	return nil
}

type scanner struct {
	decoder *jsontext.Decoder
	limits  Limits
	lenient bool
	anyCase bool // names that differ in case are different names
	levels  []level
}

// step reads the next token inside the innermost open object or array.
func (s *scanner) step() error {
	top := &s.levels[len(s.levels)-1]
	kind := s.decoder.PeekKind()
	if kind == '}' || kind == ']' {
		if _, err := s.decoder.ReadToken(); err != nil {
			return explain(err)
		}
		s.levels = s.levels[:len(s.levels)-1]
		return nil
	}
	if top.object && top.inName {
		top.inName = false
		return s.name(top)
	}
	if !top.object {
		if top.count++; top.count > s.limits.Array {
			return s.refuse(interlock.CodeLimited, "an array has more than %d elements", s.limits.Array)
		}
	}
	top.inName = top.object
	return s.value(top.next)
}

// value reads one value, or the opening of one, that is to become a t.
func (s *scanner) value(t reflect.Type) error {
	kind := s.decoder.PeekKind()
	if kind != '{' && kind != '[' {
		raw, err := s.decoder.ReadValue()
		if err != nil {
			return explain(err)
		}
		if kind == '"' && len(raw)-2 > s.limits.String {
			return s.refuse(interlock.CodeLimited, "a string has %d bytes, at most %d are read", len(raw)-2, s.limits.String)
		}
		return nil
	}
	if _, err := s.decoder.ReadToken(); err != nil {
		return explain(err)
	}
	if len(s.levels) >= s.limits.Depth {
		return s.refuse(interlock.CodeLimited, "objects and arrays are nested more than %d deep", s.limits.Depth)
	}
	l := level{object: kind == '{', inName: kind == '{'}
	if t = transparent(t); t != nil {
		switch {
		case l.object && t.Kind() == reflect.Struct:
			l.shape = shapeOf(t)
		case l.object && t.Kind() == reflect.Map && t.Elem().Kind() != reflect.Interface:
			l.next, l.data = t.Elem(), true
		case l.object && t.Kind() == reflect.Map, !l.object && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
			l.next = t.Elem()
		}
	}
	s.levels = append(s.levels, l)
	return nil
}

// name reads one member name.
func (s *scanner) name(top *level) error {
	raw, err := s.decoder.ReadValue()
	if err != nil {
		return explain(err)
	}
	var name string
	if quoted := raw[1 : len(raw)-1]; bytes.IndexByte(quoted, '\\') < 0 {
		name = string(quoted)
	} else {
		unquoted, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return explain(err)
		}
		name = string(unquoted)
	}
	if strings.IndexByte(name, 0) >= 0 {
		return s.refuse(interlock.CodeInvalid, "a member name holds a NUL character; remove it")
	}
	if top.count++; top.count > s.limits.Array {
		return s.refuse(interlock.CodeLimited, "an object has more than %d members", s.limits.Array)
	}
	folded := fold(name)
	if !top.data && !s.anyCase && !top.see(folded) {
		return s.refuse(interlock.CodeInvalid, "the member stands twice, perhaps in another case; keep one")
	}
	if top.shape == nil {
		return nil
	}
	field, known := top.shape[folded]
	switch {
	case known && field.name == name:
		top.next = field.type_
	case known:
		return s.refuse(interlock.CodeInvalid, "the name must be written %q, in exactly this case", field.name)
	case s.lenient:
		top.next = nil
	default:
		return s.refuse(interlock.CodeInvalid, "the member is not known here; known are %s", top.shape.names())
	}
	return nil
}

// see remembers a folded name and reports whether it is new in this object.
func (l *level) see(folded string) bool {
	const few = 16
	if l.seen == nil && len(l.names) < few {
		for _, have := range l.names {
			if have == folded {
				return false
			}
		}
		l.names = append(l.names, folded)
		return true
	}
	if l.seen == nil {
		l.seen = make(map[string]struct{}, 2*few)
		for _, have := range l.names {
			l.seen[have] = struct{}{}
		}
	}
	if _, have := l.seen[folded]; have {
		return false
	}
	l.seen[folded] = struct{}{}
	return true
}

func (s *scanner) refuse(code interlock.Code, format string, args ...any) error {
	return interlock.Errorf(code, pointer(s.decoder.StackPointer()), format, args...)
}

// fold maps names that differ only in case to one name, by simple folding over all of Unicode: "K" and the Kelvin sign
// are one name, as they are to readers that ignore case.
func fold(name string) string {
	ascii := true
	for i := 0; i < len(name); i++ {
		if name[i] >= utf8.RuneSelf || name[i] >= 'A' && name[i] <= 'Z' {
			ascii = false
			break
		}
	}
	if ascii {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return unicode.ToLower(r)
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f < least {
				least = f
			}
		}
		if least < utf8.RuneSelf {
			return unicode.ToLower(least)
		}
		return least
	}, name)
}

// pointer shortens a JSON pointer for an error.
func pointer(p jsontext.Pointer) string {
	const most = 160
	if len(p) <= most {
		return string(p)
	}
	return strings.ToValidUTF8(string(p[:most]), "") + "…"
}

// overflows reports whether a number literal is beyond the range of a double.
func overflows(literal string) bool {
	_, err := strconv.ParseFloat(literal, 64)
	return errors.Is(err, strconv.ErrRange)
}

// explain turns a decoder's error into one a caller may read. Only positions, names and types are repeated.
func explain(err error) error {
	var refused *interlock.Error
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &refused):
		if refused.Field == "" && errors.As(err, &semantic) { // a value's own refusal does not know where it is
			return interlock.Errorf(refused.Code, pointer(semantic.JSONPointer), "%s", refused.Message)
		}
		return refused
	case errors.Is(err, jsontext.ErrDuplicateName):
		field := ""
		if errors.As(err, &syntax) {
			field = pointer(syntax.JSONPointer)
		}
		return interlock.Errorf(interlock.CodeInvalid, field, "the member stands twice; keep one")
	case errors.As(err, &syntax):
		what := "is not valid JSON"
		if errors.Is(err, io.ErrUnexpectedEOF) {
			what = "ends in the middle of a value"
		} else if syntax.Err != nil && strings.Contains(syntax.Err.Error(), "UTF-8") {
			what = "is not valid UTF-8"
		}
		return interlock.Errorf(interlock.CodeInvalid, pointer(syntax.JSONPointer), "the text %s at byte %d; send valid JSON",
			what, syntax.ByteOffset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return interlock.Errorf(interlock.CodeInvalid, "", "the text ends in the middle of a value; send valid JSON")
	case errors.As(err, &semantic):
		return interlock.Errorf(interlock.CodeInvalid, pointer(semantic.JSONPointer), "%s", mismatch(semantic))
	}
	return interlock.Errorf(interlock.CodeInternal, "", "the value can't be converted to or from JSON")
}

// mismatch says what is found where, and what should be.
func mismatch(e *json.SemanticError) string {
	if e.Err != nil && strings.HasPrefix(e.Err.Error(), "unknown ") && e.GoType != nil {
		return fmt.Sprintf("%.200s", e.Err.Error()) // a closed enumeration's own refusal names what it accepts
	}
	have := map[jsontext.Kind]string{'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number",
		'{': "an object", '[': "an array"}[e.JSONKind]
	want := "another value"
	if e.GoType != nil {
		switch t := e.GoType; t.Kind() {
		case reflect.Bool:
			want = "true or false"
		case reflect.String:
			want = "a string"
		case reflect.Struct, reflect.Map:
			want = "an object"
			if t.PkgPath() == "time" && t.Name() == "Time" {
				want = "a time as RFC 3339 writes it, in quotes"
			}
		case reflect.Slice, reflect.Array:
			want = "an array"
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			want = "a whole number in range"
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			want = "a whole number in range, not negative"
		case reflect.Float32, reflect.Float64:
			want = "a number"
		}
	}
	if have == "" {
		return "the value does not fit; want " + want
	}
	return "have " + have + ", want " + want
}
