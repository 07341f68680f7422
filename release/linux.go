package main

import (
	"bytes"
	"crypto/md5" // which is what dpkg's list of sums holds; the checksums that count are in checksums.txt
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// description is what packages say of Interlock.
const (
	summary     = "safety interlock between an AI agent's intent and the world"
	description = "Judges what AI agents are about to do (commands, edits, queries, requests, tool calls), stops what is\n" +
		"catastrophic, asks a person about what is risky, and records everything in a tamper-evident log. `interlock setup` sets it up."
	maintainer = "The Interlock Authors <interlock@localhost>"
)

// installed are the files of a package for Linux, where they go.
func (r *release) installed(b built, work string) ([]file, error) {
	var files []file
	for _, name := range programs() {
		data, err := os.ReadFile(filepath.Join(b.dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"usr/bin/" + name, data, 0o755})
	}
	copyright := ""
	for _, name := range []string{"NOTICE", "LICENSE"} {
		data, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return nil, err
		}
		copyright += string(data) + "\n"
	}
	files = append(files, file{"usr/share/doc/interlock/copyright", []byte(copyright), 0o644})
	changes, err := os.ReadFile(filepath.Join(r.source, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	share, err := collected(filepath.Join(work, "share"), "")
	if err != nil {
		return nil, err
	}
	small := []file{{"usr/share/doc/interlock/changelog.gz", changes, 0o644}}
	for _, f := range share {
		switch dir, name := filepath.Split(f.name); {
		case dir == "man/":
			small = append(small, file{"usr/share/man/man1/" + name + ".gz", f.data, 0o644})
		case name == "interlock.bash":
			files = append(files, file{"usr/share/bash-completion/completions/interlock", f.data, 0o644})
		case name == "_interlock":
			files = append(files, file{"usr/share/zsh/vendor-completions/_interlock", f.data, 0o644})
		case name == "interlock.fish":
			files = append(files, file{"usr/share/fish/vendor_completions.d/interlock.fish", f.data, 0o644})
		}
	}
	for _, f := range small {
		if f.data, err = gzipped(f.data); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// tilde is a version as packages sort it: what comes before a release is less than it.
func (r *release) tilde() string { return strings.Replace(r.version, "-", "~", 1) }

// debs makes a package for Debian and its kin for each architecture of Linux: an ar of two tars.
func (r *release) debs(work string) error {
	for _, b := range r.built {
		if b.os != "linux" {
			continue
		}
		files, err := r.installed(b, work)
		if err != nil {
			return err
		}
		size := 0
		sums := ""
		for _, f := range sorted(files) {
			size += len(f.data)
			sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.name)
		}
		control := fmt.Sprintf("Package: interlock\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\n"+
			"Section: utils\nPriority: optional\nRecommends: bubblewrap\nDescription: %s\n %s\n", r.tilde(), b.arch, maintainer, size/1024,
			summary, strings.ReplaceAll(description, "\n", "\n "))
		head, err := tarred([]file{{"./control", []byte(control), 0o644}, {"./md5sums", []byte(sums), 0o644}}, r.time)
		if err != nil {
			return err
		}
		for i := range files {
			files[i].name = "./" + files[i].name
		}
		body, err := tarred(files, r.time)
		if err != nil {
			return err
		}
		deb := r.ar([]file{{"debian-binary", []byte("2.0\n"), 0o644}, {"control.tar.gz", head, 0o644}, {"data.tar.gz", body, 0o644}})
		if err := write(filepath.Join(r.out, "interlock_"+r.tilde()+"_"+b.arch+".deb"), deb, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ar is an archive in the form that dpkg reads.
func (r *release) ar(files []file) []byte {
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", f.name, r.time.Unix(), 0, 0, "100644", len(f.data))
		out.Write(f.data)
		if len(f.data)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// nfpm is the program that makes packages of RPM's kind, a format that should not be written twice. It is run and not linked in,
// and pinned by the sums of a module of its own.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm"

// rpms makes a package for Fedora, SUSE and their kin for each architecture of Linux.
func (r *release) rpms(work string) error {
	tool := filepath.Join(work, "tools", "nfpm")
	build := exec.Command("go", "build", "-C", filepath.Join(r.source, "release", "_tools"), "-trimpath", "-o", tool, nfpm)
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		r.notes = append(r.notes, "RPM packages: "+nfpm+" can't be had here: "+lastLine(out))
		return nil
	}
	for _, b := range r.built {
		if b.os != "linux" {
			continue
		}
		files, err := r.installed(b, work)
		if err != nil {
			return err
		}
		root := filepath.Join(work, "rpm", b.arch)
		// Which is removed with the package; the directories of others stay.
		contents := []any{map[string]any{"dst": "/usr/share/doc/interlock", "type": "dir", "file_info": map[string]any{"mode": 0o755,
			"mtime": r.time, "owner": "root", "group": "root"}}}
		for _, f := range sorted(files) {
			// Where zsh looks on Fedora and SUSE; what it looks for elsewhere is Debian's own.
			f.name = strings.Replace(f.name, "/zsh/vendor-completions/", "/zsh/site-functions/", 1)
			path := filepath.Join(root, filepath.FromSlash(f.name))
			if err := write(path, f.data, f.mode); err != nil {
				return err
			}
			contents = append(contents, map[string]any{"src": path, "dst": "/" + f.name,
				"file_info": map[string]any{"mode": f.mode, "mtime": r.time, "owner": "root", "group": "root"}})
		}
		settings, err := json.Marshal(map[string]any{"name": "interlock", "arch": b.arch, "platform": "linux", "version": r.version,
			"maintainer": maintainer, "description": summary + "\n" + description, "license": "Apache-2.0", "mtime": r.time,
			"recommends": []string{"bubblewrap"}, "contents": contents, "rpm": map[string]any{"buildhost": "localhost"}})
		if err != nil {
			return err
		}
		file := filepath.Join(root, "nfpm.yaml") // which JSON is
		if err := write(file, settings, 0o644); err != nil {
			return err
		}
		pack := exec.Command(tool, "package", "--config", file, "--packager", "rpm", "--target", r.out)
		pack.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
		if out, err := pack.CombinedOutput(); err != nil {
			return errors.New(lastLine(out))
		}
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
