package main

import (
	"path"
	"path/filepath"
	"strings"
)

// serverName makes a server's name of the command that starts it: the program's, or that of what a program runs which only runs
// others. Two servers of one name would take each other for changed.
func serverName(command []string) string {
	program := strings.TrimSuffix(filepath.Base(command[0]), ".exe")
	switch program {
	case "npx", "bunx", "pnpx", "uvx", "pipx", "uv", "npm", "pnpm", "bun", "deno", "node", "python", "python3",
		"docker", "podman":
		for _, word := range command[1:] {
			if name := runName(word); name != "" {
				program = name
				break
			}
		}
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, program)
	return name[:min(len(name), 64)]
}

// runName is the last part of a package, an image or a script without its version, or nothing for flags and words that say
// how to run it.
func runName(word string) string {
	switch word {
	case "run", "exec", "x", "dlx", "tool":
		return ""
	}
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return ""
	}
	name := path.Base(filepath.ToSlash(word))
	if at := strings.IndexAny(name, "@:"); at > 0 {
		name = name[:at]
	}
	for _, ending := range []string{".js", ".mjs", ".cjs", ".ts", ".py"} {
		name = strings.TrimSuffix(name, ending)
	}
	return strings.Trim(name, ".@:/")
}
