package embedded

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"time"

	"interlock"
	"interlock/internal/fileio"
)

// Bounds of what is read at once for one action. A script that is longer, or one of more, stays a program nobody has looked into.
const (
	maxScripts = 16
	maxScript  = 64 << 10  // bytes of one
	maxTexts   = 512 << 10 // bytes of all
	maxReading = 100 * time.Millisecond
	maxEntries = 256 // of a directory that a pattern names files in
)

// ReadScripts returns the texts of those of the named files that are regular ones within the bounds: what the analysis has
// asked for, because the action would run it. The text of a program for the machine is empty. A link out of the
// workspace is not followed, so that what is named is what is read. What changes between the decision and the run was
// not judged.
func ReadScripts(view interlock.View, names []string) map[string]string {
	var texts map[string]string
	begun, total, files := time.Now(), 0, 0
	for _, name := range names {
		if elsewhere(view.Workspace, name) {
			continue
		}
		for _, path := range meant(name) {
			if files >= maxScripts || total >= maxTexts || time.Since(begun) > maxReading {
				return texts
			}
			files++
			text, ok := scriptText(view.Workspace, path)
			if !ok {
				continue
			}
			if texts == nil {
				texts = map[string]string{}
			}
			texts[path] = text
			total += len(text)
		}
	}
	return texts
}

// meant is the path a name is, or those that a pattern in its last part names.
func meant(name string) []string {
	dir, pattern := filepath.Split(name)
	if !strings.ContainsAny(name, "*?[") {
		return []string{name}
	}
	if strings.ContainsAny(dir, "*?[") {
		return nil
	}
	folder, err := fileio.OpenDir(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, _ := folder.Readdirnames(maxEntries + 1)
	if len(entries) > maxEntries {
		return nil // which of them come first shows only when all are known
	}
	sort.Strings(entries)
	var paths []string
	for _, entry := range entries {
		if ok, err := filepath.Match(pattern, entry); err == nil && ok {
			paths = append(paths, dir+entry)
		}
	}
	return paths
}

// elsewhere reports whether a path names another machine than the workspace is on. Merely opening it would have this
// one greet it.
func elsewhere(workspace, path string) bool {
	volume := filepath.ToSlash(filepath.VolumeName(path))
	return strings.HasPrefix(volume, "//") && !strings.EqualFold(volume, filepath.ToSlash(filepath.VolumeName(workspace)))
}

// within reports whether a path lies below a directory, as spelled.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// scriptText reads one file, if it is a regular one of at most maxScript bytes. In the workspace it must really lie there,
// whatever links lead to it; elsewhere its last part must be no link.
func scriptText(workspace, path string) (string, bool) {
	file, err := openScript(workspace, path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return "", false
	}
	if info.Size() > maxScript {
		begin := make([]byte, 64)
		n, _ := io.ReadFull(file, begin)
		return "", compiled(begin[:n])
	}
	text, err := io.ReadAll(io.LimitReader(file, maxScript+1))
	switch {
	case err != nil || len(text) > maxScript:
		return "", false
	case bytes.IndexByte(text, 0) >= 0:
		return "", compiled(text)
	}
	return string(text), true
}

// compiled reports whether a file begins as a program for the machine does, which has no text: the project's own tools made it.
func compiled(begin []byte) bool {
	if len(begin) < 64 || bytes.IndexByte(begin[:64], 0) < 0 {
		return false
	}
	switch runtime.GOOS {
	case "windows":
		return bytes.HasPrefix(begin, []byte("MZ"))
	case "darwin":
		return bytes.HasPrefix(begin, []byte("\xcf\xfa\xed\xfe")) || bytes.HasPrefix(begin, []byte("\xca\xfe\xba\xbe"))
	}
	return bytes.HasPrefix(begin, []byte("\x7fELF")) && begin[4]-1 < 2 && begin[5]-1 < 2 && begin[6] == 1
}

// openScript opens a file so that neither a pipe nor a device makes it wait.
func openScript(workspace, path string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if workspace != "" && within(workspace, path) {
		root, err := os.OpenRoot(workspace)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		rel, err := filepath.Rel(workspace, path)
		if err != nil {
			return nil, err
		}
		return root.OpenFile(rel, flags, 0)
	}
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	return os.OpenFile(path, flags, 0)
}
