package hook

import (
	"encoding/json"
	"path"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// A use is what a harness says a tool is about to do, before it is known what kind of action that is.
type use struct {
	tool  string // as the harness names it
	input object // its arguments
	dir   string // working directory of the session
	mcp   string // the MCP server, where the harness names it apart from the tool

	harness string // whose own tools are known by name; empty: nobody's
}

// actions turns a tool use into what is judged: mostly one action, several where one call touches several files or
// addresses. The tables below know every tool the supported harnesses ship; anything else is a tool call judged by its
// name and arguments. A known tool whose arguments don't say what it would do is refused rather than guessed at.
func (u use) actions() ([]interlock.Action, error) {
	if u.mcp != "" {
		return u.toolCall("mcp__" + u.mcp + "__" + u.tool)
	}
	if actions, own, err := u.own(); own || err != nil {
		return actions, err
	}
	if shellTool(u.tool) {
		return u.shell()
	}
	if operation := fileTool(u.tool); operation != "" {
		return u.file(operation)
	}
	switch u.tool {
	case "":
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the hook payload names no tool")
	case "apply_patch", "ApplyPatch":
		return u.patch()
	case "WebFetch", "web_fetch", "webfetch", "fetch":
		return u.fetch()
	case "str_replace_editor", "str_replace_based_edit_tool":
		return u.editor()
	case "write_bash", "write_powershell":
		return u.typed()
	case "use_mcp_tool":
		return u.clineMCP()
	default:
		return u.toolCall(u.tool)
	}
}

// shellTool reports whether a tool runs its "command" in a shell.
func shellTool(name string) bool {
	switch name {
	case "Bash", "bash", "Shell", "shell", "run_shell_command", "execute_command", "powershell", "PowerShell",
		"run_terminal_command", "run_terminal_cmd", "run_in_terminal", "local_shell", "exec_command", "Monitor", "monitor":
		return true
	}
	return false
}

// fileTool names the operation of a tool that works on a file or directory, or nothing.
func fileTool(name string) string {
	switch name {
	case "Read", "read", "read_file", "view", "NotebookRead", "read_many_files", "view_file", "zoom_image", "display_image",
		"Grep", "grep", "rg", "grep_search", "search_file_content", "search_files", "Glob", "glob", "file_search",
		"LS", "ls", "list_directory", "list_dir", "list_files", "list_code_definition_names":
		return "read"
	case "Write", "write", "write_file", "write_to_file", "create", "create_file":
		return "write"
	case "Edit", "edit", "MultiEdit", "NotebookEdit", "notebook_edit", "replace", "edit_file", "replace_in_file",
		"search_replace",
		"insert", "insert_edit_into_file", "StrReplace":
		return "edit"
	case "Delete", "delete", "delete_file":
		return "delete"
	}
	return ""
}

// searches reports whether a read without a path means the working directory.
func searches(name string) bool {
	switch name {
	case "Grep", "grep", "rg", "grep_search", "search_file_content", "search_files", "Glob", "glob", "file_search",
		"LS", "ls", "list_directory", "list_dir", "list_files", "list_code_definition_names":
		return true
	}
	return false
}

func (u use) shell() ([]interlock.Action, error) {
	if err := u.input.only("command", "cmd", "description", "shell", "working_directory", "directory", "dir_path", "cwd",
		"workdir"); err != nil {
		return nil, err
	}
	command, err := u.command()
	if err != nil {
		return nil, err
	}
	if other := otherShell(u.input); other != "" && POSIX(u.tool) {
		command = ShellLine([]string{other, "-c", command})
	}
	hint, err := u.input.text("description")
	if err != nil {
		return nil, err
	}
	dir, err := u.input.first("working_directory", "directory", "dir_path", "cwd", "workdir")
	if err != nil {
		return nil, err
	}
	return []interlock.Action{{Kind: interlock.KindShell, Tool: u.tool, Input: command, Dir: within(u.dir, dir), Hint: hint}}, nil
}

// otherShell is the program that an agent has a command read by, where it names one and that is not a POSIX shell of the
// system: what runs then is that program, which makes of the command what it likes.
func otherShell(input object) string {
	if !input.has("shell") || input["shell"][0] != '"' {
		return ""
	}
	program, err := input.text("shell")
	if err != nil {
		return "?" // unreachable: it is a string; nothing of that name is known
	}
	dir, name := path.Split(program)
	switch dir {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/":
		switch name {
		case "", "sh", "bash", "dash", "zsh", "ksh":
			return ""
		}
	}
	return program
}

// command reads the command line; an argument vector is quoted into one.
func (u use) command() (string, error) {
	for _, name := range []string{"command", "cmd"} {
		if !u.input.has(name) {
			continue
		}
		if u.input[name][0] != '[' {
			return u.input.text(name)
		}
		var words []string
		if err := strictjson.DecodeLimited(u.input[name], &words, limits()); err != nil {
			return "", interlock.Errorf(interlock.CodeInvalid, "/"+name, "must be a string or an array of strings")
		}
		for i, word := range words {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		return strings.Join(words, " "), nil
	}
	return "", interlock.Errorf(interlock.CodeInvalid, "/command", "is missing: %.40q runs a command and the payload holds none",
		printable(u.tool))
}

// pathNames are the members in which tools name the file they work on.
func pathNames() []string {
	return []string{"path", "file_path", "filePath", "absolute_path", "notebook_path", "target_file", "target_directory",
		"dir_path", "filename"}
}

func (u use) file(operation string) ([]interlock.Action, error) {
	names := pathNames()
	if err := u.input.only(append(names, "paths", "include", "files", "edits", "pattern")...); err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		p, err := u.input.text(name)
		if err != nil {
			return nil, err
		}
		paths = appendNew(paths, p)
	}
	many, err := u.manyPaths()
	if err != nil {
		return nil, err
	}
	for _, p := range many {
		paths = appendNew(paths, p)
	}
	if len(paths) == 0 && searches(u.tool) {
		paths = []string{u.searched()}
	}
	if len(paths) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/path",
			"is missing: %.40q works on a file and the payload names none", printable(u.tool))
	}
	added, removed, err := u.contents()
	if err != nil {
		return nil, err
	}
	list := make([]interlock.Action, 0, len(paths))
	for _, p := range paths {
		action, err := fileAction(operation, p, added, removed, u.dir)
		if err != nil {
			return nil, err
		}
		if u.showsLines() {
			if action.Arguments, err = u.shown(p); err != nil {
				return nil, err
			}
		}
		list = append(list, action)
	}
	return list, nil
}

// manyPaths reads the list forms: paths and include of read_many_files, as strings or as objects with a path. Copilot's
// searches take a single path there as well.
func (u use) manyPaths() ([]string, error) {
	var paths []string
	for _, name := range []string{"paths", "include", "files"} {
		if name == "paths" && u.input.has(name) && u.input[name][0] == '"' {
			single, err := u.input.text(name)
			if err != nil {
				return nil, err
			}
			paths = appendNew(paths, single)
			continue
		}
		if !u.input.has(name) || u.input[name][0] != '[' {
			continue
		}
		var list []json.RawMessage
		if err := strictjson.DecodeLimited(u.input[name], &list, limits()); err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/"+name, "can't be read")
		}
		for _, raw := range list {
			p, err := object{"path": raw}.text("path")
			if err != nil {
				inner, bad := readObject(raw)
				if bad != nil {
					return nil, interlock.Errorf(interlock.CodeInvalid, "/"+name, "must list strings")
				}
				if p, err = inner.first("path", "file_path"); err != nil {
					return nil, err
				}
			}
			paths = appendNew(paths, p)
		}
	}
	return paths, nil
}

// contents reads what a write or edit puts into the file and what it takes out.
func (u use) contents() (added, removed string, err error) {
	adds := []string{"content", "contents", "file_text", "new_string", "newString", "new_str", "new_source", "new_text",
		"code_edit", "diff", "insert_text"}
	removes := []string{"old_string", "oldString", "old_str", "old_text"}
	if err := u.input.only(append(removes, adds...)...); err != nil {
		return "", "", err
	}
	if added, err = u.input.first(adds...); err != nil {
		return "", "", err
	}
	removed, err = u.input.first(removes...)
	if err != nil || !u.input.has("edits") || u.input["edits"][0] != '[' {
		return added, removed, err
	}
	var edits []json.RawMessage
	if err := strictjson.DecodeLimited(u.input["edits"], &edits, limits()); err != nil {
		return "", "", interlock.Errorf(interlock.CodeInvalid, "/edits", "can't be read")
	}
	in, out := []string{}, []string{}
	for _, raw := range edits {
		edit, err := readObject(raw)
		if err != nil {
			return "", "", interlock.Errorf(interlock.CodeInvalid, "/edits", "must list objects")
		}
		if err := edit.only("old_string", "new_string"); err != nil {
			return "", "", err
		}
		a, err := edit.first("new_string", "newString", "new_str", "content")
		if err != nil {
			return "", "", err
		}
		r, err := edit.first("old_string", "oldString", "old_str")
		if err != nil {
			return "", "", err
		}
		in, out = append(in, a), append(out, r)
	}
	if added != "" {
		in = append([]string{added}, in...)
	}
	if removed != "" {
		out = append([]string{removed}, out...)
	}
	return strings.Join(in, "\n"), strings.Join(out, "\n"), nil
}

// fileAction makes the one form in which every harness's file tools are judged, so that the same edit seen by two events
// is the same action: Tool is the operation, Arguments are path and, where given, content and old.
func fileAction(operation, path, added, removed, dir string) (interlock.Action, error) {
	members := map[string]string{"path": path}
	if operation == "write" || added != "" {
		members["content"] = added
	}
	if removed != "" {
		members["old"] = removed
	}
	if operation == "read" || operation == "delete" {
		members = map[string]string{"path": path}
	}
	arguments, err := strictjson.Marshal(members)
	if err != nil {
		return interlock.Action{}, unreadable(err)
	}
	return interlock.Action{Kind: interlock.KindFile, Tool: operation, Arguments: arguments, Dir: dir}, nil
}

// editor is the one-tool editor some models bring: its "command" says which operation it is.
func (u use) editor() ([]interlock.Action, error) {
	command, err := u.input.text("command")
	if err != nil {
		return nil, err
	}
	switch command {
	case "view":
		return u.file("read")
	case "create":
		return u.file("write")
	case "str_replace", "insert", "undo_edit":
		return u.file("edit")
	default:
		return u.toolCall(u.tool)
	}
}

// fetch is a GET of each address named: in "url", or, where the tool takes prose, in the prose.
func (u use) fetch() ([]interlock.Action, error) {
	if err := u.input.only("url", "prompt"); err != nil {
		return nil, err
	}
	url, err := u.input.text("url")
	if err != nil {
		return nil, err
	}
	addresses := []string{}
	if url != "" {
		addresses = append(addresses, url)
	} else if prompt, err := u.input.text("prompt"); err == nil {
		addresses = addressesIn(prompt)
	}
	if len(addresses) == 0 {
		return u.toolCall(u.tool)
	}
	list := make([]interlock.Action, 0, len(addresses))
	for _, address := range addresses {
		arguments, err := strictjson.Marshal(map[string]string{"method": "GET", "url": address})
		if err != nil {
			return nil, unreadable(err)
		}
		list = append(list, interlock.Action{Kind: interlock.KindHTTP, Tool: u.tool, Arguments: arguments, Dir: u.dir})
	}
	return list, nil
}

// addressesIn finds the addresses in prose. Where a sign could end one or be part of it, both readings count: which host an
// address names may hang on it.
func addressesIn(prose string) []string {
	var found []string
	for _, word := range strings.Fields(prose) {
		parts := strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("<>\"'`()[]{},", r) })
		for _, text := range append(parts, word) {
			for _, scheme := range []string{"https://", "http://"} {
				if i := strings.Index(strings.ToLower(text), scheme); i >= 0 {
					found = appendNew(found, strings.TrimRight(text[i:], ".;:!?<>\"'`()[]{},"))
					break
				}
			}
		}
	}
	return found
}

// clineMCP unfolds Cline's tool for calling MCP tools.
func (u use) clineMCP() ([]interlock.Action, error) {
	var server, tool string
	if err := u.input.texts(map[string]*string{"server_name": &server, "tool_name": &tool}); err != nil {
		return nil, err
	}
	arguments, err := u.input.arguments("arguments")
	if err != nil {
		return nil, err
	}
	if server == "" || tool == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "/tool_name", "is missing: the payload names no MCP server or tool")
	}
	return use{tool: tool, mcp: server, input: arguments, dir: u.dir}.actions()
}

// toolCall is the general case: the name and all arguments, in canonical form.
func (u use) toolCall(name string) ([]interlock.Action, error) {
	input := u.input
	if input == nil {
		input = object{}
	}
	arguments, err := strictjson.Marshal(map[string]json.RawMessage(input))
	if err != nil {
		return nil, unreadable(err)
	}
	hint, err := u.input.text("description")
	if err != nil {
		hint = "" // some tools' description is no text; it is part of the arguments all the same
	}
	return []interlock.Action{{Kind: interlock.KindTool, Tool: name, Arguments: arguments, Dir: u.dir, Hint: hint}}, nil
}

// checkAction refuses what no analyser should see and returns the action's digest.
func checkAction(a interlock.Action) (interlock.Digest, error) {
	if len(a.Input)+len(a.Arguments) > MaxAction {
		return "", interlock.Errorf(interlock.CodeLimited, "",
			"the call is larger than %d bytes and is not judged in parts", MaxAction)
	}
	if strings.ContainsRune(a.Input, 0) || strings.ContainsRune(a.Tool, 0) || strings.ContainsRune(a.Dir, 0) ||
		escapedNUL(a.Arguments) {
		return "", interlock.Errorf(interlock.CodeInvalid, "", "the call holds a NUL character")
	}
	digest, err := strictjson.ActionDigest(a)
	if err != nil {
		return "", unreadable(err)
	}
	return digest, nil
}

// escapedNUL finds \u0000 in canonical JSON, where every backslash starts an escape of two or six bytes.
func escapedNUL(canonical []byte) bool {
	for i := 0; i+1 < len(canonical); i++ {
		if canonical[i] != '\\' {
			continue
		}
		if strings.HasPrefix(string(canonical[i:min(i+6, len(canonical))]), `\u0000`) {
			return true
		}
		i++
	}
	return false
}

// within resolves a tool's own working directory against the session's.
func within(session, own string) string {
	switch {
	case own == "" || own == ".":
		return session
	case absolute(own) || session == "":
		return own
	default:
		return strings.TrimRight(session, "/") + "/" + own
	}
}

// absolute reports whether a path is absolute on any system; the harness's system needs not be known.
func absolute(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\`) || strings.HasPrefix(path, "~") ||
		len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// appendNew appends a string that is neither empty nor there already.
func appendNew(list []string, s string) []string {
	if s == "" {
		return list
	}
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
