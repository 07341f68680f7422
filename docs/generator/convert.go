package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

const glossaryPage = "docs/reference/glossary.md"

// A page is one Markdown file.
type page struct {
	name     string // of its source, from the repository's root
	address  string // in the site
	title    string
	source   []byte
	tree     ast.Node
	headings []heading
}

// A heading has the anchor that GitHub gives it, so that links work there and here.
type heading struct {
	Level        int
	Anchor, Text string
}

func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())) // what is raw is taken out
}

// parse reads a page's structure.
func parse(name string, source []byte) *page {
	p := &page{name: name, address: address(name), source: source, title: name}
	p.tree = markdown().Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext()))
	taken := map[string]int{}
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function gives no error
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		words := plain(h, source)
		anchor := anchorOf(words)
		if taken[anchor]++; taken[anchor] > 1 {
			anchor = fmt.Sprintf("%s-%d", anchor, taken[anchor]-1)
		}
		h.SetAttributeString("id", []byte(anchor))
		if h.Level == 1 && p.title == name {
			p.title = words
		}
		p.headings = append(p.headings, heading{h.Level, anchor, words})
		return ast.WalkContinue, nil
	})
	return p
}

// short is the title as the list beside the pages has it.
func (p *page) short() string {
	title, _, _ := strings.Cut(p.title, ": ")
	return title
}

// address is where a page is in the site: a README is what is shown for its directory.
func address(name string) string {
	dir, file := path.Split(name)
	if file == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

var notAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

func anchorOf(words string) string {
	return strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(words), ""), " ", "-")
}

// plain is the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch t := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(t.Segment.Value(source))
				if t.SoftLineBreak() || t.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(t.Value)
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := 0; entering && i < n.Lines().Len(); i++ {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		}
		if n.Type() == ast.TypeBlock && !entering {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// convert makes a page's HTML: links lead within the site, words of the glossary to it, and hidden comments are gone.
func (s *site) convert(p *page) []byte {
	var raw []ast.Node
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch t := n.(type) {
		case *ast.Link:
			t.Destination = []byte(s.leads(p, string(t.Destination)))
		case *ast.Image:
			t.Destination = []byte(s.leads(p, string(t.Destination)))
		case *ast.HTMLBlock:
			raw = append(raw, n)
		case *ast.RawHTML:
			if segment := t.Segments.At(0); string(segment.Value(p.source)) != "<br>" {
				raw = append(raw, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range raw {
		n.Parent().RemoveChild(n.Parent(), n)
	}
	s.look(p)
	if p.name != glossaryPage {
		s.explain(p)
	}
	var out bytes.Buffer
	if err := markdown().Renderer().Render(&out, p.source, p.tree); err != nil {
		s.problems = append(s.problems, p.name+": "+err.Error())
	}
	// A wide table moves by itself, not the page.
	body := bytes.ReplaceAll(out.Bytes(), []byte("<table>"), []byte(`<div class="wide" tabindex="0"><table>`))
	return bytes.ReplaceAll(body, []byte("</table>"), []byte("</table></div>"))
}

// leads is where a link of a page leads in the site. One that leads nowhere is a problem.
func (s *site) leads(p *page, destination string) string {
	target, anchor, _ := strings.Cut(destination, "#")
	if strings.Contains(target, ":") {
		return destination
	}
	name := p.name
	if target != "" {
		name = path.Join(path.Dir(p.name), target)
	}
	if info, err := fs.Stat(s.root, name); err == nil && info.IsDir() {
		name = path.Join(name, "README.md")
	}
	to := s.pages[name]
	switch {
	case to == nil && path.Ext(name) == ".md":
		s.nowhere(p, destination)
		return destination
	case to == nil:
		if info, err := fs.Stat(s.root, name); err != nil || !info.Mode().IsRegular() {
			s.nowhere(p, destination)
			return destination
		}
		s.files[name] = true
		if !picture(name) {
			name += ".html"
		}
		return up(p.address) + name
	case anchor != "" && !slices.ContainsFunc(to.headings, func(h heading) bool { return h.Anchor == anchor }):
		s.nowhere(p, destination)
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	if target == "" {
		return anchor
	}
	return up(p.address) + to.address + anchor
}

func (s *site) nowhere(p *page, destination string) {
	s.problems = append(s.problems, p.name+": "+destination+" leads nowhere")
}

// look puts a page into the index, heading by heading.
func (s *site) look(p *page) {
	at := [4]string{p.address, p.title, "", ""}
	number := -1
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindHeading {
			number++
			if h := p.headings[number]; h.Level > 1 {
				s.index = append(s.index, at)
				at = [4]string{p.address + "#" + h.Anchor, p.title, h.Text, ""}
			}
			continue
		}
		at[3] = strings.TrimSpace(at[3] + " " + plain(n, p.source))
	}
	s.index = append(s.index, at)
}
