package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed files
var files embed.FS

// A kind is one of the four kinds of pages, with its pages in the order in which they are listed.
type kind struct {
	name  string
	pages []string
}

// kinds are shown beside every page. A page of docs that is in none fails the tests; decisions are listed on a page of their own.
var kinds = []kind{
	{"Begin", []string{"README.md", "docs/README.md", "docs/tutorial/README.md"}},
	{"How to", []string{"docs/how-to/README.md", "docs/how-to/install.md", "docs/how-to/blocked.md", "docs/how-to/ask-less.md",
		"docs/how-to/symptoms.md", "docs/how-to/phone.md", "docs/how-to/ci.md", "docs/how-to/containers.md", "docs/how-to/teams.md",
		"docs/how-to/sandbox.md", "docs/how-to/move-a-home.md", "docs/how-to/upgrade.md", "docs/operating.md", "docs/kill.md",
		"docs/phases.md", "docs/budgets.md", "docs/judge.md", "docs/redteam.md",
		"docs/anomalies.md", "docs/rollback.md", "docs/messages.md", "docs/recovery.md",
		"docs/oversight.md", "docs/council.md", "docs/memory.md", "docs/modules.md", "docs/plans.md", "docs/plugging-in.md",
		"docs/recipes/README.md", "docs/adding-a-command.md", "docs/adding-a-harness.md", "docs/adding-a-standing.md",
		"docs/releases.md"}},
	{"Reference", []string{"docs/reference/README.md", "docs/reference/glossary.md", "docs/cli.md", "docs/reference/commands.md",
		"docs/reference/layers.md", "docs/reference/settings.md", "docs/reference/orders.md", "docs/rules.md", "docs/text.md", "docs/privacy.md",
		"docs/reference/rule-tags.md", "docs/ground-rules.md", "docs/approvals.md", "docs/console.md", "docs/hooks.md",
		"docs/reference/coverage.md", "docs/http-api.md", "docs/mcp.md",
		"docs/gateway.md", "docs/sandbox.md", "docs/audit-log.md", "docs/reference/conformance.md"}},
	{"Explanation", []string{"docs/explanation/README.md", "docs/explanation/asking.md", "docs/architecture.md", "docs/threat-model.md",
		"docs/decisions/README.md", "docs/divergences.md", "docs/rough-edges.md", "bench/README.md", "bench/eval.md", "CHANGELOG.md"}},
}

// left are directories without pages of the site.
var left = []string{".git", "node_modules", "testdata", "bin", "dist", "site", "var"}

// A site is what is being built: the pages that there are, what their links lead to, and what is searched.
type site struct {
	root     fs.FS
	pages    map[string]*page // by the name of their source
	terms    []term
	files    map[string]bool // that pages lead to and that are no pages
	index    [][4]string     // address, page, heading, text
	problems []string
}

// build makes the site and says how many pages it has, and which links lead nowhere.
func build(root fs.FS, out string) (pages int, problems []string, err error) {
	s := &site{root: root, pages: map[string]*page{}, files: map[string]bool{}}
	if err := s.read(); err != nil {
		return 0, nil, err
	}
	if err := os.RemoveAll(out); err != nil {
		return 0, nil, err
	}
	names := make([]string, 0, len(s.pages))
	for name := range s.pages {
		names = append(names, name)
	}
	slices.Sort(names)
	layout, err := template.ParseFS(files, "files/page.html")
	if err != nil {
		return 0, nil, err
	}
	for _, name := range names {
		p := s.pages[name]
		body := s.convert(p)
		if err := s.write(layout, out, p.address, s.shown(p, body)); err != nil {
			return 0, nil, err
		}
	}
	if err := s.copies(layout, out); err != nil {
		return 0, nil, err
	}
	return len(s.pages), s.problems, s.statics(out)
}

// read finds the pages, their titles and headings, and the words of the glossary.
func (s *site) read() error {
	err := fs.WalkDir(s.root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(left, entry.Name()) || name == "release/files"): // those are templates
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md" || name == "bench/run/method.md": // part of bench/README.md
			return nil
		}
		text, err := fs.ReadFile(s.root, name)
		if err == nil {
			s.pages[name] = parse(name, text)
		}
		return err
	})
	if glossary := s.pages[glossaryPage]; glossary != nil {
		s.terms = terms(glossary)
	}
	return err
}

// A view is what the layout shows.
type view struct {
	Title, Root, Source string
	Kinds               []viewKind
	Contents            []heading
	Body                template.HTML
}

type viewKind struct {
	Name  string
	Open  bool
	Pages []viewPage
}

type viewPage struct {
	Title, Address string
	Here           bool
}

// shown is a page as the layout wants it: every address is relative, so that it works from files.
func (s *site) shown(p *page, body []byte) view {
	v := view{Title: p.title, Root: up(p.address), Source: p.name, Body: template.HTML(body)} // written by goldmark, from our own pages
	for _, k := range kinds {
		shown := viewKind{Name: k.name}
		for _, name := range k.pages {
			if other := s.pages[name]; other != nil {
				here := name == p.name
				shown.Open = shown.Open || here
				shown.Pages = append(shown.Pages, viewPage{other.short(), v.Root + other.address, here})
			}
		}
		v.Kinds = append(v.Kinds, shown)
	}
	for _, h := range p.headings {
		if h.Level == 2 {
			v.Contents = append(v.Contents, h)
		}
	}
	if len(v.Contents) < 3 || p.name == glossaryPage {
		v.Contents = nil
	}
	return v
}

// up leads from a page to the site's root.
func up(address string) string { return strings.Repeat("../", strings.Count(address, "/")) }

func (s *site) write(layout *template.Template, out, address string, v view) error {
	var page bytes.Buffer
	if err := layout.Execute(&page, v); err != nil {
		return err
	}
	return put(out, address, page.Bytes())
}

func put(out, address string, data []byte) error {
	file := filepath.Join(out, filepath.FromSlash(address))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// copies writes the files that pages lead to: pictures as they are, texts as pages.
func (s *site) copies(layout *template.Template, out string) error {
	for name := range s.files {
		data, err := fs.ReadFile(s.root, name)
		if err != nil {
			return err
		}
		if picture(name) {
			if err := put(out, name, data); err != nil {
				return err
			}
			continue
		}
		var text bytes.Buffer
		fmt.Fprintf(&text, "<h1>%s</h1>\n<pre><code>%s</code></pre>\n", template.HTMLEscapeString(name), template.HTMLEscapeString(string(data)))
		if err := s.write(layout, out, name+".html", s.shown(&page{name: name, title: name, address: name + ".html"}, text.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

func picture(name string) bool {
	return slices.Contains([]string{".png", ".svg", ".jpg", ".gif"}, path.Ext(name))
}

// statics writes what all pages share, and the index that is searched. The index is a program, because a page that was opened as a file
// may load programs beside it and no data.
func (s *site) statics(out string) error {
	for _, name := range []string{"site.css", "site.js"} {
		data, err := fs.ReadFile(files, "files/"+name)
		if err != nil {
			return err
		}
		if err := put(out, name, data); err != nil {
			return err
		}
	}
	index, err := json.Marshal(s.index)
	if err != nil {
		return err
	}
	return put(out, "search.js", append(append([]byte("searchIndex = "), index...), ";\n"...))
}
