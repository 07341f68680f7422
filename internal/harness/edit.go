package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// A document is a settings file as a syntax tree that keeps every byte, with what is needed to write into it in its own
// style.
type document struct {
	tree    hujson.Value
	mark    []byte // a leading byte order mark
	newline string // "\n", "\r\n", or "" where the file is written without line ends
	unit    string // one level of indentation
}

// The bounds of a settings file. Those of harnesses that keep their past in it are large.
const (
	maxFile  = 64 << 20
	maxDepth = 1000 // brackets that are open at once, in texts too: more would overflow the parser's stack
)

// shallow refuses a file whose brackets are nested deeper than any settings are.
func shallow(data []byte) error {
	open := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			if open++; open > maxDepth {
				return fmt.Errorf("is nested too deep; at most %d levels are read", maxDepth)
			}
		case ']', '}':
			open = max(open-1, 0)
		}
	}
	return nil
}

// read parses a settings file. An empty or missing file is an empty object.
func read(data []byte) (*document, error) {
	d := &document{newline: "\n", unit: "  "}
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		d.mark, data = data[:3], rest
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	if err := shallow(data); err != nil {
		return nil, err
	}
	tree, err := hujson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("is not valid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d.tree = tree
	root, ok := tree.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("does not hold an object")
	}
	if bytes.Contains(data, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	if len(root.Members) > 0 {
		before := string(root.Members[0].Name.BeforeExtra)
		switch at := strings.LastIndexByte(before, '\n'); {
		case at >= 0 && before[at+1:] != "" && strings.Trim(before[at+1:], " \t") == "":
			d.unit = before[at+1:]
		case at < 0 && !bytes.Contains(bytes.TrimSpace(data), []byte("\n")):
			d.newline, d.unit = "", ""
		}
	}
	return d, nil
}

func (d *document) bytes() []byte { return append(bytes.Clone(d.mark), d.tree.Pack()...) }

func (d *document) root() *hujson.Object { return d.tree.Value.(*hujson.Object) }

// member finds a member by name. Two of one name are refused: readers disagree about which counts.
func member(o *hujson.Object, name string) (*hujson.Value, error) {
	var found *hujson.Value
	for i := range o.Members {
		if literal, ok := o.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			if found != nil {
				return nil, fmt.Errorf("holds %q twice; keep one", name)
			}
			found = &o.Members[i].Value
		}
	}
	return found, nil
}

// hooks returns the object of registrations, or nil where there is none.
func (d *document) hooks() (*hujson.Object, error) {
	value, err := member(d.root(), "hooks")
	if err != nil || value == nil {
		return nil, err
	}
	o, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New(`holds "hooks" that are not an object`)
	}
	return o, nil
}

// registered returns the array of one event, or nil.
func registered(hooks *hujson.Object, event string) (*hujson.Array, error) {
	if hooks == nil {
		return nil, nil
	}
	value, err := member(hooks, event)
	if err != nil || value == nil {
		return nil, err
	}
	list, ok := value.Value.(*hujson.Array)
	if !ok {
		return nil, fmt.Errorf("holds hooks for %s that are not an array", event)
	}
	return list, nil
}

// install returns data with the harness's registrations in it, and data itself where they all stand already.
func (h Harness) install(data []byte, goos string, command func(event string) Command) ([]byte, error) {
	if h.owned != nil {
		return h.owned.install(data, h.Events, command)
	}
	d, err := read(data)
	if err != nil {
		return nil, err
	}
	binary := command(h.Events[0]).Binary
	have, err := h.own(d, binary)
	if err != nil {
		return nil, err
	}
	want := map[string][]any{}
	for _, event := range h.Events {
		want[event] = []any{decoded(encoded(h.entry(event, goos, command(event)), "", ""))}
	}
	if len(data) > 0 && reflect.DeepEqual(have, want) {
		return data, nil
	}
	if err := h.strip(d, binary); err != nil {
		return nil, err
	}
	if err := h.add(d, goos, command); err != nil {
		return nil, err
	}
	return d.bytes(), nil
}

func (h Harness) add(d *document, goos string, command func(event string) Command) error {
	if h.version {
		if value, err := member(d.root(), "version"); err != nil {
			return err
		} else if value == nil {
			d.addMember(d.root(), 1, "version", hujson.Value{Value: hujson.Int(1)})
		}
	}
	hooks, err := d.hooks()
	if err != nil {
		return err
	}
	if hooks == nil {
		d.addMember(d.root(), 1, "hooks", hujson.Value{Value: &hujson.Object{}})
		if hooks, err = d.hooks(); err != nil {
			return err
		}
	}
	for _, event := range h.Events {
		list, err := registered(hooks, event)
		if err != nil {
			return err
		}
		if list == nil {
			d.addMember(hooks, 2, event, hujson.Value{Value: &hujson.Array{}})
			if list, err = registered(hooks, event); err != nil {
				return err
			}
		}
		value, err := hujson.Parse(d.restyled(encoded(h.entry(event, goos, command(event)), strings.Repeat(d.unit, 3), d.unit)))
		if err != nil {
			return fmt.Errorf("can't be written: %w", err)
		}
		d.addElement(list, value)
	}
	return nil
}

// addMember appends a member to an object at the given depth, after whatever comments stand at its end.
func (d *document) addMember(o *hujson.Object, depth int, name string, value hujson.Value) {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: value}
	if d.newline != "" {
		m.Value.BeforeExtra = hujson.Extra(" ")
	}
	m.Name.BeforeExtra, o.AfterExtra = d.joint(o.AfterExtra, depth)
	if last := len(o.Members) - 1; last >= 0 && o.Members[last].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // the file writes trailing commas
	}
	o.Members = append(o.Members, m)
}

// addElement appends an element to an array of registrations, which stand at depth 3.
func (d *document) addElement(list *hujson.Array, value hujson.Value) {
	value.BeforeExtra, list.AfterExtra = d.joint(list.AfterExtra, 3)
	if last := len(list.Elements) - 1; last >= 0 && list.Elements[last].AfterExtra != nil {
		value.AfterExtra = hujson.Extra{}
	}
	list.Elements = append(list.Elements, value)
}

// joint splits what comes before a closing bracket: comments stay before the new value, the bracket gets a line of its own.
func (d *document) joint(before hujson.Extra, depth int) (value, bracket hujson.Extra) {
	kept := strings.TrimRight(string(before), " \t\r\n")
	if d.newline == "" && kept == "" {
		return nil, nil
	}
	newline := d.newline
	if newline == "" {
		newline = "\n" // a comment may run to the end of its line
	}
	return hujson.Extra(kept + newline + strings.Repeat(d.unit, depth)), hujson.Extra(newline + strings.Repeat(d.unit, depth-1))
}

// remove returns data without the harness's registrations; nil means that nothing else was in it.
func (h Harness) remove(data []byte, binary string) ([]byte, error) {
	if h.owned != nil {
		return h.owned.remove(data), nil
	}
	d, err := read(data)
	if err != nil {
		return nil, err
	}
	have, err := h.own(d, binary)
	if err != nil {
		return nil, err
	}
	if len(have) == 0 {
		return data, nil
	}
	if err := h.strip(d, binary); err != nil {
		return nil, err
	}
	if h.bare(d) {
		return nil, nil
	}
	return d.bytes(), nil
}

// bare reports whether nothing is left but the format version that installing adds.
func (h Harness) bare(d *document) bool {
	for _, m := range d.root().Members {
		if !h.version || m.Name.Value.(hujson.Literal).String() != "version" {
			return false
		}
	}
	clone := d.tree.Clone()
	return clone.IsStandard()
}

// strip takes our handlers out of every event, and what is empty afterwards.
func (h Harness) strip(d *document, binary string) error {
	hooks, err := d.hooks()
	if err != nil || hooks == nil {
		return err
	}
	touched := false
	for i := 0; i < len(hooks.Members); {
		list, ok := hooks.Members[i].Value.Value.(*hujson.Array)
		if ok && h.stripEvent(list, binary) {
			touched = true
			if len(list.Elements) == 0 && !commented(list.AfterExtra) {
				hooks.Members = without(hooks.Members, i, &hooks.AfterExtra, memberStart, memberEnd)
				continue
			}
		}
		i++
	}
	if touched && len(hooks.Members) == 0 && !commented(hooks.AfterExtra) {
		d.drop("hooks")
	}
	return nil
}

// drop takes a member out of the top of the file.
func (d *document) drop(name string) {
	root := d.root()
	for i := range root.Members {
		if root.Members[i].Name.Value.(hujson.Literal).String() == name {
			root.Members = without(root.Members, i, &root.AfterExtra, memberStart, memberEnd)
			return
		}
	}
}

// stripEvent takes our handlers out of one event's array and reports whether there were any.
func (h Harness) stripEvent(list *hujson.Array, binary string) bool {
	touched := false
	for i := 0; i < len(list.Elements); {
		element := &list.Elements[i]
		gone := false
		if h.grouped {
			if inner := handlersOf(element); inner != nil {
				for j := 0; j < len(inner.Elements); {
					if !ours(&inner.Elements[j], binary) {
						j++
						continue
					}
					touched = true
					inner.Elements = without(inner.Elements, j, &inner.AfterExtra, valueSelf, valueSelf)
					gone = len(inner.Elements) == 0
				}
			}
		} else if ours(element, binary) {
			touched, gone = true, true
		}
		if gone {
			list.Elements = without(list.Elements, i, &list.AfterExtra, valueSelf, valueSelf)
			continue
		}
		i++
	}
	return touched
}

func handlersOf(element *hujson.Value) *hujson.Array {
	o, ok := element.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	value, err := member(o, "hooks")
	if err != nil || value == nil {
		return nil
	}
	list, _ := value.Value.(*hujson.Array)
	return list
}

func memberStart(m *hujson.ObjectMember) *hujson.Value { return &m.Name }
func memberEnd(m *hujson.ObjectMember) *hujson.Value   { return &m.Value }
func valueSelf(v *hujson.Value) *hujson.Value          { return v }

// without removes element i of a list. Comments before it move to what follows; a trailing comma stays only where the file
// had one.
func without[T any](list []T, i int, after *hujson.Extra, start, end func(*T) *hujson.Value) []T {
	before, trailing := start(&list[i]).BeforeExtra, end(&list[i]).AfterExtra
	last := i == len(list)-1
	list = append(list[:i:i], list[i+1:]...)
	if commented(before) {
		comments := hujson.Extra(strings.TrimRight(string(before), " \t\r\n"))
		if last {
			*after = append(comments, *after...)
		} else {
			next := start(&list[i])
			next.BeforeExtra = append(comments, next.BeforeExtra...)
		}
	}
	if last && len(list) > 0 {
		if value := end(&list[len(list)-1]); trailing == nil {
			if commented(value.AfterExtra) {
				*after = append(bytes.Clone(value.AfterExtra), *after...)
			}
			value.AfterExtra = nil
		} else if value.AfterExtra == nil {
			value.AfterExtra = hujson.Extra{}
		}
	}
	if len(list) == 0 && !commented(*after) {
		*after = nil
	}
	return list
}

func commented(extra hujson.Extra) bool { return !extra.IsStandard() }

// own collects our registrations by event, as decoded JSON.
func (h Harness) own(d *document, binary string) (map[string][]any, error) {
	found := map[string][]any{}
	hooks, err := d.hooks()
	if err != nil || hooks == nil {
		return found, err
	}
	for _, event := range h.Events {
		if _, err := registered(hooks, event); err != nil {
			return nil, err
		}
	}
	for i := range hooks.Members {
		name := hooks.Members[i].Name.Value.(hujson.Literal).String()
		list, ok := hooks.Members[i].Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for j := range list.Elements {
			element := &list.Elements[j]
			inner := []hujson.Value{*element}
			if h.grouped {
				handlers := handlersOf(element)
				if handlers == nil {
					continue
				}
				inner = handlers.Elements
			}
			for k := range inner {
				if ours(&inner[k], binary) {
					found[name] = append(found[name], decoded(element.Pack()))
				}
			}
		}
	}
	return found, nil
}

// ours recognises a handler that runs this program's hook, wherever the program lay when it was registered.
func ours(v *hujson.Value, binary string) bool {
	fields, ok := decoded(v.Pack()).(map[string]any)
	if !ok {
		return false
	}
	for _, name := range []string{"command", "bash", "powershell", "command_windows"} {
		text, _ := fields[name].(string)
		if list, isList := fields["args"].([]any); isList && name == "command" {
			if len(list) > 1 && list[0] == "hook" && (text == binary || strings.HasPrefix(programName(text), "interlock")) {
				return true
			}
			continue
		}
		program, _, found := strings.Cut(strings.ReplaceAll(text, "'", ""), " hook --agent ")
		program = strings.Trim(strings.TrimPrefix(strings.TrimSpace(program), "& "), `"`)
		if found && (program == binary || strings.HasPrefix(programName(program), "interlock")) {
			return true
		}
	}
	return false
}

func programName(path string) string {
	return strings.TrimSuffix(filepath.Base(strings.ReplaceAll(path, `\`, "/")), ".exe")
}

// encoded writes a registration as JSON in the given style.
func encoded(entry any, prefix, unit string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if unit != "" {
		e.SetIndent(prefix, unit)
	}
	if err := e.Encode(entry); err != nil {
		return []byte("null") // unreachable: only structs of strings and numbers are registered
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// restyled puts the file's own line ends into generated text.
func (d *document) restyled(text []byte) []byte {
	if d.newline == "\r\n" {
		return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	return text
}

// decoded reads JSON with comments into plain values; what can't be read is nil.
func decoded(text []byte) any {
	standard, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		return nil
	}
	var v any
	if json.Unmarshal(standard, &v) != nil {
		return nil
	}
	return v
}
