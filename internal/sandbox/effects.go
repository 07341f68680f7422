package sandbox

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"

	"interlock"
)

// A difference is what a run wrote over a workspace: upper holds what it made and changed, in the form of an overlay file
// system, lower is the workspace. Nothing of either is trusted: links are never followed out of them.
type difference struct {
	upper, lower *os.Root
	patterns     []string

	found   []interlock.Effect
	left    int // entries that may still be looked at
	text    int // bytes of unified differences that may still be shown
	partial bool
}

// The bounds of what is looked at and shown.
const (
	maxEffects  = 20_000
	maxDiffs    = 64 << 10 // bytes of all differences
	maxDiffFile = 64 << 10 // bytes of one side
)

// effects lists what was written, by path.
func (d *difference) effects() ([]interlock.Effect, bool, error) {
	d.left, d.text = maxEffects, maxDiffs
	err := d.walk(".", false)
	sort.Slice(d.found, func(i, j int) bool { return d.found[i].Path < d.found[j].Path })
	return d.found, d.partial, err
}

// walk looks at one directory of upper. covered says that nothing of the workspace shows through here.
func (d *difference) walk(dir string, covered bool) error {
	entries, err := readDir(d.upper, dir)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, entry := range entries {
		if d.left--; d.left < 0 {
			d.partial = true
			return nil
		}
		name := path.Join(dir, entry.Name())
		names[entry.Name()] = true
		info, err := d.upper.Lstat(name)
		if err != nil {
			return err
		}
		if err := d.entry(name, info, covered); err != nil {
			return err
		}
	}
	if covered {
		return d.deletedBelow(dir, names)
	}
	return nil
}

// entry tells what became of one path.
func (d *difference) entry(name string, info fs.FileInfo, covered bool) error {
	before, err := d.lower.Lstat(name)
	if err != nil {
		before = nil
	}
	if isWhiteout(info) {
		if before != nil {
			d.add(name, interlock.EffectDeleted, before, nil)
		}
		return nil
	}
	switch {
	case before == nil:
		d.add(name, interlock.EffectAdded, nil, info)
	case before.IsDir() != info.IsDir():
		d.add(name, interlock.EffectDeleted, before, nil)
		d.add(name, interlock.EffectAdded, nil, info)
	case !info.IsDir() && !d.same(name, before, info):
		d.add(name, interlock.EffectModified, before, info)
	}
	if info.IsDir() {
		return d.walk(name, covered || before == nil || !before.IsDir() || isOpaque(d.upper, name))
	}
	return nil
}

// deletedBelow tells what of the workspace is covered and was not made again.
func (d *difference) deletedBelow(dir string, names map[string]bool) error {
	entries, err := readDir(d.lower, dir)
	if errors.Is(err, fs.ErrNotExist) || err != nil && !isDirectory(d.lower, dir) {
		return nil
	}
	for _, entry := range entries {
		if names[entry.Name()] {
			continue
		}
		if d.left--; d.left < 0 {
			d.partial = true
			return nil
		}
		name := path.Join(dir, entry.Name())
		if info, err := d.lower.Lstat(name); err == nil {
			d.add(name, interlock.EffectDeleted, info, nil)
		}
	}
	return nil
}

// add notes an effect. after or before is nil where there is nothing.
func (d *difference) add(name, change string, before, after fs.FileInfo) {
	e := interlock.Effect{Path: name, Change: change,
		Startup: isStartup(d.patterns, name, before != nil && before.IsDir() || after != nil && after.IsDir())}
	if before != nil {
		e.Kind, e.Before = kindOf(before.Mode()), sizeOf(before)
	}
	if after != nil {
		e.Kind, e.After = kindOf(after.Mode()), sizeOf(after)
	}
	if e.Kind == "file" && d.text > 0 {
		e.Diff = d.unified(name, change)
		d.text -= len(e.Diff)
	}
	d.found = append(d.found, e)
}

// unified is the difference of two small texts.
func (d *difference) unified(name, change string) string {
	var before, after []byte
	ok := true
	if change != interlock.EffectAdded {
		before, ok = readText(d.lower, name)
	}
	if change != interlock.EffectDeleted && ok {
		after, ok = readText(d.upper, name)
	}
	if !ok {
		return ""
	}
	text := unifiedDiff(before, after)
	if len(text) > d.text {
		return ""
	}
	return text
}

// same reports whether a file that was opened for writing holds what it held.
func (d *difference) same(name string, before, after fs.FileInfo) bool {
	if before.Mode() != after.Mode() || before.Size() != after.Size() {
		return false
	}
	if isLink(before) {
		was, err := d.lower.Readlink(name)
		is, err2 := d.upper.Readlink(name)
		return err == nil && err2 == nil && was == is
	}
	if !before.Mode().IsRegular() {
		return false
	}
	was, err := openFile(d.lower, name)
	if err != nil {
		return false
	}
	defer was.Close()
	is, err := openFile(d.upper, name)
	if err != nil {
		return false
	}
	defer is.Close()
	return equal(was, is)
}

func equal(a, b io.Reader) bool {
	one, two := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		n, err := io.ReadFull(a, one)
		m, err2 := io.ReadFull(b, two)
		if n != m || !bytes.Equal(one[:n], two[:m]) {
			return false
		}
		if err != nil || err2 != nil {
			return (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) &&
				(errors.Is(err2, io.EOF) || errors.Is(err2, io.ErrUnexpectedEOF))
		}
	}
}

// readText reads a small regular file that is text.
func readText(root *os.Root, name string) ([]byte, bool) {
	file, err := openFile(root, name)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxDiffFile+1))
	if err != nil || len(text) > maxDiffFile || bytes.IndexByte(text, 0) >= 0 {
		return nil, false
	}
	return text, true
}

// openFile opens a regular file for reading, without waiting for anybody at the other end of a pipe.
func openFile(root *os.Root, name string) (*os.File, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	dir, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir(-1)
}

func isDirectory(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.IsDir()
}

// keep carries effects over into the workspace: what was deleted first, then what was made, directories before what is in
// them. Start-up files, special files and links that lead out of the workspace stay behind, and are marked so.
func (d *difference) keep(effects []interlock.Effect) error {
	for i := len(effects) - 1; i >= 0; i-- {
		e := &effects[i]
		e.Held = e.Startup || e.Kind == "special" || e.Kind == "link" && e.Change != interlock.EffectDeleted && d.leadsOut(e.Path)
		if e.Change == interlock.EffectDeleted && !e.Held {
			if err := d.lower.RemoveAll(e.Path); err != nil {
				return err
			}
		}
	}
	for i := range effects {
		e := &effects[i]
		if e.Change == interlock.EffectDeleted || e.Held {
			continue
		}
		if err := d.carry(e); err != nil {
			return err
		}
	}
	return nil
}

// carry makes one path of the workspace what it is in the copy.
func (d *difference) carry(e *interlock.Effect) error {
	info, err := d.upper.Lstat(e.Path)
	if err != nil {
		return err
	}
	switch e.Kind {
	case "dir":
		if err := d.lower.Mkdir(e.Path, info.Mode().Perm()); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case "link":
		target, err := d.upper.Readlink(e.Path)
		if err != nil {
			return err
		}
		if err := d.lower.Remove(e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return d.lower.Symlink(target, e.Path)
	}
	from, err := openFile(d.upper, e.Path)
	if err != nil {
		return err
	}
	defer from.Close()
	fresh := e.Path + ".interlock-keeping"
	to, err := d.lower.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	err = errors.Join(err, to.Chmod(info.Mode().Perm()), to.Close())
	if err == nil {
		err = d.lower.Rename(fresh, e.Path)
	}
	if err != nil {
		return errors.Join(err, d.lower.Remove(fresh))
	}
	return nil
}

// leadsOut reports whether a link of the copy would lead out of the workspace, as it is spelled.
func (d *difference) leadsOut(name string) bool {
	target, err := d.upper.Readlink(name)
	if err != nil || path.IsAbs(target) {
		return true
	}
	clean := path.Join(path.Dir(name), target)
	return clean == ".." || strings.HasPrefix(clean, "../")
}
