package gitwork

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/fileio"
)

const (
	maxIgnore = 64 << 10 // bytes of an ignore file
	maxRules  = 2000     // of one
)

// output are names of what tools make and make again: whatever lies there is not somebody's work.
var output = [...]string{"build", "dist", "out", "target", "node_modules", "__pycache__", ".next", ".nuxt", ".cache",
	".turbo", ".parcel-cache",
	".svelte-kit", "coverage", "htmlcov", ".nyc_output", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".venv",
	"venv", ".gradle",
	"tmp", "temp", ".tmp", "logs", "bin", "obj", "_build", ".eggs", "DerivedData", "Pods", "vendor", "bower_components",
	".terraform", ".dart_tool", ".DS_Store"}

// made reports whether a name is one of what tools make.
func made(name string) bool {
	if slices.Contains(output[:], name) {
		return true
	}
	switch path.Ext(name) {
	case ".pyc", ".o", ".a", ".so", ".class", ".log", ".tmp", ".swp", ".egg-info", ".tsbuildinfo", ".out", ".test", ".prof":
		return true
	}
	return false
}

// strangers notes whether files that git does not know lie at or below a path: such as it ignores, and others.
func (l *looker) strangers(repo *repository, rel string, info os.FileInfo, work *interlock.Work) bool {
	ignored := false
	if rel != "." {
		parts := strings.Split(rel, "/")
		for i := range parts {
			folder := i < len(parts)-1 || info.IsDir()
			above := strings.Join(parts[:i+1], "/")
			if made(parts[i]) && len(repo.below(above)) == 0 {
				return true
			}
			ignored = ignored || repo.ignored(above, folder)
		}
	}
	return l.walk(repo, rel, info, ignored, 0, work)
}

// walk is strangers below one path.
func (l *looker) walk(repo *repository, rel string, info os.FileInfo, ignored bool, depth int, work *interlock.Work) bool {
	if l.entries--; l.entries < 0 || depth > maxDepth || time.Now().After(l.until) {
		return false
	}
	if !info.IsDir() {
		if l.meant(rel) && !repo.tracks(rel) {
			work.Ignored, work.Untracked = work.Ignored || ignored, work.Untracked || !ignored
		}
		return true
	}
	dir := filepath.Join(repo.root, filepath.FromSlash(rel))
	if depth > 0 {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true // a repository of its own
		}
	}
	children, err := entriesOf(dir, l.entries+1)
	if err != nil {
		return false
	}
	for _, child := range children {
		below := child.Name()
		if rel != "." {
			below = rel + "/" + below
		}
		if child.Name() == ".git" || made(child.Name()) && len(repo.below(below)) == 0 {
			continue
		}
		info, err := child.Info()
		if err != nil {
			continue
		}
		if !l.walk(repo, below, info, ignored || repo.ignored(below, info.IsDir()), depth+1, work) {
			return false
		}
		if work.Untracked && work.Ignored {
			return true
		}
	}
	return true
}

// entriesOf reads a directory, and no more of it than could be looked at.
func entriesOf(dir string, most int) ([]os.DirEntry, error) {
	file, err := fileio.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	children, err := file.ReadDir(max(most, 1))
	if err == io.EOF {
		err = nil
	}
	return children, err
}

// tracks reports whether git knows a file, or something below a link that has taken the place of a folder.
func (r *repository) tracks(rel string) bool { return len(r.below(rel)) > 0 }

// An ignore is one line of an ignore file.
type ignore struct {
	base    string // the directory of its file, relative to the root
	pattern []string
	keeps   bool // begins with an exclamation mark
	folder  bool // names folders only
}

// ignored reports whether a path is ignored by itself; what lies below an ignored folder is too.
func (r *repository) ignored(rel string, folder bool) bool {
	verdict := false
	judge := func(rules []ignore) {
		for i := range rules {
			if rules[i].matches(rel, folder) {
				verdict = !rules[i].keeps
			}
		}
	}
	judge(r.exclude)
	for at := 0; ; {
		judge(r.ignoresIn(strings.TrimSuffix(rel[:at], "/")))
		next := strings.IndexByte(rel[at:], '/')
		if next < 0 {
			return verdict
		}
		at += next + 1
	}
}

// ignoresIn reads the ignore file of a directory, once.
func (r *repository) ignoresIn(dir string) []ignore {
	rules, ok := r.ignores[dir]
	if !ok {
		text, err := read(filepath.Join(r.root, filepath.FromSlash(dir), ".gitignore"), maxIgnore)
		if err == nil {
			rules = ignoresOf(dir, string(text))
		}
		r.ignores[dir] = rules
	}
	return rules
}

// ignoresOf reads an ignore file.
func ignoresOf(base, text string) (rules []ignore) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || line[0] == '#' || len(rules) >= maxRules {
			continue
		}
		i := ignore{base: base}
		line, i.keeps = strings.CutPrefix(line, "!")
		line, i.folder = strings.CutSuffix(line, "/")
		line = strings.TrimPrefix(line, "\\")
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		i.pattern = strings.Split(strings.TrimPrefix(line, "/"), "/")
		if len(i.pattern) <= 32 {
			rules = append(rules, i)
		}
	}
	return rules
}

func (i *ignore) matches(rel string, folder bool) bool {
	if i.folder && !folder {
		return false
	}
	if i.base != "" {
		under, ok := strings.CutPrefix(rel, i.base+"/")
		if !ok {
			return false
		}
		rel = under
	}
	return matchParts(i.pattern, strings.Split(rel, "/"))
}

// matchParts matches a path against a pattern, part by part; ** means any number of parts.
func matchParts(pattern, parts []string) bool {
	reached := make([]bool, len(parts)+1) // which numbers of parts the pattern so far can take
	reached[0] = true
	for n, p := range pattern {
		next := make([]bool, len(parts)+1)
		for at, ok := range reached {
			switch {
			case !ok:
			case p == "**":
				from := at
				if n == len(pattern)-1 {
					from++ // what is below a folder, not the folder
				}
				for to := from; to <= len(parts); to++ {
					next[to] = true
				}
			case at < len(parts):
				if ok, err := path.Match(p, parts[at]); ok && err == nil {
					next[at+1] = true
				}
			}
		}
		reached = next
	}
	return reached[len(parts)]
}
