package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/store/storagetest"
)

// propose has an agent ask for something that must be asked about, or try what was answered.
func (h *house) propose(agent, sql string) interlock.Answer {
	h.t.Helper()
	return h.backend.Propose(h.t.Context(), interlock.Proposal{Action: interlock.Action{Kind: interlock.KindSQL, Input: sql},
		Requester: interlock.Requester{Agent: agent, Principal: "dana"}, CanAsk: true})
}

// ask is propose of what must wait, and returns the request's id.
func (h *house) ask(agent, sql string) string {
	h.t.Helper()
	got := h.propose(agent, sql)
	if got.Answer != interlock.Ask || got.Request == "" {
		h.t.Fatalf("%s: %v %q %v", sql, got.Answer, got.Request, got.Findings)
	}
	h.decided[got.Request] = &got.Decision
	return got.Request
}

func (h *house) request(id string) interlock.ApprovalRequest {
	h.t.Helper()
	standing, err := h.backend.Ground(h.t.Context(), storagetest.Everything()...)
	if err != nil {
		h.t.Fatal(err)
	}
	return standing.Requests[id]
}

// approve answers a request with the browser's passkey, after the page was loaded.
func (b *browser) approve(id string) answer {
	b.h.t.Helper()
	page := b.get("/pending/" + id)
	return b.do(http.MethodPost, "/pending/"+id, b.form(page, "/pending/"+id, "assertion", b.sign(b.challenge(page, "/pending/"+id))))
}

// bySession answers without a passkey, as a browser without script does. A yes takes a session that began without one.
func (b *browser) bySession(id, verb, reason string) answer {
	b.h.t.Helper()
	page := b.get("/pending/" + id)
	return b.do(http.MethodPost, "/pending/"+id, url.Values{"csrf": {b.form(page, "/logout").Get("csrf")},
		"verb": {verb}, "method": {"session"}, "reason": {reason}, "display": {string(quorum.DisplayDigest(b.h.request(id).Display))}})
}

// TestApproveWithAPasskey: what the page shows is the whole action; a passkey's yes lets it pass once, is proved again when
// it is spent, and lets nothing else pass.
func TestApproveWithAPasskey(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	id := h.ask("claude", "DELETE FROM users -- \u202egnp.exe <b>")
	page := b.get("/pending/" + id)
	request := h.request(id)
	for _, part := range []string{"DELETE FROM users -- ⟦U+202E⟧gnp.exe <b>", string(request.Action), string(request.Ruleset), "claude", request.Reason} {
		h.want("the page", page, http.StatusOK, part)
	}
	if strings.Contains(page.body, "\u202e") || strings.Contains(page.body, "gnp.exe <b>") {
		t.Errorf("the page shows an action as something else:\n%s", page.body)
	}
	if got := b.approve(id); got.status != http.StatusSeeOther || got.location != "/pending" {
		t.Fatalf("approving: %d\n%s", got.status, got.body)
	}
	approval := h.request(id).Approval
	if approval == nil || approval.Method != interlock.MethodPasskey || approval.Operator != "olga" || approval.Key != b.ID() {
		t.Fatalf("the approval is %+v", approval)
	}
	if got := h.propose("claude", "DELETE FROM accounts"); got.Answer != interlock.Ask {
		t.Errorf("another action: %v", got.Answer)
	}
	if got := h.propose("codex", "DELETE FROM users -- \u202egnp.exe <b>"); got.Answer != interlock.Ask {
		t.Errorf("another agent: %v", got.Answer)
	}
	if got := h.propose("claude", "DELETE FROM users -- \u202egnp.exe <b>"); got.Answer != interlock.Allow || got.Approval != id {
		t.Errorf("the identical action: %v by %q", got.Answer, got.Approval)
	}
	if got := h.propose("claude", "DELETE FROM users -- \u202egnp.exe <b>"); got.Answer != interlock.Ask {
		t.Errorf("a second time: %v", got.Answer)
	}
}

// TestApprovalIsProvedWhenSpent: a passkey that is taken away between the answer and the act takes its answers along.
func TestApprovalIsProvedWhenSpent(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	b.approve(h.ask("claude", "DELETE FROM users"))
	err := h.backend.UpdateOperator(t.Context(), "olga", func(o *interlock.OperatorRecord) error {
		o.Passkeys = nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.propose("claude", "DELETE FROM users"); got.Answer != interlock.Ask {
		t.Errorf("an approval that can't be proved lets pass: %v", got.Answer)
	}
	if h.logged(interlock.EventAlert, "approval-invalid") == 0 {
		t.Error("nobody is told")
	}
}

// TestAnswerWithoutScript: yes, no and a question back, by form, proved by the server's word for the session.
func TestAnswerWithoutScript(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator").byTicket("olga")
	b.plain = true
	yes, no, more := h.ask("claude", "DELETE FROM a"), h.ask("claude", "DELETE FROM b"), h.ask("claude", "DELETE FROM c")
	if got := b.bySession(yes, "approve", ""); got.status != http.StatusSeeOther {
		t.Fatalf("approving: %d\n%s", got.status, got.body)
	}
	if got := h.propose("claude", "DELETE FROM a"); got.Answer != interlock.Allow {
		t.Errorf("after a yes: %v", got.Answer)
	}
	b.bySession(no, "deny", "not today")
	h.want("a question of nothing", b.bySession(more, "ask", " "), http.StatusBadRequest, "say what you need to know")
	b.bySession(more, "ask", "which rows?")
	for id, reason := range map[string]string{no: "not today", more: "more is needed: which rows?"} {
		got, found, err := h.backend.Request(t.Context(), id)
		if err != nil || !found || got.Status != interlock.RequestDenied || got.Approval.Reason != reason || got.Approval.Method != interlock.MethodSession {
			t.Errorf("%+v, %v", got, err)
		}
	}
	h.want("an answer to what was answered", b.bySession(no, "approve", ""), http.StatusNotFound,
		"no request that waits has this id: it is denied by olga")
}

// TestACookieIsNoPasskey: where a session began with a passkey, the cookie alone says yes to nothing; a no needs no more.
func TestACookieIsNoPasskey(t *testing.T) {
	h := open(t)
	b := h.in("olga", "admin")
	id, other := h.ask("claude", "DELETE FROM a"), h.ask("claude", "DELETE FROM b")
	h.want("a yes by cookie", b.bySession(id, "approve", ""), http.StatusForbidden, "you came in with a passkey")
	page := b.get("/pending/" + id)
	draft := b.do(http.MethodPost, "/pending/"+id+"/grant", b.form(page, "/pending/"+id+"/grant", "tool", "DELETE*", "times", "3", "hours", "2"))
	action := regexp.MustCompile(`action="(/grants/grt_[0-9a-f]+)"`).FindStringSubmatch(draft.body)[1]
	h.want("a grant by cookie", b.do(http.MethodPost, action, url.Values{"csrf": {b.form(draft, "/logout").Get("csrf")}, "method": {"session"}}),
		http.StatusForbidden, "you came in with a passkey")
	order := b.get("/orders/new?verb=new-code&subject=" + h.block("tidier"))
	action = regexp.MustCompile(`action="(/orders/ord_[0-9a-f]+)"`).FindStringSubmatch(order.body)[1]
	h.want("an order by cookie", b.do(http.MethodPost, action, url.Values{"csrf": {b.form(order, "/logout").Get("csrf")}, "method": {"session"}}),
		http.StatusForbidden, "you came in with a passkey")
	if got := h.logged(interlock.EventApprovalRefused, "you came in with a passkey"); got != 3 {
		t.Errorf("%d of 3 tries are recorded", got)
	}
	if got := h.propose("claude", "DELETE FROM a"); got.Answer != interlock.Ask {
		t.Errorf("after a yes by cookie: %v", got.Answer)
	}
	if got := b.bySession(other, "deny", "no"); got.status != http.StatusSeeOther {
		t.Errorf("a no by cookie: %d %s", got.status, got.body)
	}
	if got := b.approve(id); got.status != http.StatusSeeOther {
		t.Errorf("a yes by passkey: %d %s", got.status, got.body)
	}
}

// TestWhoMayNotApprove: roles, requesters, owners and whoever shares a credential with them (MCP-AQL 8.7.3).
func TestWhoMayNotApprove(t *testing.T) {
	h := open(t)
	if err := h.backend.PutAgent(t.Context(),
		interlock.AgentRecord{ID: "builder", Principal: "olga", Trust: interlock.TrustCertified, Created: time.Now().UTC()}); err != nil {
		t.Fatal(err)
	}
	id := h.ask("builder", "DELETE FROM users")
	for _, test := range []struct{ name, role, want string }{
		{"vera", "viewer", "role may not answer"},
		{"ann", "auditor", "role may not answer"},
		{"carl", "council", "role may not answer"},
		{"olga", "superadmin", "the owner of the requesting agent can't answer"},
		{"olgatwo", "admin", "this operator's key is also the requester's"}, // the owner's passkey under another name
	} {
		b := h.in(test.name, test.role).byTicket(test.name)
		if test.name == "olgatwo" {
			s, err := h.backend.Ground(t.Context(), ledger.Ref{Kind: ledger.Operator, Key: "olgatwo"})
			if err != nil {
				t.Fatal(err)
			}
			err = h.backend.UpdateOperator(t.Context(), "olga", func(o *interlock.OperatorRecord) error {
				o.Passkeys = append(o.Passkeys, s.Operators["olgatwo"].Passkeys...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		} else {
			h.want(test.name+"'s page", b.get("/pending/"+id), http.StatusOK, "You can't answer this")
		}
		before := h.logged(interlock.EventApprovalRefused, `"`+test.name+`"`)
		h.want(test.name, b.bySession(id, "approve", ""), http.StatusForbidden, test.want)
		if h.logged(interlock.EventApprovalRefused, `"`+test.name+`"`) != before+1 {
			t.Errorf("%s's try is not recorded", test.name)
		}
		h.forward(time.Minute)
	}
	if got := h.propose("builder", "DELETE FROM users"); got.Answer != interlock.Ask {
		t.Errorf("afterwards: %v", got.Answer)
	}
}

// TestApproveRefuses: every passkey answer that is none.
func TestApproveRefuses(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	otto := h.in("otto", "operator")
	id, other := h.ask("claude", "DELETE FROM users"), h.ask("claude", "DELETE FROM accounts")
	path := "/pending/" + id
	for _, test := range []struct {
		name   string
		status int
		want   string
		form   func(d *browser, page answer) url.Values
	}{
		{"nothing signed", 400, "the passkey signed nothing", func(d *browser, p answer) url.Values { return d.form(p, path) }},
		{"another request's page", 403, "does not verify", func(d *browser, _ answer) url.Values {
			page := d.get("/pending/" + other)
			form := d.form(page, "/pending/"+other, "assertion", d.sign(d.challenge(page, "/pending/"+other)))
			form.Del("display")
			return form
		}},
		{"a page that showed something else", 409, "showed something else", func(d *browser, p answer) url.Values {
			return d.form(p, path, "assertion", d.sign(d.challenge(p, path)), "display", "sha256:00")
		}},
		{"another's passkey", 403, "does not verify", func(d *browser, p answer) url.Values {
			return d.form(p, path, "assertion", otto.sign(d.challenge(p, path)))
		}},
		{"a no that was signed as a yes", 403, "does not verify", func(d *browser, p answer) url.Values {
			return d.form(p, path, "assertion", d.sign(d.challenge(p, path)), "verb", "deny")
		}},
		{"no verb", 400, "approve, deny or ask", func(d *browser, p answer) url.Values {
			return d.form(p, path, "assertion", d.sign(d.challenge(p, path)), "verb", "maybe")
		}},
		{"another site", 403, "does not verify", func(d *browser, p answer) url.Values {
			d.Origin = "https://evil.example"
			return d.form(p, path, "assertion", d.sign(d.challenge(p, path)))
		}},
		{"another port", 403, "another site", func(d *browser, p answer) url.Values {
			d.Origin = "http://localhost:1"
			return d.form(p, path, "assertion", d.sign(d.challenge(p, path)))
		}},
		{"nobody verified", 403, "does not verify", func(d *browser, p answer) url.Values {
			d.Unverified = true
			return d.form(p, path, "assertion", d.sign(d.challenge(p, path)))
		}},
		{"a copy whose counter lags", 403, "somebody may hold a copy", func(d *browser, p answer) url.Values {
			d.Counter = 0
			return d.form(p, path, "assertion", d.sign(d.challenge(p, path)))
		}},
		{"too long a reason", 400, "longer than 500 bytes", func(d *browser, p answer) url.Values {
			return d.form(p, path, "assertion", d.sign(d.challenge(p, path)), "reason", strings.Repeat("x", 501))
		}},
	} {
		b.login() // moves the counter on
		d := *b
		device := *b.Authenticator
		d.Authenticator = &device
		h.want(test.name, d.do(http.MethodPost, path, test.form(&d, b.get(path))), test.status, test.want)
		b.Counter = max(b.Counter, device.Counter)
		h.forward(3 * time.Second)
	}
	page := b.get(path)
	good := b.form(page, path, "assertion", b.sign(b.challenge(page, path)))
	if got := b.do(http.MethodPost, path, good); got.status != http.StatusSeeOther {
		t.Fatalf("a good answer: %d\n%s", got.status, got.body)
	}
	h.want("a replay", b.do(http.MethodPost, path, good), http.StatusForbidden, "counter went back")
	if got := h.propose("claude", "DELETE FROM accounts"); got.Answer != interlock.Ask {
		t.Errorf("the other request: %v", got.Answer)
	}
	h.want("a request nobody made", b.get("/pending/apr_000000000000"), http.StatusNotFound, "no request that waits")
}

// TestBatchApproval: one touch answers several requests, each bound by itself.
func TestBatchApproval(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	one, two, three := h.ask("claude", "DELETE FROM a"), h.ask("codex", "DELETE FROM b"), h.ask("claude", "DELETE FROM c")
	page := b.get("/pending")
	for _, id := range []string{one, two, three} {
		h.want("the list", page, http.StatusOK, `value="`+id+`" data-hash=`)
	}
	statements := func(ids ...string) (out []string) {
		for _, id := range ids {
			out = append(out, quorum.Statement(h.request(id), interlock.Allow, "olga"))
		}
		return out
	}
	send := func(signed []string, ids ...string) answer {
		t.Helper()
		form := b.form(page, "/pending", "assertion", b.sign(identity.StatementChallenge(signed...)), "verb", "approve")
		form["id"] = ids
		return b.do(http.MethodPost, "/pending", form)
	}
	h.want("one more than signed", send(statements(one, two), one, two, three), http.StatusForbidden, "does not verify")
	h.want("none", b.do(http.MethodPost, "/pending", b.form(page, "/pending", "verb", "approve")), http.StatusBadRequest, "tick 1 to")
	if got := send(statements(one, two), one, two); got.status != http.StatusSeeOther {
		t.Fatalf("a batch: %d\n%s", got.status, got.body)
	}
	for sql, want := range map[string]interlock.Verdict{"a": interlock.Allow, "c": interlock.Ask} {
		if got := h.propose("claude", "DELETE FROM "+sql); got.Answer != want {
			t.Errorf("%s: %v, want %v", sql, got.Answer, want)
		}
	}
	if got := h.propose("codex", "DELETE FROM b"); got.Answer != interlock.Allow {
		t.Errorf("b: %v", got.Answer)
	}
	page = b.get("/pending")
	form := b.form(page, "/pending", "verb", "deny")
	form["id"] = []string{three}
	if got := b.do(http.MethodPost, "/pending", form); got.status != http.StatusSeeOther || h.request(three).ID != "" {
		t.Errorf("denying what is left: %d, %+v", got.status, h.request(three))
	}
}

// TestFileEdit: an edit is shown line by line, made from what is signed.
func TestFileEdit(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	arguments, err := json.Marshal(map[string]string{"file_path": "/etc/hosts", "old_string": "one\ntwo\nthree", "new_string": "one\n2\nthree"})
	if err != nil {
		t.Fatal(err)
	}
	got := h.backend.Propose(t.Context(),
		interlock.Proposal{Action: interlock.Action{Kind: interlock.KindTool, Tool: "production_database_delete", Arguments: arguments},
			Requester: interlock.Requester{Agent: "claude", Principal: "dana"}, CanAsk: true})
	if got.Request == "" {
		t.Fatalf("not asked about: %v %v", got.Answer, got.Findings)
	}
	page := b.get("/pending/" + got.Request)
	for _, part := range []string{"<span class=\"\">  one\n", "<span class=\"removed\">- two\n", "<span class=\"added\">+ 2\n", "<span class=\"\">  three\n"} {
		h.want("the change", page, http.StatusOK, part)
	}
}

// TestStandingGrant: bounds are shown exactly, signed, drawn down and end; what is beyond them is asked about.
func TestStandingGrant(t *testing.T) {
	h := open(t)
	b := h.in("olga", "operator")
	id := h.ask("claude", "DELETE FROM users")
	describe := func(b *browser, more ...string) answer {
		t.Helper()
		page := b.get("/pending/" + id)
		form := b.form(page, "/pending/"+id+"/grant", "tool", "DELETE FROM users*", "times", "2", "hours", "8", "rule", "1", "reason", "migration")
		for i := 0; i+1 < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		return b.do(http.MethodPost, "/pending/"+id+"/grant", form)
	}
	for name, test := range map[string]struct{ field, value, want string }{
		"for everything":  {"tool", "*", "never for everything"},
		"how often":       {"times", "many", "whole number"},
		"too often":       {"times", "1001", "1 to 1000"},
		"for how long":    {"hours", "0", "whole number of hours"},
		"for too long":    {"hours", "721", "at most 30 days"},
		"half a bound":    {"conditions", "count", "one condition a line"},
		"an odd operator": {"conditions", "count ~ 5", "a condition compares"},
	} {
		h.want(name, describe(b, test.field, test.value), http.StatusBadRequest, test.want)
	}
	page := describe(b)
	h.want("the grant", page, http.StatusOK, `tool: "DELETE FROM users*"`)
	h.want("the grant", page, http.StatusOK, "times: 2")
	action := "/grants/" + grantID(page.body)
	otto := h.in("otto", "operator")
	h.want("another's draft", otto.do(http.MethodPost, action, otto.form(otto.get("/pending"), "/logout", "method", "session")),
		http.StatusConflict, "waits for no signature")
	if got := b.do(http.MethodPost, action, b.form(page, action, "assertion", b.sign(b.challenge(page, action)))); got.status != http.StatusSeeOther {
		t.Fatalf("giving it: %d\n%s", got.status, got.body)
	}
	h.want("twice", b.do(http.MethodPost, action, b.form(b.get("/pending"), "/logout", "method", "session")), http.StatusConflict, "waits for no signature")
	for n, want := range []interlock.Verdict{interlock.Allow, interlock.Allow, interlock.Ask} {
		if got := h.propose("claude", "DELETE FROM users WHERE true"); got.Answer != want {
			t.Errorf("time %d: %v, want %v (%v)", n+1, got.Answer, want, got.Findings)
		}
	}
	if got := h.propose("claude", "DELETE FROM accounts"); got.Answer != interlock.Ask {
		t.Errorf("beyond the bounds: %v", got.Answer)
	}
	viewer := h.in("vera", "viewer")
	h.want("a viewer", viewer.do(http.MethodPost, "/pending/"+id+"/grant",
		viewer.form(viewer.get("/pending"), "/logout", "tool", "DELETE *", "times", "1", "hours", "1")),
		http.StatusForbidden, "role may not give standing grants")
}

func grantID(page string) string {
	_, rest, _ := strings.Cut(page, `action="/grants/`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}
