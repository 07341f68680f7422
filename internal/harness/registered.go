package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/tailscale/hujson"

	"interlock/internal/fileio"
)

// A Registration is one of our handlers as it is in a harness's settings.
type Registration struct {
	Event string
	Argv  []string // the command as a program and its arguments, where the harness runs it so
	Shell string   // else the line it gives to its shell
	trust string   // the key under which Codex keeps that it was reviewed
	hash  string   // what Codex keeps there if it was reviewed as it is; empty: that can't be told
}

// Guards reports whether nothing is missing but events that only tell what the user says or that settings have changed, which
// earlier versions did not register.
func (s Status) Guards() bool {
	return !slices.ContainsFunc(s.Missing, func(event string) bool { return !Listens(event) && event != ConfigChange })
}

// Line is what Shell says to run, without what it says to answer if that fails.
func (r Registration) Line() string {
	if at := strings.LastIndex(r.Shell, orMend); at >= 0 {
		return r.Shell[:at]
	}
	return strings.TrimSuffix(strings.TrimSuffix(r.Shell, orRefuse), orGoOn)
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
	if h.owned != nil {
		return h.ownedStatus(place)
	}
	s, err := h.inSettings(h.Settings(place), binary)
	switch {
	case err == nil && h.reviewed:
		err = h.codexStatus(place, binary, &s)
	case err == nil && h.administered && place.Project == "":
		var managed Status
		if managed, err = h.inSettings(place.managed(managedSettings), binary); len(managed.Registrations) > 0 {
			managed.Registrations = append(managed.Registrations, s.Registrations...)
			return managed, err
		}
	}
	return s, err
}

// managedSettings is the file of settings that an administrator has for every user of Claude Code, and that none can change.
const managedSettings = "managed-settings.json"

func (h Harness) inSettings(path, binary string) (Status, error) {
	s := Status{Path: path}
	data, err := fileio.Plain(s.Path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	s.Exists = true
	if err != nil {
		return s, about(s.Path, errors.New("can't be read: "+fileio.Reason(err)))
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
	s.Problems = append(s.Problems, h.switches(d.root())...)
	return s, nil
}

// SwitchedOff finds what lets no registered hook run in sessions that begin in a directory, or none but an administrator's.
// Harnesses do what a project's own settings say of that, with the user's hooks as with the project's.
func (h Harness) SwitchedOff(place Place, dir string) []string {
	if h.switched == nil {
		return nil
	}
	return h.switched(h, place, dir)
}

// switchedBy looks at files of a project.
func switchedBy(files ...string) func(h Harness, place Place, dir string) []string {
	return func(h Harness, place Place, dir string) (found []string) {
		for _, name := range files {
			found = append(found, h.switchedIn(place, filepath.Join(dir, filepath.FromSlash(name)))...)
		}
		return found
	}
}

func (h Harness) switchedByClaude(place Place, dir string) []string {
	if managed, err := h.inSettings(place.managed(managedSettings), ""); err == nil && len(managed.Registrations) > 0 &&
		managed.Guards() {
		return nil // whatever users and projects say
	}
	var found []string
	for file, name := range map[string]string{filepath.Join(dir, ".claude", "settings.json"): "disableAllHooks",
		filepath.Join(dir, ".claude", "settings.local.json"): "disableAllHooks",
		place.managed(managedSettings):                       "allowManagedHooksOnly"} {
		data, err := fileio.Plain(file, maxFile)
		if errors.Is(err, os.ErrNotExist) || file == h.Settings(place) {
			continue
		}
		d, unread := read(data)
		if err != nil || unread != nil {
			found = append(found, file+" can't be read, so it is not known whether it switches hooks off")
			continue
		}
		if value, err := member(d.root(), name); err != nil || value != nil && value.Value.Kind() == 't' {
			found = append(found, fmt.Sprintf("%s sets %s, so the hook does not run there", file, name))
		}
	}
	sort.Strings(found)
	return found
}

// switchedIn finds the switches in a file that is not the one hooks are registered in.
func (h Harness) switchedIn(place Place, file string) []string {
	data, err := fileio.Plain(file, maxFile)
	if errors.Is(err, os.ErrNotExist) || file == h.Settings(place) {
		return nil
	}
	d, unread := read(data)
	if err != nil || unread != nil {
		return []string{file + " can't be read, so it is not known whether it switches hooks off"}
	}
	problems := h.switches(d.root())
	for i := range problems {
		problems[i] = file + ": " + problems[i]
	}
	return problems
}

// switches finds settings under which hooks don't run. A project's settings switch off the user's hooks as well.
func (h Harness) switches(root *hujson.Object) (problems []string) {
	if value, err := member(root, "disableAllHooks"); err == nil && value != nil && value.Value.Kind() == 't' {
		problems = append(problems, "disableAllHooks is set, so no hook runs")
	}
	value, err := member(root, "hooksConfig")
	if !h.hooksConfig || err != nil || value == nil {
		return problems
	}
	var config struct {
		Enabled  *bool    `json:"enabled"`
		Disabled []string `json:"disabled"`
	}
	standard := value.Clone()
	standard.Standardize()
	if err := json.Unmarshal(standard.Pack(), &config); err != nil {
		return append(problems, "hooksConfig can't be read, so it is not known whether hooks run")
	}
	if config.Enabled != nil && !*config.Enabled {
		problems = append(problems, "hooksConfig.enabled is false, so no hook runs")
	}
	if slices.Contains(config.Disabled, hookName) {
		problems = append(problems, "hooksConfig.disabled names "+hookName+", so its hooks don't run")
	}
	return problems
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
			fields := decoded(handlers[j].Pack()).(map[string]any)
			r := registration(event, fields)
			if h.reviewed {
				group, _ := decoded(list.Elements[i].Pack()).(map[string]any)
				r.trust, r.hash = codexKey(event, i, j), codexHash(event, group, fields)
				if Listens(event) {
					r.hash = "" // which Codex makes of other members, for events without a tool
				}
			}
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
