package harnesses

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/test/product"
)

// pluginFolder is the plugin for Claude Code as the release hands it out.
func pluginFolder(t *testing.T) string {
	t.Helper()
	from, to := filepath.Join("..", "..", "release", "files", "plugin"), filepath.Join(t.TempDir(), "interlock")
	err := filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(name)), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if filepath.Dir(name) == "bin" {
			mode = 0o755
		}
		return os.WriteFile(filepath.Join(to, name), []byte(strings.ReplaceAll(string(text), "<<.Version>>", "1.2.3")), mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// TestClaudesPlugin: the program takes the folder, asks at each call, and runs nothing where Interlock is not installed.
func TestClaudesPlugin(t *testing.T) {
	folder := pluginFolder(t)
	t.Run("is valid", func(t *testing.T) {
		t.Parallel()
		wantIn(t, newDesk(t).must(harness(t, "claude"), "plugin", "validate", folder), "Validation passed")
	})
	t.Run("judges", func(t *testing.T) {
		t.Parallel()
		a, d := claude(t, "--plugin-dir", folder), newDesk(t)
		d.onPath(product.Dir())
		told := d.work(a, a.shell("echo hello > made.txt"), a.shell("touch ran.txt; rm -rf "+d.home))
		if wantIn(t, told[1], "[fs.delete-root]"); !d.exists("made.txt") || d.exists("ran.txt") {
			t.Errorf("the harmless call ran: %v, the other: %v", d.exists("made.txt"), d.exists("ran.txt"))
		}
		if judged := d.log(); len(judged) == 0 {
			t.Error("nothing was recorded")
		}
	})
	t.Run("refuses without Interlock", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.uninstalled()
		d.meetClaudesModel(newModel(t, claude(t).shell("touch ran.txt")))
		// Its user is told before the model is asked anything.
		out, said, _ := d.run(harness(t, "claude"), "-p", "Do it.", "--allowedTools", claudesTools, "--plugin-dir", folder)
		if wantIn(t, out+said, "[hook.gone]"); d.exists("ran.txt") {
			t.Error("it ran")
		}
	})
}

// onPath puts a directory before the others of the search path.
func (d *desk) onPath(dir string) {
	d.changePath(func(dirs []string) []string { return append([]string{dir}, dirs...) })
}

// uninstalled takes the machine's own Interlock off the search path: of a directory that has one, all others stay, as links.
func (d *desk) uninstalled() {
	d.changePath(func(dirs []string) []string {
		for i, dir := range dirs {
			if found, _ := filepath.Glob(filepath.Join(dir, "interlock*")); len(found) > 0 {
				dirs[i] = d.othersOf(dir)
			}
		}
		return dirs
	})
}

// othersOf is a directory of links to all programs of another but Interlock's.
func (d *desk) othersOf(dir string) string {
	programs, err := os.ReadDir(dir)
	if err != nil {
		d.t.Fatal(err)
	}
	links := d.t.TempDir()
	for _, p := range programs {
		if strings.HasPrefix(p.Name(), "interlock") {
			continue
		}
		if err := os.Symlink(filepath.Join(dir, p.Name()), filepath.Join(links, p.Name())); err != nil {
			d.t.Fatal(err)
		}
	}
	return links
}

// changePath gives what is run from here on another search path.
func (d *desk) changePath(change func(dirs []string) []string) {
	for i, variable := range d.env {
		if value, is := strings.CutPrefix(variable, "PATH="); is {
			d.env[i] = "PATH=" + strings.Join(change(filepath.SplitList(value)), string(filepath.ListSeparator))
		}
	}
}
