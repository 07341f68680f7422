package console

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"
)

//go:embed templates
var templateFiles embed.FS

// pages are the templates of the console's pages. Each is parsed when it is asked for the first time: all of them take more
// memory than everything else that a server keeps, and most servers show few or none.
type pages struct {
	now    func() time.Time
	guard  sync.Mutex
	shared *template.Template // what every page is made with
	parsed map[string]*template.Template
}

// execute writes a template of a page.
func (p *pages) execute(w io.Writer, page, name string, data any) error {
	parsed, err := p.page(page)
	if err != nil {
		return err
	}
	return parsed.ExecuteTemplate(w, name, data)
}

func (p *pages) page(name string) (_ *template.Template, err error) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if parsed := p.parsed[name]; parsed != nil {
		return parsed, nil
	}
	if p.shared == nil {
		if p.shared, err = template.New("").Funcs(pageFunctions(p.now)).ParseFS(templateFiles, "templates/layout.html",
			"templates/parts.html"); err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		p.parsed = map[string]*template.Template{}
	}
	parsed, err := p.shared.Clone()
	if err == nil {
		parsed, err = parsed.ParseFS(templateFiles, "templates/"+name)
	}
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	p.parsed[name] = parsed
	return parsed, nil
}
