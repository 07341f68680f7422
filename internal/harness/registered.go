package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// A Registration is one of our handlers as it stands in a harness's settings.
type Registration struct {
	Event string
	Argv  []string // the command as a program and its arguments, where the harness runs it so
	Shell string   // else the line it gives to its shell
	trust string   // the key under which Codex keeps that it was reviewed
}

// A Status is what was found of a harness.
type Status struct {
	Path          string // the settings file
	Exists        bool
	Registrations []Registration
	Missing       []string // events that should be registered and are not
	Problems      []string // settings under which registered hooks don't run
}

// Status reads what is registered with a harness. An error means that the file is there and can't be read.
func (h Harness) Status(place Place, binary string) (Status, error) {
	s := Status{Path: h.Settings(place)}
	data, err := os.ReadFile(s.Path)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	s.Exists = true
	if err != nil {
		return s, about(s.Path, errors.New("can't be read: "+cause(err)))
	}
	d, err := read(data)
	if err != nil {
		return s, about(s.Path, err)
	}
	hooks, err := d.hooks()
	if err != nil {
		return s, about(s.Path, err)
	}
	for _, event := range h.Events {
		list, err := registered(hooks, event)
		if err != nil {
			return s, about(s.Path, err)
		}
		found := h.registrations(event, list, binary)
		if len(found) == 0 {
			s.Missing = append(s.Missing, event)
		}
		for i := range found {
			found[i].trust = s.Path + ":" + found[i].trust
		}
		s.Registrations = append(s.Registrations, found...)
	}
	if value, err := member(d.root(), "disableAllHooks"); err == nil && value != nil && value.Value.Kind() == 't' {
		s.Problems = append(s.Problems, "disableAllHooks is set, so no hook runs")
	}
	if h.Name == "codex" && len(s.Registrations) > 0 {
		s.Problems = append(s.Problems, untrusted(filepath.Join(filepath.Dir(s.Path), "config.toml"), s.Registrations)...)
	}
	return s, nil
}

func (h Harness) registrations(event string, list *hujson.Array, binary string) []Registration {
	if list == nil {
		return nil
	}
	var found []Registration
	for i := range list.Elements {
		handlers := []hujson.Value{list.Elements[i]}
		if h.grouped {
			inner := handlersOf(&list.Elements[i])
			if inner == nil {
				continue
			}
			handlers = inner.Elements
		}
		for j := range handlers {
			if !ours(&handlers[j], binary) {
				continue
			}
			r := registration(event, decoded(handlers[j].Pack()).(map[string]any))
			r.trust = fmt.Sprintf("%s:%d:%d", snake(event), i, j)
			found = append(found, r)
		}
	}
	return found
}

func registration(event string, fields map[string]any) Registration {
	r := Registration{Event: event}
	command, _ := fields["command"].(string)
	if args, ok := fields["args"].([]any); ok {
		r.Argv = []string{command}
		for _, arg := range args {
			r.Argv = append(r.Argv, fmt.Sprint(arg))
		}
		return r
	}
	for _, name := range []string{"bash", "command"} {
		if text, ok := fields[name].(string); ok && r.Shell == "" {
			r.Shell = text
		}
	}
	return r
}

// untrusted finds registrations that Codex's configuration does not name as reviewed. The hash kept there is Codex's own
// and can't be checked from outside; an edited hook that still has an old one shows in Codex's /hooks only.
func untrusted(config string, registrations []Registration) []string {
	text, err := os.ReadFile(config)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return []string{config + " can't be read, so it is not known whether Codex trusts the hooks"}
	}
	var events []string
	for _, r := range registrations {
		if !strings.Contains(string(text), `"`+strings.ReplaceAll(r.trust, `\`, `\\`)+`"`) && !strings.Contains(string(text), `'`+r.trust+`'`) {
			events = append(events, r.Event)
		}
	}
	if len(events) == 0 {
		return nil
	}
	return []string{"Codex has not been told to trust the hooks for " + strings.Join(events, ", ") + " and skips them: open /hooks in Codex and review them"}
}

// snake writes an event's name as Codex keeps it: PreToolUse is pre_tool_use.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
