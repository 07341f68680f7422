package interlock_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// modulePath is what this module calls itself.
const modulePath = "interlock"

// A goPackage is a directory's Go files that are no tests, parsed.
type goPackage struct {
	dir   string // relative to the module, with slashes; "." is the root
	path  string // import path
	set   *token.FileSet
	files []*goFile
}

// A goFile is one parsed file.
type goFile struct {
	name   string // relative to the module, with slashes
	source []byte
	syntax *ast.File
}

// imports returns the paths the file imports.
func (f *goFile) imports() []string {
	var paths []string
	for _, spec := range f.syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// loadPackages parses the packages below root, sorted by directory. It leaves out what go leaves out: test data, vendored
// code, directories that begin with a dot or an underscore. Directories with nothing but tests are no packages here.
func loadPackages(root fs.FS) ([]*goPackage, error) {
	byDir := make(map[string]*goPackage)
	set := token.NewFileSet()
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if entry.IsDir() {
			if name != "." && (base == "testdata" || base == "vendor" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if bytes.Contains(source, []byte("\n//go:build ignore\n")) || bytes.HasPrefix(source, []byte("//go:build ignore\n")) {
			return nil // a program of go generate
		}
		syntax, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if byDir[dir] == nil {
			byDir[dir] = &goPackage{dir: dir, path: path.Join(modulePath, dir), set: set}
		}
		byDir[dir].files = append(byDir[dir].files, &goFile{name: name, source: source, syntax: syntax})
		return nil
	})
	var packages []*goPackage
	for _, p := range byDir {
		packages = append(packages, p)
	}
	sort.Slice(packages, func(i, j int) bool { return packages[i].dir < packages[j].dir })
	return packages, err
}

// loadModule parses this module.
func loadModule(t *testing.T) []*goPackage {
	t.Helper()
	packages, err := loadPackages(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 10 {
		t.Fatalf("only %d packages found: not this module", len(packages))
	}
	return packages
}

// loadFixture parses one module of an archive of fixtures in testdata. Files of the archive are named
// FIXTURE/path/in/module.go; those under base/ belong to every fixture that has no file of that path itself, and an empty
// file takes one of base away.
func loadFixture(t *testing.T, archive, fixture string) []*goPackage {
	t.Helper()
	data, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	files := make(fstest.MapFS)
	for _, layer := range []string{"base/", fixture + "/"} {
		for _, f := range data.Files {
			name, ok := strings.CutPrefix(f.Name, layer)
			if !ok {
				continue
			}
			if len(f.Data) == 0 {
				delete(files, name)
				continue
			}
			files[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	packages, err := loadPackages(files)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Fatalf("%s has no fixture %s", archive, fixture)
	}
	return packages
}

// at names a position the way problems do.
func (p *goPackage) at(pos token.Pos) string {
	position := p.set.Position(pos)
	return fmt.Sprintf("%s:%d", position.Filename, position.Line)
}
