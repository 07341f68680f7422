package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"interlock/internal/fileio"

	"github.com/tailscale/hujson"
)

// A Plan is a change to one settings file that has not been made.
type Plan struct {
	Path   string
	Before []byte // nil: there is no file
	After  []byte // nil: the file goes
}

// Changes reports whether the plan does anything.
func (p Plan) Changes() bool {
	return (p.Before == nil) != (p.After == nil) || !bytes.Equal(p.Before, p.After)
}

// Install plans the registration of the hook.
func (h Harness) Install(place Place, command func(event string) Command) (Plan, error) {
	p, err := h.plan(place)
	if err != nil {
		return p, err
	}
	if p.After, err = h.install(p.Before, place.GOOS, command); err != nil {
		return p, about(p.Path, err)
	}
	return p, nil
}

// Uninstall plans the removal of the hook. If the file is exactly what installing made of its newest backup, that backup
// comes back byte for byte.
func (h Harness) Uninstall(place Place, binary string) (Plan, error) {
	p, err := h.plan(place)
	if err != nil || p.Before == nil {
		return p, err
	}
	if p.After, err = h.remove(p.Before, binary); err != nil {
		return p, about(p.Path, err)
	}
	if p, _, err = h.WithoutTelemetry(p); err != nil {
		return p, err
	}
	if original, ok := h.original(p, binary); ok && h.owned == nil {
		p.After = original
	}
	return p, nil
}

// original looks for a backup from which taking our registrations out of the file leads back to the same settings.
func (h Harness) original(p Plan, binary string) ([]byte, bool) {
	backups := backupsOf(p.Path)
	if len(backups) == 0 {
		return nil, false
	}
	after := p.After
	if after == nil {
		after = []byte("{}")
	}
	backup, err := fileio.Plain(backups[len(backups)-1], maxFile)
	if err != nil {
		return nil, false
	}
	stripped, err := h.remove(backup, binary)
	if err != nil || !bytes.Equal(stripped, backup) {
		return nil, false // the backup held a registration itself
	}
	if h.sameText(after, backup) {
		return backup, true
	}
	return nil, false
}

// sameText compares two files but for the white space between tokens, empty registrations and the format version that
// installing adds, which is all that taking registrations out may leave behind. Comments and the insides of strings count.
func (h Harness) sameText(a, b []byte) bool {
	x, errX := h.squeezed(a)
	y, errY := h.squeezed(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func (h Harness) squeezed(text []byte) ([]byte, error) {
	d, err := read(text)
	if err != nil {
		return nil, err
	}
	if hooks, err := d.hooks(); err != nil {
		return nil, err
	} else if hooks != nil {
		for i := len(hooks.Members) - 1; i >= 0; i-- {
			if list, ok := hooks.Members[i].Value.Value.(*hujson.Array); ok && len(list.Elements) == 0 &&
				!commented(list.AfterExtra) {
				hooks.Members = without(hooks.Members, i, &hooks.AfterExtra, memberStart, memberEnd)
			}
		}
		if len(hooks.Members) == 0 && !commented(hooks.AfterExtra) {
			d.drop("hooks")
		}
	}
	if h.version {
		d.drop("version")
	}
	for v := range d.tree.All() {
		squeeze(&v.BeforeExtra)
		squeeze(&v.AfterExtra)
		switch c := v.Value.(type) {
		case *hujson.Object:
			squeeze(&c.AfterExtra)
		case *hujson.Array:
			squeeze(&c.AfterExtra)
		}
	}
	return d.tree.Pack(), nil
}

func squeeze(extra *hujson.Extra) {
	if !commented(*extra) {
		*extra = nil // also forgets a trailing comma
		return
	}
	*extra = bytes.TrimSpace(*extra)
}

func (h Harness) plan(place Place) (Plan, error) { return planFor(h.Settings(place)) }

// planFor begins a plan for a file, as it is now.
func planFor(path string) (Plan, error) {
	p := Plan{Path: path}
	data, err := fileio.Plain(p.Path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return p, about(p.Path, errors.New("can't be read: "+fileio.Reason(err)))
	}
	p.Before = data
	if data == nil {
		p.Before = []byte{}
	}
	return p, nil
}

// Apply makes the change: the file as it is goes into a backup beside it, the new one replaces it in one step. It returns
// the backup's path, empty where there was nothing to keep.
func (p Plan) Apply(now time.Time) (backup string, err error) {
	path, like, err := p.unchanged()
	if err != nil {
		return "", err
	}
	if p.Before != nil {
		backup = backupName(p.Path, now)
		if err := create(backup, p.Before, like); err != nil {
			return "", about(p.Path, errors.New("can't be backed up: "+fileio.Reason(err)))
		}
	}
	return backup, p.put(path, like)
}

// Replace makes the change without a backup: for files that hold secrets, so that no copy of them lies about.
func (p Plan) Replace() error {
	path, like, err := p.unchanged()
	if err != nil {
		return err
	}
	return p.put(path, like)
}

// unchanged returns the file the plan is about, links followed, and what it is like, if it is still as it was; nil: there is none.
func (p Plan) unchanged() (path string, like fs.FileInfo, err error) {
	if path, err = resolved(p.Path); err != nil {
		return "", nil, about(p.Path, err)
	}
	changed := about(p.Path, errors.New("changed meanwhile; run the command again"))
	if p.Before == nil {
		if exists(path) {
			return "", nil, changed
		}
		return path, nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, changed
	}
	if have, err := fileio.Plain(path, maxFile); err != nil || !bytes.Equal(have, p.Before) {
		return "", nil, changed
	}
	return path, info, nil
}

func (p Plan) put(path string, like fs.FileInfo) error {
	if p.After == nil {
		if err := os.Remove(path); err != nil {
			return about(p.Path, errors.New("can't be removed: "+fileio.Reason(err)))
		}
		return nil
	}
	return replace(path, p.After, like)
}

// replace writes a file whole or not at all, with mode and owner of the one it replaces: setting up another user's harness as
// root must not take the settings away from it. One that is new is its owner's alone, and belongs to whom the directory belongs.
func replace(path string, content []byte, like fs.FileInfo) error {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return about(path, errors.New("can't be created: "+fileio.Reason(err)))
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".interlock-*") // of mode 0600
	if err != nil {
		return about(path, errors.New("can't be written: "+fileio.Reason(err)))
	}
	defer os.Remove(temporary.Name())
	if err = fill(temporary, content, like); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return about(path, errors.New("can't be written: "+fileio.Reason(err)))
	}
	return nil
}

// create makes a file that must not be there, not even as a link that somebody has put in its way.
func create(path string, content []byte, like fs.FileInfo) error {
	made, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return fill(made, content, like)
}

// fill writes a new file and closes it. Its owner comes before its mode, which a change of owner may take away.
func fill(f *os.File, content []byte, like fs.FileInfo) error {
	_, err := f.Write(content)
	mode := fs.FileMode(0o600)
	if like != nil {
		mode = like.Mode().Perm()
	} else if err == nil {
		like, err = os.Stat(filepath.Dir(f.Name()))
	}
	if err == nil {
		err = fileio.Chown(f, like)
	}
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// makeDir makes a directory and those it lies in, for its owner alone: the one whose directory it is made in.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return os.MkdirAll(dir, 0o700)
	}
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
			return nil // somebody else was faster
		}
		return err
	}
	like, err := os.Stat(parent)
	if err != nil {
		return err
	}
	return fileio.ChownAt(dir, like)
}

// resolved follows links, so that settings kept in another place and linked to stay linked.
func resolved(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Lstat(path); linkErr == nil {
			return "", errors.New("is a link to nothing")
		}
		return path, nil
	}
	if err != nil {
		return "", errors.New("can't be resolved: " + fileio.Reason(err))
	}
	return target, nil
}

const backupMark = ".interlock-backup-"

// backupName is a name no earlier backup has; names sort by time.
func backupName(path string, now time.Time) string {
	stem := path + backupMark + now.UTC().Format("20060102T150405Z")
	name := stem
	for n := 2; exists(name); n++ {
		name = fmt.Sprintf("%s-%03d", stem, n)
	}
	return name
}

// backupsOf lists the backups of a file, oldest first.
func backupsOf(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if prefix := filepath.Base(path) + backupMark; len(e.Name()) > len(prefix) && e.Name()[:len(prefix)] == prefix {
			names = append(names, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	sort.Strings(names)
	return names
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// about puts the file's path before what is wrong with it.
func about(path string, err error) error { return fmt.Errorf("%s %w", path, err) }
