package console_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
	"interlock/internal/replay"
	"interlock/internal/strictjson"
)

// always is what the program does for the page, without the log: the yes to what a request asked, tried on a past of the test's.
func (h *house) always(asked interlock.Action) func(context.Context, string, admission.Aim) (interlock.Grant, replay.GrantReport, error) {
	return func(ctx context.Context, id string, aim admission.Aim) (interlock.Grant, replay.GrantReport, error) {
		report := replay.GrantReport{Questions: 31, Answered: 14, Actions: []replay.GrantLike{{Action: "echo " + hostile, Dir: "/shop", Times: 14}}}
		request, _, err := h.backend.Request(ctx, id)
		if err != nil {
			return interlock.Grant{}, report, err
		}
		if digest, err := strictjson.ActionDigest(asked); err != nil || digest != request.Action {
			h.t.Errorf("the request is about something else: %v", err)
		}
		d := auditlog.Decided{DecisionRecord: auditlog.DecisionRecord{Proposal: interlock.Proposal{Action: asked}, Decision: *h.decided[id]}}
		g, err := admission.Always("grt_0123456789ab", request, d, h.backend.Rules(), h.now())
		if err == nil {
			g, err = admission.Aimed(g, aim, asked, request.Requester.Run)
		}
		return g, report, err
	}
}

// TestAlwaysPage: a standing yes is shown on the past before it is signed, and revoked where grants are.
func TestAlwaysPage(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleOperator).byTicket("olga")
	action := interlock.Action{Kind: interlock.KindShell, Input: "git push --force origin feature/one", Dir: "/shop"}
	answer := h.backend.Propose(t.Context(), interlock.Proposal{Action: action,
		Requester: interlock.Requester{Agent: "claude", Principal: "dana", Run: "r1"}, View: interlock.View{Workspace: "/shop"}, CanAsk: true})
	if answer.Request == "" {
		t.Fatalf("it is %v: %+v", answer.Answer, answer.Findings)
	}
	h.decided[answer.Request], h.granted = &answer.Decision, h.always(action)
	path := "/pending/" + answer.Request + "/always"
	page := b.get(path)
	clean(t, "always", page)
	for _, want := range []string{"14 of this agent's 31 questions", "git push --force origin feature/one", "/shop", "git.force-push"} {
		if !strings.Contains(text(page.body), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.body)
		}
	}
	token := b.form(page, "/logout").Get("csrf")
	draft := b.do(http.MethodPost, path, url.Values{"csrf": {token}, "pattern": {"git push --force origin feature/*"}, "dir": {"/shop"},
		"lasting": {"ever"}, "reason": {"ours"}})
	h.want("the statement", draft, http.StatusOK, `word: "feature/*"`)
	signing := regexp.MustCompile(`action="(/grants/grt_[0-9a-f]+)"`).FindStringSubmatch(draft.body)
	if signing == nil {
		t.Fatalf("nothing to sign:\n%s", draft.body)
	}
	if got := b.do(http.MethodPost, signing[1], url.Values{"csrf": {token}, "method": {"session"}}); got.status != http.StatusSeeOther {
		t.Fatalf("giving it: %d\n%s", got.status, got.body)
	}
	page = b.get("/grants")
	for _, want := range []string{"feature/*", "it is revoked", "as often as it comes"} {
		if !strings.Contains(text(page.body), want) {
			t.Errorf("the grant's page lacks %q:\n%s", want, page.body)
		}
	}
	viewer := h.in("vera", quorum.RoleViewer)
	if strings.Contains(viewer.get("/grants").body, "feature/") {
		t.Error("a viewer sees what is allowed")
	}
	h.want("as a viewer", viewer.get(path), http.StatusForbidden, "may not")
	action.Input = "git push --force origin feature/two"
	if got := h.backend.Propose(t.Context(), interlock.Proposal{Action: action, Requester: interlock.Requester{Agent: "claude", Principal: "dana"},
		View: interlock.View{Workspace: "/shop"}, CanAsk: true}); got.Decision.Grant != "grt_0123456789ab" {
		t.Errorf("a like question: %v by %q", got.Answer, got.Decision.Grant)
	}
	for name, form := range map[string]url.Values{
		"two commands": {"pattern": {"git push; rm x"}, "lasting": {"ever"}}, "no time": {}, "too long": {"lasting": {"days"}, "days": {"366"}},
		"everywhere": {"dir": {"/"}, "lasting": {"ever"}}} {
		form.Set("csrf", token)
		if got := b.do(http.MethodPost, path, form); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}
