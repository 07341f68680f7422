package interlock_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"path"
	"strings"
	"sync"
)

// A typeTable knows the types of expressions in packages of this module. Types that come from modules of others are not
// known; the checks that use the table say nothing about them.
type typeTable struct {
	info     types.Info
	byPath   map[string]*goPackage
	checked  map[string]*types.Package
	standard types.Importer
}

// standardLibrary is read from its sources, once for all tables; from those without cgo, which leaves its object files behind.
var standardLibrary = sync.OnceValue(func() types.Importer {
	build.Default.CgoEnabled = false
	return importer.ForCompiler(token.NewFileSet(), "source", nil)
})

func newTypeTable(packages []*goPackage) *typeTable {
	t := &typeTable{
		info:     types.Info{Types: make(map[ast.Expr]types.TypeAndValue)},
		byPath:   make(map[string]*goPackage),
		checked:  make(map[string]*types.Package),
		standard: standardLibrary(),
	}
	for _, p := range packages {
		t.byPath[p.path] = p
	}
	return t
}

// Import implements types.Importer: this module from its syntax, the standard library from its sources, and an empty
// package for everything else.
func (t *typeTable) Import(name string) (*types.Package, error) {
	if known := t.checked[name]; known != nil {
		return known, nil
	}
	if p := t.byPath[name]; p != nil {
		var files []*ast.File
		for _, f := range p.files {
			files = append(files, f.syntax)
		}
		config := types.Config{Importer: t, Error: func(error) {}, FakeImportC: true} // errors: unknown types of others' modules
		pkg, _ := config.Check(name, p.set, files, &t.info)
		t.checked[name] = pkg
		return pkg, nil
	}
	if !strings.Contains(strings.Split(name, "/")[0], ".") {
		if pkg, err := t.standard.Import(name); err == nil {
			t.checked[name] = pkg
			return pkg, nil
		}
	}
	pkg := types.NewPackage(name, path.Base(name))
	pkg.MarkComplete()
	t.checked[name] = pkg
	return pkg, nil
}

// isMap reports whether e is known to be a map.
func (t *typeTable) isMap(e ast.Expr) bool {
	known, ok := t.info.Types[e]
	if !ok || known.Type == nil {
		return false
	}
	_, ok = known.Type.Underlying().(*types.Map)
	return ok
}

// isInteger reports whether e is known to be an integer.
func (t *typeTable) isInteger(e ast.Expr) bool {
	known, ok := t.info.Types[e]
	if !ok || known.Type == nil {
		return false
	}
	basic, ok := known.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// isConstant reports whether e is known to be a constant.
func (t *typeTable) isConstant(e ast.Expr) bool { return t.info.Types[e].Value != nil }

// orderComment excuses a loop over a map whose order can't influence anything: it stands on the line or the line before,
// and gives the reason.
const orderComment = "// order-independent: "

// checkMapOrder finds loops over maps, and uses of maps.Keys, maps.Values and maps.All, whose order could be seen. A loop
// is accepted if all it does is fill maps, count, or append to slices that the same function sorts afterwards.
func checkMapOrder(p *goPackage, f *goFile, t *typeTable) []string {
	if _, err := t.Import(p.path); err != nil {
		return []string{err.Error()}
	}
	excused := make(map[int]bool)
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			if reason, ok := strings.CutPrefix(c.Text, orderComment); ok && strings.TrimSpace(reason) != "" {
				line := p.set.Position(c.Pos()).Line
				excused[line], excused[line+1] = true, true
			}
		}
	}
	var problems []string
	report := func(pos token.Pos, what string) {
		if !excused[p.set.Position(pos).Line] {
			problems = append(problems, p.at(pos)+": "+what)
		}
	}
	for _, decl := range f.syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		sorted := sortedIn(fn.Body)
		ordered := orderedIterators(fn.Body)
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				if t.isMap(n.X) {
					if why := (orderCheck{t, n, sorted}).visible(); why != "" {
						report(n.Pos(), "the order of a map shows: "+why)
					}
				}
			case *ast.CallExpr:
				if name := mapIterator(n); name != "" && !ordered[n] {
					report(n.Pos(), fmt.Sprintf("the order of a map shows: maps.%s is not sorted", name))
				}
			}
			return true
		})
	}
	return problems
}

// sortedIn returns, for each name some sorting function is called on, the last place where that happens.
func sortedIn(body *ast.BlockStmt) map[string]token.Pos {
	last := make(map[string]token.Pos)
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || !isSort(call) {
			return true
		}
		if name := types.ExprString(call.Args[0]); call.Pos() > last[name] {
			last[name] = call.Pos()
		}
		return true
	})
	return last
}

func isSort(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return false
	}
	switch pkg.Name {
	case "sort":
		return strings.HasPrefix(selector.Sel.Name, "S") || selector.Sel.Name == "Ints" // Slice, SliceStable, Sort, Stable, Strings
	case "slices":
		return strings.HasPrefix(selector.Sel.Name, "Sort")
	}
	return false
}

// mapIterator returns which of the iterators of package maps a call makes, or "".
func mapIterator(call *ast.CallExpr) string {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "maps" {
		switch selector.Sel.Name {
		case "Keys", "Values", "All":
			return selector.Sel.Name
		}
	}
	return ""
}

// orderedIterators returns the iterators that go straight into a function that sorts them or makes a map of them.
func orderedIterators(body *ast.BlockStmt) map[*ast.CallExpr]bool {
	ordered := make(map[*ast.CallExpr]bool)
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		sorts := pkg.Name == "slices" && strings.HasPrefix(selector.Sel.Name, "Sorted")
		collects := pkg.Name == "maps" && (selector.Sel.Name == "Collect" || selector.Sel.Name == "Insert")
		if sorts || collects {
			for _, arg := range call.Args {
				if inner, ok := arg.(*ast.CallExpr); ok {
					ordered[inner] = true
				}
			}
		}
		return true
	})
	return ordered
}

// An orderCheck judges one loop over a map.
type orderCheck struct {
	types  *typeTable
	loop   *ast.RangeStmt
	sorted map[string]token.Pos // what the function sorts, and where
}

// visible says how the order of the loop could be seen, or "".
func (c orderCheck) visible() string {
	loop := c.loop
	if loop.Key == nil || isBlank(loop.Key) && (loop.Value == nil || isBlank(loop.Value)) {
		return ""
	}
	return c.block(loop.Body.List)
}

func isBlank(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "_"
}

func (c orderCheck) block(list []ast.Stmt) string {
	for _, s := range list {
		if why := c.statement(s); why != "" {
			return why
		}
	}
	return ""
}

// statement judges one statement of a loop over a map by its form. What it does not know shows the order.
func (c orderCheck) statement(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return c.block(s.List)
	case *ast.IfStmt:
		if s.Init != nil {
			if why := c.statement(s.Init); why != "" {
				return why
			}
		}
		if why := c.block(s.Body.List); why != "" {
			return why
		}
		if s.Else != nil {
			return c.statement(s.Else)
		}
		return ""
	case *ast.RangeStmt:
		return c.block(s.Body.List)
	case *ast.ForStmt:
		return c.block(s.Body.List)
	case *ast.SwitchStmt:
		return c.block(s.Body.List)
	case *ast.TypeSwitchStmt:
		return c.block(s.Body.List)
	case *ast.CaseClause:
		return c.block(s.Body)
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE {
			return ""
		}
	case *ast.IncDecStmt:
		return ""
	case *ast.DeclStmt, *ast.EmptyStmt:
		return ""
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			if fun, ok := call.Fun.(*ast.Ident); ok && fun.Name == "delete" {
				return ""
			}
		}
	case *ast.AssignStmt:
		return c.assignment(s)
	case *ast.ReturnStmt:
		return constantReturn(s)
	}
	return fmt.Sprintf("%s in the loop", strings.TrimPrefix(fmt.Sprintf("%T", s), "*ast."))
}

// constantReturn accepts a return whose values are the same whichever element it is reached for.
func constantReturn(s *ast.ReturnStmt) string {
	for _, e := range s.Results {
		if !constant(e) {
			return "the loop returns what it found first"
		}
	}
	return ""
}

// constant reports whether an expression is made of literals only, calls of package functions on literals included.
func constant(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return x.Name == "true" || x.Name == "false" || x.Name == "nil"
	case *ast.CallExpr:
		if _, ok := x.Fun.(*ast.SelectorExpr); !ok {
			return false
		}
		for _, arg := range x.Args {
			if !constant(arg) {
				return false
			}
		}
		return true
	}
	return false
}

func (c orderCheck) assignment(s *ast.AssignStmt) string {
	switch s.Tok {
	case token.DEFINE, token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN:
		return ""
	case token.ADD_ASSIGN:
		if c.types.isInteger(s.Lhs[0]) {
			return ""
		}
		return types.ExprString(s.Lhs[0]) + " is built up in the order of the loop"
	}
	for i, left := range s.Lhs {
		if _, ok := left.(*ast.IndexExpr); ok || isBlank(left) {
			continue
		}
		if declaredInside(left, c.loop) {
			continue
		}
		if i < len(s.Rhs) {
			if call, ok := s.Rhs[i].(*ast.CallExpr); ok {
				if fun, ok := call.Fun.(*ast.Ident); ok && fun.Name == "append" {
					if c.sorted[types.ExprString(left)] > c.loop.End() {
						continue
					}
					return types.ExprString(left) + " is appended to and not sorted afterwards"
				}
				if fun, ok := call.Fun.(*ast.Ident); ok && (fun.Name == "min" || fun.Name == "max") {
					continue
				}
			}
			if c.types.isConstant(s.Rhs[i]) {
				continue
			}
		}
		return types.ExprString(left) + " is assigned whatever came last"
	}
	return ""
}

// declaredInside reports whether the assigned name is one the loop's body declares itself.
func declaredInside(e ast.Expr, loop *ast.RangeStmt) bool {
	root := rootName(e)
	if root == nil {
		return false
	}
	inside := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		if define, ok := n.(*ast.AssignStmt); ok && define.Tok == token.DEFINE {
			for _, left := range define.Lhs {
				if name, ok := left.(*ast.Ident); ok && name.Name == root.Name {
					inside = true
				}
			}
		}
		return !inside
	})
	return inside
}
