package main

// A page is one page of the console, and what leads to it. A test holds the list against the console's templates.
type page struct {
	name     string   // of its pictures
	template string   // of the console
	path     string   // that is opened; empty: what is shown already
	steps    []string // scripts that lead from there to another page, one after the other
	after    []string // scripts that lead away once the pictures are taken
	title    string   // in the documents
}

// pages are every page of the console. The first let the browser in; those that change something come last.
func pages(d played) []page {
	press := func(selector string) string { return "document.querySelector(" + quoted(selector) + ").click()" }
	return []page{
		{name: "login", template: "login.html", path: "/login", title: "Coming in"},
		{name: "enrol", template: "enrol.html", path: d.enrolment, after: []string{press("main form button")}, title: "A link that registers a passkey"},
		{name: "overview", template: "overview.html", path: "/", title: "Overview"},
		{name: "pending", template: "pending.html", path: "/pending", title: "Inbox"},
		{name: "request", template: "request.html", path: "/pending/" + d.request, title: "A request"},
		{name: "always", template: "always.html", path: "/pending/" + d.alwaysOf + "/always", title: "Always allow this here"},
		{name: "grant", template: "grant.html", path: "/pending/" + d.request, steps: []string{
			`(() => { const form = document.querySelector("form[action$='/grant']"); form.closest("details").open = true;
			form.elements.tool.value = "git push --force origin release*"; form.elements.reason.value = "release day"; form.requestSubmit(); })()`},
			title: "A standing grant, before it is signed"},
		{name: "feed", template: "feed.html", path: "/feed", title: "Feed"},
		{name: "decision", template: "decision.html", path: "/decisions/" + d.denied, title: "A decision"},
		{name: "challenges", template: "challenges.html", path: "/challenges", title: "Challenges"},
		{name: "agents", template: "agents.html", path: "/agents", title: "Agents"},
		{name: "trust", template: "trust.html", path: "/trust", title: "Trust"},
		{name: "tools", template: "tools.html", path: "/tools", title: "Tools"},
		{name: "tool", template: "tool.html", path: "/tools/show?subject=mail", title: "A server's tools"},
		{name: "grants", template: "grants.html", path: "/grants", title: "Grants"},
		{name: "rules", template: "rules.html", path: "/rules", title: "Rules"},
		{name: "rule", template: "rule.html", path: "/rules/git.force-push", title: "A rule"},
		{name: "past", template: "past.html", path: "/rules/past?days=7", title: "Rules and the past"},
		{name: "audit", template: "audit.html", path: "/audit", title: "Audit"},
		{name: "event", template: "event.html", path: "/events/" + d.event, title: "An event of the log"},
		{name: "verify", template: "verify.html", path: "/audit", steps: []string{press(`form[action="/audit/verify"] button`)},
			title: "The whole log, verified"},
		{name: "system", template: "system.html", path: "/system", title: "System"},
		{name: "sessions", template: "sessions.html", path: "/sessions", title: "Sessions"},
		{name: "error", template: "error.html", path: "/nowhere", title: "What is not there"},
		{name: "order", template: "order.html", path: "/challenges", steps: []string{
			`(() => { const form = document.querySelector("form[action='/orders/new']"); form.elements.reason.value = "It was a typing mistake in the plan";
			form.querySelector("button[value='new-code']").click(); })()`}, title: "An order, before it is signed"},
		{name: "code", template: "code.html", steps: []string{press("main form[data-passkey] button")}, title: "A code, shown once"},
	}
}

func quoted(s string) string { return "`" + s + "`" }
