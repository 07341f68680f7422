package harness

import (
	"bytes"
	_ "embed" // the plugin
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"

	"interlock/internal/fileio"

	"github.com/tailscale/hujson"
)

// An ownedFile is a registration that is a file of ours alone, where other harnesses have settings that others write, too.
// Installing writes it whole and uninstalling removes it.
type ownedFile struct {
	head string // the first lines; a file that begins otherwise is not ours
	body string // what is below the commands
}

// openCodePlugin is what runs the commands inside OpenCode.
//
//go:embed opencode.js
var openCodePlugin string

// The lines around the commands.
const (
	commandsStart = "\nconst commands = {\n"
	commandsEnd   = "\n}\n"
)

// text is the file for commands, in the order of the events.
func (f *ownedFile) text(events []string, argv func(event string) []string) []byte {
	lines := make([]string, len(events))
	for i, event := range events {
		lines[i] = "  " + jsonText(event) + ": " + string(encoded(argv(event), "", "")) + ","
	}
	return []byte(f.head + commandsStart + strings.Join(lines, "\n") + commandsEnd + f.body)
}

// ours reports whether a file is one of these, also one of another version.
func (f *ownedFile) ours(data []byte) bool {
	first, _, _ := strings.Cut(f.head, "\n")
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r"))) == first
}

// commands reads back what a file has run.
func (f *ownedFile) commands(data []byte) map[string][]string {
	_, rest, found := strings.Cut(string(data), commandsStart)
	object, _, ended := strings.Cut(rest, commandsEnd)
	if !found || !ended {
		return nil
	}
	standard, err := hujson.Standardize([]byte("{" + object + "}"))
	if err != nil {
		return nil
	}
	var commands map[string][]string
	if json.Unmarshal(standard, &commands) != nil {
		return nil
	}
	return commands
}

// errForeign is said of a file that lies where ours should.
var errForeign = errors.New("is not Interlock's own; move it away first")

func (f *ownedFile) install(data []byte, events []string, command func(event string) Command) ([]byte, error) {
	if len(data) > 0 && !f.ours(data) {
		return nil, errForeign
	}
	return f.text(events, func(event string) []string { return command(event).argv() }), nil
}

func (f *ownedFile) remove(data []byte) []byte {
	if f.ours(data) {
		return nil
	}
	return data
}

// ownedStatus is Status where the settings are an ownedFile. What is around the commands counts as much as they do: a
// canary is refused by the command, and it is the rest that acts on it.
func (h Harness) ownedStatus(place Place) (Status, error) {
	s := Status{Path: h.Settings(place)}
	data, err := fileio.Plain(s.Path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	s.Exists = true
	if err != nil {
		return s, about(s.Path, errors.New("can't be read: "+fileio.Reason(err)))
	}
	if !h.owned.ours(data) {
		return s, about(s.Path, errForeign)
	}
	commands := h.owned.commands(data)
	for _, event := range h.Events {
		if len(commands[event]) == 0 {
			s.Missing = append(s.Missing, event)
			continue
		}
		s.Registrations = append(s.Registrations, Registration{Event: event, Argv: commands[event]})
	}
	if len(s.Registrations) == 0 {
		return s, about(s.Path, errors.New("names no commands; run: interlock install "+h.Name))
	}
	if want := h.owned.text(h.Events, func(event string) []string { return commands[event] }); !reflect.DeepEqual(data, want) {
		s.Problems = append(s.Problems, s.Path+" is not as this version writes it; run: interlock install "+h.Name)
	}
	if place.Getenv != nil {
		if pure := strings.ToLower(place.Getenv("OPENCODE_PURE")); pure == "1" || pure == "true" {
			s.Problems = append(s.Problems, "OPENCODE_PURE is set, so OpenCode reads no plugins")
		}
	}
	return s, nil
}
