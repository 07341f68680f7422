package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/runs"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
)

// TestPlansAreShown: each plan is listed with how far it has come and from which step on it can't be undone; its page shows every step,
// and leads to where a person acknowledges it; and a viewer reads no action.
func TestPlansAreShown(t *testing.T) {
	h := open(t)
	olga, vera := h.in("olga", quorum.RoleOperator), h.in("vera", quorum.RoleViewer)
	h.want("none", olga.get("/system/plans"), http.StatusOK, "No plan")
	by := interlock.Requester{Agent: "builder", Principal: "dana"}
	run, err := h.backend.RegisterRun(t.Context(), by, interlock.RunRequest{Task: "release"})
	if err != nil {
		t.Fatal(err)
	}
	step := func(command string) interlock.PlannedStep {
		return interlock.PlannedStep{Action: interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/repo"}}
	}
	plan, err := h.backend.SubmitPlan(t.Context(), by, interlock.PlanRequest{Run: run.ID, Steps: []interlock.PlannedStep{step("touch build/a"),
		step("git push --force origin main"), step("echo '" + hostile[:60] + "'")}})
	if err != nil {
		t.Fatal(err)
	}
	list := olga.get("/system/plans")
	clean(t, "plans", list)
	h.want("the list", list, http.StatusOK, "/system/plans/"+plan.ID)
	for _, want := range []string{"waiting", "0 of 3 done", "step 2", "builder"} {
		if !strings.Contains(text(list.body), want) {
			t.Errorf("the list lacks %q:\n%s", want, text(list.body))
		}
	}
	for _, name := range []string{plan.ID, run.ID} {
		page := olga.get("/system/plans/" + name)
		clean(t, "plan", page)
		for _, want := range []string{"git push --force origin main", "can't be undone", "Made good by nothing", "look at it whole, and answer"} {
			if !strings.Contains(text(page.body), want) {
				t.Errorf("the plan's page lacks %q:\n%s", want, text(page.body))
			}
		}
		if !strings.Contains(page.body, `href="/pending/`+plan.Request+`"`) || !strings.Contains(page.body, `href="#step2"`) {
			t.Error("the page does not lead to its request, or to the step")
		}
	}
	if body := vera.get("/system/plans/" + plan.ID).body; strings.Contains(body, "git push") || !strings.Contains(body, "not shown to your role") {
		t.Error("a viewer reads what is planned")
	}
	h.want("no such plan", olga.get("/system/plans/pln_nothing"), http.StatusNotFound, "no plan and no run")
}

// described is the form of a range, with what is done with it.
func (b *browser) described(act string, more ...string) answer {
	b.h.t.Helper()
	form := b.form(b.get("/grants/range"), "/grants/range", append([]string{"type", "clerk", "tool", "refund", "days", "30",
		"conditions", "amount <= 50",
		"free", "order, note", "money", "EUR 50", "reason", "small refunds are routine", "act", act}, more...)...)
	return b.do(http.MethodPost, "/grants/range", form)
}

// signs has what a page shows signed by its passkey.
func (b *browser) signs(page answer) answer {
	b.h.t.Helper()
	match := regexp.MustCompile(`action="(/(?:orders|grants)/[a-z]+_[0-9a-f]+)" data-passkey`).FindStringSubmatch(page.body)
	if match == nil {
		b.h.t.Fatalf("nothing to sign: %d\n%s", page.status, text(page.body))
	}
	return b.do(http.MethodPost, match[1], b.form(page, match[1], "assertion", b.sign(b.challenge(page, match[1]))))
}

// teams puts operators into teams.
func (h *house) team(name, team string) {
	h.t.Helper()
	if err := h.backend.UpdateOperator(h.t.Context(), name, func(o *interlock.OperatorRecord) error {
		o.Teams = []string{team}
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
}

// TestARangeTakesTwoTeams: a range is described on its page, seconded by somebody of one team and then given by an admin of another; before
// that it does not count, and it is listed and ended with the grants.
func TestARangeTakesTwoTeams(t *testing.T) {
	h := open(t, "maso: {tier: 2}")
	ada, olga := h.in("ada", quorum.RoleAdmin), h.in("olga", quorum.RoleOperator)
	h.team("ada", "platform")
	h.team("olga", "risk")
	if strings.Contains(olga.get("/grants/range").body, `value="give"`) {
		t.Error("an operator is offered to give a range")
	}
	h.want("by an operator", olga.described("give"), http.StatusForbidden, "needs an operator with the admin role")
	draft := ada.described("give")
	clean(t, "range", draft)
	h.want("alone", ada.signs(draft), http.StatusForbidden, "nobody has seconded it within a day")
	second := olga.described("second")
	clean(t, "second", second)
	h.want("what is seconded", second, http.StatusOK, "tool refund, amount <= 50, order free, note free, up to 50.00 EUR")
	if got := olga.signs(second); got.location != "/grants" {
		t.Fatalf("seconding: %d\n%s", got.status, text(got.body))
	}
	h.want("another one than was seconded", ada.signs(ada.described("give", "money", "EUR 60")), http.StatusForbidden,
		"nobody has seconded it within a day")
	if got := ada.signs(ada.described("give")); got.status != http.StatusSeeOther {
		t.Fatalf("giving it: %d\n%s", got.status, text(got.body))
	}
	list := olga.get("/grants")
	clean(t, "grants", list)
	for _, want := range []string{"Range for agents of the type clerk", "refund", "amount <= 50", "order anything",
		"up to 50.00 EUR each", "as often as it comes"} {
		if !strings.Contains(plain(list), want) {
			t.Errorf("the list lacks %q:\n%s", want, plain(list))
		}
	}
	if strings.Contains(list.body, "given under other rules") {
		t.Error("a range is said to be of other rules")
	}
	for name, more := range map[string][]string{"no days": {"days", "0"}, "too long": {"days", "91"}, "odd money": {"money", "50"},
		"no bound":  {"conditions", ""},
		"odd times": {"times", "x"}, "a glob": {"tool", "re*"}} {
		if got := ada.described("give", more...); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	if got := h.in("vera", quorum.RoleViewer).get("/grants/range"); got.status != http.StatusForbidden {
		t.Errorf("a viewer describes a range: %d", got.status)
	}
}

// TestARollbackIsFollowed: an admin sees what has to be undone and begins it as it is shown, whoever answers tells how each step ended, and
// the last one ends it.
func TestARollbackIsFollowed(t *testing.T) {
	h := open(t)
	ada, olga, rosa := h.in("ada", quorum.RoleAdmin), h.in("olga", quorum.RoleOperator), h.in("rosa", quorum.RoleAuditor)
	since := h.now().Add(-time.Hour).UTC().Format("2006-01-02T15:04")
	done := h.act("scout", "r1", shell("touch facts.json"))
	if err := h.backend.Report(t.Context(), interlock.Requester{Agent: "scout", Principal: "dana"}, interlock.Outcome{Event: done.Event,
		Status: interlock.OutcomeSuccess}); err != nil {
		t.Fatal(err)
	}
	h.want("none", olga.get("/system/rollbacks"), http.StatusOK, "None.")
	path := "/system/rollbacks/new?agent=scout&since=" + url.QueryEscape(since)
	h.want("by an operator", olga.get(path), http.StatusForbidden, "may not")
	h.want("nothing ran", rosa.get("/system/rollbacks/new?agent=nobody&since="+url.QueryEscape(since)), http.StatusOK, "Nothing to undo")
	h.want("without a time", rosa.get("/system/rollbacks/new?agent=scout"), http.StatusBadRequest, "from when on")
	if strings.Contains(rosa.get(path).body, "begin-rollback") {
		t.Error("an auditor is offered to begin it")
	}
	plan := ada.get(path)
	clean(t, "plan", plan)
	h.want("the plan", plan, http.StatusOK, "touch facts.json")
	form := ada.form(plan, "/orders/new")
	form.Set("reason", "a poisoned page")
	form.Set("hold", "all")
	h.act("scout", "r1", shell("ls later")) // what comes after does not change what was shown
	stale := url.Values{}
	for name, values := range form {
		stale[name] = values
	}
	stale.Set("plan", "sha256:"+strings.Repeat("0", 64))
	h.want("another plan", ada.order(stale.Encode()), http.StatusConflict, "not the plan that was shown")
	got := ada.order(form.Encode())
	if !strings.HasPrefix(got.location, "/system/rollbacks/rb_") {
		t.Fatalf("beginning it: %d\n%s", got.status, text(got.body))
	}
	if h.phaseOf("agent:scout") != phase.Alternate {
		t.Error("whom it is about is not isolated")
	}
	page := olga.get(got.location)
	clean(t, "rollback", page)
	h.want("a step", page, http.StatusOK, "touch facts.json")
	id := strings.TrimPrefix(got.location, "/system/rollbacks/")
	h.want("the list", olga.get("/system/rollbacks"), http.StatusOK, id)
	body, steps, err := runs.RollbackNamed(t.Context(), h.backend, id)
	if err != nil || len(steps) == 0 {
		t.Fatalf("%+v %v", body, err)
	}
	for _, step := range steps {
		h.want("no end", olga.order(url.Values{"verb": {"tell-rollback"}, "subject": {ledger.RollbackStepKey(id, step.N)}, "status": {"perhaps"},
			"reason": {"x"}}.Encode()), http.StatusBadRequest, "say done or failed")
		olga.ordered(got.location, "verb", "tell-rollback", "subject", ledger.RollbackStepKey(id, step.N), "status", "done", "stays", "a printed copy",
			"reason", "put back "+hostile[:40])
	}
	page = olga.get(got.location)
	clean(t, "ended", page)
	for _, want := range []string{"ended", "a printed copy", "put back"} {
		if !strings.Contains(text(page.body), want) {
			t.Errorf("the page lacks %q:\n%s", want, text(page.body))
		}
	}
	h.want("no such rollback", olga.get("/system/rollbacks/rb_nothing"), http.StatusNotFound, "no rollback has this id")
}

// TestSeededErrorsAreCounted: whoever reads the log sees how many of the seeded errors were found; nobody else learns that there are any.
func TestSeededErrorsAreCounted(t *testing.T) {
	h := open(t)
	rosa, olga := h.in("rosa", quorum.RoleAuditor), h.in("olga", quorum.RoleOperator).byTicket("olga")
	h.want("by an operator", olga.get("/system/probes"), http.StatusForbidden, "may not")
	if strings.Contains(olga.get("/system").body, "/system/probes") {
		t.Error("whoever answers is led to the seeded errors")
	}
	ids, err := h.backend.Probe(t.Context(), 3, "quarterly")
	if err != nil {
		t.Fatal(err)
	}
	for n, verb := range []string{"deny", "approve"} {
		if got := olga.bySession(ids[n], verb, "looked"); got.status != http.StatusSeeOther {
			t.Fatalf("%s: %d\n%s", verb, got.status, text(got.body))
		}
	}
	page := rosa.get("/system/probes")
	counted := rosa.do(http.MethodPost, "/system/probes", rosa.form(page, "/system/probes"))
	clean(t, "probes", counted)
	for _, want := range []string{"1 of 2 that were answered were found, 50 %", "not enough", "Seeded3", "Not answered1"} {
		if !strings.Contains(plain(counted), want) {
			t.Errorf("the count lacks %q:\n%s", want, plain(counted))
		}
	}
	if strings.Contains(counted.body, ids[2]) {
		t.Error("the page names a question that still waits")
	}
}
