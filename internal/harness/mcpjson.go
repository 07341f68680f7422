package harness

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// A serverFile is a client's settings file, as far as servers go: what is not touched stays as it is, byte for byte.
type serverFile interface {
	names() ([]string, error)                   // of the servers, in the file's order
	fields(name string) (map[string]any, error) // of one server's entry
	remove(name string)
	put(name string, entry any) error
	adopt(from serverFile, name string) error // takes over a server's entry as it is written there
	// takes over all of them, in place of those here; false: they can only be adopted one by one
	adoptAll(from serverFile) bool
	tidy(like serverFile) // drops what holds no server and does not stand in that file either
	bytes() []byte
}

func (c Client) read(data []byte) (serverFile, error) {
	if c.toml {
		return readTOML(data, c.member)
	}
	d, err := read(data)
	if err != nil {
		return nil, err
	}
	return &jsonServers{document: d, member: c.member}, nil
}

// jsonServers are servers as members of an object.
type jsonServers struct {
	*document
	member string
}

// object returns the object of servers; nil where there is none.
func (j *jsonServers) object() (*hujson.Object, error) {
	value, err := member(j.root(), j.member)
	if err != nil || value == nil || value.Value.Kind() == 'n' {
		return nil, err
	}
	o, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("holds %q that is not an object", j.member)
	}
	return o, nil
}

func (j *jsonServers) names() ([]string, error) {
	o, err := j.object()
	if err != nil || o == nil {
		return nil, err
	}
	var names []string
	seen := map[string]bool{}
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if seen[name] {
			return nil, fmt.Errorf("holds the server %q twice; keep one", name)
		}
		seen[name] = true
		names = append(names, name)
	}
	return names, nil
}

func (j *jsonServers) fields(name string) (map[string]any, error) {
	o, err := j.object()
	if err != nil || o == nil {
		return nil, err
	}
	value, err := member(o, name)
	if err != nil || value == nil {
		return nil, err
	}
	fields, ok := decoded(value.Pack()).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("holds a server %q that is not an object", name)
	}
	return fields, nil
}

func (j *jsonServers) remove(name string) {
	o, err := j.object()
	if err != nil || o == nil {
		return
	}
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			o.Members = without(o.Members, i, &o.AfterExtra, memberStart, memberEnd)
			return
		}
	}
}

// servers returns the object of servers, making one where there is none.
func (j *jsonServers) servers() (*hujson.Object, error) {
	o, err := j.object()
	if err != nil || o != nil {
		return o, err
	}
	if value, _ := member(j.root(), j.member); value != nil { // null
		value.Value = &hujson.Object{}
	} else {
		j.addMember(j.root(), 1, j.member, hujson.Value{Value: &hujson.Object{}})
	}
	return j.object()
}

func (j *jsonServers) put(name string, entry any) error {
	o, err := j.servers()
	if err != nil {
		return err
	}
	value, err := hujson.Parse(j.restyled(encoded(entry, strings.Repeat(j.unit, 2), j.unit)))
	if err != nil {
		return fmt.Errorf("can't be written: %w", err)
	}
	j.addMember(o, 2, name, value)
	return nil
}

func (j *jsonServers) adopt(from serverFile, name string) error {
	source, ok := from.(*jsonServers)
	if !ok {
		return errors.New("is of another kind")
	}
	theirs, err := source.object()
	if err != nil || theirs == nil {
		return err
	}
	value, err := member(theirs, name)
	if err != nil || value == nil {
		return err
	}
	o, err := j.servers()
	if err != nil {
		return err
	}
	copied := value.Clone()
	copied.AfterExtra = nil
	j.addMember(o, 2, name, copied)
	return nil
}

func (j *jsonServers) adoptAll(from serverFile) bool {
	source, ok := from.(*jsonServers)
	if !ok {
		return false
	}
	theirs, err := member(source.root(), source.member)
	if err != nil {
		return false
	}
	if theirs == nil {
		j.drop(j.member)
		return true
	}
	ours, err := member(j.root(), j.member)
	if err != nil || ours == nil {
		return false
	}
	ours.Value = theirs.Clone().Value
	return true
}

func (j *jsonServers) tidy(like serverFile) {
	o, err := j.object()
	if err != nil || o == nil || len(o.Members) > 0 || commented(o.AfterExtra) {
		return
	}
	if source, ok := like.(*jsonServers); ok {
		if theirs, err := member(source.root(), source.member); err == nil && theirs == nil {
			j.drop(j.member)
		}
	}
}

func (j *jsonServers) bytes() []byte { return bytes.Clone(j.document.bytes()) }
