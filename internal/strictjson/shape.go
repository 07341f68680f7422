package strictjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sort"
	"strings"
	"sync"
)

// A shape maps the folded name of each JSON member a struct accepts to its exact name and type.
type shape map[string]member

type member struct {
	name  string
	type_ reflect.Type
}

// shapes holds the shape of every struct type seen. Entries are functions of their type, so filling the table late
// changes nothing that can be observed.
var shapes sync.Map // filled late: reflect.Type -> shape, a function of its type

func shapeOf(t reflect.Type) shape {
	if have, ok := shapes.Load(t); ok {
		return have.(shape)
	}
	s := shape{}
	s.fill(t)
	shapes.Store(t, s)
	return s
}

// fill adds t's members; those of embedded structs stand behind t's own, as in encoding/json.
func (s shape) fill(t reflect.Type) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-":
		case f.Anonymous && tag == "":
			if inner := pointee(f.Type); inner.Kind() == reflect.Struct {
				embedded = append(embedded, inner)
			}
		case f.IsExported():
			name := tag
			if name == "" {
				name = f.Name
			}
			s[fold(name)] = member{name, f.Type}
		}
	}
	for _, inner := range embedded {
		for folded, m := range shapeOf(inner) {
			if _, have := s[folded]; !have {
				s[folded] = m
			}
		}
	}
}

// names lists the known names for an error.
func (s shape) names() string {
	list := make([]string, 0, len(s))
	for _, m := range s {
		list = append(list, m.name)
	}
	sort.Strings(list)
	return strings.Join(list, ", ")
}

func pointee(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// transparent returns the type whose members may be checked, or nil where the type reads its JSON by itself.
func transparent(t reflect.Type) reflect.Type {
	t = pointee(t)
	if t == nil || t.Kind() == reflect.Interface {
		return nil
	}
	if p := reflect.PointerTo(t); p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
		return nil
	}
	return t
}
