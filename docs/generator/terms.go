package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// A term is a word of the glossary, as it is looked for in other pages.
type term struct {
	anchor string
	looks  *regexp.Regexp
}

// ordinary are words of the glossary that every other sentence has: a link at each would be in the way.
var ordinary = []string{"action", "agent", "allow", "answer", "ask", "block", "code", "deny", "effect", "guard", "hint", "hold",
	"home", "log", "loop",
	"mode", "order", "pause", "proof", "request", "rule", "run", "scope", "settled", "shadow", "standing", "store", "trust", "unknown", "view", "work"}

func terms(glossary *page) (found []term) {
	for _, h := range glossary.headings {
		if h.Level != 2 || slices.Contains(ordinary, h.Text) {
			continue
		}
		found = append(found, term{h.Anchor, regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(h.Text) + `s?\b`)})
	}
	return found
}

// explain has the first use of each term in a page's running text lead to the glossary.
func (s *site) explain(p *page) {
	todo := slices.Clone(s.terms)
	var texts []*ast.Text
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindHeading, ast.KindLink, ast.KindCodeSpan, ast.KindImage, east.KindTableHeader:
			return ast.WalkSkipChildren, nil
		case ast.KindText:
			if entering {
				texts = append(texts, n.(*ast.Text))
			}
		}
		return ast.WalkContinue, nil
	})
	for _, t := range texts {
		for t != nil && len(todo) > 0 {
			t, todo = s.link(p, t, todo)
		}
	}
}

// link makes a link of the first term in a text and returns what is left of the text and of the terms.
func (s *site) link(p *page, t *ast.Text, todo []term) (rest *ast.Text, left []term) {
	words := string(t.Segment.Value(p.source))
	first, at := -1, []int{len(words), 0}
	for i, term := range todo {
		if found := term.looks.FindStringIndex(words); found != nil && found[0] < at[0] && alone(words, found) {
			first, at = i, found
		}
	}
	if first < 0 {
		return nil, todo
	}
	start, parent := t.Segment.Start, t.Parent()
	link := ast.NewLink()
	link.Destination = []byte(up(p.address) + address(glossaryPage) + "#" + todo[first].anchor)
	link.SetAttributeString("class", []byte("term"))
	link.AppendChild(link, ast.NewTextSegment(text.NewSegment(start+at[0], start+at[1])))
	parent.InsertBefore(parent, t, ast.NewTextSegment(text.NewSegment(start, start+at[0])))
	parent.InsertBefore(parent, t, link)
	t.Segment = t.Segment.WithStart(start + at[1])
	return t, slices.Delete(slices.Clone(todo), first, first+1)
}

// alone says that a found word is no part of a name with dots, dashes or slashes.
func alone(words string, at []int) bool {
	const joins = "-_./:"
	return (at[0] == 0 || !strings.ContainsRune(joins, rune(words[at[0]-1]))) &&
		(at[1] == len(words) || !strings.ContainsRune("-_/", rune(words[at[1]])))
}
