package hook

import (
	"encoding/json"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// clineActions reads the tools that Cline's command line ships: they take lists, and their harness takes much else for one
// (a single value, a list in the place of the arguments, a list as text, other names). It reports false for other tools.
func (u use) clineActions(arguments json.RawMessage) (actions []interlock.Action, known bool, err error) {
	var read func(json.RawMessage) (interlock.Action, error)
	var lists, singles []string
	switch u.tool {
	case "run_commands":
		lists, singles, read = []string{"commands", "cmd"}, []string{"command"}, u.clineCommand
	case "read_files":
		lists, singles, read = []string{"files", "file_paths", "paths"}, []string{"path", "file_path", "filePath"}, u.clineRead
	case "fetch_web_content":
		lists, singles, read = []string{"requests"}, []string{"url"}, u.clineFetch
	case "search_codebase":
		action, err := fileAction("read", use{dir: u.dir, tool: u.tool}.searched(), "", "", u.dir)
		return []interlock.Action{action}, true, err
	default:
		return nil, false, nil
	}
	for _, entry := range entriesOf(arguments, lists, singles) {
		action, err := read(entry)
		if err != nil {
			return nil, true, err
		}
		actions = append(actions, action)
	}
	if len(actions) == 0 {
		return nil, true, interlock.Errorf(interlock.CodeInvalid, "/"+lists[0],
			"is missing: %.40q works on a list and the payload holds none", printable(u.tool))
	}
	return actions, true, nil
}

// entriesOf gathers what is in any of the places: the elements of lists, and an object itself that has one of the
// members of a single entry.
func entriesOf(arguments json.RawMessage, lists, singles []string) []json.RawMessage {
	object, err := readObject(arguments)
	if err != nil {
		return elements(arguments)
	}
	var found []json.RawMessage
	for _, name := range lists {
		if object.has(name) {
			found = append(found, elements(object[name])...)
		}
	}
	for _, name := range singles {
		if object.has(name) {
			return append(found, arguments)
		}
	}
	return found
}

// elements are those of a list, also of one that is the text of a list; anything else is its own only element.
func elements(raw json.RawMessage) []json.RawMessage {
	var text string
	if strictjson.DecodeLimited(raw, &text, limits()) == nil && strings.HasPrefix(strings.TrimSpace(text), "[") {
		var list []json.RawMessage
		if strictjson.DecodeLimited([]byte(text), &list, limits()) == nil {
			return list
		}
	}
	var list []json.RawMessage
	if strictjson.DecodeLimited(raw, &list, limits()) == nil {
		return list
	}
	return []json.RawMessage{raw}
}

// textOr returns an entry that is a text, or the first of an object's members.
func textOr(entry json.RawMessage, names ...string) (string, object, error) {
	text, err := object{"": entry}.text("")
	if err == nil {
		return text, nil, nil
	}
	o, err := readObject(entry)
	if err != nil {
		return "", nil, unreadable(err)
	}
	if err := o.only(names...); err != nil {
		return "", nil, err
	}
	text, err = o.first(names...)
	return text, o, err
}

// clineCommand is one command: a line for the shell, or a program with its arguments, which no shell reads.
func (u use) clineCommand(entry json.RawMessage) (interlock.Action, error) {
	line, o, err := textOr(entry, "command")
	if err != nil {
		return interlock.Action{}, err
	}
	if o != nil && o.has("args") {
		words := []string{line}
		for _, raw := range elements(o["args"]) {
			word, err := object{"args": raw}.text("args")
			if err != nil {
				return interlock.Action{}, err
			}
			words = append(words, word)
		}
		if len(words) > 1 {
			line = ShellLine(words)
		}
	}
	if line == "" {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/commands", "holds an entry without a command")
	}
	return interlock.Action{Kind: interlock.KindShell, Tool: u.tool, Input: line, Dir: u.dir}, nil
}

func (u use) clineRead(entry json.RawMessage) (interlock.Action, error) {
	path, _, err := textOr(entry, "path", "file_path", "filePath")
	if err != nil {
		return interlock.Action{}, err
	}
	if path == "" {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/files", "holds an entry without a path")
	}
	return fileAction("read", path, "", "", u.dir)
}

func (u use) clineFetch(entry json.RawMessage) (interlock.Action, error) {
	url, _, err := textOr(entry, "url")
	if err != nil {
		return interlock.Action{}, err
	}
	if url == "" {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/requests", "holds an entry without an address")
	}
	arguments, err := strictjson.Marshal(map[string]string{"method": "GET", "url": url})
	return interlock.Action{Kind: interlock.KindHTTP, Tool: u.tool, Arguments: arguments, Dir: u.dir}, err
}
