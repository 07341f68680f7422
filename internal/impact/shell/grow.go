package shell

import (
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"

	"mvdan.cc/sh/v3/syntax"
)

// manyFiles is a number of files that nobody makes by a loop for a purpose, and that a disk has no more names for.
const manyFiles = 1_000_000

// swells reports whether the body of a loop without end makes a variable longer by itself on each round and nothing in it
// waits or leaves: x=$x$x, x+=$x, a+=(x).
func swells(body []*syntax.Stmt) bool {
	grows, stays := false, true
	for _, st := range body {
		syntax.Walk(st, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.CallExpr:
				if len(x.Args) > 0 && x.Args[0].Lit() != ":" && x.Args[0].Lit() != "true" {
					stays = false // it may wait, read or leave
				}
			case *syntax.Assign:
				grows = grows || x.Name != nil && (x.Append && x.Array != nil || x.Value != nil && longer(x))
			case *syntax.CmdSubst, *syntax.TestClause:
				stays = false
			}
			return stays
		})
	}
	return grows && stays
}

// longer reports whether a variable is assigned more than it holds: itself twice, or itself with something beside it.
func longer(a *syntax.Assign) bool {
	mentions := 0
	syntax.Walk(a.Value, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && p.Param.Value == a.Name.Value && p.Exp == nil &&
			p.Slice == nil && p.Repl == nil && !p.Length {
			mentions++
		}
		return true
	})
	if a.Append {
		return mentions > 0
	}
	return mentions > 1 || mentions == 1 && len(a.Value.Parts) > 1
}

// turns is how often a loop over words turns, as far as it is counted by a range or by seq.
func turns(words []*syntax.Word) (n int) {
	for _, w := range words {
		if low, high, ok := strings.Cut(strings.Trim(w.Lit(), "{}"), ".."); ok {
			high, _, _ = strings.Cut(high, "..")
			n += apart(low, high)
			continue
		}
		if len(w.Parts) == 0 {
			continue
		}
		sub, ok := w.Parts[0].(*syntax.CmdSubst)
		if !ok || len(sub.Stmts) != 1 {
			continue
		}
		call, ok := sub.Stmts[0].Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "seq" && call.Args[0].Lit() != "jot" {
			continue
		}
		first := "1"
		if len(call.Args) > 2 {
			first = call.Args[1].Lit()
		}
		n += apart(first, call.Args[len(call.Args)-1].Lit())
	}
	return n
}

func apart(low, high string) int {
	from, err := strconv.ParseFloat(low, 64)
	to, bad := strconv.ParseFloat(high, 64)
	if err != nil || bad != nil || to-from > 1e15 {
		return 0
	}
	return int(max(to-from, from-to))
}

// litters records that the body of a loop that turns a million times makes a file on each round.
func (r *shellRun) litters(body []*syntax.Stmt) {
	made := ""
	for _, st := range body {
		syntax.Walk(st, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.Redirect:
				if x.Op == syntax.RdrOut && x.Word != nil && x.Word.Lit() == "" {
					made = ">"
				}
			case *syntax.CallExpr:
				if len(x.Args) < 1 {
					break
				}
				switch name := x.Args[0].Lit(); name {
				case "touch", "mkdir", "mktemp", "cp", "ln", "mkfifo", "truncate", "fallocate":
					made = name
				case "break":
					made = ""
					return false
				}
			}
			return true
		})
	}
	if made != "" {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactSpawn, Target: "files", Reach: interlock.ReachWorkspace, Via: made,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitFilling}})
	}
}
