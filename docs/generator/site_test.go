package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	attribute = regexp.MustCompile(`\b(href|src)="([^"]*)"`)
	identity  = regexp.MustCompile(`\bid="([^"]*)"`)
)

// TestTheSiteHoldsTogether builds the site of this repository and follows every link, picture, program and style in it. Nothing is loaded from
// elsewhere.
func TestTheSiteHoldsTogether(t *testing.T) {
	out := t.TempDir()
	pages, problems, err := build(os.DirFS("../.."), out)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
	if pages < 80 {
		t.Errorf("only %d pages", pages)
	}
	built := os.DirFS(out)
	anchors := map[string][]string{}
	texts := map[string]string{}
	err = fs.WalkDir(built, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		text, err := fs.ReadFile(built, name)
		texts[name] = string(text)
		for _, id := range identity.FindAllStringSubmatch(string(text), -1) {
			anchors[name] = append(anchors[name], id[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for name, text := range texts {
		for _, found := range attribute.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(found[2], "#")
			if strings.Contains(target, ":") {
				if found[1] == "src" {
					t.Errorf("%s loads %s", name, target)
				}
				continue
			}
			links++
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if _, err := fs.Stat(built, to); err != nil {
				t.Errorf("%s: %s leads nowhere", name, found[2])
			} else if anchor != "" && !slices.Contains(anchors[to], anchor) {
				t.Errorf("%s: %s has no %s", name, to, anchor)
			}
		}
		if strings.Contains(text, "<!-- before") {
			t.Errorf("%s shows what the tests do before", name)
		}
	}
	if links < 5000 {
		t.Errorf("only %d links were followed", links)
	}
	index, err := fs.ReadFile(built, "search.js")
	if err != nil || !strings.Contains(string(index), "docs/reference/settings.html#quiet_hours") || len(index) > 5<<18 {
		t.Errorf("the index lacks a setting, or has grown to %d bytes: %v", len(index), err)
	}
	for _, file := range []string{"site.css", "site.js"} {
		if text, err := os.ReadFile(filepath.Join(out, file)); err != nil || strings.Contains(string(text), "//cdn") ||
			strings.Contains(string(text), "http") {
			t.Errorf("%s reaches for the network: %v", file, err)
		}
	}
}

// TestEveryPageHasAKind: a page of the documentation stands in the list beside all pages, once.
func TestEveryPageHasAKind(t *testing.T) {
	listed := map[string]int{}
	for _, k := range kinds {
		for _, name := range k.pages {
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Error(err)
			}
			listed[name]++
		}
	}
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		name := path.Join("docs", strings.TrimPrefix(filepath.ToSlash(file), "../"))
		if err == nil && path.Ext(name) == ".md" && listed[name] != 1 && (path.Dir(name) != "docs/decisions" || path.Base(name) == "README.md") {
			t.Errorf("%s stands in %d kinds; put it into one, in site.go", name, listed[name])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWhatASiteIsMadeOf: what a small repository becomes, and which links are refused.
func TestWhatASiteIsMadeOf(t *testing.T) {
	root := fstest.MapFS{
		"README.md": {Data: []byte("# Home\n\n<!-- before: secret -->\n\n[a](docs/a.md#two-words) [b](docs/) [code](x.go) " +
			"[out](https://example.com) [gone](docs/c.md) " +
			"[none](docs/a.md#three)\n\n![p](p.png)\n\n| x |\n|---|\n| y<br>z <script>alert(1)</script> |\n")},
		"docs/README.md":             {Data: []byte("# Docs\n\nA canary sings, `canary`, a canary.\n")},
		"docs/a.md":                  {Data: []byte("# A\n\n## Two, words\n\n[up](../README.md)\n")},
		"docs/reference/glossary.md": {Data: []byte("# Glossary\n\n## canary\nA bird.\n")},
		"x.go":                       {Data: []byte("package x // <&>\n")},
		"p.png":                      {Data: []byte("p")},
	}
	out := t.TempDir()
	pages, problems, err := build(root, out)
	if err != nil || pages != 4 {
		t.Fatalf("%d pages, %v", pages, err)
	}
	if want := []string{"README.md: docs/c.md leads nowhere", "README.md: docs/a.md#three leads nowhere"}; !slices.Equal(problems, want) {
		t.Errorf("problems %q", problems)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	home := read("index.html")
	for _, want := range []string{`href="docs/a.html#two-words"`, `href="docs/index.html"`, `href="x.go.html"`,
		`href="https://example.com"`, `src="p.png"`, "y<br>z"} {
		if !strings.Contains(home, want) {
			t.Errorf("the page lacks %s:\n%s", want, home)
		}
	}
	if strings.Contains(home, "secret") || strings.Contains(home, "<script>") {
		t.Errorf("what is raw is shown:\n%s", home)
	}
	if text := read("docs/index.html"); strings.Count(text, `href="../docs/reference/glossary.html#canary" class="term"`) != 1 {
		t.Errorf("the first use of a word does not lead to the glossary, once:\n%s", text)
	}
	if text := read("x.go.html"); !strings.Contains(text, "package x // &lt;&amp;&gt;") {
		t.Errorf("a text is not shown as it is:\n%s", text)
	}
}
