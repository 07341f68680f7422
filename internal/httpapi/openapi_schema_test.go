package httpapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/control"
)

// A node is a mapping of the document, in the order in which it is written. Values are nodes, texts, numbers, booleans and lists.
type node []pair

type pair struct {
	key   string
	value any
}

func (n node) get(key string) any {
	for _, p := range n {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// An apiDocument is the OpenAPI description of what is served.
type apiDocument struct {
	comments map[string]string // of members of structs, by "Type.Member"
	schemas  map[string]node
	root     node
}

func newAPIDocument(t *testing.T) *apiDocument {
	t.Helper()
	d := &apiDocument{comments: map[string]string{}, schemas: map[string]node{}}
	for _, dir := range []string{".", "../..", "../memory", "../replay", "../control", "../admission/governance"} {
		packages, err := parser.ParseDir(token.NewFileSet(), dir, nil, parser.ParseComments) //nolint:staticcheck // files are all that is wanted
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range packages {
			ast.Inspect(one, d.read)
		}
	}
	paths := node{}
	for _, o := range operations() {
		paths = append(paths, pair{o.path, node{{o.method, d.operation(o)}}})
	}
	for _, p := range control.Paths() {
		paths = append(paths, pair{p.Path, node{{"post", d.governed(p)}}})
	}
	var names []string
	for name := range d.schemas {
		names = append(names, name)
	}
	slices.Sort(names)
	schemas := node{}
	for _, name := range names {
		schemas = append(schemas, pair{name, d.schemas[name]})
	}
	d.root = node{
		{"openapi", "3.1.0"},
		{"info", node{{"title", "Interlock"}, {"version", "v1"}, {"description", "What docs/http-api.md says, for programs. Paths marked " +
			"x-door: socket are served on the unix socket alone, those marked x-door: control at the control door (docs/kill.md)."}}},
		{"servers", []any{node{{"url", "http://127.0.0.1:7433"}}}},
		{"security", []any{node{{"agentToken", []any{}}}}},
		{"paths", paths},
		{"components", node{
			{"securitySchemes", node{{"agentToken", node{{"type", "http"}, {"scheme", "bearer"},
				{"description", "The token that `interlock agent add` prints once."}}},
				{"controlToken", node{{"type", "http"}, {"scheme", "bearer"}, {"description", "What control.token in the home holds."}}}}},
			{"schemas", schemas},
		}},
	}
	return d
}

// read takes note of what the members of a struct are said to be.
func (d *apiDocument) read(n ast.Node) bool {
	spec, ok := n.(*ast.TypeSpec)
	if !ok {
		return true
	}
	if fields, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range fields.Fields.List {
			text := strings.Join(strings.Fields(field.Doc.Text()+" "+field.Comment.Text()), " ")
			for _, name := range field.Names {
				d.comments[spec.Name.Name+"."+name.Name] = text
			}
		}
	}
	return true
}

func (d *apiDocument) operation(o operation) node {
	out := node{{"operationId", o.id}, {"summary", o.about}}
	if o.local {
		out = append(out, pair{"x-door", "socket"})
	}
	if o.open {
		out = append(out, pair{"security", []any{}})
	}
	if id := strings.Contains(o.path, "{id}"); id || len(o.query) > 0 {
		var parameters []any
		if id {
			parameters = append(parameters, node{{"name", "id"}, {"in", "path"}, {"required", true}, {"schema", node{{"type", "string"}}}})
		}
		for _, name := range o.query {
			parameters = append(parameters, node{{"name", name}, {"in", "query"}, {"schema", queryType(name)}})
		}
		out = append(out, pair{"parameters", parameters})
	}
	if o.body != nil {
		out = append(out, pair{"requestBody", node{{"required", true}, {"content", content(d.schema(o.body, false))}}})
	}
	responses := node{{"200", d.response("as asked", o, http.StatusOK)}}
	for _, status := range o.statuses() {
		responses = append(responses, pair{strconv.Itoa(status), d.response(http.StatusText(status), o, status)})
	}
	return append(out, pair{"responses", responses})
}

// governed describes a path of the control door on which people govern: it takes what they have signed.
func (d *apiDocument) governed(p control.Path) node {
	id := strings.NewReplacer("/{id}", "", "/", "-").Replace(strings.TrimPrefix(p.Path, "/"))
	out := node{{"operationId", id}, {"summary", p.Says()}, {"x-door", "control"}, {"security", []any{node{{"controlToken", []any{}}}}}}
	if strings.Contains(p.Path, "{id}") {
		out = append(out, pair{"parameters", []any{node{{"name", "id"}, {"in", "path"}, {"required", true},
			{"schema", node{{"type", "string"}}}}}})
	}
	out = append(out, pair{"requestBody", node{{"required", true}, {"content", content(d.schema(typeOf[interlock.Order](), false))}}})
	done := d.schema(typeOf[control.Ordered](), true)
	refused := d.schema(typeOf[struct {
		Error struct {
			Code    interlock.Code `json:"code"`
			Field   string         `json:"field"`
			Message string         `json:"message"`
		} `json:"error"`
	}](), true)
	responses := node{{"200", node{{"description", "as asked"}, {"content", content(done)}}}}
	for _, status := range []int{400, 401, 403, 404, 405, 409, 410, 413, 429, 503} {
		schema := refused
		if status == http.StatusConflict { // what was approved failed, or is not any more what it was
			schema = node{{"anyOf", []any{refused, done}}}
		}
		responses = append(responses, pair{strconv.Itoa(status), node{{"description", http.StatusText(status)}, {"content", content(schema)}}})
	}
	return append(out, pair{"responses", responses})
}

func queryType(name string) node {
	switch name {
	case "from", "limit", "index", "size":
		return node{{"type", "integer"}, {"minimum", 0}}
	case "since":
		return node{{"type", "string"}, {"format", "date-time"}}
	}
	return node{{"type", "string"}}
}

func content(schema node) node { return node{{"application/json", node{{"schema", schema}}}} }

func (d *apiDocument) response(about string, o operation, status int) node {
	out := node{{"description", about}}
	if schema := d.answerSchema(o, status); schema != nil {
		return append(out, pair{"content", content(schema)})
	}
	return append(out, pair{"content", node{{"text/plain", node{{"schema", node{{"type", "string"}}}}}}})
}

// answerSchema is what the body of an answer fits; nil is text. Where no decision came about, an error says so, or an answer that
// is a no.
func (d *apiDocument) answerSchema(o operation, status int) node {
	either := func(types ...reflect.Type) node {
		var list []any
		for _, t := range types {
			list = append(list, d.schema(t, true))
		}
		return node{{"anyOf", list}}
	}
	one := typeOf[evaluationAnswer]()
	decides := o.id == "decide" || o.id == "evaluation"
	switch {
	case status != http.StatusOK && status != http.StatusUnauthorized && decides:
		return either(typeOf[errorBody](), o.answer)
	case status != http.StatusOK && status != http.StatusUnauthorized && o.id == "evaluations":
		return either(typeOf[errorBody](), one)
	case status != http.StatusOK:
		return d.schema(typeOf[errorBody](), true)
	case o.id == "evaluations":
		return either(o.answer, one)
	case o.text:
		return nil
	}
	return d.schema(o.answer, true)
}

// schema describes a type. Members of what is answered are required unless they may be left out; of what is asked none are here,
// because which go together is the prose's to say.
func (d *apiDocument) schema(t reflect.Type, answered bool) node {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == typeOf[json.RawMessage]():
		return node{}
	case t == typeOf[time.Time]():
		return node{{"type", "string"}, {"format", "date-time"}}
	case t == typeOf[interlock.Kind]():
		return node{{"type", "string"}, {"enum", texts(interlock.Kinds())}}
	case t.Implements(typeOf[encoding.TextMarshaler]()) && t.Kind() == reflect.Uint8:
		return node{{"type", "string"}, {"enum", named(t)}}
	}
	switch t.Kind() {
	case reflect.String:
		return node{{"type", "string"}}
	case reflect.Bool:
		return node{{"type", "boolean"}}
	case reflect.Float64:
		return node{{"type", "number"}}
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return node{{"type", "integer"}}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && t.Elem().Name() == "uint8" {
			return node{{"type", "string"}, {"format", "byte"}}
		}
		return node{{"type", "array"}, {"items", d.schema(t.Elem(), answered)}}
	case reflect.Map:
		return node{{"type", "object"}, {"additionalProperties", d.schema(t.Elem(), answered)}}
	case reflect.Struct:
		return d.object(t, answered)
	default:
		panic("openapi: a type that JSON does not know: " + t.String())
	}
}

func (d *apiDocument) object(t reflect.Type, answered bool) node {
	name := strings.ToUpper(t.Name()[:min(1, len(t.Name()))]) + t.Name()[min(1, len(t.Name())):]
	reference := node{{"$ref", "#/components/schemas/" + name}}
	if name != "" {
		if _, known := d.schemas[name]; known {
			return reference
		}
		d.schemas[name] = node{} // so that it may hold itself
	}
	properties, required := d.members(t, answered)
	out := node{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
	if len(required) > 0 {
		out = append(out, pair{"required", required})
	}
	if name == "" {
		return out
	}
	d.schemas[name] = out
	return reference
}

func (d *apiDocument) members(t reflect.Type, answered bool) (properties node, required []any) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && tag == "" {
			inner, needed := d.members(field.Type, answered)
			properties, required = append(properties, inner...), append(required, needed...)
			continue
		}
		if tag == "-" || !field.IsExported() {
			continue
		}
		schema := d.schema(field.Type, answered)
		if said := d.comments[t.Name()+"."+field.Name]; said != "" {
			schema = append(slices.Clone(schema), pair{"description", said})
		}
		properties = append(properties, pair{tag, schema})
		if answered && !strings.Contains(options, "omit") {
			required = append(required, tag)
		}
	}
	return properties, required
}

func texts[T ~string](list []T) (out []any) {
	for _, one := range list {
		out = append(out, string(one))
	}
	return out
}

// named lists the names of a type that counts from zero.
func named(t reflect.Type) (out []any) {
	for i := range 256 {
		value := reflect.New(t).Elem()
		value.SetUint(uint64(i))
		name, err := value.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return out
		}
		out = append(out, string(name))
	}
	return out
}

// fits says what is wrong with a value, or nothing. It knows the words this document uses.
func (d *apiDocument) fits(schema node, value any, at string) string {
	if ref, ok := schema.get("$ref").(string); ok {
		return d.fits(d.schemas[strings.TrimPrefix(ref, "#/components/schemas/")], value, at)
	}
	if either, ok := schema.get("anyOf").([]any); ok {
		var problems []string
		for _, one := range either {
			problem := d.fits(one.(node), value, at)
			if problem == "" {
				return ""
			}
			problems = append(problems, problem)
		}
		return strings.Join(problems, "; and ")
	}
	if enum, ok := schema.get("enum").([]any); ok && !slices.Contains(enum, value) {
		return fmt.Sprintf("%s: %v is none of %v", at, value, enum)
	}
	switch schema.get("type") {
	case "string":
		return kindOf[string](at, value)
	case "boolean":
		return kindOf[bool](at, value)
	case "integer", "number":
		return kindOf[float64](at, value)
	case "array":
		list, ok := value.([]any)
		if !ok {
			return at + ": is no array"
		}
		for i, item := range list {
			if problem := d.fits(schema.get("items").(node), item, fmt.Sprintf("%s/%d", at, i)); problem != "" {
				return problem
			}
		}
	case "object":
		return d.fitsObject(schema, value, at)
	}
	return ""
}

func (d *apiDocument) fitsObject(schema node, value any, at string) string {
	object, ok := value.(map[string]any)
	if !ok {
		return at + ": is no object"
	}
	required, _ := schema.get("required").([]any)
	for _, name := range required {
		if _, there := object[name.(string)]; !there {
			return fmt.Sprintf("%s: %s is missing", at, name)
		}
	}
	properties, _ := schema.get("properties").(node)
	for name, member := range object {
		described, ok := properties.get(name).(node)
		if more, other := schema.get("additionalProperties").(node); !ok && other {
			described, ok = more, true
		}
		if !ok {
			return fmt.Sprintf("%s: %s is not described", at, name)
		}
		if problem := d.fits(described, member, at+"/"+name); problem != "" {
			return problem
		}
	}
	return ""
}

func kindOf[T any](at string, value any) string {
	if _, ok := value.(T); !ok {
		return fmt.Sprintf("%s: %v has the wrong type", at, value)
	}
	return ""
}

// write renders the document as YAML: texts are in JSON's quotes, which YAML reads as they are.
func (d *apiDocument) write() string {
	var b strings.Builder
	b.WriteString("# Generated from the types and paths of internal/httpapi by: go generate ./internal/httpapi\n")
	writeNode(&b, d.root, 0)
	return b.String()
}

func writeNode(b *strings.Builder, n node, depth int) {
	for _, p := range n {
		key := p.key
		if !plainKey(key) {
			key = strconv.Quote(key)
		}
		b.WriteString(strings.Repeat("  ", depth) + key + ":")
		writeValue(b, p.value, depth)
	}
}

func writeValue(b *strings.Builder, value any, depth int) {
	switch value := value.(type) {
	case node:
		if len(value) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteString("\n")
		writeNode(b, value, depth+1)
	case []any:
		flat := !slices.ContainsFunc(value, func(v any) bool { _, is := v.(node); return is })
		if flat {
			text, _ := json.Marshal(orNone(value))
			b.WriteString(" " + strings.ReplaceAll(string(text), `","`, `", "`) + "\n")
			return
		}
		b.WriteString("\n")
		for _, item := range value {
			var inner strings.Builder
			writeNode(&inner, item.(node), depth+2)
			b.WriteString(strings.Repeat("  ", depth+1) + "- " + strings.TrimLeft(inner.String(), " "))
		}
	default:
		text, _ := json.Marshal(value)
		b.WriteString(" " + string(text) + "\n")
	}
}

func orNone(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

func plainKey(key string) bool {
	return key != "" && !slices.ContainsFunc([]rune(key), func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-", r)
	})
}
