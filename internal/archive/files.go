package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"interlock/internal/fileio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"interlock"
)

// Bounds of what is read.
const (
	maxFile     = 64 << 20 // bytes of a file that is read whole
	maxLine     = 24 << 20 // bytes of a line of a packed file
	maxUnpacked = 2 << 30  // bytes of a packed file's text
)

// A directory is where an archive is written. It remembers which directories are to be synced.
type directory struct {
	path  string
	dirty map[string]bool
}

func newDirectory(path string) (*directory, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--to", "the directory can't be made: %s", fileio.Reason(err))
	}
	return &directory{path: path, dirty: map[string]bool{path: true}}, nil
}

// put writes a file whole, synced, under its name or not at all.
func (d *directory) put(name string, data []byte) error {
	path := filepath.Join(d.path, filepath.FromSlash(name))
	dir := filepath.Dir(path)
	if !d.dirty[dir] {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return d.failed(name, err)
		}
		for up := dir; !d.dirty[up] && len(up) > len(d.path); up = filepath.Dir(up) {
			d.dirty[up] = true
		}
	}
	temporary, err := os.CreateTemp(dir, ".writing-*") // CreateTemp gives mode 0600
	if err != nil {
		return d.failed(name, err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err == nil {
		err = temporary.Sync()
	}
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return d.failed(name, err)
	}
	return nil
}

// keep is put for a file that must be the same if it is there already.
func (d *directory) keep(name string, data []byte) error {
	have, err := read(d.path, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.put(name, data)
	case err != nil:
		return d.failed(name, err)
	case !bytes.Equal(have, data):
		return interlock.Errorf(interlock.CodeConflict, "--to", "%s is there already and holds something else", name)
	}
	return nil
}

// sync makes the names durable.
func (d *directory) sync() error {
	if runtime.GOOS == "windows" {
		return nil // a directory can't be synced there; its names are with its files
	}
	for dir := range d.dirty { // any order: all of them
		f, err := fileio.OpenDir(dir)
		if err == nil {
			err = f.Sync()
			if closed := f.Close(); err == nil {
				err = closed
			}
		}
		if err != nil {
			return d.failed("the directory", err)
		}
	}
	return nil
}

func (d *directory) failed(name string, err error) error {
	return interlock.Errorf(interlock.CodeUnavailable, "--to", "%s can't be written: %s", name, fileio.Reason(err))
}

// opening opens a file of an archive: a plain one in its directory. An archive may come from anywhere, and what is a link, a pipe or a
// device there is none that was archived.
func opening(dir, name string) (*os.File, error) {
	path := filepath.FromSlash(name)
	if !filepath.IsLocal(path) {
		return nil, fs.ErrInvalid
	}
	path = filepath.Join(dir, path)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	return fileio.Open(path)
}

// read reads a file of an archive whole.
func read(dir, name string) ([]byte, error) {
	f, err := opening(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return fileio.All(f, maxFile)
}

// fileDigest is the digest of a file of whatever length.
func fileDigest(dir, name string) (string, error) {
	f, err := opening(dir, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// A line is one line of a packed file: a blob, what a decision was made from, or a signed head.
type line struct {
	Blob       interlock.Digest `json:"blob,omitempty"`
	Index      *int64           `json:"index,omitempty"`
	Checkpoint string           `json:"checkpoint,omitempty"`
	Text       []byte           `json:"text,omitempty"`
}

// A packer collects lines.
type packer struct {
	out   bytes.Buffer
	zip   *gzip.Writer
	lines int
}

func (p *packer) add(l line) error {
	if p.zip == nil {
		p.zip = gzip.NewWriter(&p.out)
	}
	text, err := json.Marshal(l)
	if err == nil {
		_, err = p.zip.Write(append(text, '\n'))
	}
	p.lines++
	return err
}

// file returns the packed lines, nothing where there are none, and starts over.
func (p *packer) file() ([]byte, error) {
	if p.lines == 0 {
		return nil, nil
	}
	if err := p.zip.Close(); err != nil {
		return nil, err
	}
	data := bytes.Clone(p.out.Bytes())
	p.out.Reset()
	p.zip.Reset(&p.out)
	p.lines = 0
	return data, nil
}

// unpack calls visit for each line of a packed file. Its text is bounded as a whole: what it is packed from need not be what was
// archived, and it is held in memory.
func unpack(dir, name string, visit func(line) error) error {
	f, err := opening(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	bounded := &io.LimitedReader{R: zip, N: maxUnpacked + 1}
	scanner := bufio.NewScanner(bounded)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return errors.New("a line of it can't be read")
		}
		if err := visit(l); err != nil {
			return err
		}
	}
	if bounded.N <= 0 {
		return fmt.Errorf("it is longer than %d bytes", maxUnpacked)
	}
	return scanner.Err()
}
