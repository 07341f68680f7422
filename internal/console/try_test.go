package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/console"
	"interlock/internal/explain"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// try explains as `interlock check --explain` does. What it was asked is remembered.
func (h *house) try(_ context.Context, t console.Trial) (console.Tried, error) {
	h.trials = append(h.trials, t)
	action := interlock.Action{Kind: t.Kind, Input: t.Input, Dir: t.Dir}
	if t.Kind.TakesObject() {
		var err error
		if action, err = admission.ParseAction(string(t.Kind), []byte(t.Input), t.Dir); err != nil {
			return console.Tried{}, err
		}
	}
	evaluator := admission.Evaluator{Rules: h.backend.Rules(), Analyser: h.backend.Analyser(), Profile: "guard", Attended: true}
	proposal := admission.Case{Proposal: interlock.Proposal{Action: action, Requester: interlock.Requester{Agent: t.Agent}, CanAsk: true}}
	decision := admission.Decide(&evaluator, &proposal, ledger.Standing{}, h.now())
	return console.Tried{Decision: explain.WithoutSecrets(decision),
		Why: *explain.Of(&evaluator, proposal, ledger.Standing{}, decision, h.now())}, nil
}

// TestTry: the page explains any action with what objects and what would make it pass, to whoever may read actions, without leaving
// anything in the log; scripts are read for whoever governs alone, and what was typed stays text.
func TestTry(t *testing.T) {
	h := open(t)
	ada, olga, vic := h.in("ada", quorum.RoleAdmin), h.in("olga", quorum.RoleOperator), h.in("vic", quorum.RoleViewer)
	before, err := h.backend.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	empty := ada.get("/rules/try")
	h.want("before anything is tried", empty, http.StatusOK, "Nothing is recorded, nothing runs and nobody is asked")
	clean(t, "the empty page", empty)
	send := func(b *browser, page answer, kind, input string, more ...string) answer {
		t.Helper()
		return b.do(http.MethodPost, "/rules/try", b.form(page, "/rules/try", append([]string{"kind", kind, "input", input}, more...)...))
	}
	got := send(ada, empty, "shell", "cd /srv/shop && git push --force origin main", "agent", "claude", "dir", "/srv/shop")
	clean(t, "an explanation", got)
	for _, part := range []string{"git.force-push", "How it is read", "What would make it pass",
		"interlock rules suppress git.force-push --agent claude",
		`value="claude"`, "cd /srv/shop &amp;&amp; git push --force"} {
		if got.status != http.StatusOK || !strings.Contains(got.body, part) {
			t.Errorf("%d; the explanation lacks %q in:\n%s", got.status, part, got.body)
		}
	}
	h.want("what is allowed", send(ada, got, "shell", "ls"), http.StatusOK, "Nothing objects.")
	h.want("a tool's call", send(ada, got, "file", `{"tool": "Write", "args": {"path": "/etc/passwd", "content": "x"}}`), http.StatusOK,
		"/etc/passwd")
	hurt := send(ada, got, "shell", "echo '"+hostile[:60]+"' </textarea><img src=x onerror=alert(1)>", "dir", "/srv/<b>")
	clean(t, "hostile words", hurt)
	h.want("an operator", send(olga, olga.get("/rules/try"), "sql", "DROP TABLE users"), http.StatusOK, "Scripts that it would run are not read")
	for _, trial := range h.trials[:len(h.trials)-1] {
		if !trial.Files {
			t.Errorf("an admin's %q is tried without files", trial.Input)
		}
	}
	if last := h.trials[len(h.trials)-1]; last.Files || last.Kind != interlock.KindSQL {
		t.Errorf("an operator's was tried as %+v", last)
	}
	asked := len(h.trials)
	for name, one := range map[string][]string{
		"is not one of": {"thought", "x"}, "is missing": {"shell", "  "}, "is longer than 16384 bytes": {"shell", strings.Repeat("x", 17<<10)},
		"no absolute path":        {"shell", "ls", "dir", "srv"},
		"is longer than 200 byte": {"shell", "ls", "agent", strings.Repeat("x", 201)},
	} {
		if page := send(ada, got, one[0], one[1], one[2:]...); page.status/100 != 4 || !strings.Contains(page.body, name) {
			t.Errorf("%v: %d, want a refusal with %q", one[:1], page.status, name)
		}
	}
	if len(h.trials) != asked {
		t.Error("what was refused was tried")
	}
	h.want("no JSON", send(ada, got, "tool", "ls"), http.StatusBadRequest, "must be an object")
	if page := vic.get("/rules/try"); page.status != http.StatusForbidden {
		t.Errorf("a viewer: %d", page.status)
	}
	after, err := h.backend.Store.Head(t.Context())
	if err != nil || after.Size != before.Size {
		t.Errorf("%v: %d entries, %d before anything was tried", err, after.Size, before.Size)
	}
	if waiting, err := h.backend.Pending(t.Context(), 10); err != nil || waiting != 0 {
		t.Errorf("%d wait, %v", waiting, err)
	}
	h.watch()
	eve := h.in("eve", quorum.RoleAdmin)
	h.want("where nothing can be tried", send(eve, eve.get("/rules/try"), "shell", "ls"), http.StatusServiceUnavailable, "interlock check --explain")
}
