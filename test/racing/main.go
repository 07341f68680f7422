// Command racing prints which tests the race detector has to see: packages whose tests run whole, packages that are chosen from,
// and an expression that matches what is chosen. The detector makes everything several times as slow and finds nothing where one
// goroutine runs, so of the large packages only those tests are chosen that start a goroutine, themselves or through a helper.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// whole are packages in which goroutines meet in nearly every test, because the package itself starts them for each connection or
// call.
var whole = []string{"internal/control", "internal/hook", "internal/httpapi", "internal/kill", "internal/mcpgateway",
	"internal/mcphttp", "internal/notify", "internal/upstream", "internal/webpush", "mcpguard"}

// elsewhere are packages that start goroutines and that no test here runs with the detector, and why.
var elsewhere = map[string]string{
	"bench/run":                  "measures",
	"cmd/interlock":              "its tests run the program; what its goroutines share is in internal",
	"cmd/interlock/cli":          "as cmd/interlock",
	"cmd/interlock/prove":        "as cmd/interlock",
	"cmd/interlock/serve":        "as cmd/interlock",
	"cmd/interlock-hook":         "its tests run the program",
	"internal/conform":           "its checks start programs and wait for them",
	"internal/conform/aql":       "as internal/conform",
	"internal/store/storagetest": "runs in the tests of the stores",
	"release":                    "builds and runs programs",
	"test/chromium":              "drives a browser",
	"test/terminal":              "copies what a terminal shows",
}

func main() {
	if err := list(os.DirFS(".")); err != nil {
		fmt.Fprintln(os.Stderr, "racing:", err)
		os.Exit(1)
	}
}

func list(root fs.FS) error {
	packages, err := read(root)
	if err != nil {
		return err
	}
	// What is below a package is tested by it, where it has no tests of its own.
	for _, dir := range sorted(packages) {
		if p := packages[dir]; len(p.functions) == 0 && elsewhere[dir] == "" {
			if above := packages[path.Dir(dir)]; above != nil && dir != "." && path.Dir(dir) != "." {
				above.starts = append(above.starts, p.starts...)
				p.starts = nil
			}
		}
	}
	var all, some, tests []string
	for _, dir := range sorted(packages) {
		p := packages[dir]
		chosen := p.chosen()
		switch {
		case slices.Contains(whole, dir):
			all = append(all, "./"+dir)
		case elsewhere[dir] != "" || strings.HasPrefix(dir, "test/") || strings.HasPrefix(dir, "bench/"):
		case len(chosen) > 0:
			some = append(some, "./"+dir)
			tests = append(tests, chosen...)
		case len(p.starts) > 0:
			return fmt.Errorf("%s starts goroutines, no test of it does, and nothing says why the race detector need not see it", dir)
		}
	}
	fmt.Printf("%s\n%s\n^(%s)$\n", strings.Join(all, " "), strings.Join(some, " "), strings.Join(tests, "|"))
	return nil
}

// A pkg is what the files of one directory say.
type pkg struct {
	starts    []string            // functions outside of tests that start one
	functions map[string]function // of the tests
}

type function struct {
	starts bool
	calls  []string
}

func read(root fs.FS) (map[string]*pkg, error) {
	packages := map[string]*pkg{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			base := entry.Name()
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") ||
				slices.Contains([]string{"testdata", "node_modules",
					"bin", "dist", "site", "var"}, base)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			return err
		}
		p := packages[path.Dir(name)]
		if p == nil {
			p = &pkg{functions: map[string]function{}}
			packages[path.Dir(name)] = p
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			found := look(f.Body)
			if !strings.HasSuffix(name, "_test.go") {
				if found.starts {
					p.starts = append(p.starts, f.Name.Name)
				}
				continue
			}
			before := p.functions[f.Name.Name] // methods of several types may have one name
			p.functions[f.Name.Name] = function{before.starts || found.starts, append(before.calls, found.calls...)}
		}
		return nil
	})
	return packages, err
}

// look finds whether a body starts goroutines, and the names of what it mentions. One that runs an iterator is no start.
func look(body *ast.BlockStmt) (f function) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			f.starts = true
		case *ast.SelectorExpr:
			f.starts = f.starts || n.Sel.Name == "Go"
			f.calls = append(f.calls, n.Sel.Name)
		case *ast.Ident:
			f.calls = append(f.calls, n.Name)
		}
		return true
	})
	return f
}

// chosen are the tests that start a goroutine or call a function that does, of the package itself or of its tests.
func (p *pkg) chosen() (tests []string) {
	starts := map[string]bool{}
	for _, name := range p.starts {
		// else it would be every test
		if lower := strings.ToLower(name); !strings.HasPrefix(lower, "open") && !strings.HasPrefix(lower, "new") {
			starts[name] = true
		}
	}
	for again := true; again; {
		again = false
		for name, f := range p.functions {
			if !starts[name] && (f.starts || slices.ContainsFunc(f.calls, func(called string) bool { return starts[called] })) {
				starts[name], again = true, true
			}
		}
	}
	for name := range starts {
		if strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests
}

func sorted(packages map[string]*pkg) []string {
	dirs := make([]string, 0, len(packages))
	for dir := range packages {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}
