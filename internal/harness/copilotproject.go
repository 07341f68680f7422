package harness

import (
	"os"
	"path/filepath"
)

// SwitchedOff looks for what switches off in a project the hooks that are registered elsewhere. Copilot lets a setting of a
// repository do so, once the folder is trusted.
func (h Harness) SwitchedOff(place Place) []string {
	if h.Name != "copilot" || place.Project == "" {
		return nil
	}
	var problems []string
	for _, name := range [][]string{{".github", "copilot", "settings.json"}, {".github", "copilot", "settings.local.json"},
		{".claude", "settings.json"}, {".claude", "settings.local.json"}} {
		path := filepath.Join(append([]string{place.Project}, name...)...)
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		var d *document
		if err == nil {
			d, err = read(text)
		}
		if err != nil {
			problems = append(problems, path+" can't be read, so it is not known whether it switches Copilot's hooks off")
			continue
		}
		if value, err := member(d.root(), "disableAllHooks"); err == nil && value != nil && value.Value.Kind() == 't' {
			problems = append(problems, path+" sets disableAllHooks, so Copilot runs no hook there, not even its user's, once the folder is trusted")
		}
	}
	return problems
}
