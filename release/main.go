package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A release is one run of this program.
type release struct {
	root    string // the tree
	source  string // the copy that is built
	out     string
	module  string // the module path to build under
	site    string // where the files will be downloaded from
	systems []system
	offline bool     // without what has to be fetched first
	notes   []string // what was left out, and why

	version string
	commit  string    // empty: the tree has no history
	time    time.Time // of the commit, which is what every file is dated
	built   []built
}

// A system is what a program is built for.
type system struct{ os, arch string }

func (s system) String() string { return s.os + "/" + s.arch }

// exe is a program's file name there.
func (s system) exe(name string) string {
	if s.os == "windows" {
		return name + ".exe"
	}
	return name
}

// built is what was built for one system.
type built struct {
	system
	dir string // with the programs
}

// programs are what is built.
func programs() []string { return []string{"interlock", "interlock-hook"} }

func main() {
	r := &release{}
	only := ""
	flag.StringVar(&r.root, "tree", ".", "the tree to build from")
	flag.StringVar(&r.out, "out", "dist", "directory that is made anew for what is built")
	flag.StringVar(&r.module, "module", os.Getenv("MODULE"), "module path to build under; default: the tree's own")
	flag.StringVar(&r.site, "site", os.Getenv("SITE"), "address the files will be downloaded from; default: the module's releases")
	flag.StringVar(&only, "only", "", "systems to build for, as os/arch, with commas; default: all six")
	flag.BoolVar(&r.offline, "offline", false, "leave out what has to be fetched first")
	flag.Parse()
	if err := r.run(only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes everything, in this order: what comes later is made of what came before.
func (r *release) run(only string) error {
	for _, name := range strings.FieldsFunc(only, func(c rune) bool { return c == ',' }) {
		goos, arch, ok := strings.Cut(name, "/")
		if !ok {
			return fmt.Errorf("-only: %q is not os/arch", name)
		}
		r.systems = append(r.systems, system{goos, arch})
	}
	if len(r.systems) == 0 {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			r.systems = append(r.systems, system{goos, "amd64"}, system{goos, "arm64"})
		}
	}
	var err error
	for _, path := range []*string{&r.root, &r.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err := emptied(r.out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "interlock-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, step := range []struct {
		name string
		do   func(work string) error
	}{
		{"source", r.copySource}, {"module", r.rewrite}, {"build", r.build}, {"pages", r.pages}, {"archives", r.archives},
		{"Debian packages", r.debs}, {"RPM packages", r.rpms}, {"npm packages", r.npm}, {"Homebrew formula", r.formula},
		{"container, chart, plugin", r.files}, {"inventory", r.inventory}, {"provenance", r.provenance}, {"checksums", r.checksums},
	} {
		began := time.Now()
		if err := step.do(work); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("%-24s %6.1f s\n", step.name, time.Since(began).Seconds())
	}
	for _, note := range r.notes {
		fmt.Println("left out:", note)
	}
	fmt.Printf("interlock %s is in %s\n", r.version, r.out)
	return nil
}

// sumsFile holds the checksums of all other files.
const sumsFile = "checksums.txt"

// emptied makes a directory empty, if it is one that this program made.
func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, sumsFile)); err != nil {
			return fmt.Errorf("%s is not empty and holds no release; name another directory with -out", dir)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return write(filepath.Join(dir, sumsFile), nil, 0o644) // by which it is known if this is cut short
}

// host is what was built for the system this runs on, or nothing.
func (r *release) host() (built, bool) {
	for _, b := range r.built {
		if b.os == runtime.GOOS && b.arch == runtime.GOARCH {
			return b, true
		}
	}
	return built{}, false
}
