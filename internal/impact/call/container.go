package call

import (
	"encoding/json"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// containerFlags are arguments of tools that start containers, by what a container program calls them.
var containerFlags = map[string]string{
	"volume": "-v", "volumes": "-v", "v": "-v", "binds": "-v", "bind": "-v", "mount": "-v", "mounts": "-v", "hostpath": "-v",
	"bindmounts": "-v", "volumemounts": "-v", "capadd": "--cap-add", "capabilities": "--cap-add", "pid": "--pid",
	"pidmode": "--pid",
	"device":  "--device", "devices": "--device", "securityopt": "--security-opt", "ipc": "--ipc", "ipcmode": "--ipc",
	"usernsmode": "--userns", "userns": "--userns",
}

// container reads what a container that a tool starts or enters gets of its host: mounts, devices, rights. A tool of containers
// writes that as the program of containers does on a command line, in an object of its own or as an interface wants it.
func (s callRun) container(object map[string]any) {
	var flags []string
	s.containerFlags(object, &flags, 0)
	if len(flags) == 0 {
		return
	}
	s.clientRun("docker run " + strings.Join(flags, " ") + " container")
}

func (s callRun) containerFlags(object map[string]any, flags *[]string, depth int) {
	if depth > fact.MaxNesting || !s.Spend(1) {
		return
	}
	for _, name := range lex.SortedNames(object) {
		key, value := lex.Fold(name), object[name]
		if inner, isObject := value.(map[string]any); isObject && containerFlags[key] == "" {
			s.containerFlags(inner, flags, depth+1)
			continue
		}
		switch {
		case isSet(value) && key == "privileged":
			*flags = append(*flags, "--privileged")
		case isSet(value) && (key == "hostpid" || key == "hostipc"):
			*flags = append(*flags, "--"+strings.TrimPrefix(key, "host")+"=host")
		case containerFlags[key] == "-v":
			*flags = append(*flags, mountFlags(value)...)
		case containerFlags[key] != "":
			for _, text := range flagValues(value) {
				*flags = append(*flags, containerFlags[key]+"="+lex.ShellQuote(text))
			}
		default:
			list, _ := value.([]any)
			for _, item := range list {
				if inner, isObject := item.(map[string]any); isObject {
					s.containerFlags(inner, flags, depth+1)
				}
			}
		}
	}
}

func isSet(value any) bool {
	text, isText := value.(string)
	set, _ := value.(bool)
	return set || isText && strings.EqualFold(text, "true")
}

// flagValues returns what a flag is given: a text, or each of a list. A number names no host's.
func flagValues(value any) []string {
	switch v := value.(type) {
	case string:
		if v == "" || v == "private" {
			return nil
		}
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			switch one := item.(type) {
			case string:
				out = append(out, one)
			case map[string]any: // {PathOnHost, PathInContainer}
				if path, ok := textAt(foldKeys(one), []string{"pathonhost", "hostpath", "source"}); ok {
					out = append(out, path)
				}
			}
		}
		return out
	}
	return nil
}

// mountFlags writes mounts as flags: texts as they stand, objects with a source and a target, or an object from the
// host's place to the container's. A name that is no path is a volume, and nothing of the host.
func mountFlags(value any) (flags []string) {
	mount := func(source, target string, readonly bool) {
		if source == "" || !strings.ContainsAny(source[:1], "/~.$\\") && !strings.Contains(source, ":") {
			return
		}
		if target != "" {
			source += ":" + target
		}
		if readonly {
			source += ":ro"
		}
		flags = append(flags, "-v", lex.ShellQuote(source))
	}
	switch v := value.(type) {
	case string:
		mount(v, "", false)
	case []any:
		for _, item := range v {
			flags = append(flags, mountFlags(item)...)
		}
	case map[string]any:
		folded := foldKeys(v)
		source, _ := textAt(folded, []string{"source", "src", "hostpath", "host", "from", "local", "path"})
		target, _ := textAt(folded, []string{"target", "destination", "dst", "containerpath", "container", "to",
			"mountpath", "bind"})
		if source != "" {
			mode, _ := folded["mode"].(string)
			mount(source, orElse(target, "/mnt"), isSet(folded["readonly"]) || isSet(folded["ro"]) || mode == "ro")
			return flags
		}
		for _, name := range lex.SortedNames(v) {
			switch to := v[name].(type) {
			case string:
				mount(name, to, false)
			case map[string]any:
				inner := foldKeys(to)
				at, _ := textAt(inner, []string{"bind", "target", "path"})
				mode, _ := inner["mode"].(string)
				mount(name, orElse(at, "/mnt"), mode == "ro")
				flags = append(flags, mountFlags(to)...)
			case json.Number, nil:
			}
		}
	}
	return flags
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
