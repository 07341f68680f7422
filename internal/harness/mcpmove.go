package harness

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// EntryName is what the gateway is called in a client's settings, unless something else is called so.
const EntryName = "interlock"

// A Move is what becomes of a client's settings when its servers go behind the gateway.
type Move struct {
	Plan
	Base    []byte        // the settings with all servers in them, as uninstalling leaves them; nil: no file
	Entries []ServerEntry // that go behind the gateway, in the file's order
	Left    []string      // servers that stay where they are
}

// ErrServersChanged says that the servers in a client's settings are others than installing left there.
var ErrServersChanged = errors.New("its servers have changed since they were moved behind the gateway")

// A Moved is what an earlier Move did.
type Moved struct {
	Base  []byte // before it; nil: there was no file
	After []byte
}

// Move plans to put the gateway into a client's settings in place of its servers, but for those named in leave and Interlock's
// own. earlier is what was done before, if anything was: servers that were added since are moved as well.
func (c Client) Move(place Place, command Command, leave []string, earlier *Moved) (Move, error) {
	p, err := planFor(c.Settings(place))
	m := Move{Plan: p, Base: p.Before}
	if err != nil {
		return m, err
	}
	if earlier != nil {
		if argv, err := c.registered(p.Before); err != nil {
			return m, about(p.Path, err)
		} else if len(argv) > 0 {
			if m.Base, err = c.restore(p.Before, *earlier, true); err != nil {
				return m, about(p.Path, err)
			}
		}
	}
	if err := c.move(&m, place, command, leave); err != nil {
		return m, about(p.Path, err)
	}
	return m, nil
}

func (c Client) move(m *Move, place Place, command Command, leave []string) error {
	file, err := c.read(m.Base)
	if err != nil {
		return err
	}
	names, err := file.names()
	if err != nil {
		return err
	}
	for _, name := range leave {
		if !slices.Contains(names, name) {
			return fmt.Errorf("has no server %q that could be left where it is", name)
		}
	}
	env, taken := map[string]string{}, map[string]bool{}
	for _, name := range names {
		fields, err := file.fields(name)
		if err != nil {
			return err
		}
		if slices.Contains(leave, name) || runsInterlock(name, fields) {
			m.Left = append(m.Left, name)
			continue
		}
		e, err := c.entryOf(name, fields, place)
		if err != nil {
			return fmt.Errorf("can't be moved: %w; mend it, or leave this server where it is with --leave %s", err,
				quotePOSIX(name))
		}
		for plain, n := e.As, 2; taken[strings.ToLower(e.As)]; n++ {
			e.As = fmt.Sprintf("%s-%d", plain, n)
		}
		taken[strings.ToLower(e.As)] = true
		for _, values := range []map[string]EntryValue{e.Env, e.Headers} {
			for _, value := range values {
				if value.Variable != "" {
					env[value.Variable] = value.written
				}
			}
		}
		m.Entries = append(m.Entries, e)
		file.remove(name)
	}
	return c.enter(m, file, command, env)
}

// enter writes the gateway's own entry and checks the result as a whole.
func (c Client) enter(m *Move, file serverFile, command Command, env map[string]string) error {
	own := EntryName
	for slices.Contains(m.Left, own) {
		own += "-gateway"
	}
	if len(env) == 0 {
		env = nil
	}
	if err := file.put(own, c.entry(command, env)); err != nil {
		return err
	}
	m.After = file.bytes()
	again, err := c.read(m.After)
	if err != nil {
		return fmt.Errorf("can't be edited safely: %w", err)
	}
	names, err := again.names()
	if want := append(slices.Clone(m.Left), own); err != nil || !sameSet(names, want) {
		return errors.New("can't be edited safely: other servers would be left than are meant to be")
	}
	return nil
}

// Return plans to put a client's servers back. keep puts them back beside servers that were added or changed since; without
// it that is ErrServersChanged.
func (c Client) Return(place Place, earlier Moved, keep bool) (Plan, error) {
	p, err := planFor(c.Settings(place))
	if err != nil {
		return p, err
	}
	if p.Before == nil && earlier.Base == nil {
		return p, nil
	}
	if p.After, err = c.restore(p.Before, earlier, keep); err != nil {
		return p, about(p.Path, err)
	}
	return p, nil
}

// restore undoes a move in settings as they are now. If they are as the move left them, what was before comes back byte for
// byte; if only other things than servers have changed, the servers do.
func (c Client) restore(now []byte, earlier Moved, keep bool) ([]byte, error) {
	if string(now) == string(earlier.After) {
		return earlier.Base, nil
	}
	current, err := c.read(now)
	if err != nil {
		return nil, err
	}
	left, err := c.read(earlier.After)
	if err != nil {
		return nil, err
	}
	before, err := c.read(earlier.Base)
	if err != nil {
		return nil, err
	}
	same, err := sameServers(current, left)
	if err != nil {
		return nil, err
	}
	if !same && !keep {
		return nil, ErrServersChanged
	}
	if same && current.adoptAll(before) {
		return current.bytes(), nil
	}
	names, err := current.names()
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for _, name := range names {
		fields, err := current.fields(name)
		if err != nil {
			return nil, err
		}
		if runsGateway(fields, c.entryID()) {
			current.remove(name)
		} else {
			kept[name] = true
		}
	}
	originals, err := before.names()
	if err != nil {
		return nil, err
	}
	for _, name := range originals {
		if !kept[name] {
			if err := current.adopt(before, name); err != nil {
				return nil, err
			}
		}
	}
	current.tidy(before)
	return current.bytes(), nil
}

// HasGateway reports whether a client's settings name the gateway.
func (c Client) HasGateway(place Place) (bool, error) {
	argv, err := c.Registered(place)
	return len(argv) > 0, err
}

// Registered returns the program and arguments with which a client's settings start the gateway; none where they don't.
func (c Client) Registered(place Place) ([]string, error) {
	path, data, err := c.settled(place)
	if err != nil || data == nil {
		return nil, err
	}
	argv, err := c.registered(data)
	if err != nil {
		return nil, about(path, err)
	}
	return argv, nil
}

// settled returns what a client's settings hold and where; nothing where it has none.
func (c Client) settled(place Place) (path string, data []byte, err error) {
	if path = c.Settings(place); path == "" {
		return "", nil, nil
	}
	p, err := planFor(path)
	return path, p.Before, err
}

func (c Client) registered(data []byte) ([]string, error) {
	file, err := c.read(data)
	if err != nil {
		return nil, err
	}
	names, err := file.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		fields, err := file.fields(name)
		if err != nil || !runsGateway(fields, c.entryID()) {
			continue
		}
		command, args := startedBy(fields)
		argv := []string{command}
		for _, arg := range args {
			argv = append(argv, fmt.Sprint(arg))
		}
		return argv, nil
	}
	return nil, nil
}

// Others lists the servers in a client's settings that are not Interlock's.
func (c Client) Others(place Place) ([]string, error) {
	path, data, err := c.settled(place)
	if err != nil || data == nil {
		return nil, err
	}
	file, err := c.read(data)
	if err != nil {
		return nil, about(path, err)
	}
	names, err := file.names()
	if err != nil {
		return nil, about(path, err)
	}
	var others []string
	for _, name := range names {
		if fields, err := file.fields(name); err == nil && !runsInterlock(name, fields) {
			others = append(others, name)
		}
	}
	return others, nil
}

// sameServers reports whether two files mean the same servers, however they are written.
func sameServers(a, b serverFile) (bool, error) {
	names, err := a.names()
	if err != nil {
		return false, err
	}
	others, err := b.names()
	if err != nil || !sameSet(names, others) {
		return false, err
	}
	for _, name := range names {
		x, err := a.fields(name)
		if err != nil {
			return false, err
		}
		y, err := b.fields(name)
		if err != nil || !reflect.DeepEqual(x, y) {
			return false, err
		}
	}
	return true, nil
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// startedBy is the program of an entry and its arguments, which some clients write as one list.
func startedBy(fields map[string]any) (command string, args []any) {
	if words, ok := fields["command"].([]any); ok && len(words) > 0 {
		command, _ = words[0].(string)
		return command, words[1:]
	}
	command, _ = fields["command"].(string)
	args, _ = fields["args"].([]any)
	return command, args
}

// runsInterlock recognises an entry that starts this program, wherever it lay then, or that reaches its MCP server under
// the name the manual gives it.
func runsInterlock(name string, fields map[string]any) bool {
	command, _ := startedBy(fields)
	if address, _ := fields["url"].(string); command == "" {
		return strings.HasPrefix(name, EntryName) && strings.HasPrefix(address, "http://127.0.0.1:") &&
			strings.HasSuffix(address, "/mcp")
	}
	return strings.HasPrefix(programName(command), "interlock")
}

// runsGateway recognises the entry that a move to the gateway of a client writes.
func runsGateway(fields map[string]any, client string) bool {
	_, args := startedBy(fields)
	return runsInterlock("", fields) && len(args) > 2 && args[0] == "gateway" && args[1] == "--client" && args[2] == client
}
