package console

import (
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"interlock"
	"interlock/internal/admission"
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
		{"Judges", "/system/judges", ""}, {"Plans", "/system/plans", ""},
		{"Rollbacks", "/system/rollbacks", ""}, {"Seeded errors", "/system/probes", "audit"}}
}

// pageFunctions are what templates may call.
func pageFunctions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"clock":   clock,
		"stamp":   func(t time.Time) string { return stamp(now(), t) },
		"ago":     func(t time.Time) string { return ago(now(), t) },
		"left":    func(t time.Time) string { return left(now(), t) },
		"took":    inWords,
		"percent": percent,
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"visible": visible,
		"changes": diffLines,
		"text":    readable,
		"short":   short,
		"comma":   comma,
		"comma64": func(n int) string { return comma(int64(n)) },
		"hourOf":  func(t time.Time) string { return t.UTC().Format("2 Jan 15:04") },
		"dayOf":   func(t time.Time) string { return t.UTC().Format("2 Jan") },
		"counted": counted,
		"many":    counted,
		"titled":  titled,
		"marked":  marked,
		"words":   func(v any) string { return strings.ReplaceAll(fmt.Sprint(v), "_", " ") },
		"touches": touches,
		"undoing": undoing,
		"sure":    sureness,
		"danger":  dangerWords,
		"risk":    riskWord,
		"browser": browserName,
		"brief":   func(display string) string { return takeApart(display).brief() },
		"became":  func(r interlock.ApprovalRequest) string { return became(&r) },
		"state":   badgeOf,
		"lead":    func(r interlock.ApprovalRequest) []piece { return visible(leadOf(r)) },
		"badge":   func(mark string, n int, swap bool) tally { return tally{mark, n, swap} },

		"partings":   partings,
		"shadowPart": shadowPart,
		"inc":        func(n int) int { return n + 1 },
		"times":      func(a, b int) int { return a * b },
		"less":       func(a, b int) int { return a - b },
		"plus":       func(a, b int) int { return a + b },

		"trying":       trying,
		"tryOf":        tryOf,
		"signs":        signs,
		"hits":         hits,
		"by":           methodWords,
		"silencedHere": silencedHere,
		"money":        interlock.Money,
		"systemPages":  systemPages,
		"judgeTook":    judgeTook,
		"judgeUsed":    judgeUsed,
		"within":       func(path, of string) bool { return path == of || of != "/system" && strings.HasPrefix(path, of+"/") },
	}
}

// A piece is a stretch of text that either shows as itself or has been spelled out.
type piece struct {
	Text    string
	Special bool
}

// visible spells out every character of a text that does not show as itself, line ends included, so that what an agent
// wrote can't pass for something else on the page.
func visible(s string) []piece { return pieces(s, false) }

// inPlain is visible for what is no markup, such as the name of a bar.
func inPlain(s string) string {
	var b strings.Builder
	for _, p := range visible(s) {
		if p.Special {
			p.Text = "⟦" + p.Text + "⟧"
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// readable is visible for texts of several lines.
func readable(s string) []piece { return pieces(s, true) }

func pieces(s string, lines bool) []piece {
	var out []piece
	start := 0
	for i, r := range s {
		if admission.Shows(r) && r != unicode.ReplacementChar || r == '\n' && lines {
			continue
		}
		if i > start {
			out = append(out, piece{Text: s[start:i]})
		}
		out = append(out, piece{Text: spelled(r), Special: true})
		start = i + len(string(r))
		if r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], string(unicode.ReplacementChar)) {
			start = i + 1 // one byte that is no UTF-8
		}
	}
	if start < len(s) {
		out = append(out, piece{Text: s[start:]})
	}
	return out
}

// spelled names a character.
func spelled(r rune) string {
	switch r {
	case '\n':
		return "↵"
	case '\t':
		return "⇥"
	default:
		return "U+" + strings.ToUpper(strconv.FormatInt(int64(r)+0x10000, 16))[1:]
	}
}

// shorten cuts a text for a list, at a character.
func shorten(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i] + "…"
		}
	}
	return s
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

// comma writes a number in groups of three.
func comma(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
