package harness

import "path/filepath"

// SettingsFiles lists the files below a user's home in which a hook may be registered, whether or not they exist. Whoever
// may write them may unregister Interlock.
func SettingsFiles(home string) []string {
	if home == "" {
		return nil
	}
	files := []string{
		filepath.Join(home, ".claude", "settings.json"),
		filepath.Join(home, ".claude", "settings.local.json"),
		filepath.Join(home, ".codex", "hooks.json"),
		filepath.Join(home, ".codex", "config.toml"),
		filepath.Join(home, ".gemini", "settings.json"),
		filepath.Join(home, ".qwen", "settings.json"),
		filepath.Join(home, ".cursor", "hooks.json"),
		filepath.Join(home, ".copilot", "hooks", "interlock.json"),
		filepath.Join(home, ".copilot", "settings.json"),
		filepath.Join(home, ".config", "opencode", "plugins", "interlock.js"),
		filepath.Join(home, ".codeium", "windsurf", "hooks.json"),
		filepath.Join(home, ".cline", "hooks", "PreToolUse"),
		filepath.Join(home, "Documents", "Cline", "Hooks", "PreToolUse"),
	}
	for _, name := range Names() {
		files = append(files, PinFile(home, name))
		for _, file := range HeadFiles(home, name) {
			files = append(files, file, contradicting(file))
		}
	}
	return files
}

// Beside lists the other files that say whether a harness runs the hooks that are registered in its settings, whether or not they
// exist.
func (h Harness) Beside(p Place) []string {
	dir := filepath.Dir(h.Settings(p))
	switch h.Name {
	case "claude":
		return []string{filepath.Join(dir, "settings.local.json"), p.managed(managedSettings)}
	case "codex":
		return []string{filepath.Join(dir, "config.toml")}
	case "copilot":
		return []string{filepath.Join(filepath.Dir(dir), "settings.json")}
	}
	return nil
}

// Between lists the files that a shell runs before it runs a hook, because the environment says so. Whoever may write them comes
// between a harness and Interlock.
func Between(getenv func(string) string) []string {
	var files []string
	for _, name := range [...]string{"BASH_ENV", "ENV"} {
		if file := getenv(name); filepath.IsAbs(file) {
			files = append(files, filepath.Clean(file))
		}
	}
	return files
}

// Names lists the harnesses that can be installed to, in the order documentation names them.
func Names() []string {
	return []string{"claude", "codex", "gemini", "qwen", "cursor", "copilot", "opencode"}
}
