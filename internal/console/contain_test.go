package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
)

// ordered gives an order and expects that it is taken.
func (b *browser) ordered(next string, query ...string) {
	b.h.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	if got := b.order(values.Encode()); got.location != next {
		b.h.t.Fatalf("%s: %d to %q\n%s", values.Encode(), got.status, got.location, text(got.body))
	}
}

// phaseOf is the phase that something is in.
func (h *house) phaseOf(name string) phase.Phase {
	h.t.Helper()
	standing, err := h.backend.Ground(h.t.Context(), ledger.Ref{Kind: ledger.Hold, Key: name})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, hold := range standing.Holds() {
		if hold.Name() == name {
			return hold.AsOf(h.now()).Phase
		}
	}
	return phase.Primary
}

// TestPhasesAreOrderedOnThePage: whoever answers requests tightens, by any number of steps; back it goes one step at a time, with the role
// of the table, signed by a passkey; whoever may not is told who may.
func TestPhasesAreOrderedOnThePage(t *testing.T) {
	h := open(t, "maso: {tier: 2, supervised: 1h}")
	ada, olga, vera := h.in("ada", quorum.RoleAdmin), h.in("olga", quorum.RoleOperator), h.in("vera", quorum.RoleViewer)
	sue, carl := h.in("sue", quorum.RoleSuperadmin), h.in("carl", quorum.RoleCouncil)
	h.want("nothing is contained", olga.get("/system/phases"), http.StatusOK, "Everything is in phase P")
	if strings.Contains(vera.get("/system/phases").body, "/orders/new") {
		t.Error("a viewer is offered orders")
	}
	h.want("a viewer", vera.get("/orders/new?verb=tighten-phase&subject=system&to=A&reason=x"), http.StatusForbidden, "may not")
	h.want("the council", carl.get("/orders/new?verb=tighten-phase&subject=system&to=A&reason=x"), http.StatusForbidden, "may not")
	const page = "/system/phases"
	olga.ordered(page, "verb", "tighten-phase", "subject", "agent:builder", "to", "A", "reason", "it reads "+hostile[:30])
	olga.ordered(page, "verb", "tighten-phase", "subject", "system", "to", "E", "reason", "an attack")
	shown := olga.get(page)
	clean(t, "phases", shown)
	for _, want := range []string{"agent:builder", "system:all", "E (emergency)", "an attack",
		"the step back to phase P (primary) takes an operator with the role admin or superadmin",
		"the step back to phase C (contingency) takes an operator with the role superadmin or council"} {
		if !strings.Contains(text(shown.body), want) {
			t.Errorf("the page lacks %q:\n%s", want, text(shown.body))
		}
	}
	h.want("an operator", olga.order("verb=loosen-phase&subject=agent:builder&to=P&proof=x&reason=x"), http.StatusForbidden,
		"from phase A (alternate) to P (primary) takes an operator with the role admin or superadmin")
	h.want("two steps", ada.order("verb=loosen-phase&subject=system&to=P&proof=x&reason=x"), http.StatusBadRequest,
		"the one step back is to C (contingency), by a person with the role superadmin or council")
	h.want("the admin's role", ada.order("verb=loosen-phase&subject=system&to=C&reason=x"), http.StatusForbidden,
		"takes an operator with the role superadmin or council")
	h.want("no phase", ada.order("verb=loosen-phase&subject=system&to=X&reason=x"), http.StatusBadRequest, "name a phase")
	h.want("nothing to loosen", ada.order("verb=loosen-phase&subject=agent:other&to=P&reason=x"), http.StatusNotFound, "nothing to loosen")
	h.want("nothing named", ada.order("verb=loosen-phase&subject=builder&to=P&reason=x"), http.StatusBadRequest, "name what it is on")
	h.want("without a cause", carl.order("verb=loosen-phase&subject=system&to=C&reason=x"), http.StatusConflict,
		"nobody has said what this emergency came of")
	ada.ordered(page, "verb", "root-cause", "subject", "system", "reason", "a poisoned page, taken out")
	if shown := sue.get(page); !strings.Contains(shown.body, "a poisoned page") || !strings.Contains(shown.body, "Back to phase C") {
		t.Errorf("a superadmin is not offered the way out:\n%s", text(shown.body))
	}
	sue.byTicket("sue").ordered(page, "verb", "loosen-phase", "subject", "system", "to", "C", "agent", "backup", "reason", "go on")
	if got := h.phaseOf("system:all"); got != phase.Contingency {
		t.Fatalf("the system is in phase %s", got)
	}
	h.want("supervised", ada.get(page), http.StatusOK, "it stays supervised until")
	h.want("too early", ada.order("verb=loosen-phase&subject=system&to=A&reason=x"), http.StatusConflict, "stays supervised")
	ada.ordered(page, "verb", "loosen-phase", "subject", "agent:builder", "to", "P", "proof", "ticket 7", "reason", "it is clean")
	if got := h.phaseOf("agent:builder"); got != phase.Primary {
		t.Errorf("builder is in phase %s", got)
	}
	if h.logged(interlock.EventPhase, `"method":"passkey"`) < 3 || h.logged(interlock.EventRootCause, "poisoned") != 1 {
		t.Error("the log does not say who ordered it, and how that was proved")
	}
	if body := ada.get("/system").body; !strings.Contains(body, "phase C (contingency)") || !strings.Contains(body, `href="/system/phases"`) {
		t.Error("the system's page does not say so, or leads nowhere")
	}
}

// TestBreakersAreOrderedOnThePage: an operator opens a breaker and half-opens it, and the page says how far it has come.
func TestBreakersAreOrderedOnThePage(t *testing.T) {
	h := open(t)
	olga, vera := h.in("olga", quorum.RoleOperator), h.in("vera", quorum.RoleViewer)
	const page = "/system/phases"
	h.want("of the system", olga.order("verb=trip-breaker&subject=system&reason=x"), http.StatusBadRequest, "a breaker is on an agent or a type")
	olga.ordered(page, "verb", "trip-breaker", "subject", "agent:builder", "reason", "it repeats itself")
	if got := h.act("builder", "r1", shell("ls")); got.Answer != interlock.Deny {
		t.Errorf("the open breaker answers %s", got.Answer)
	}
	shown := vera.get(page)
	clean(t, "breakers", shown)
	for _, want := range []string{"agent:builder", "open", "it repeats itself", "Operators and admins reset it"} {
		if !strings.Contains(text(shown.body), want) {
			t.Errorf("the page lacks %q:\n%s", want, text(shown.body))
		}
	}
	olga.ordered(page, "verb", "reset-breaker", "subject", "agent:builder", "reason", "mended")
	h.want("half-open", olga.get(page), http.StatusOK, "half-open")
	if h.logged(interlock.EventBreakerReset, "mended") != 1 {
		t.Error("the log does not say that it was reset")
	}
}
