package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A place says where a break was made in words that stay true while lines move: the function, and the line's own text with the
// operator set between « and ». Where a function has several lines of the same text, nth counts them from 1.
type place struct {
	pkg, function, kind, text string
	nth                       int
}

// found is a mutant and its place.
type found struct {
	mutant
	place
}

// located finds the places of mutants in the sources below root.
func located(root, dir string, ms []mutant) ([]found, error) {
	sources := make(map[string]*source)
	var all []found
	for _, m := range ms {
		s := sources[m.file]
		if s == nil {
			var err error
			if s, err = readSource(filepath.Join(root, filepath.FromSlash(dir), m.file)); err != nil {
				return nil, err
			}
			sources[m.file] = s
		}
		p, err := s.place(m.line, m.column)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(dir, m.file), err)
		}
		p.pkg, p.kind = dir, m.kind
		all = append(all, found{m, p})
	}
	return all, nil
}

// A source is a file with what is needed to say where in it something is.
type source struct {
	lines     []string
	functions []span
	operators map[[2]int]string // by line and column
}

type span struct {
	name     string
	from, to int // lines
}

func readSource(name string) (*source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	s := &source{lines: strings.Split(string(text), "\n"), operators: make(map[[2]int]string)}
	for _, group := range file.Comments { // which say nothing of what a line does
		for _, c := range group.List {
			if at := set.Position(c.Pos()); strings.HasPrefix(c.Text, "//") {
				s.lines[at.Line-1] = s.lines[at.Line-1][:at.Column-1]
			}
		}
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			s.functions = append(s.functions, span{functionName(f), set.Position(f.Pos()).Line, set.Position(f.End()).Line})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		pos, op := operator(n)
		if op != token.ILLEGAL {
			at := set.Position(pos)
			s.operators[[2]int{at.Line, at.Column}] = op.String()
		}
		return true
	})
	return s, nil
}

// operator is what a mutation tester may exchange in a node.
func operator(n ast.Node) (token.Pos, token.Token) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return n.OpPos, n.Op
	case *ast.UnaryExpr:
		return n.OpPos, n.Op
	case *ast.IncDecStmt:
		return n.TokPos, n.Tok
	case *ast.AssignStmt:
		return n.TokPos, n.Tok
	case *ast.BranchStmt:
		return n.TokPos, n.Tok
	}
	return token.NoPos, token.ILLEGAL
}

// functionName is a function's name, with its receiver's type before it.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	if name, ok := kind.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// outside is used for a function's name where there is none, as in the value of a constant.
const outside = "-"

func (s *source) place(line, column int) (place, error) {
	op, ok := s.operators[[2]int{line, column}]
	if !ok {
		return place{}, fmt.Errorf("line %d, column %d: no operator stands there", line, column)
	}
	in := s.functionAt(line)
	text := s.marked(line, column, op)
	nth := 1
	for n := in.from; n < line; n++ {
		if strings.TrimSpace(s.lines[n-1]) == strings.TrimSpace(s.lines[line-1]) {
			nth++
		}
	}
	return place{function: in.name, text: text, nth: nth}, nil
}

func (s *source) functionAt(line int) span {
	for _, f := range s.functions {
		if f.from <= line && line <= f.to {
			return f
		}
	}
	return span{outside, 1, len(s.lines)}
}

// marked is a line with the operator at a column set apart.
func (s *source) marked(line, column int, op string) string {
	text := s.lines[line-1]
	return strings.TrimSpace(text[:column-1] + "«" + op + "»" + text[column-1+len(op):])
}

// places are all places of a file, each without its mutation's kind.
func (s *source) places() map[place]bool {
	all := make(map[place]bool)
	for at := range s.operators {
		if p, err := s.place(at[0], at[1]); err == nil {
			all[p] = true
		}
	}
	return all
}
