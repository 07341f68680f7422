package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"interlock/internal/fileio"
)

// A journal remembers how things were before each step of a setup, so that one that fails leaves everything as it was.
type journal struct {
	undo []func() error
	kept []string // second names of files that were kept
}

// did adds how the step that comes next is taken back.
func (j *journal) did(undo func() error) { j.undo = append(j.undo, undo) }

// back takes everything back, the last first. What can't be is said together.
func (j *journal) back() error {
	var failed error
	for _, undo := range slices.Backward(j.undo) {
		failed = errors.Join(failed, undo())
	}
	j.undo = nil
	return failed
}

// keep remembers a file, or that there is none, and which of the directories it lies in are missing.
func (j *journal) keep(path string) error {
	missing := missingDirs(filepath.Dir(path))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		j.did(func() error { return errors.Join(unlessMissing(os.Remove(path)), removeEmpty(missing)) })
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("is a directory")}
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	// A second name keeps the very file, whatever takes its place, and needs no room on a full disk. It goes when all is done.
	aside := path + ".interlock-before"
	_ = os.Remove(aside) // of a setup that was killed
	if err := os.Link(path, aside); err != nil {
		return copyAside(j, path, info)
	}
	j.kept = append(j.kept, aside)
	j.did(func() error {
		// Where the file is still the very one, renaming does nothing and leaves both names.
		return errors.Join(os.Rename(aside, path), unlessMissing(os.Remove(aside)))
	})
	return nil
}

// copyAside keeps a file's content where it can't have a second name.
func copyAside(j *journal, path string, info fs.FileInfo) error {
	data, err := fileio.Plain(path, maxProgram)
	if err != nil {
		return err
	}
	j.did(func() error { return os.WriteFile(path, data, info.Mode().Perm()) })
	return nil
}

// done forgets how things were.
func (j *journal) done() {
	for _, aside := range j.kept {
		_ = os.Remove(aside) // a second name too many harms nobody
	}
	j.undo, j.kept = nil, nil
}

// keepDir remembers what lies in a directory, or that there is none. What is added is removed; what was there is not looked at.
func (j *journal) keepDir(dir string) error {
	missing := missingDirs(dir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		j.did(func() error { return errors.Join(os.RemoveAll(dir), removeEmpty(missing)) })
		return nil
	}
	if err != nil {
		return err
	}
	j.did(func() error {
		now, err := os.ReadDir(dir)
		for _, e := range now {
			if !slices.ContainsFunc(entries, func(old fs.DirEntry) bool { return old.Name() == e.Name() }) {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
		return err
	})
	return nil
}

// missingDirs are a directory and those above it that do not exist, the deepest first.
func missingDirs(dir string) []string {
	var missing []string
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			return missing
		}
		missing = append(missing, dir)
		dir = filepath.Dir(dir)
	}
}

// removeEmpty removes directories that nobody has put anything into.
func removeEmpty(dirs []string) error {
	for _, dir := range dirs {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 {
			if err := os.Remove(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// unlessMissing is an error but for one about what is not there.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// unhurried is a context for what has to be finished although the command was interrupted.
func (p *program) unhurried() context.Context { return context.WithoutCancel(p.ctx) }
