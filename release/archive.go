package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A file is one that is handed out. Equal ones make equal archives, in whatever order they were found.
type file struct {
	name string // with slashes
	data []byte
	mode fs.FileMode
}

// collected reads the files below a directory, under a prefix.
func collected(dir, prefix string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, file{prefix + filepath.ToSlash(name), data, 0o644})
		return err
	})
	return files, err
}

// contents are what an archive holds for one system.
func (r *release) contents(b built, work string) ([]file, error) {
	var files []file
	for _, name := range programs() {
		data, err := os.ReadFile(filepath.Join(b.dir, b.exe(name)))
		if err != nil {
			return nil, err
		}
		files = append(files, file{b.exe(name), data, 0o755})
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "SECURITY.md"} {
		data, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, data, 0o644})
	}
	share, err := collected(filepath.Join(work, "share"), "")
	return append(files, share...), err
}

// archives packs one archive for each system: zip for Windows, tar.gz for the others.
func (r *release) archives(work string) error {
	for _, b := range r.built {
		files, err := r.contents(b, work)
		if err != nil {
			return err
		}
		name := "interlock_" + r.version + "_" + b.os + "_" + b.arch
		for i := range files {
			files[i].name = name + "/" + files[i].name
		}
		var packed []byte
		if b.os == "windows" {
			packed, err = zipped(files, r.time)
			name += ".zip"
		} else {
			packed, err = tarred(files, r.time)
			name += ".tar.gz"
		}
		if err == nil {
			err = write(filepath.Join(r.out, name), packed, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tarred packs files, all of one date and of nobody, behind the directories they lie in.
func tarred(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	header := func(name string, kind byte, mode fs.FileMode, size int) error {
		return t.WriteHeader(&tar.Header{Typeflag: kind, Name: name, Mode: int64(mode), Size: int64(size), ModTime: at,
			Format: tar.FormatUSTAR})
	}
	made := map[string]bool{"./": true}
	for _, f := range sorted(files) {
		for at := 0; ; {
			next := strings.IndexByte(f.name[at:], '/')
			if next < 0 {
				break
			}
			if at += next + 1; !made[f.name[:at]] {
				made[f.name[:at]] = true
				if err := header(f.name[:at], tar.TypeDir, 0o755, 0); err != nil {
					return nil, err
				}
			}
		}
		if err := header(f.name, tar.TypeReg, f.mode, len(f.data)); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func sorted(files []file) []file {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files
}

func zipped(files []file, at time.Time) ([]byte, error) {
	if at.Year() < 1980 { // before which a zip knows no dates
		at = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.DefaultCompression)
	})
	for _, f := range sorted(files) {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode)
		w, err := z.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// gzipped is a text made small, without a name or a date.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
