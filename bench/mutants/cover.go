package main

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A block is a piece of source as go's coverage knows it.
type block struct {
	fromLine, fromColumn, toLine, toColumn int
	reached                                bool
}

func (b block) holds(p token.Position) bool {
	return (p.Line > b.fromLine || p.Line == b.fromLine && p.Column >= b.fromColumn) &&
		(p.Line < b.toLine || p.Line == b.toLine && p.Column <= b.toColumn)
}

var profileLine = regexp.MustCompile(`^(.+\.go):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)

// coverCases adds the conditions of switches to a coverage profile. Go's profile holds the bodies of cases and not what comes
// after the word case, so gremlins would leave out every condition of a switch without a value, which is how most refusals are
// written here. A condition is reached where its switch is.
func coverCases(root, name string) error {
	profile, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	blocks := make(map[string][]block)
	var order []string
	lines := bufio.NewScanner(bytes.NewReader(profile))
	for lines.Scan() {
		m := profileLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		var n [5]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+2])
		}
		if blocks[m[1]] == nil {
			order = append(order, m[1])
		}
		blocks[m[1]] = append(blocks[m[1]], block{n[0], n[1], n[2], n[3], n[4] > 0})
	}
	out := bytes.NewBuffer(profile)
	for _, file := range order {
		_, path, _ := strings.Cut(file, "/") // the module's name has no slash
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		added, err := caseBlocks(text, blocks[file])
		if err != nil {
			return err
		}
		for _, b := range added {
			fmt.Fprintf(out, "%s:%d.%d,%d.%d 1 1\n", file, b.fromLine, b.fromColumn, b.toLine, b.toColumn)
		}
	}
	return os.WriteFile(name, out.Bytes(), 0o600)
}

// caseBlocks are the conditions of the switches that were reached.
func caseBlocks(text []byte, known []block) ([]block, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var added []block
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SwitchStmt)
		if !ok || !reached(known, set.Position(s.Switch)) {
			return true
		}
		for _, clause := range s.Body.List {
			for _, condition := range clause.(*ast.CaseClause).List {
				from, to := set.Position(condition.Pos()), set.Position(condition.End())
				added = append(added, block{from.Line, from.Column, to.Line, to.Column, true})
			}
		}
		return true
	})
	return added, nil
}

func reached(blocks []block, p token.Position) bool {
	for _, b := range blocks {
		if b.reached && b.holds(p) {
			return true
		}
	}
	return false
}
