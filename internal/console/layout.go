package console

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"interlock"
	"interlock/internal/console/render"
	"interlock/internal/console/signin"
	"interlock/internal/ledger"
)

// A tab is one entry of the main navigation.
type tab struct {
	Name  string
	Path  string
	Here  bool // the page shown is one of it
	Mark  string
	Count int // of what waits there
}

// A tally is a number beside an entry of the navigation. Swap says that it replaces the one a page shows.
type tally struct {
	Mark  string
	Count int
	Swap  bool
}

// tabs are the pages that the signed-in operator may open.
func (c *Console) tabs(r *http.Request) []tab {
	all := []struct {
		tab
		needs right
	}{
		{tab{Name: "Overview", Path: "/"}, seeing},
		{tab{Name: "Inbox", Path: "/pending"}, seeing},
		{tab{Name: "Feed", Path: "/feed"}, seeing},
		{tab{Name: "Challenges", Path: "/challenges"}, seeing},
		{tab{Name: "Agents", Path: "/agents"}, seeing},
		{tab{Name: "Trust", Path: "/trust"}, seeing},
		{tab{Name: "Tools", Path: "/tools"}, seeing},
		{tab{Name: "Grants", Path: "/grants"}, seeing},
		{tab{Name: "Rules", Path: "/rules"}, seeing},
		{tab{Name: "Audit", Path: "/audit"}, auditing},
		{tab{Name: "System", Path: "/system"}, seeing},
	}
	waiting, err := c.waiting(r.Context())
	if err != nil {
		waiting = counts{} // a page without counts is better than none
	}
	held, err := c.config.Backend.Count(r.Context(), under(ledger.Pin, ledger.Held), ledger.Every(maxCounted))
	if err != nil {
		held = 0
	}
	var tabs []tab
	for _, one := range all {
		if !c.may(r, one.needs) {
			continue
		}
		switch one.Path {
		case "/pending":
			one.Mark, one.Count = "count-pending", waiting.Pending
		case "/challenges":
			one.Mark, one.Count = "count-challenges", waiting.Challenges
		case "/tools":
			one.Mark, one.Count = "count-tools", held
		}
		one.Here = r.URL.Path == one.Path || one.Path != "/" && strings.HasPrefix(r.URL.Path, one.Path+"/")
		tabs = append(tabs, one.tab)
	}
	return tabs
}

// A subpage is one of the pages about what runs here.
type subpage struct{ Name, Path, Needs string }

func systemPages() []subpage {
	return []subpage{{"System", "/system", ""}, {"Phases", "/system/phases", ""}, {"Limits", "/system/limits", ""},
		{"Judges", "/system/judges", ""}, {"Privacy", "/system/privacy", "read"}, {"Memory", "/system/memory", "read"},
		{"Plans", "/system/plans", ""},
		{"Rollbacks", "/system/rollbacks", ""}, {"Orders", "/system/orders", "order"}, {"Seeded errors", "/system/probes", "audit"}}
}

// pageFunctions are what templates may call.
func pageFunctions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"clock":   render.Clock,
		"stamp":   func(t time.Time) string { return render.Stamp(now(), t) },
		"ago":     func(t time.Time) string { return render.Ago(now(), t) },
		"left":    func(t time.Time) string { return render.Left(now(), t) },
		"took":    render.InWords,
		"percent": render.Percent,
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"visible": render.Visible,
		"changes": render.DiffLines,
		"text":    render.Readable,
		"short":   short,
		"comma":   render.Comma,
		"comma64": func(n int) string { return render.Comma(int64(n)) },
		"hourOf":  func(t time.Time) string { return t.UTC().Format("2 Jan 15:04") },
		"dayOf":   func(t time.Time) string { return t.UTC().Format("2 Jan") },
		"counted": counted,
		"many":    counted,
		"titled":  titled,
		"marked":  render.Marked,
		"words":   func(v any) string { return strings.ReplaceAll(fmt.Sprint(v), "_", " ") },
		"touches": render.Touches,
		"undoing": render.Undoing,
		"sure":    render.Sureness,
		"danger":  render.DangerWords,
		"risk":    render.RiskWord,
		"browser": signin.BrowserName,
		"brief":   func(display string) string { return render.TakeApart(display).Brief() },
		"became":  func(r interlock.ApprovalRequest) string { return render.Became(&r) },
		"state":   render.BadgeOf,
		"lead":    func(r interlock.ApprovalRequest) []render.Piece { return render.Visible(render.LeadOf(r)) },
		"badge":   func(mark string, n int, swap bool) tally { return tally{mark, n, swap} },

		"partings":   render.Partings,
		"shadowPart": render.ShadowPart,
		"inc":        func(n int) int { return n + 1 },
		"times":      func(a, b int) int { return a * b },
		"less":       func(a, b int) int { return a - b },
		"plus":       func(a, b int) int { return a + b },

		"trying":       trying,
		"tryOf":        tryOf,
		"signs":        signs,
		"hits":         hits,
		"by":           render.MethodWords,
		"silencedHere": silencedHere,
		"money":        interlock.Money,
		"systemPages":  systemPages,
		"judgeTook":    render.JudgeTook,
		"judgeUsed":    render.JudgeUsed,
		"within":       func(path, of string) bool { return path == of || of != "/system" && strings.HasPrefix(path, of+"/") },
	}
}

// short is the beginning of a digest or an id, enough to tell two apart by eye.
func short(id any) string {
	text := ""
	switch id := id.(type) {
	case string:
		text = id
	case interlock.Digest:
		text = string(id)
	}
	text = strings.TrimPrefix(text, "sha256:")
	if len(text) > 12 {
		text = text[:12]
	}
	return text
}

// warnings are what is wrong now, as text: the pages escape it.
func (c *Console) warnings() []string {
	if c.config.Warnings == nil {
		return nil
	}
	return c.config.Warnings()
}

// warningsPart is the part of every page that says what is wrong, which a page that is open asks for again and again.
func (c *Console) warningsPart(w http.ResponseWriter, r *http.Request) {
	if _, ok := c.operator(r); !ok {
		w.WriteHeader(http.StatusNoContent) // the page stays as it is, and says on the next click that the session has ended
		return
	}
	var b bytes.Buffer
	if err := c.pages.execute(&b, "system.html", "warnings", c.warnings()); err != nil {
		c.config.Logger.ErrorContext(r.Context(), "a part of a page could not be made", "part", "warnings", "error", err.Error())
		http.Error(w, "it can't be told what is wrong", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// A packed is a file as browsers take it that unpack. Only what is the same for everybody is packed: the length of a packed page
// would tell of the secrets in it.
type packed []byte

// packStatic packs the console's own scripts and style.
func packStatic() map[string]packed {
	files := map[string]packed{}
	names, err := fs.Glob(staticFiles, "static/*")
	if err != nil {
		return files // the file server tells what is wrong
	}
	for _, name := range names {
		plain, err := fs.ReadFile(staticFiles, name)
		if err != nil {
			continue
		}
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err == nil {
			_, err = w.Write(plain)
		}
		if err == nil && w.Close() == nil {
			files["/"+name] = b.Bytes()
		}
	}
	return files
}

// static serves the console's own script and style.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	file, known := c.files()[r.URL.Path]
	types := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
	kind := types[path.Ext(r.URL.Path)]
	if !known || kind == "" || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		http.FileServerFS(staticFiles).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(file) // a reader that went away has nothing to miss
}
