package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/ledger"
)

// TestWhoeverDecidesSeesWhatADryRunDid: the effects stand on the request's page, with what a file's name or text could hide
// spelled out, and not for a role that may not read actions.
func TestWhoeverDecidesSeesWhatADryRunDid(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	id := h.ask("claude", "DELETE FROM users")
	if page := b.get("/pending/" + id); strings.Contains(page.body, "when it was tried") {
		t.Error("a page speaks of a dry run that never was")
	}
	h.tried = map[string]*interlock.DryRun{id: {Request: id, Exit: 3, Stopped: "disk", Partial: true, Effects: []interlock.Effect{
		{Path: "<b>\u202eevil", Change: interlock.EffectModified, Kind: "file", Before: 1, After: 2, Startup: true, Diff: "@@ -1 +1 @@\n-old\n+<script>\n"}}}}
	page := b.get("/pending/" + id).body
	for _, want := range []string{"What it did when it was tried", "ended with 3, stopped by the limit on disk", `class="unseen"`,
		"&lt;script&gt;", "start-up file", "1 → 2 bytes", "more than is listed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page, "<script>\n") || strings.Contains(page, "<b>\u202e") {
		t.Error("a file's name or text is markup")
	}
}

// TestAYesIsToTheDryRunThatWasShown: where a rule wants a dry run, the page says that there is none, and a yes to it does not
// count; with one, the page's yes names it. In a list of several nobody is taken to have looked.
func TestAYesIsToTheDryRunThatWasShown(t *testing.T) {
	h := open(t, "rules:\n  - {id: own.tried, layer: 3, kinds: [shell], match: {kind: [delete]}, verdict: ask, reason: try it first, obligations: [{type: dry_run}]}\n")
	b := h.in("olga", "operator")
	proposal := interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "rm -rf build", Dir: "/repo"}, CanAsk: true,
		Requester: interlock.Requester{Principal: "dana", Agent: "claude"}, View: interlock.View{Workspace: "/repo", Home: "/home/dana"}}
	asked := h.backend.Propose(t.Context(), proposal)
	id := asked.Request
	if asked.Answer != interlock.Ask || id == "" {
		t.Fatalf("%v: %+v", asked.Answer, asked.Findings)
	}
	if page := b.get("/pending/" + id).body; !strings.Contains(page, "A yes would not count yet: request: this request wants a dry run first") {
		t.Errorf("the page does not say what is missing:\n%s", page)
	}
	if got := b.approve(id); got.status == http.StatusOK || h.request(id).Status != interlock.RequestPending {
		t.Errorf("a yes without a dry run counts: %d", got.status)
	}
	if err := h.backend.Tried(t.Context(), proposal.Requester, interlock.DryRun{Event: asked.Event, Request: id, Action: asked.Action, Exit: 4}); err != nil {
		t.Fatal(err)
	}
	entries, err := h.backend.Store.Entries(t.Context(), interlock.EventDryRun, ledger.Before(-1, 1))
	if err != nil || len(entries) != 1 {
		t.Fatal(err, entries)
	}
	h.tried = map[string]*interlock.DryRun{id: {ID: entries[0].ID, Request: id, Exit: 4}}
	page := b.get("/pending/" + id)
	if !strings.Contains(page.body, "ended with 4") || strings.Contains(page.body, "would not count") {
		t.Errorf("the page does not show the dry run:\n%s", page.body)
	}
	proposal.Action.Input = "rm -rf dist"
	more := h.backend.Propose(t.Context(), proposal)
	several := b.form(page, "/pending/"+id, "verb", "approve", "assertion", "x")
	several["id"] = []string{id, more.Request}
	if got := b.do(http.MethodPost, "/pending", several); got.status != http.StatusBadRequest || !strings.Contains(got.body, "wants its dry run seen first") {
		t.Errorf("several at once: %d", got.status)
	}
	b.approve(id)
	if got := h.request(id); got.Status != interlock.RequestApproved || got.Approval.DryRun != entries[0].ID {
		t.Errorf("the page's yes: %s %+v", got.Status, got.Approval)
	}
}

// TestADecisionShowsTheFilesItsRunChanged: what `interlock exec --overlay` reported stands on the decision's page, bounded, and not for a
// role that may not read actions; before it ran, what a dry run did stands there.
func TestADecisionShowsTheFilesItsRunChanged(t *testing.T) {
	h := open(t)
	olga, vic := h.in("olga", "operator"), h.in("vic", "viewer")
	answer := h.act("claude", "r1", shell("npm run build"))
	at := "/decisions/" + answer.Event
	if strings.Contains(olga.get(at).body, `id="wrote"`) {
		t.Error("files are shown of an action that nobody has run")
	}
	by := interlock.Requester{Principal: "dana", Agent: "claude", Run: "r1"}
	err := h.backend.Tried(t.Context(), by, interlock.DryRun{Event: answer.Event, Action: answer.Action, Exit: 3, Effects: []interlock.Effect{
		{Path: "a.txt", Change: interlock.EffectModified, Kind: "file", Before: 1, After: 2, Diff: "@@ -1 +1 @@\n-old\n+<script>\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	page := olga.get(at)
	clean(t, "a dry run", page)
	for _, want := range []string{"What it did when it was tried", "ended with 3", "&lt;script&gt;", "1 → 2 bytes", "Nothing of it stays"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page of a dry run lacks %q", want)
		}
	}
	effects := []interlock.Effect{{Path: "dist/<b>\u202eevil", Change: interlock.EffectAdded, Kind: "file", After: 1234, Diff: "+kept back\n"},
		{Path: ".git/hooks/pre-commit", Change: interlock.EffectAdded, Kind: "file", Startup: true, Held: true}}
	for i := range 300 {
		effects = append(effects, interlock.Effect{Path: fmt.Sprintf("dist/%d", i), Change: interlock.EffectAdded, Kind: "file"})
	}
	if err := h.backend.Report(t.Context(), by, interlock.Outcome{Action: answer.Action, Event: answer.Event, Status: interlock.OutcomeSuccess,
		Sandboxed: true, Overlay: true, Kept: true, Effects: effects}); err != nil {
		t.Fatal(err)
	}
	page = olga.get(at)
	clean(t, "an overlay run", page)
	for _, want := range []string{"The files it changed", "was carried over into the workspace", "1,234 bytes",
		"start-up file · held", `class="unseen"`,
		"And 100 more that are recorded", "There was more than is recorded"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page of an overlay run lacks %q", want)
		}
	}
	if strings.Contains(page.body, "kept back") {
		t.Error("how a file differs was recorded")
	}
	if body := vic.get(at).body; strings.Contains(body, "pre-commit") || strings.Contains(body, `id="wrote"`) {
		t.Error("a viewer is shown paths")
	}
}
