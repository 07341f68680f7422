package console_test

import (
	"strings"
	"testing"

	"interlock"
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
	for _, want := range []string{"What it did when it was tried", "ended with 3, stopped by the limit on disk", `class="unseen"`, "&lt;script&gt;", "start-up file", "1 → 2 bytes", "more than is listed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page, "<script>\n") || strings.Contains(page, "<b>\u202e") {
		t.Error("a file's name or text is markup")
	}
}
