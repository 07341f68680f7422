package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ownPath is the module path of the tree.
const ownPath = "interlock"

// copySource copies the tree, as git knows it where it does, so that nothing that happens to lie there is built in.
func (r *release) copySource(work string) error {
	r.source = filepath.Join(work, "source")
	names, err := r.known()
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if errors.Is(err, fs.ErrNotExist) { // deleted and not committed yet
			continue
		}
		if err != nil {
			return err
		}
		if err := write(filepath.Join(r.source, name), data, 0o644); err != nil {
			return err
		}
	}
	version, err := os.ReadFile(filepath.Join(r.source, "embedded", "version.go"))
	if err != nil {
		return err
	}
	found := regexp.MustCompile(`(?m)^const Release = "([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.]+)?)"$`).FindSubmatch(version)
	if found == nil {
		return errors.New("embedded/version.go has no line such as: const Release = \"1.2.3\"")
	}
	r.version = string(found[1])
	// A copy has no history, so what it was made of is written into it.
	stamped := bytes.Replace(version, []byte("const built = \"\""), []byte("const built = "+strconv.Quote(r.commit)), 1)
	if bytes.Equal(stamped, version) && r.commit != "" {
		return errors.New("embedded/version.go has no line: const built = \"\"")
	}
	return os.WriteFile(filepath.Join(r.source, "embedded", "version.go"), stamped, 0o644)
}

// known are the tree's files, and sets commit and time.
func (r *release) known() ([]string, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", r.root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	r.time = time.Unix(0, 0).UTC()
	if seconds, err := git("log", "-1", "--format=%ct"); err == nil {
		if n, err := strconv.ParseInt(seconds, 10, 64); err == nil {
			r.time = time.Unix(n, 0).UTC()
		}
		if r.commit, err = git("rev-parse", "HEAD"); err != nil {
			return nil, err
		}
		if changed, err := git("status", "--porcelain", "--untracked-files=no"); err != nil || changed != "" {
			r.commit += "+changed"
		}
		list, err := git("ls-files", "-z")
		return strings.Split(strings.Trim(list, "\x00"), "\x00"), err
	}
	var names []string
	err := filepath.WalkDir(r.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || name == "bin" || name == "var" || name == "dist" || name == ".git"):
			return fs.SkipDir
		case entry.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// rewrite puts another module path into the copy, and has a program outside of it built against the result.
func (r *release) rewrite(work string) error {
	if r.module == "" || r.module == ownPath {
		r.module = ownPath
		return nil
	}
	if !regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+(/[A-Za-z0-9._~-]+)+$`).MatchString(r.module) {
		return fmt.Errorf("MODULE: %q is no module path such as example.org/you/interlock", r.module)
	}
	err := filepath.WalkDir(r.source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.Contains(filepath.ToSlash(path), "/testdata/") {
			return err
		}
		return rewriteImports(path, r.module)
	})
	if err != nil {
		return err
	}
	file := filepath.Join(r.source, "go.mod")
	mod, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	mod = regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(mod, []byte("module "+r.module))
	if err := os.WriteFile(file, mod, 0o644); err != nil {
		return err
	}
	return r.outside(filepath.Join(work, "outside"), mod)
}

// rewriteImports puts the module path into a file's imports. A package keeps the name it is called by.
func rewriteImports(path, module string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ImportsOnly)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	at := 0
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		rest, own := strings.CutPrefix(name+"/", ownPath+"/")
		if !own {
			continue
		}
		out.Write(source[at:set.Position(spec.Path.Pos()).Offset])
		out.WriteString(strconv.Quote(strings.TrimSuffix(module+"/"+rest, "/")))
		at = set.Position(spec.Path.End()).Offset
	}
	if at == 0 {
		return nil
	}
	out.Write(source[at:])
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// outside builds a program that imports the module as others would, and runs it.
func (r *release) outside(dir string, mod []byte) error {
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(mod, []byte("module example.org/outside"))
	text = append(text, "\nrequire "+r.module+" v0.0.0\nreplace "+r.module+" => "+r.source+"\n"...)
	sum, err := os.ReadFile(filepath.Join(r.source, "go.sum"))
	if err != nil {
		return err
	}
	main, err := os.ReadFile(filepath.Join(r.source, "release", "files", "outside.go.txt"))
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"go.mod": text, "go.sum": sum,
		"main.go": bytes.ReplaceAll(main, []byte("MODULE"), []byte(r.module))} {
		if err := write(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	build := exec.Command("go", "run", "-mod=mod", "-trimpath", ".") // as the release is built, which takes over what was compiled
	build.Dir = dir
	build.Env = append(os.Environ(), "HOME="+dir, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOCACHE="+goEnv("GOCACHE"),
		"GOMODCACHE="+goEnv("GOMODCACHE"))
	if out, err := build.CombinedOutput(); err != nil || !strings.Contains(string(out), "deny fs.delete-root") {
		return fmt.Errorf("a program outside of %s does not build against it or does not run: %v\n%s", r.module, err, out)
	}
	return nil
}

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// write writes a file and the directories it lies in.
func write(path string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, mode)
}
