// Package strictyaml reads configuration and rules written by people in YAML, and says exactly where they are wrong.
//
// It reads the part of YAML that means one thing to everybody: one document of mappings with text keys, sequences, text,
// whole numbers, decimal fractions, true, false and null. Anchors, aliases, merge keys, tags, several documents and
// numbers in other bases are refused, so that what is in the file is what is meant and no small file grows large. The
// result becomes JSON and is decoded by package strictjson: there is one strict reader, and unknown or doubled names are
// refused by it.
//
// Errors are *interlock.Error whose Message begins with file:line:column. Start with Parse.
package strictyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"interlock"
	"interlock/internal/strictjson"
)

// The bounds of one file.
const (
	MaxBytes = 1 << 20
	MaxDepth = 32
	maxSigns = 100_000 // line ends and characters that mean something to YAML: each costs the parser some microseconds
	maxBlank = 200     // blank lines in a row, inside a text: the parser looks at all of them again for each
)

// A Document is one parsed file. It is immutable.
type Document struct {
	file      string
	json      []byte
	positions map[string]position // by JSON pointer
}

type position struct{ line, column int }

// Decode reads a file into the value that into points to.
func Decode(file string, data []byte, into any) error {
	d, err := Parse(file, data)
	if err != nil {
		return err
	}
	return d.Decode(into)
}

// ToJSON returns a file as canonical JSON.
func ToJSON(file string, data []byte) ([]byte, error) {
	d, err := Parse(file, data)
	if err != nil {
		return nil, err
	}
	return d.json, nil
}

// Parse reads a file. The name is used in errors only; nothing is opened.
func Parse(file string, data []byte) (*Document, error) {
	d := &Document{file: file, positions: map[string]position{}}
	if err := d.checkBounds(data); err != nil {
		return nil, err
	}
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, d.syntax(err)
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			return nil, d.at(nodePosition(doc.Body), "", "a second document begins here; keep one per file")
		}
		body = doc.Body
	}
	c := &converter{document: d}
	if body == nil {
		return nil, d.at(position{1, 1}, "", "the file is empty")
	}
	if err := c.node(body, "", 0); err != nil {
		return nil, err
	}
	if d.json, err = strictjson.Canonical(c.out); err != nil {
		return nil, d.locate(err)
	}
	return d, nil
}

// FromJSON makes a document of JSON text, so that rules kept as JSON are reported on in the same words. Positions name
// the JSON pointer only.
func FromJSON(file string, data []byte) *Document { return &Document{file: file, json: data} }

// JSON returns the document as JSON; canonical if it was YAML.
func (d *Document) JSON() []byte { return d.json }

// Decode reads the document into the value that into points to; unknown members are refused.
func (d *Document) Decode(into any) error {
	if err := strictjson.Decode(d.json, into); err != nil {
		return d.locate(err)
	}
	return nil
}

// DecodeTrusted is Decode for a document that is in the program itself.
func (d *Document) DecodeTrusted(into any) error {
	if err := strictjson.DecodeTrusted(d.json, into); err != nil {
		return d.locate(err)
	}
	return nil
}

// Errorf returns an error about the value at a JSON pointer, led by where it is.
func (d *Document) Errorf(pointer, format string, args ...any) *interlock.Error {
	at, found := d.positions[pointer]
	for up := pointer; !found && up != ""; at, found = d.positions[up] {
		up = up[:strings.LastIndexByte(up, '/')]
	}
	return d.at(at, pointer, format, args...)
}

// at composes "file:line:column: field: message"; the field is in the message because the position comes first.
func (d *Document) at(at position, pointer, format string, args ...any) *interlock.Error {
	where := d.file
	if at.line > 0 {
		where = fmt.Sprintf("%s:%d:%d", d.file, at.line, at.column)
	}
	if pointer != "" {
		where += ": " + fieldName(pointer)
	}
	return interlock.Errorf(interlock.CodeInvalid, "", "%s: %s", where, fmt.Sprintf(format, args...))
}

// fieldName writes a JSON pointer as people write fields: /rules/3/match/kind is rules[3].match.kind.
func fieldName(pointer string) string {
	var b strings.Builder
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if _, err := strconv.Atoi(part); err == nil {
			b.WriteString("[" + part + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(pointerUnescapes.Replace(part))
	}
	return b.String()
}

// What a name in a JSON pointer is written with (RFC 6901). A replacer makes its tables on first use, so there is one of each.
var pointerEscapes, pointerUnescapes = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// locate gives an error of strictjson its place in the file.
func (d *Document) locate(err error) error {
	var refused *interlock.Error
	if !errors.As(err, &refused) {
		return err
	}
	return d.Errorf(refused.Field, "%s", refused.Message)
}

func (d *Document) syntax(err error) error {
	var located interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &located) && located.GetToken() != nil && located.GetToken().Position != nil {
		p := located.GetToken().Position
		return d.at(position{p.Line, p.Column}, "", "%.200s", located.GetMessage())
	}
	return d.at(position{}, "", "the file is not valid YAML")
}

// checkBounds keeps the recursive parser from input that would overflow its stack or its time: it bounds size, the
// nesting of brackets anywhere, and of indicators at the beginning of a line.
func (d *Document) checkBounds(data []byte) error {
	if len(data) > MaxBytes {
		return d.at(position{}, "", "the file has %d bytes, at most %d are read", len(data), MaxBytes)
	}
	if !utf8.Valid(data) {
		return d.at(position{}, "", "the file is not valid UTF-8")
	}
	const tooDeep = "values are nested too deep; at most %d levels are read"
	const manyOpen = 8 * MaxDepth // brackets in quoted text are counted too, so the scan is generous
	line, lineStart, open, leading := 1, 0, 0, 0
	signs, blank := 0, 0
	atStart := true
	for i, c := range data {
		if strings.IndexByte("\n\r:,[]{}&*!|>%?@`\"'#", c) >= 0 {
			if signs++; signs > maxSigns {
				return d.at(position{line, 1}, "", "the file has too many lines and signs to be read quickly, more than %d; split it", maxSigns)
			}
		}
		switch c {
		case '\n':
			if blank++; strings.TrimSpace(string(data[lineStart:i])) != "" {
				blank = 0
			}
			if blank > maxBlank {
				return d.at(position{line, 1}, "", "more than %d blank lines follow one another; remove them", maxBlank)
			}
			if i-lineStart > 64<<10 {
				return d.at(position{line, 1}, "", "the line has %d bytes, at most %d are read", i-lineStart, 64<<10)
			}
			line, lineStart, leading, atStart = line+1, i+1, 0, true
			continue
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case 0:
			return d.at(position{line, i - lineStart + 1}, "", "the file holds a NUL character; remove it")
		}
		if atStart && strings.IndexByte("-?:&!*", c) >= 0 {
			leading++
		} else if c != ' ' && c != '\t' && c != '\r' {
			atStart = false
		}
		if open > manyOpen || leading > manyOpen {
			return d.at(position{line, i - lineStart + 1}, "", tooDeep, MaxDepth)
		}
	}
	return nil
}

// A converter writes nodes as JSON and remembers where each stood.
type converter struct {
	document *Document
	out      []byte
}

// nodePosition is where a node begins; for a mapping that is its first colon, as the parser has it.
func nodePosition(n ast.Node) position {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return position{t.Position.Line, t.Position.Column}
	}
	return position{}
}

func (c *converter) node(n ast.Node, pointer string, depth int) error {
	if _, have := c.document.positions[pointer]; !have && n != nil {
		c.document.positions[pointer] = nodePosition(n)
	}
	if depth > MaxDepth {
		return c.document.Errorf(pointer, "values are nested more than %d deep", MaxDepth)
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		c.out = append(c.out, "null"...)
	case *ast.BoolNode:
		c.out = strconv.AppendBool(c.out, n.Value)
	case *ast.IntegerNode:
		return c.number(n.Token.Value, pointer)
	case *ast.FloatNode:
		return c.number(n.Token.Value, pointer)
	case *ast.StringNode:
		return c.text(n.Value, pointer)
	case *ast.LiteralNode:
		return c.text(n.Value.Value, pointer)
	case *ast.MappingNode:
		return c.mapping(n.Values, pointer, depth)
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, pointer, depth)
	case *ast.SequenceNode:
		c.out = append(c.out, '[')
		for i, value := range n.Values {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			if err := c.node(value, pointer+"/"+strconv.Itoa(i), depth+1); err != nil {
				return err
			}
		}
		c.out = append(c.out, ']')
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return c.document.Errorf(pointer, "anchors, aliases and merge keys are not read; write the value out")
	case *ast.TagNode:
		return c.document.Errorf(pointer, "tags are not read; remove the tag")
	default:
		return c.document.Errorf(pointer, "this form of YAML is not read; quote text and use mappings and lists")
	}
	return nil
}

func (c *converter) mapping(values []*ast.MappingValueNode, pointer string, depth int) error {
	c.out = append(c.out, '{')
	for i, value := range values {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		key, ok := value.Key.(*ast.StringNode)
		if !ok {
			at := nodePosition(value.Key)
			if value.Key.IsMergeKey() {
				return c.document.at(at, "", "merge keys are not read; write the values out")
			}
			return c.document.at(at, "", "a name must be plain text; quote it")
		}
		inner := pointer + "/" + pointerEscapes.Replace(key.Value)
		c.document.positions[inner] = nodePosition(key)
		if err := c.text(key.Value, inner); err != nil {
			return err
		}
		c.out = append(c.out, ':')
		if err := c.node(value.Value, inner, depth+1); err != nil {
			return err
		}
	}
	c.out = append(c.out, '}')
	return nil
}

func (c *converter) text(s, pointer string) error {
	if !utf8.ValidString(s) {
		return c.document.Errorf(pointer, "the text is not valid UTF-8")
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		return c.document.Errorf(pointer, "the text can't be read")
	}
	c.out = append(c.out, quoted...)
	return nil
}

var jsonNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
})

func (c *converter) number(literal, pointer string) error {
	if !jsonNumber().MatchString(literal) {
		return c.document.Errorf(pointer, "numbers are read in plain decimal only; quote it if it is text")
	}
	c.out = append(c.out, literal...)
	return nil
}
