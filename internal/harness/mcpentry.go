package harness

import (
	"fmt"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
)

// A ServerEntry is one server as a client has it in its settings.
type ServerEntry struct {
	Name     string // as the client calls it
	As       string // as the gateway is to call it
	Command  string
	Args     []string
	Env      map[string]EntryValue
	Dir      string
	URL      string
	Headers  map[string]EntryValue
	Disabled bool
	Ignored  []string // fields that mean nothing behind the gateway, sorted
}

// An EntryValue is the value of a variable or header: a text, or the variable of the client's own environment that holds it.
type EntryValue struct {
	Text     string
	Variable string // instead of Text
	Bearer   bool   // "Bearer " comes before the variable
	written  string // the reference as the client writes it
}

// entryOf reads a server's entry. An error names the field.
func (c Client) entryOf(name string, fields map[string]any, place Place) (ServerEntry, error) {
	r := &entryReader{client: c, place: place, fields: fields, read: map[string]bool{}}
	e := ServerEntry{Name: name, As: serverName(name)}
	if c.listed {
		r.listed(&e)
	} else {
		e.Command, e.Args, e.Env = r.text("command"), r.list("args"), r.values("env")
	}
	e.Dir = r.text("cwd")
	for _, field := range []string{"httpUrl", "serverUrl", "url"} {
		if text := r.text(field); text != "" && e.URL == "" {
			e.URL = text
			if c.sse && field == "url" && r.text("type") == "" && r.text("transport") == "" {
				r.fail(field, "is of the transport before streamable HTTP, which the gateway does not speak; use the server's streamable address, as httpUrl")
			}
		}
	}
	e.Headers = r.values("headers")
	for name, value := range r.values("http_headers") {
		e.Headers = with(e.Headers, name, value)
	}
	r.codex(&e)
	for _, field := range []string{"type", "transport"} {
		if kind := r.text(field); strings.EqualFold(kind, "sse") {
			r.fail(field, "sse is the transport before streamable HTTP, which the gateway does not speak; use the server's streamable address")
		}
	}
	e.Disabled = r.truth("disabled", false) || !r.truth("enabled", true)
	if r.text("envFile") != "" {
		r.fail("envFile", "names a file of variables, which the gateway does not read; write them as env")
	}
	if e.Command == "" && e.URL == "" {
		r.fail("command", "is missing")
	}
	if e.Command != "" { // clients leave out what does not belong to a program, and so does the gateway's file
		e.URL, e.Headers = "", nil
	} else {
		e.Args, e.Env, e.Dir = nil, nil, ""
	}
	for field := range fields {
		if !r.read[field] {
			e.Ignored = append(e.Ignored, field)
		}
	}
	sort.Strings(e.Ignored)
	if r.err != nil {
		return e, fmt.Errorf("%s.%s.%w", c.member, name, r.err)
	}
	return e, nil
}

// listed reads the fields of OpenCode for a program.
func (r *entryReader) listed(e *ServerEntry) {
	if words := r.list("command"); len(words) > 0 {
		e.Command, e.Args = words[0], words[1:]
	}
	e.Env = r.values("environment")
}

// codex reads the fields in which Codex names variables.
func (r *entryReader) codex(e *ServerEntry) {
	if !r.client.toml {
		return
	}
	for _, name := range r.list("env_vars") {
		e.Env = with(e.Env, name, EntryValue{Variable: name, written: name})
	}
	if name := r.text("bearer_token_env_var"); name != "" {
		e.Headers = with(e.Headers, "Authorization", EntryValue{Variable: name, Bearer: true, written: name})
	}
	for header, value := range r.values("env_http_headers") {
		e.Headers = with(e.Headers, header, EntryValue{Variable: value.Text, written: value.Text})
	}
}

func with(m map[string]EntryValue, name string, value EntryValue) map[string]EntryValue {
	if m == nil {
		m = map[string]EntryValue{}
	}
	m[name] = value
	return m
}

// An entryReader reads the fields of one entry and keeps the first thing that is wrong.
type entryReader struct {
	client Client
	place  Place
	fields map[string]any
	read   map[string]bool
	err    error
}

func (r *entryReader) fail(field, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...))
	}
}

func (r *entryReader) field(name string) (any, bool) {
	value, has := r.fields[name]
	r.read[name] = r.read[name] || has
	return value, has && value != nil
}

// text reads a text in which nothing may be left to fill in.
func (r *entryReader) text(name string) string {
	value, has := r.field(name)
	if !has {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		r.fail(name, "is not a text")
		return ""
	}
	return r.filled(name, text)
}

func (r *entryReader) list(name string) []string {
	value, has := r.field(name)
	if !has {
		return nil
	}
	items, ok := value.([]any)
	if !ok {
		r.fail(name, "is not a list of texts")
		return nil
	}
	var list []string
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			r.fail(name, "is not a list of texts")
			return nil
		}
		list = append(list, r.filled(name, text))
	}
	return list
}

func (r *entryReader) truth(name string, standard bool) bool {
	value, has := r.field(name)
	if !has {
		return standard
	}
	truth, ok := value.(bool)
	if !ok {
		r.fail(name, "is neither true nor false")
	}
	return truth
}

// values reads a map whose values may be variables of the client's environment.
func (r *entryReader) values(name string) map[string]EntryValue {
	value, has := r.field(name)
	if !has {
		return nil
	}
	members, ok := value.(map[string]any)
	if !ok {
		r.fail(name, "is not a map of texts")
		return nil
	}
	if len(members) == 0 {
		return nil
	}
	values := map[string]EntryValue{}
	for key, member := range members {
		switch member.(type) {
		case string, bool, float64, int64:
			values[key] = r.value(name+"."+key, fmt.Sprint(member))
		default:
			r.fail(name+"."+key, "is not a text")
		}
	}
	return values
}

// value reads a value that is a text, or as a whole a variable.
func (r *entryReader) value(field, text string) EntryValue {
	rest, bearer := strings.CutPrefix(text, "Bearer ")
	if name, is := r.variable(rest); is {
		return EntryValue{Variable: name, Bearer: bearer, written: rest}
	}
	return EntryValue{Text: r.filled(field, text)}
}

var variableName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
})

// variable returns the variable of the environment that a text is, as the client writes one.
func (r *entryReader) variable(text string) (string, bool) {
	inner, braced := "", false
	if strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}") {
		inner, braced = text[2:len(text)-1], true
	}
	switch r.client.variables {
	case bracedVariables:
	case prefixVariables:
		name, prefixed := strings.CutPrefix(inner, "env:")
		inner, braced = name, braced && prefixed
	case curlyVariables:
		name, prefixed := strings.CutPrefix(text, "{env:")
		inner, braced = strings.TrimSuffix(name, "}"), prefixed && strings.HasSuffix(name, "}")
	case shellVariables:
		if name, dollar := strings.CutPrefix(text, "$"); dollar && !braced {
			inner, braced = name, true
		}
	default:
		return "", false
	}
	return inner, braced && variableName().MatchString(inner)
}

var (
	placeholder = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\$\{[^}]*\}|\$[A-Za-z_][A-Za-z0-9_]*`)
	})
	curlyPlaceholder = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{(?:env|file):[^}]*\}`)
	})
)

// filled replaces what a client fills in and what is known here: the user's home and the project. Anything else can't be known,
// and a server must not be started with another meaning than it had.
func (r *entryReader) filled(field, text string) string {
	switch r.client.variables {
	case noVariables:
		return text
	case curlyVariables:
		return curlyPlaceholder().ReplaceAllStringFunc(text, func(found string) string {
			if found == "{env:HOME}" {
				return r.place.Home
			}
			r.fail(field, "holds %s, which the gateway does not fill in there; write the value, or make {env:NAME} a "+
				"whole value of environment or headers", found)
			return found
		})
	}
	return placeholder().ReplaceAllStringFunc(text, func(found string) string {
		braced := strings.HasPrefix(found, "${")
		if !braced && r.client.variables != shellVariables {
			return found
		}
		name := strings.Trim(found, "${}")
		switch {
		case name == "userHome" || name == "HOME" && r.client.variables != prefixVariables || name == "env:HOME" &&
			r.client.variables == prefixVariables:
			return r.place.Home
		case (name == "workspaceFolder" || name == "workspaceRoot") && r.place.Project != "":
			return r.place.Project
		case name == "pathSeparator" || name == "/":
			return string(filepath.Separator)
		case strings.HasPrefix(name, "input:"):
			r.fail(field, "is asked for by %s (%s), which the gateway can't do; put the value into a file that only "+
				"you may read, or into your environment", r.client.Title, found)
		case name == "workspaceFolder" || name == "workspaceRoot":
			r.fail(field, "depends on the project (%s); install it for one, with --project DIR", found)
		default:
			r.fail(field, "holds %s within other text, which the gateway does not fill in; write the value, or make it a whole value of env or headers", found)
		}
		return found
	})
}
