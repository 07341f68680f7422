package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// A page is one page of the console, and what leads to it. A test holds the list against the console's templates.
type page struct {
	name     string   // of its pictures
	template string   // of the console
	path     string   // that is opened; empty: what is shown already
	steps    []string // scripts that lead from there to another page, one after the other
	after    []string // scripts that lead away once the pictures are taken
	title    string   // for people
	screen   bool     // on a phone no more than its screen shows: something stays at its lower edge
}

// tellMe switches notifications on as a browser would that has a push service.
const tellMe = `(async () => {
	const made = await crypto.subtle.generateKey({name: "ECDH", namedCurve: "P-256"}, true, ["deriveBits"]);
	const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
	const form = document.querySelector("form[data-push]");
	form.elements.endpoint.value = "https://push.example/a-phone";
	form.elements.p256dh.value = text(await crypto.subtle.exportKey("raw", made.publicKey));
	form.elements.auth.value = text(new Uint8Array(16));
	form.submit();
})()`

// pages are every page of the console. The first let the browser in; those that change something come last.
func pages(d played) []page {
	press := func(selector string) string { return "document.querySelector(" + quoted(selector) + ").click()" }
	return []page{
		{name: "login", template: "login.html", path: "/login", title: "Coming in"},
		{name: "enrol", template: "enrol.html", path: d.enrolment, after: []string{
			`document.querySelector("input[name=name]").value = "laptop"; document.querySelector("main form button").click()`},
			title: "A link that registers a passkey"},
		{name: "sessions", template: "sessions.html", path: "/sessions", steps: []string{tellMe}, title: "Sessions"},
		{name: "overview", template: "overview.html", path: "/", title: "Overview"},
		{name: "pending", template: "pending.html", path: "/pending", title: "Inbox"},
		{name: "request", template: "request.html", path: "/pending/" + d.request, title: "A request", screen: true},
		{name: "always", template: "always.html", path: "/pending/" + d.alwaysOf + "/always", title: "Always allow this here"},
		{name: "grant", template: "grant.html", path: "/pending/" + d.request, steps: []string{
			`(() => { const form = document.querySelector("form[action$='/grant']"); form.closest("details").open = true;
			form.elements.tool.value = "git push --force origin release*"; form.elements.reason.value = "release day"; form.requestSubmit(); })()`},
			title: "A standing grant, before it is signed"},
		{name: "feed", template: "feed.html", path: "/feed", title: "Feed"},
		{name: "decision", template: "decision.html", path: "/decisions/" + d.denied, title: "A decision"},
		{name: "challenges", template: "challenges.html", path: "/challenges", title: "Challenges"},
		{name: "agents", template: "agents.html", path: "/agents", title: "Agents"},
		{name: "timeline", template: "timeline.html", path: "/agents/timeline?on=agent:scraper", title: "A timeline"},
		{name: "trust", template: "trust.html", path: "/trust", title: "Trust"},
		{name: "tools", template: "tools.html", path: "/tools", title: "Tools"},
		{name: "tool", template: "tool.html", path: "/tools/show?subject=mail", title: "A server's tools"},
		{name: "grants", template: "grants.html", path: "/grants", title: "Grants"},
		{name: "range", template: "range.html", path: "/grants/range", title: "A pre-approved range"},
		{name: "rules", template: "rules.html", path: "/rules", title: "Rules"},
		{name: "rule", template: "rule.html", path: "/rules/git.force-push", title: "A rule"},
		{name: "past", template: "past.html", path: "/rules/past?days=7", title: "Rules and the past"},
		{name: "try", template: "try.html", path: "/rules/try", title: "Try an action"},
		{name: "audit", template: "audit.html", path: "/audit", title: "Audit"},
		{name: "event", template: "event.html", path: "/events/" + d.event, title: "An event of the log"},
		{name: "verify", template: "verify.html", path: "/audit", steps: []string{press(`form[action="/audit/verify"] button`)},
			title: "The whole log, verified"},
		{name: "system", template: "system.html", path: "/system", title: "System"},
		{name: "phases", template: "phases.html", path: "/system/phases", title: "Phases and breakers"},
		{name: "limits", template: "limits.html", path: "/system/limits", title: "Limits and budgets"},
		{name: "judges", template: "judges.html", path: "/system/judges", title: "Judges"},
		{name: "plans", template: "plans.html", path: "/system/plans", title: "Plans"},
		{name: "plan", template: "plan.html", path: "/system/plans/" + d.planID, title: "A plan"},
		{name: "rollbacks", template: "rollbacks.html", path: "/system/rollbacks", title: "Rollbacks"},
		{name: "undo", template: "undo.html", path: "/system/rollbacks/new?event=" + d.undone, title: "What would have to be undone"},
		{name: "rollback", template: "rollback.html", path: "/system/rollbacks/" + d.rollback, title: "A rollback"},
		{name: "privacy", template: "privacy.html", path: "/system/privacy", title: "Privacy"},
		{name: "memory", template: "memory.html", path: "/system/memory", title: "Memory"},
		{name: "orders", template: "orders.html", path: "/system/orders", title: "Orders"},
		{name: "probes", template: "probes.html", path: "/system/probes", title: "Seeded errors"},
		{name: "error", template: "error.html", path: "/nowhere", title: "What is not there"},
		{name: "order", template: "order.html", path: "/challenges", steps: []string{
			`(() => { const form = document.querySelector("form[action='/orders/new']"); form.elements.reason.value = "It was a typing mistake in the plan";
			form.querySelector("button[value='new-code']").click(); })()`}, title: "An order, before it is signed"},
		{name: "code", template: "code.html", steps: []string{press("main form[data-passkey] button")}, title: "A code, shown once"},
	}
}

// shownPicture is a picture as a document shows it.
var shownPicture = regexp.MustCompile(`\]\((?:[\w./-]*/)?pictures/([\w-]+\.png)\)`)

// shown are the files of the pictures that the documents and the README beside them show.
func shown(documents string) (map[string]bool, error) {
	files := map[string]bool{}
	look := func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".md" {
			return err
		}
		text, err := os.ReadFile(file)
		for _, found := range shownPicture.FindAllStringSubmatch(string(text), -1) {
			files[found[1]] = true
		}
		return err
	}
	if err := filepath.WalkDir(documents, look); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Clean(documents)), "README.md"))
	for _, found := range shownPicture.FindAllStringSubmatch(string(text), -1) {
		files[found[1]] = true
	}
	return files, err
}

func quoted(s string) string { return "`" + s + "`" }
