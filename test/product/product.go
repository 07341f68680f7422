// Package product builds Interlock's programs once for all tests that run them from outside, as `make build` does.
//
// go test answers from its cache as long as the test binary, the variables that the test read and the files that it opened are as
// they were; of a program that a test builds in a process of its own it knows nothing. So a test that asks for the programs opens
// here, inside the running test, every file that they are built from and the programs themselves.
package product

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Override names a directory with programs to run instead of what the sources build.
const Override = "INTERLOCK_TEST_PROGRAMS"

// Flags are those of `make build`; with them the objects of one build serve all others.
var Flags = []string{"-trimpath", "-buildvcs=false", "-ldflags", "-s -w"}

// kept is how long a build that nobody asked for is left where it is: tests of an older state of the sources may still run it.
const kept = 2 * time.Hour

var built = sync.OnceValues(build)

// Dir returns the directory with the built interlock and interlock-hook. It is called while a test runs, never in TestMain, where
// go test does not yet record what is opened.
func Dir() string {
	dir, err := built()
	if err != nil {
		panic(err) // no test of this package can say anything
	}
	return dir
}

// Interlock is the path of the program.
func Interlock() string { return filepath.Join(Dir(), "interlock"+suffix()) }

// Hook is the path of the small program that harnesses start for each call.
func Hook() string { return filepath.Join(Dir(), "interlock-hook"+suffix()) }

func suffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

func build() (string, error) {
	dir := os.Getenv(Override)
	if dir == "" {
		root, err := Root()
		if err != nil {
			return "", err
		}
		if dir, err = buildIn(root, "./cmd/interlock", "./cmd/interlock-hook"); err != nil {
			return "", err
		}
	}
	for _, program := range []string{"interlock", "interlock-hook"} {
		f, err := os.Open(filepath.Join(dir, program+suffix()))
		if err != nil {
			return "", err
		}
		f.Close()
	}
	return dir, nil
}

// Kept is a directory for what programs of others unpack once, for all tests of this clone.
func Kept(name string) string {
	root, err := Root()
	dir := filepath.Join(root, "bin", "tests", name)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		now := time.Now()
		err = os.Chtimes(dir, now, now)
	}
	if err != nil {
		panic(err)
	}
	return dir
}

// Root is the directory of the module that the working directory is in.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
		dir = parent
	}
	return "", err
}

// buildIn builds packages of the module in root unless that was done from these very files, and returns the directory.
func buildIn(root string, packages ...string) (string, error) {
	key, err := digest(root, packages)
	if err != nil {
		return "", err
	}
	all := filepath.Join(root, "bin", "tests")
	if err := os.MkdirAll(all, 0o755); err != nil {
		return "", err
	}
	dir := filepath.Join(all, key)
	unlock, err := lock(filepath.Join(all, ".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		now := time.Now()
		return dir, os.Chtimes(dir, now, now)
	}
	tidy(all)
	fresh, err := os.MkdirTemp(all, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := os.Chmod(fresh, 0o755); err != nil { // other users run the programs too, in tests
		return "", err
	}
	command := exec.Command("go", slices.Concat([]string{"build", "-o", fresh + string(filepath.Separator)}, Flags, packages)...)
	command.Dir, command.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the programs do not build: %w\n%s", err, out)
	}
	return dir, os.Rename(fresh, dir)
}

// tidy removes builds that nobody has asked for lately.
func tidy(all string) {
	entries, _ := os.ReadDir(all)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && time.Since(info.ModTime()) > kept {
			_ = os.RemoveAll(filepath.Join(all, entry.Name())) // the next build tries again
		}
	}
}

// Look opens every file below directories of the module, so that go test looks at them again. It is for what a test has another
// process read. Nothing is opened in what git ignores.
func Look(dirs ...string) {
	root, err := Root()
	if err != nil {
		panic(err)
	}
	for _, dir := range dirs {
		if err := look(filepath.Join(root, filepath.FromSlash(dir)), []string{"bin", "dist", "node_modules", "site", "var"},
			func(string, io.Reader) error { return nil }); err != nil {
			panic(err)
		}
	}
}

// look opens every file below a directory and leaves out directories of some names and those that begin with a dot.
func look(root string, apart []string, visit func(path string, r io.Reader) error) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (slices.Contains(apart, entry.Name()) || strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), "."):
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return visit(path, f)
	})
}

// apart are directories that no program is built from.
var apart = []string{"bench", "bin", "dist", "docs", "node_modules", "release", "scripts", "sdk", "site", "test", "testdata",
	"var"}

// digest is that of every file that the programs may be built from and of what else says how. Reading them here is what makes go
// test look at them again.
func digest(root string, packages []string) (string, error) {
	all := sha256.New()
	fmt.Fprintf(all, "%s %s %s\n%q %q\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, packages, os.Getenv("GOFLAGS"))
	err := look(root, apart, func(path string, r io.Reader) error {
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		one := sha256.New()
		if _, err := io.Copy(one, r); err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err == nil {
			_, err = fmt.Fprintf(all, "%x %q\n", one.Sum(nil), filepath.ToSlash(relative))
		}
		return err
	})
	return hex.EncodeToString(all.Sum(nil)[:12]), err
}
