package interlock_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/spec"
)

// impureImports may not be imported by the pure set. Everything below them is meant as well, except what pureImports names.
var impureImports = []string{
	"crypto/rand", "io/fs", "io/ioutil", "log", "math/rand", "net", "os", "os/exec", "plugin", "runtime", "syscall", "testing", "unsafe",
}

// pureImports stand below an impure path and only compute.
var pureImports = []string{"net/netip", "net/url"}

// impureCalls may not be mentioned by the pure set, as calls or as values: the clock, random keys, and the process's output.
var impureCalls = map[string][]string{
	"time":           {"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker", "LoadLocation", "Local"},
	"context":        {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"crypto/ed25519": {"GenerateKey"},
	"crypto/ecdsa":   {"GenerateKey"},
	"crypto/rsa":     {"GenerateKey"},
	"fmt":            {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"maphash":        {"MakeSeed"},
	"hash/maphash":   {"MakeSeed", "String", "Bytes"},
}

// checkPurity says what in the package keeps it from being a function of its arguments.
func checkPurity(p *goPackage, types *typeTable) []string {
	var problems []string
	report := func(pos token.Pos, format string, args ...any) {
		problems = append(problems, p.at(pos)+": "+fmt.Sprintf(format, args...))
	}
	for _, f := range p.files {
		names := make(map[string]string) // local name -> import path
		for _, spec := range f.syntax.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if impureImport(path) {
				report(spec.Pos(), "imports %s", path)
			}
			name := path[strings.LastIndex(path, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			names[name] = path
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				report(n.Pos(), "starts a goroutine")
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					for _, call := range impureCalls[names[x.Name]] {
						if n.Sel.Name == call {
							report(n.Pos(), "uses %s.%s", names[x.Name], call)
						}
					}
				}
			case *ast.CallExpr:
				if x, ok := n.Fun.(*ast.Ident); ok && (x.Name == "print" || x.Name == "println") {
					report(n.Pos(), "calls %s", x.Name)
				}
			}
			return true
		})
		problems = append(problems, checkMapOrder(p, f, types)...)
	}
	sort.Strings(problems)
	return problems
}

func impureImport(path string) bool {
	for _, pure := range pureImports {
		if path == pure {
			return false
		}
	}
	for _, impure := range impureImports {
		if path == impure || strings.HasPrefix(path, impure+"/") {
			return true
		}
	}
	return false
}

// checkHabits says what breaks the rules that hold for every package: no init, no dot imports, no package state, and one
// package comment, attached to the package clause.
func checkHabits(p *goPackage) []string {
	var problems []string
	report := func(pos token.Pos, format string, args ...any) {
		problems = append(problems, p.at(pos)+": "+fmt.Sprintf(format, args...))
	}
	comments := 0
	for _, f := range p.files {
		for _, spec := range f.syntax.Imports {
			if spec.Name != nil && spec.Name.Name == "." {
				report(spec.Pos(), "dot import")
			}
		}
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				report(fn.Pos(), "init function")
			}
		}
		if f.syntax.Doc == nil {
			continue
		}
		comments++
		name, want := f.syntax.Name.Name, "Package "+f.syntax.Name.Name+" "
		if name == "main" {
			want = "Command " + p.dir[strings.LastIndex(p.dir, "/")+1:] + " "
		}
		if !strings.HasPrefix(strings.Join(strings.Fields(f.syntax.Doc.Text()), " "), want) {
			report(f.syntax.Package, "package comment does not begin with %q", strings.TrimSpace(want))
		}
	}
	if comments != 1 {
		problems = append(problems, fmt.Sprintf("%s: %d package comments, want exactly one attached to a package clause", p.dir, comments))
	}
	problems = append(problems, checkPackageState(p)...)
	sort.Strings(problems)
	return problems
}

// statefulTypes hold state behind a value that looks like a table.
var statefulTypes = map[string]bool{
	"sync.Mutex": true, "sync.RWMutex": true, "sync.Map": true, "sync.WaitGroup": true, "sync.Cond": true, "sync.Once": true,
	"atomic.Bool": true, "atomic.Int32": true, "atomic.Int64": true, "atomic.Uint32": true, "atomic.Uint64": true,
	"atomic.Value": true, "atomic.Pointer": true, "bytes.Buffer": true, "strings.Builder": true,
}

// lateComment excuses a table that is filled while the program runs, because each entry is a function of its key: it
// stands on the line of the declaration and gives the reason.
const lateComment = "// filled late: "

func filledLate(spec *ast.ValueSpec) bool {
	if spec.Comment == nil {
		return false
	}
	reason, ok := strings.CutPrefix(spec.Comment.List[0].Text, lateComment)
	return ok && strings.TrimSpace(reason) != ""
}

// checkPackageState finds package-level variables that are more than errors and tables: those declared without a value
// (unless go:embed fills them), those of a type that holds state, and those the package assigns to, takes the address of,
// or deletes from. Test files may do what they like.
func checkPackageState(p *goPackage) []string {
	variables := make(map[string]token.Pos)
	var problems []string
	for _, f := range p.files {
		for _, decl := range f.syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, s := range gen.Specs {
				spec := s.(*ast.ValueSpec)
				for _, name := range spec.Names {
					if name.Name == "_" {
						continue
					}
					if filledLate(spec) {
						continue
					}
					variables[name.Name] = name.Pos()
					if len(spec.Values) == 0 && !embeds(gen.Doc) && !embeds(spec.Doc) {
						problems = append(problems, fmt.Sprintf("%s: package variable %s has no value: it is state", p.at(name.Pos()), name.Name))
					} else if stateful(spec) {
						problems = append(problems, fmt.Sprintf("%s: package variable %s holds state", p.at(name.Pos()), name.Name))
					}
				}
			}
		}
	}
	for _, f := range p.files {
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				problems = append(problems, mutations(p, fn, variables)...)
			}
		}
	}
	return problems
}

func embeds(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// stateful reports whether a variable's declared type, or the literal it begins as, is one that holds state.
func stateful(spec *ast.ValueSpec) bool {
	exprs := []ast.Expr{spec.Type}
	for _, v := range spec.Values {
		if u, ok := v.(*ast.UnaryExpr); ok {
			v = u.X
		}
		if lit, ok := v.(*ast.CompositeLit); ok {
			exprs = append(exprs, lit.Type)
		}
		if call, ok := v.(*ast.CallExpr); ok && len(call.Args) > 0 {
			if fun, ok := call.Fun.(*ast.Ident); ok && (fun.Name == "make" || fun.Name == "new") {
				if _, channel := call.Args[0].(*ast.ChanType); channel || fun.Name == "new" {
					return true
				}
			}
		}
	}
	for _, e := range exprs {
		if index, ok := e.(*ast.IndexExpr); ok {
			e = index.X
		}
		if selector, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok && statefulTypes[x.Name+"."+selector.Sel.Name] {
				return true
			}
		}
	}
	return false
}

// mutations finds what a function does to package variables: it follows names, and a local of the same name hides one.
func mutations(p *goPackage, fn *ast.FuncDecl, variables map[string]token.Pos) []string {
	local := localNames(fn)
	var problems []string
	check := func(e ast.Expr, what string) {
		if name := rootName(e); name != nil && !local[name.Name] {
			if _, ok := variables[name.Name]; ok {
				problems = append(problems, fmt.Sprintf("%s: %s %s package variable %s", p.at(e.Pos()), fn.Name.Name, what, name.Name))
			}
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					check(e, "assigns to")
				}
			}
		case *ast.IncDecStmt:
			check(n.X, "assigns to")
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				if _, ident := n.X.(*ast.Ident); ident {
					check(n.X, "takes the address of")
				}
			}
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (fun.Name == "delete" || fun.Name == "clear") {
				check(n.Args[0], "deletes from")
			}
		}
		return true
	})
	return problems
}

// localNames are the names a function declares anywhere inside: parameters, results, variables, constants.
func localNames(fn *ast.FuncDecl) map[string]bool {
	local := make(map[string]bool)
	fields := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				local[name.Name] = true
			}
		}
	}
	fields(fn.Recv)
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			fields(n.Params)
			fields(n.Results)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					if name, ok := e.(*ast.Ident); ok {
						local[name.Name] = true
					}
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if name, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[name.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		}
		return true
	})
	return local
}

// rootName returns the variable an expression like a.b[c].d begins with.
func rootName(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func TestThePureSetIsPure(t *testing.T) {
	spec.Covers(t, "ASA-8.1-1")
	packages := loadModule(t)
	types := newTypeTable(packages)
	byName := make(map[string]*goPackage)
	for _, p := range packages {
		byName[tableName(p.path)] = p
	}
	for _, name := range splitNames(pureSet) {
		if byName[name] == nil {
			t.Errorf("the pure set names %s, which is no package", name)
			continue
		}
		for _, problem := range checkPurity(byName[name], types) {
			t.Error(problem)
		}
	}
}

func TestEveryPackageKeepsTheHabits(t *testing.T) {
	for _, p := range loadModule(t) {
		for _, problem := range checkHabits(p) {
			t.Error(problem)
		}
	}
}

// TestPurityAndHabitsBite proves the enforcement: each fixture breaks rules, and exactly that is reported. The wanted
// problems stand in the fixture's package comment, which is where a reader looks for why it is wrong.
func TestPurityAndHabitsBite(t *testing.T) {
	for _, fixture := range []string{"sound", "clock", "clock-under-another-name", "randomness", "files", "network", "logging", "goroutine",
		"output", "map-order", "map-order-iterators", "map-order-sound", "init-function", "dot-import", "package-state", "package-state-sound",
		"comment-missing", "comment-twice", "comment-detached", "comment-of-another"} {
		t.Run(fixture, func(t *testing.T) {
			packages := loadFixture(t, "purity.txtar", fixture)
			types := newTypeTable(packages)
			var got, want []string
			for _, p := range packages {
				got = append(append(got, checkPurity(p, types)...), checkHabits(p)...)
				for _, f := range p.files {
					for _, group := range f.syntax.Comments {
						for _, line := range strings.Split(group.Text(), "\n") {
							if problem, ok := strings.CutPrefix(line, "WANT "); ok {
								want = append(want, problem)
							}
						}
					}
				}
			}
			sort.Strings(got)
			sort.Strings(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
