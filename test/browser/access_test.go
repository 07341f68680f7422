package browser_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// An axe is what axe-core found wrong with a page for people who don't see it, or who use no mouse.
type axe struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// accessible fails for everything serious that axe-core finds on the page as it stands.
func (p *page) accessible(engine, what string) {
	p.t.Helper()
	var here string
	p.evaluate(engine+`; location.pathname`, &here)
	var found []axe
	p.evaluate(`(async () => {
		const result = await axe.run(document, {resultTypes: ["violations"]});
		return result.violations.map((v) => ({ID: v.id, Impact: v.impact, Help: v.help,
			Nodes: v.nodes.slice(0, 3).map((n) => ({HTML: n.html.slice(0, 200), FailureSummary: n.failureSummary}))}));
	})()`, &found)
	for _, one := range found {
		if one.Impact == "serious" || one.Impact == "critical" {
			p.t.Errorf("%s, %s: %s (%s, %s): %+v", here, what, one.Help, one.ID, one.Impact, one.Nodes)
		}
	}
}

// axeEngine is axe-core as npm installed it.
func axeEngine(t *testing.T) string {
	t.Helper()
	engine, err := os.ReadFile("../clients/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("axe-core is missing; `make setup` installs it: %v", err)
	}
	return string(engine)
}

// The check must bite: an empty button, words that can't be told from their ground.
func TestAxeFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	p := newPage(t, startChromium(t), "about:blank", device{})
	p.evaluate(axeEngine(t)+`; document.body.innerHTML = "<button></button><p style='color:#ccc;background:#fff'>words</p>"; 1`, new(int))
	var found []string
	p.evaluate(`axe.run(document).then((r) => r.violations.map((v) => v.id))`, &found)
	if said := fmt.Sprint(found); !strings.Contains(said, "button-name") || !strings.Contains(said, "color-contrast") {
		t.Errorf("it finds %v", found)
	}
}

// TestEveryPageIsForEverybody: in both themes, and on a phone as on a desk, axe-core finds nothing serious on any page, and a page with
// everything it loads weighs little.
func TestEveryPageIsForEverybody(t *testing.T) {
	t.Parallel()
	engine := axeEngine(t)
	h := newHouse(t)
	token := strings.TrimSpace(h.run("agent", "add", "builder", "--trust", "validated"))
	for _, action := range []options{
		{"kind": "shell", "input": "git push --force origin release", "run": "r1", "hint": "tidy up", "dir": "/srv/shop"},
		{"kind": "shell", "input": "git push --force origin main", "run": "r1", "dir": "/srv/shop"},
		{"kind": "sql", "input": "DROP TABLE users"}, {"kind": "shell", "input": "ls"}, {"kind": "shell", "input": "rm -rf /"},
		{"kind": "file", "tool": "Write", "arguments": options{"path": "/etc/passwd", "content": "root"}},
	} {
		h.decide(token, action)
	}
	agent := h.overStdio("rival")
	agent.begins()
	agent.stops("sudo rm -rf /")
	h.listed("notes", `[{"name":"read_note","description":"Read a note","inputSchema":{"type":"object"}}]`)
	browser := startChromium(t)
	for _, d := range []device{{}, {phone: true}} {
		name := map[bool]string{true: "anna", false: "bert"}[d.phone]
		p := newPage(t, browser, h.origin, d)
		p.open("/login")
		p.accessible(engine, "before anybody is in")
		p.enrol(h.link("operator", "add", name, "--role", "admin", "--enrol"), name)
		pages := []string{"/", "/?range=month", "/feed", "/feed?q=nothing", "/pending", "/agents", "/challenges", "/trust", "/grants",
			"/tools", "/tools/show?subject=notes", "/rules", "/rules?q=there+is+none", "/rules/fs.delete-root", "/rules/git.force-push", "/rules/try",
			"/rules/past?days=7", "/agents?standing=revoked", "/trust?agent=builder", "/audit", "/audit?q=there+is+none", "/system", "/sessions",
			"/system/phases", "/system/limits", "/system/judges", "/system/privacy", "/system/memory",
			"/system/memory?q=there+is+none", "/system/plans", "/system/rollbacks", "/system/probes", "/grants/range",
			"/system/rollbacks/new?agent=builder&since=2026-01-01", "/agents/timeline?on=agent:builder", "/agents/timeline?on=system",
			"/nowhere"}
		seen := map[string]bool{}
		for _, path := range p.linked("/feed", "/pending", "/audit") {
			kind := strings.SplitN(path, "/", 3)[1]
			if !seen[kind] {
				seen[kind] = true
				pages = append(pages, path)
			}
		}
		for _, path := range pages {
			p.open(path)
			var weight int
			p.evaluate(`performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
				.reduce((sum, e) => sum + e.transferSize, 0)`, &weight)
			if weight > 150<<10 || weight == 0 {
				t.Errorf("%s weighs %d bytes", path, weight)
			}
			themes := []string{"light", "dark"}
			if d.phone {
				themes = themes[1:] // the colours are those of a desk
			}
			for _, theme := range themes {
				p.do("Emulation.setEmulatedMedia", options{"features": []options{{"name": "prefers-color-scheme", "value": theme}}}, nil)
				p.accessible(engine, fmt.Sprintf("%s, phone %v", theme, d.phone))
			}
		}
		p.do("Page.close", nil, nil)
	}
}
