package console

import (
	"io/fs"
	"path"
	"testing"
	"time"
)

// Every page can be parsed: a server finds out only when somebody asks for it.
func TestEveryPageIsParsed(t *testing.T) {
	names, err := pageNames()
	if err != nil || len(names) < 10 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	p := pages{now: time.Now}
	for _, name := range names {
		if _, err := p.page(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := p.page("none.html"); err == nil {
		t.Error("a page that there is none of is parsed")
	}
}

// pageNames are the pages that there are templates of.
func pageNames() ([]string, error) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	var found []string
	for _, name := range names {
		if base := path.Base(name); base != "layout.html" && base != "parts.html" {
			found = append(found, base)
		}
	}
	return found, err
}
