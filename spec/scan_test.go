package spec

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// importPath is how tests import this package.
const importPath = "interlock/spec"

// scanClaims reads every test file below root and returns the claims it makes, in file order. Directories named testdata,
// and those that go ignores, are left out. A claim whose id is not a string literal, or that names none, is an error:
// such a claim could not be read here.
func scanClaims(root fs.FS) ([]Claim, error) {
	var claims []Claim
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if entry.IsDir() {
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
