package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/memory"
	"interlock/internal/personal"
	"interlock/internal/privacy"
	"interlock/internal/quorum"
)

// secretDatum is what nobody may read on any page.
const secretDatum = "ann.lee@mailhouse.org"

// writes puts rows into the house's store, and events of what they came of.
func (h *house) writes(rows []ledger.Row, events ...ledger.Draft) {
	h.t.Helper()
	if len(events) == 0 { // nothing is written without one
		events = append(events, h.told(interlock.EventMemory, auditlog.MemoryRecord{Did: auditlog.FactKept}))
	}
	if _, err := h.backend.Store.Commit(h.t.Context(), ledger.Change{Writes: rows, Events: events}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) told(kind interlock.EventType, record auditlog.Record) ledger.Draft {
	h.t.Helper()
	payload, err := record.Payload()
	if err != nil {
		h.t.Fatal(err)
	}
	return ledger.Draft{Type: kind, Run: "ada", Seed: "seed-" + string(kind), Actor: "ada", Role: "operator", Recorded: h.now().UTC(),
		Payload: payload, Snapshots: map[string]string{}}
}

// TestPrivacyPage: who permitted what, what people asked for and what was deleted, by ids, kinds and manifests, to those who read words and to
// no viewer; a consent is revoked by the order there is for it.
func TestPrivacyPage(t *testing.T) {
	h := open(t)
	ada, vera, carl := h.in("ada", quorum.RoleAdmin), h.in("vera", quorum.RoleViewer), h.in("carl", quorum.RoleCouncil)
	const page = "/system/privacy"
	h.wants("nothing yet", ada.get(page), "Nobody has consented to anything", "Nobody has asked", "Nothing was deleted", "400 days")
	h.want("a viewer", vera.get(page), http.StatusForbidden, "may not")
	now := h.now().UTC().Truncate(time.Microsecond)
	consent := func(id, subject string, tier personal.Tier, until time.Duration, edit func(*privacy.Consent)) privacy.Consent {
		c := privacy.Consent{Terms: privacy.Terms{ID: strings.Repeat(id, 64), Tier: tier, Agent: "claude", Run: "run-7", Until: now.Add(until)},
			Subject: subject, At: now, Operator: "olga"}
		if edit != nil {
			edit(&c)
		}
		return c
	}
	request := interlock.ActionRequest{ID: "act_1", Action: interlock.GovernedAction{Type: quorum.ActDeletePerson, Target: "person:u-2"},
		Justification: "identified: " + secretDatum, Created: now, Expires: now.Add(time.Hour), Status: interlock.ActionPending}
	order := interlock.Order{Verb: interlock.VerbDataRequest, Subject: "u-2", Operator: "ada", Reason: "she wrote from " + secretDatum, At: now}
	h.writes(ledger.Rows(consent("a", "u-1", personal.Medium, time.Hour, nil)))
	h.writes(ledger.Rows(consent("b", "u-2", personal.High, time.Hour, func(c *privacy.Consent) { c.Agent, c.Run, c.Persistent = "", "", true })))
	h.writes(ledger.Rows(consent("c", "u-3", personal.Medium, -time.Hour, nil)))
	h.writes(ledger.Rows(consent("d", "u-4", personal.Medium, time.Hour, func(c *privacy.Consent) { c.Revoked = now })))
	h.writes(ledger.Rows(request), h.told(interlock.EventDataRequest, auditlog.DataRequestRecord{Subject: "u-1", Wants: "export", Order: order}),
		h.told(interlock.EventDataRequest, auditlog.DataRequestRecord{Subject: "u-2", Wants: "delete", Order: order}),
		h.told(interlock.EventDataDelete, auditlog.DataRequestRecord{Subject: "u-2", Wants: "delete", Request: "act_1", Order: order}),
		h.told(interlock.EventDeletedPersonal, auditlog.DeletionRecord{Subject: "u-9", Request: "act_0", Texts: 3, Facts: 2, Consents: 1,
			Digest: "sha256:4711aaaabbbb", Types: []string{"email", "phone"}}))
	shown := ada.get(page)
	clean(t, page, shown)
	for row, want := range map[string]string{"u-1": "in force", "u-2": "for medium, until the council approves", "u-3": "over", "u-4": "revoked"} {
		if !strings.Contains(rowOf(shown.body, row), want) {
			t.Errorf("the consent of %s lacks %q: %s", row, want, rowOf(shown.body, row))
		}
	}
	h.wants("what was asked for and deleted", shown, "claude in run-7", "every run", "opened for them", "pending", "act_1", "u-9", "4711aaaabbbb",
		"email, phone", "act_0")
	if n := strings.Count(text(shown.body), "act_1"); n != 1 {
		t.Errorf("the request for a deletion is shown %d times", n)
	}
	for who, body := range map[string]string{"an admin": shown.body, "the council": carl.get(page).body} {
		if strings.Contains(body, secretDatum) || strings.Contains(body, "identified") {
			t.Errorf("%s is shown how somebody was identified:\n%s", who, text(body))
		}
	}
	if strings.Contains(rowOf(shown.body, "u-3"), "/orders/new") || strings.Contains(carl.get(page).body, "/orders/new") {
		t.Error("a consent that is over, or one that the council looks at, is offered for revoking")
	}
	ada.ordered(page, "verb", "pii-consent-revoke", "subject", strings.Repeat("a", 64))
	if got := rowOf(ada.get(page).body, "u-1"); !strings.Contains(got, "revoked") {
		t.Errorf("revoked, it is %s", got)
	}
}

// rowOf is the text of the first row of a table that begins with a cell.
func rowOf(body, cell string) string {
	_, rest, _ := strings.Cut(body, "<td>"+cell+"</td>")
	row, _, _ := strings.Cut(rest, "</tr>")
	return row
}

// TestMemoryPage: facts by key, source, taint and state, never by value; found by words; a source is quarantined and let go by the orders there
// are for holds.
func TestMemoryPage(t *testing.T) {
	h := open(t)
	ada, vera := h.in("ada", quorum.RoleAdmin), h.in("vera", quorum.RoleViewer)
	const page = "/system/memory"
	h.wants("nothing yet", ada.get(page), "No facts are kept", "Nothing is quarantined", "No stable fact has been written")
	h.want("a viewer", vera.get(page), http.StatusForbidden, "may not")
	now := h.now().UTC().Truncate(time.Microsecond)
	put := func(store, key, agent string, edit func(*memory.Version)) {
		v := memory.Version{ID: "mem_" + strings.Repeat("0", 23) + agent[:1], Value: "the value is " + secretDatum, Agent: agent, Run: "r1", At: now,
			Derives: []string{"agent:" + agent}}
		if edit != nil {
			edit(&v)
		}
		h.writes(ledger.Rows(memory.Fact{Store: store, Key: key, Number: 1, Versions: []memory.Version{v}}))
	}
	put(memory.Semantic, "project/repo/main/mirror", "good", nil)
	put(memory.Episodic, "project/repo/main/style", "bad", func(v *memory.Version) {
		v.Until, v.Taint, v.Source = now.Add(time.Hour), []string{memory.TaintOrdered}, "a page"
	})
	put(memory.Episodic, "user/person/ann/mail", "good", func(v *memory.Version) {
		v.Until, v.Personal, v.Sealed, v.Value = now.Add(time.Hour), []string{"email"}, []byte("sealed"), ""
	})
	h.writes(ledger.Settings(map[string]string{"memory": "sha256:feedfacecafe0000"}))
	shown := ada.get(page)
	clean(t, page, shown)
	h.wants("all", shown, "project/repo/main/mirror", "user/person/ann/mail", "ordered", "a page", "email", "it is deleted", "feedfacecafe",
		"3 of the 3 newest")
	if strings.Contains(shown.body, secretDatum) || strings.Contains(shown.body, "the value is") {
		t.Errorf("the page holds a value:\n%s", text(shown.body))
	}
	for query, want := range map[string]string{"q=mirror": "mirror", "q=BAD": "style", "store=semantic": "mirror", "q=" + url.QueryEscape("mailhouse"): ""} {
		body := ada.get(page + "?" + query).body
		for _, key := range []string{"mirror", "style", "mail"} {
			if strings.Contains(body, "/"+key+"</") != (key == want) {
				t.Errorf("%s finds %s: %v", query, key, key != want)
			}
		}
		if want == "" && !strings.Contains(body, "No fact fits") {
			t.Errorf("%s does not say that nothing fits", query)
		}
	}
	ada.ordered("/system", "verb", "hold", "subject", "memory:agent:bad", "reason", "it is poisoned")
	h.wants("quarantined", ada.get(page), "agent:bad", "it is poisoned", "End the quarantine")
	if body := ada.get(page + "?state=quarantined").body; !strings.Contains(body, "/style</") || strings.Contains(body, "/mirror</") {
		t.Errorf("what is quarantined:\n%s", text(body))
	}
	ada.ordered("/system", "verb", "clear-hold", "subject", "memory:agent:bad", "reason", "it is clean")
	h.wants("let go", ada.get(page), "Nothing is quarantined")
}
