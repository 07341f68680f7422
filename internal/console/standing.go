package console

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/console/render"
	"interlock/internal/console/stats"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// The bounds of what a page reads of what is in force, so that it costs the same however much that is.
const (
	maxCounted = core.MostMore // what is counted beyond is "1,000+"
	maxListed  = 200           // agents, challenges, grants
	maxWaiting = 1000          // requests that are looked through, for a page or a count
	maxPins    = 2000          // tools, beside those in quarantine
)

func ref(kind, key string) ledger.Ref    { return ledger.Ref{Kind: kind, Key: key} }
func under(kind, mark string) ledger.Ref { return ledger.Ref{Kind: kind, Mark: mark} }

// newest is the newest of what is in force under a mark, as much as a page lists.
func newest(from int64) ledger.Span {
	span := ledger.From(from, maxListed)
	span.Newest = true
	return span
}

// counted writes a number that was counted no further than maxCounted.
func counted(n int) string {
	if n >= maxCounted {
		return render.Comma(maxCounted) + "+"
	}
	return strconv.Itoa(n)
}

// operatorNamed returns what is known of an operator now; nothing of one who is unknown.
func (c *Console) operatorNamed(ctx context.Context, name string) (interlock.OperatorRecord, error) {
	standing, err := c.config.Backend.Ground(ctx, ref(ledger.Operator, name))
	return standing.Operators[name], err
}

// waiting counts the requests that can still be answered and the challenges that stand.
func (c *Console) waiting(ctx context.Context) (counts, error) {
	pending, err := c.config.Backend.Pending(ctx, maxCounted)
	if err != nil {
		return counts{}, err
	}
	challenges, err := c.config.Backend.Count(ctx, under(ledger.Challenge, ledger.All), ledger.Every(maxCounted))
	return counts{pending, challenges}, err
}

// requestNamed returns a request that waits, with the agent that asked.
func (c *Console) requestNamed(ctx context.Context, id string) (interlock.ApprovalRequest, ledger.Standing, error) {
	standing, err := c.config.Backend.Ground(ctx, ref(ledger.Request, id))
	if err != nil {
		return interlock.ApprovalRequest{}, standing, err
	}
	request, known := standing.Requests[id]
	if !known {
		return request, standing, interlock.Errorf(interlock.CodeNotFound, "id",
			"no request that waits has this id: it was used, denied or has expired")
	}
	standing, err = c.config.Backend.Ground(ctx, ref(ledger.Agent, request.Requester.Agent))
	return request, standing, err
}

// agentsOf returns what is known of the agents of requesters.
func agentsOf[T any](ctx context.Context, c *Console, list []T, requester func(T) string) (ledger.Standing, error) {
	var refs []ledger.Ref
	named := map[string]bool{}
	for _, one := range list {
		if name := requester(one); name != "" && !named[name] {
			named[name] = true
			refs = append(refs, ref(ledger.Agent, name))
		}
	}
	return c.config.Backend.Ground(ctx, refs...)
}

// takeMode reads an order to stop everything: how.
func takeMode(d *drafting) (string, interlock.Requester, error) {
	mode := ledger.KillMode(d.query.Get("how"))
	if mode != ledger.KillHard && mode != ledger.KillGraduated {
		return "", interlock.Requester{}, interlock.Errorf(interlock.CodeInvalid, "how", "stop hard or graduated")
	}
	return string(mode), interlock.Requester{}, nil
}

// takeStop reads an order to let everything go on: which stop is ended.
func takeStop(d *drafting) (detail string, about interlock.Requester, err error) {
	h, any, err := d.c.config.Backend.Killed(d.r.Context())
	if err == nil && !any {
		err = interlock.Errorf(interlock.CodeNotFound, "subject", "nothing is stopped")
	}
	return containment.KillID(h), about, err
}

// modeSays says what stopping everything does where that goes in steps.
func modeSays(order quorum.Given) string {
	if order.Detail != string(ledger.KillGraduated) {
		return ""
	}
	return "For 30 seconds nothing new is begun, then for 60 seconds nothing is let through while what is under way may end; " +
		"then the rest is ended, agents' tokens are refused and every call is halted, until an admin lets everything go on."
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

// lastDrill is the newest drill of the last month, as far as the log is counted: whether everything was stopped, and how long
// that took.
func (c *Console) lastDrill(r *http.Request) (*line, error) {
	after := int64(0)
	c.counter.View(r.Context(), func(counts *stats.Rollup) { after = counts.Drill })
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
