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
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"interlock"
)

// Bounds of what is read.
const (
	maxFile = 64 << 20 // bytes of a file that is read whole
	maxLine = 24 << 20 // bytes of a line of a packed file
)

// A directory is where an archive is written. It remembers which directories are to be synced.
type directory struct {
	path  string
	dirty map[string]bool
}

func newDirectory(path string) (*directory, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--to", "the directory can't be made: %s", reason(err))
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
		f, err := os.Open(dir)
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
	return interlock.Errorf(interlock.CodeUnavailable, "--to", "%s can't be written: %s", name, reason(err))
}

// read reads a file of an archive whole.
func read(dir, name string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, fs.ErrInvalid
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return data, err
}

// fileDigest is the digest of a file of whatever length.
func fileDigest(dir, name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fs.ErrInvalid
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
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

// file returns the packed lines, nothing where there are none, and begins anew.
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

// unpack calls visit for each line of a packed file.
func unpack(dir, name string, visit func(line) error) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fs.ErrInvalid
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	scanner := bufio.NewScanner(zip)
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
	return scanner.Err()
}

// reason names a file error without the path.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err.Error()
	}
	return err.Error()
}
