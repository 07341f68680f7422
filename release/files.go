package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// homepage is where the module is kept, if its path says a host.
func (r *release) homepage() string {
	if !strings.Contains(strings.Split(r.module, "/")[0], ".") {
		return ""
	}
	return "https://" + r.module
}

// origin is where the module is kept, or a name used in place of that.
func (r *release) origin() string { return cmp.Or(r.homepage(), "https://example.com/interlock") }

// downloads is where the files of this version will be.
func (r *release) downloads() string {
	switch {
	case r.site != "":
		return strings.TrimSuffix(r.site, "/")
	case r.homepage() != "":
		return r.homepage() + "/releases/download/v" + r.version
	}
	return "https://downloads.example.com/interlock/v" + r.version
}

// filled is a file of ./files with the version and the like in it.
func (r *release) filled(name string, more map[string]any) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.source, "release", "files", filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	// Other delimiters: charts have their own.
	t, err := template.New(name).Delims("<<", ">>").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	values := map[string]any{"Version": r.version, "Downloads": r.downloads(), "Homepage": r.homepage(), "Summary": summary}
	for key, value := range more {
		values[key] = value
	}
	var out bytes.Buffer
	err = t.Execute(&out, values)
	return out.Bytes(), err
}

// sum is the SHA-256 of a file that was made.
func (r *release) sum(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.out, filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// formula writes what Homebrew installs from, if there is an archive for each system that it is for.
func (r *release) formula(string) error {
	type download struct{ Name, Sum string }
	values := map[string]any{}
	for _, goos := range []string{"darwin", "linux"} {
		for _, arch := range []string{"amd64", "arm64"} {
			name := "interlock_" + r.version + "_" + goos + "_" + arch + ".tar.gz"
			sum, err := r.sum(name)
			if errors.Is(err, fs.ErrNotExist) {
				r.notes = append(r.notes, "Homebrew formula: "+goos+"/"+arch+" was not built")
				return nil
			}
			if err != nil {
				return err
			}
			values[goos+"_"+arch] = download{name, sum}
		}
	}
	text, err := r.filled("interlock.rb", values)
	if err != nil {
		return err
	}
	return write(filepath.Join(r.out, "homebrew", "interlock.rb"), text, 0o644)
}

// files writes what runs the server elsewhere, and the plugin: each a folder, and the chart and the plugin packed as well.
func (r *release) files(string) error {
	root := filepath.Join(r.source, "release", "files")
	for _, name := range []string{"container", "chart", "plugin"} {
		found, err := collected(filepath.Join(root, name), "")
		if err != nil {
			return err
		}
		if name == "container" {
			found = append(found, r.imageFiles()...)
		}
		var files []file
		for _, f := range found {
			if f.mode == 0o644 {
				if f.data, err = r.filled(name+"/"+f.name, nil); err != nil {
					return err
				}
			}
			if strings.HasPrefix(f.name, "bin/") {
				f.mode = 0o755
			}
			if err := write(filepath.Join(r.out, name, filepath.FromSlash(f.name)), f.data, f.mode); err != nil {
				return err
			}
			files = append(files, f)
		}
		if name == "container" {
			continue
		}
		packed := map[string]string{"chart": "interlock", "plugin": "interlock-claude-plugin"}[name]
		for i := range files {
			files[i].name = packed + "/" + files[i].name
		}
		data, err := tarred(files, r.time)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(r.out, packed+"-"+r.version+".tgz"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// imageFiles are the programs as the container file takes them in, by architecture.
func (r *release) imageFiles() []file {
	var files []file
	for _, b := range r.built {
		if b.os != "linux" {
			continue
		}
		for _, name := range programs() {
			if data, err := os.ReadFile(filepath.Join(b.dir, name)); err == nil {
				files = append(files, file{"linux/" + b.arch + "/" + name, data, 0o755})
			}
		}
	}
	return files
}

// checksums writes the SHA-256 of everything that was made, in the form that sha256sum checks.
func (r *release) checksums(string) error {
	var names []string
	err := filepath.WalkDir(r.out, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == sumsFile {
			return err
		}
		name, err := filepath.Rel(r.out, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, name)
	}
	return write(filepath.Join(r.out, sumsFile), []byte(b.String()), 0o644)
}
