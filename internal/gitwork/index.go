package gitwork

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"interlock/internal/fileio"
)

// A repository is what is read of one: its index, and whether that is what the last commit holds.
type repository struct {
	root      string
	written   time.Time // when the index was; a file that changed since, or at that moment, is compared by what it holds
	entries   []entry   // by path
	committed bool
	ignores   map[string][]ignore // by directory, relative to the root
	exclude   []ignore
}

// An entry is a tracked file.
type entry struct {
	path           string
	mode           uint32
	size           uint32
	seconds, nanos uint32
	sum            [20]byte
}

// open reads a repository; nil where anything about it is not understood.
func open(root string, folder bool) *repository {
	dir := filepath.Join(root, ".git")
	if !folder {
		text, err := read(dir, 4096)
		target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
		if err != nil || !ok {
			return nil
		}
		if dir = strings.TrimSpace(target); !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		if elsewhere(dir) {
			return nil
		}
	}
	common := dir
	if text, err := read(filepath.Join(dir, "commondir"), 4096); err == nil {
		if common = strings.TrimSpace(string(text)); !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		if elsewhere(common) {
			return nil
		}
	}
	settings, err := read(filepath.Join(common, "config"), 1<<20)
	low := strings.NewReplacer(" ", "", "\t", "").Replace(strings.ToLower(string(settings)))
	if err != nil || strings.Contains(low, "objectformat") || strings.Contains(low, "\nworktree=") ||
		strings.Contains(low, "autocrlf=true") {
		return nil
	}
	repo := &repository{root: root, ignores: map[string][]ignore{}}
	if text, err := read(filepath.Join(common, "info", "exclude"), maxIgnore); err == nil {
		repo.exclude = ignoresOf("", string(text))
	}
	name := filepath.Join(dir, "index")
	info, err := os.Lstat(name)
	if os.IsNotExist(err) { // nothing was added yet
		return repo
	}
	data, err := read(name, maxIndex)
	if err != nil {
		return nil
	}
	repo.written = info.ModTime()
	tree, ok := repo.parse(data)
	if !ok {
		return nil
	}
	repo.committed = tree != "" && tree == headTree(dir, common)
	return repo
}

// parse reads an index of version 2, 3 or 4, and returns the id of the tree it represents where it says one.
func (r *repository) parse(data []byte) (tree string, ok bool) {
	if len(data) < 12+20 || string(data[:4]) != "DIRC" {
		return "", false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), int(binary.BigEndian.Uint32(data[8:]))
	if version < 2 || version > 4 || count < 0 || count > len(data)/62 {
		return "", false
	}
	rest, path := data[12:len(data)-20], ""
	r.entries = make([]entry, 0, count)
	for range count {
		var e entry
		if e, rest, ok = nextEntry(rest, version, path); !ok {
			return "", false
		}
		path = e.path
		r.entries = append(r.entries, e)
	}
	for len(rest) >= 8 {
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if size < 0 || size > len(rest)-8 {
			return "", false
		}
		switch name := string(rest[:4]); {
		case name == "TREE":
			tree = treeOf(rest[8 : 8+size])
		case name[0] >= 'a' && name[0] <= 'z': // one without which the rest is not understood: a split or sparse index
			return "", false
		}
		rest = rest[8+size:]
	}
	return tree, true
}

// nextEntry cuts one entry off; before is the path of the last.
func nextEntry(data []byte, version uint32, before string) (e entry, rest []byte, ok bool) {
	if len(data) < 63 {
		return e, nil, false
	}
	word := func(at int) uint32 { return binary.BigEndian.Uint32(data[at:]) }
	e.seconds, e.nanos, e.mode, e.size = word(8), word(12), word(24), word(36)
	copy(e.sum[:], data[40:60])
	flags, at := binary.BigEndian.Uint16(data[60:]), 62
	if flags&0x4000 != 0 {
		at += 2
	}
	if e.mode&0o170000 == 0o040000 { // a folder of a sparse index
		return e, nil, false
	}
	if version == 4 {
		strip := 0
		for n := 0; ; n++ {
			if at >= len(data) || n > 4 {
				return e, nil, false
			}
			b := data[at]
			at++
			strip = strip<<7 | int(b&0x7f)
			if b&0x80 == 0 {
				break
			}
			strip++
		}
		if strip > len(before) {
			return e, nil, false
		}
		before = before[:len(before)-strip]
	} else {
		before = ""
	}
	if at > len(data) {
		return e, nil, false
	}
	end := bytes.IndexByte(data[at:], 0)
	if end < 0 || end > 4096 {
		return e, nil, false
	}
	e.path = before + string(data[at:at+end])
	at += end + 1
	if version != 4 {
		at = (at + 7) &^ 7
		if at > len(data) {
			return e, nil, false
		}
	}
	return e, data[at:], true
}

// treeOf returns the id of the tree that the index represents, "" where it was changed since the tree was written.
func treeOf(cache []byte) string {
	head, rest, ok := bytes.Cut(cache, []byte("\n"))
	if !ok || len(head) < 2 || head[0] != 0 || head[1] == '-' || len(rest) < 20 {
		return ""
	}
	return fmt.Sprintf("%x", rest[:20])
}

// below returns the entries at or below a path.
func (r *repository) below(rel string) (out []*entry) {
	from := 0
	if rel != "." {
		from = sort.Search(len(r.entries), func(i int) bool { return r.entries[i].path >= rel })
	}
	for i := from; i < len(r.entries); i++ {
		switch path := r.entries[i].path; {
		case rel == "." || path == rel || strings.HasPrefix(path, rel+"/"):
			out = append(out, &r.entries[i])
		case path > rel+"0": // the letter after the slash
			return out
		}
	}
	return out
}

// read returns a small regular file.
func read(name string, most int64) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, os.ErrInvalid
	}
	return fileio.Plain(name, most) // what has taken its place since is looked at once more
}

// blob is the id under which git stores a file, or where a link leads.
func blob(name string, link bool, size int64) (sum [20]byte, err error) {
	hash := sha1.New()
	fmt.Fprintf(hash, "blob %d\x00", size)
	if link {
		target, err := os.Readlink(name)
		if err != nil {
			return sum, err
		}
		io.WriteString(hash, filepath.ToSlash(target))
		return [20]byte(hash.Sum(nil)), nil
	}
	file, err := fileio.Open(name)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	if n, err := io.Copy(hash, io.LimitReader(file, size)); err != nil || n != size {
		return sum, os.ErrInvalid
	}
	return [20]byte(hash.Sum(nil)), nil
}
