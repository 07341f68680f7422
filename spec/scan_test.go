package spec

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// importPath is how tests import this package.
const importPath = "interlock/spec"

// scanClaims reads every test file below root and returns the claims it makes, in file order, and those of the archives
// directly in a package's testdata, where tests are data. Other directories named testdata, and those that go ignores,
// are left out. A claim whose id is not a string literal, or that names none, is an error: such a claim could not be read
// here.
func scanClaims(root fs.FS) ([]Claim, error) {
	var claims []Claim
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if entry.IsDir() {
			if name != "." && base == "testdata" {
				found, err := archiveClaims(root, name)
				claims = append(claims, found...)
				if err != nil {
					return err
				}
			}
			if name != "." && (base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, "_test.go") {
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		found, err := fileClaims(filepath.ToSlash(name), source)
		claims = append(claims, found...)
		return err
	})
	return claims, err
}

// coversLine is how an archive claims clauses in its comment, before its first file: "covers: A-1 A-2". In scripts the line
// is a comment.
var coversLine = regexp.MustCompile(`(?m)^(?:# )?covers:(.*)$`)

// archiveClaims returns the claims of the txtar archives in a testdata directory. Such an archive is a test only if the
// package reads its testdata, so a claim beside tests that do not is an error.
func archiveClaims(root fs.FS, dir string) ([]Claim, error) {
	names, err := fs.Glob(root, dir+"/*.txtar")
	if err != nil {
		return nil, err
	}
	var claims []Claim
	for _, name := range names {
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		comment := "\n" + string(data)
		if at := strings.Index(comment, "\n-- "); at >= 0 {
			comment = comment[:at]
		}
		comment = strings.TrimPrefix(comment, "\n")
		for _, match := range coversLine.FindAllStringSubmatchIndex(comment, -1) {
			line := 1 + strings.Count(comment[:match[0]], "\n")
			ids := strings.Fields(comment[match[2]:match[3]])
			if len(ids) == 0 {
				return nil, fmt.Errorf("%s:%d: covers names no clause", name, line)
			}
			for _, id := range ids {
				claims = append(claims, Claim{ID: id, File: name, Line: line, Test: strings.TrimSuffix(path.Base(name), ".txtar")})
			}
		}
	}
	if len(claims) > 0 && !readsTestdata(root, path.Dir(dir)) {
		return nil, fmt.Errorf("%s:%d: no test of the package reads its testdata", claims[0].File, claims[0].Line)
	}
	return claims, nil
}

// readsTestdata reports whether a test file in the directory mentions testdata as a path.
func readsTestdata(root fs.FS, dir string) bool {
	tests, err := fs.Glob(root, dir+"/*_test.go")
	for _, name := range tests {
		if data, readErr := fs.ReadFile(root, name); readErr == nil && bytes.Contains(data, []byte(`"testdata`)) {
			return err == nil
		}
	}
	return false
}

// fileClaims returns the claims of one file.
func fileClaims(name string, source []byte) ([]Claim, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	local := localName(file)
	if local == "" {
		return nil, nil
	}
	var claims []Claim
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || err != nil || !isCovers(call.Fun, local) {
				return true
			}
			var found []Claim
			found, err = callClaims(set, fn.Name.Name, call)
			claims = append(claims, found...)
			return true
		})
	}
	return claims, err
}

// localName returns the name under which the file knows this package, or "".
func localName(file *ast.File) string {
	for _, spec := range file.Imports {
		if spec.Path.Value == strconv.Quote(importPath) {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return "spec"
		}
	}
	return ""
}

func isCovers(fun ast.Expr, local string) bool {
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Covers" {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == local
}

func callClaims(set *token.FileSet, test string, call *ast.CallExpr) ([]Claim, error) {
	at := set.Position(call.Pos())
	if len(call.Args) < 2 {
		return nil, fmt.Errorf("%s:%d: Covers names no clause", at.Filename, at.Line)
	}
	var claims []Claim
	for _, arg := range call.Args[1:] {
		literal, ok := arg.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return nil, fmt.Errorf("%s:%d: clause ids must be string literals", at.Filename, at.Line)
		}
		id, err := strconv.Unquote(literal.Value)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", at.Filename, at.Line, err)
		}
		claims = append(claims, Claim{ID: id, File: at.Filename, Line: at.Line, Test: test})
	}
	return claims, nil
}
