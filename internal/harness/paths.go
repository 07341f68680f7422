package harness

import "path/filepath"

// SettingsFiles lists the files below a user's home in which a hook may be registered, whether or not they exist. Anyone who
// may write them may unregister Interlock.
func SettingsFiles(home string) []string {
	if home == "" {
		return nil
	}
	var files []string
	for _, h := range known() {
		for _, file := range h.value().files {
			files = append(files, filepath.Join(home, filepath.FromSlash(file)))
		}
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
	if h.beside == nil {
		return nil
	}
	return h.beside(p, filepath.Dir(h.Settings(p)))
}

// Between lists the files that a shell runs before it runs a hook, because the environment says so. Anyone who may write them
// comes between a harness and Interlock.
func Between(getenv func(string) string) []string {
	var files []string
	for _, name := range [...]string{"BASH_ENV", "ENV"} {
		if file := getenv(name); filepath.IsAbs(file) {
			files = append(files, filepath.Clean(file))
		}
	}
	return files
}
