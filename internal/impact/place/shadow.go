package place

import (
	"strings"
)

// shadows reports whether a file is put where its name is looked for as a command's: into a folder of programs that belongs to a
// project's tools, or into one of the user's under the name of a program that is known.
func (w *World) Shadows(clean string) bool {
	at := strings.LastIndexByte(clean, '/')
	if at < 0 || at == len(clean)-1 {
		return false
	}
	dir, name := "/"+clean[:at], clean[at+1:]
	if clean[0] == '/' {
		dir = dir[1:]
	}
	switch {
	case strings.HasSuffix(dir, "/node_modules/.bin"), strings.HasSuffix(dir, "/venv/bin"), strings.HasSuffix(dir, "/.venv/bin"):
		return true
	case strings.HasSuffix(dir, "/.local/bin"), strings.HasSuffix(dir, "/.cargo/bin"), strings.HasSuffix(dir, "/go/bin"),
		dir == "/usr/local/bin", dir == "/opt/homebrew/bin":
		return w.Know.Described(name)
	}
	for _, tool := range [...]string{"/.asdf/shims", "/.pyenv/shims", "/.rbenv/shims", "/.nodenv/shims",
		"/.volta/bin", "/.bun/bin",
		"/.deno/bin", "/.npm-global/bin", "/miniconda3/bin", "/.linuxbrew/bin", "/mise/shims"} {
		if strings.HasSuffix(dir, tool) {
			return w.Know.Described(name)
		}
	}
	if strings.HasSuffix(dir, "/bin") &&
		(strings.Contains(dir, "/.nvm/versions/") || strings.Contains(dir, "/.rustup/toolchains/") ||
			strings.Contains(dir, "/.sdkman/candidates/")) {
		return w.Know.Described(name)
	}
	if rest, ok := w.belowHome(clean[:at]); ok && rest == "bin" {
		return w.Know.Described(name)
	}
	return false
}
