package embedded

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"interlock"
)

// Bounds of what is read for one action. A script that is longer, or one of more, stays a program nobody has looked into.
const (
	maxScripts = 6
	maxScript  = 64 << 10 // bytes
	maxWords   = 4 << 10  // of the command
)

// recipes are the files in which a program finds what it is to run, by the program's name.
var recipes = map[string][]string{
	"make": {"GNUmakefile", "makefile", "Makefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"},
	"npm": {"package.json"}, "yarn": {"package.json"}, "pnpm": {"package.json"}, "bun": {"package.json"},
}

// scriptEndings mark words that are a script's name wherever they stand. A word that is a path without such an ending is
// looked at too if a shell would run it: where a command begins, or after a shell's name.
var scriptEndings = map[string]bool{".sh": true, ".bash": true, ".zsh": true, ".py": true, ".js": true, ".mjs": true, ".cjs": true,
	".ts": true, ".sql": true, ".ps1": true, ".bat": true, ".cmd": true, ".mk": true}

// Scripts returns the texts of the workspace's own files that a command would run, by path: the scripts it names, and the
// makefile or package.json that says what `make` or `npm run` does. It reads regular files inside the workspace alone, so
// that naming one can't make Interlock wait or look elsewhere. What changes between the decision and the run was not judged.
func Scripts(action interlock.Action, view interlock.View) map[string]string {
	if action.Kind != interlock.KindShell || action.Dir == "" || view.Workspace == "" || len(action.Input) > maxScript {
		return nil
	}
	var texts map[string]string
	keep := func(path string) {
		if len(texts) >= maxScripts || !within(view.Workspace, path) {
			return
		}
		if _, known := texts[path]; known {
			return
		}
		if text, ok := scriptText(view.Workspace, path); ok {
			if texts == nil {
				texts = map[string]string{}
			}
			texts[path] = text
		}
	}
	words := strings.FieldsFunc(action.Input, func(r rune) bool { return strings.ContainsRune(" \t\r\n;|&()<>'\"`", r) })
	for n, word := range words[:min(len(words), maxWords)] {
		for _, name := range recipes[filepath.Base(word)] {
			keep(filepath.Join(action.Dir, name))
		}
		if scriptEndings[strings.ToLower(filepath.Ext(word))] || strings.HasPrefix(word, "./") || n > 0 && runsFile(words[n-1]) {
			path := word
			if !filepath.IsAbs(path) {
				path = filepath.Join(action.Dir, path)
			}
			keep(filepath.Clean(path))
		}
	}
	return texts
}

// runsFile reports whether a program runs the file named behind it.
func runsFile(word string) bool {
	switch filepath.Base(word) {
	case "sh", "bash", "zsh", "dash", "ksh", "source", ".", "python", "python3", "node", "-f", "--file":
		return true
	}
	return false
}

// within reports whether a path lies below a directory, as spelled.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// scriptText reads one file, if it is a regular one of at most maxScript bytes that really lies in the workspace, whatever
// links lead to it.
func scriptText(workspace, path string) (string, bool) {
	rel, err := filepath.Rel(workspace, path)
	if err != nil {
		return "", false
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return "", false
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxScript {
		return "", false
	}
	file, err := root.Open(rel)
	if err != nil {
		return "", false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxScript+1))
	if err != nil || len(text) > maxScript || strings.IndexByte(string(text), 0) >= 0 {
		return "", false
	}
	return string(text), true
}
