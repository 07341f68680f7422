package upstream

import (
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// everyProgram are the variables a program can't do without. Everything else of our environment stays here: it holds secrets
// of others, and Interlock's own settings. These are the ones the MCP SDKs hand on, so that a server that works behind a
// client works behind the gateway.
func everyProgram(goos string) []string {
	if goos == "windows" {
		return []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE",
			"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT",
			"TEMP", "USERNAME", "USERPROFILE"}
	}
	return []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
}

// environment is what a program is started with, as NAME=value, sorted.
func environment(getenv func(string) string, own map[string]string) []string {
	all := map[string]string{}
	for _, name := range everyProgram(runtime.GOOS) {
		// the latter is a function of a shell, not a value
		if value := getenv(name); value != "" && !strings.HasPrefix(value, "()") {
			all[name] = value
		}
	}
	for name, value := range own {
		all[name] = value
	}
	list := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}

// searchPath is the PATH a program's name is looked for in: the one it will see.
func searchPath(getenv func(string) string, own map[string]string) []string {
	path, set := own["PATH"]
	if !set {
		path = getenv("PATH")
	}
	var absolute []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) { // what a relative one finds depends on who may write here
			absolute = append(absolute, dir)
		}
	}
	return absolute
}
