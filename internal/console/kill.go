package console

import (
	"net/http"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// killOrder is the detail of an order to stop everything or to let it go on: how, or which stop is ended.
func (c *Console) killOrder(r *http.Request, verb interlock.Verb, subject string) (detail string, err error) {
	h, any, err := c.config.Backend.Killed(r.Context())
	switch {
	case err != nil:
		return "", err
	case subject != interlock.KillSubject:
		return "", interlock.Errorf(interlock.CodeInvalid, "subject", "only everything is stopped")
	case verb == interlock.VerbKill:
		mode := ledger.KillMode(r.URL.Query().Get("how"))
		if mode != ledger.KillHard && mode != ledger.KillGraduated {
			return "", interlock.Errorf(interlock.CodeInvalid, "how", "stop hard or graduated")
		}
		return string(mode), nil
	case !any:
		return "", interlock.Errorf(interlock.CodeNotFound, "subject", "nothing is stopped")
	}
	return admission.KillID(h), nil
}

// killEffect says what stopping everything, or letting it go on, does.
func killEffect(order quorum.Given) string {
	switch {
	case order.Verb == interlock.VerbReleaseKill:
		return "Every agent may go on at once, as far as the rules let it."
	case order.Detail == string(ledger.KillGraduated):
		return "For 30 seconds nothing new is begun, then for 60 seconds nothing is let through while what is under way may end; then the " +
			"rest is ended, agents' tokens are refused and every call is halted, until an admin lets everything go on."
	}
	return "Every call of every agent is halted at once, in every mode. Agents' tokens are refused, servers behind the gateway and sandboxes " +
		"are ended. What hooks have let through can't be called back. Only an admin's signed order lets everything go on."
}

// A stopped is what the system's page shows of a stop.
type stopped struct {
	Step  ledger.KillStep
	Why   string
	By    string
	Since time.Time
	Until time.Time // when it happens that an observer asks for; nothing is stopped before, and the step is empty
}

// stoppedNow is what is stopped, if anything is.
func (c *Console) stoppedNow(r *http.Request) (*stopped, error) {
	h, any, err := c.config.Backend.Killed(r.Context())
	if err != nil || !any {
		return nil, err
	}
	return &stopped{h.Step(c.config.Now()), h.Why, h.By, h.Since, h.Deadline}, nil
}

// lastDrill is the newest drill of the last month, as far as the log is counted: whether everything was stopped, and how long that took.
func (c *Console) lastDrill(r *http.Request) (*line, error) {
	after := int64(0)
	c.counter.view(r.Context(), func(counts *rollup) { after = counts.drill })
	if after == 0 {
		return nil, nil
	}
	entries, err := c.config.Log.Entries(r.Context(), "", ledger.From(after-1, 1))
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	found := c.lineFor(r, entries[0])
	return &found, nil
}
