package console

import (
	"context"
	"strconv"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

// The bounds of what a page reads of what stands, so that it costs the same however much that is.
const (
	maxCounted = admission.MostMore // what is counted beyond is "1,000+"
	maxListed  = 200                // agents, challenges, grants
	maxWaiting = 1000               // requests that are looked through, for a page or a count
	maxPins    = 2000               // tools, beside those in quarantine
)

func ref(kind, key string) ledger.Ref    { return ledger.Ref{Kind: kind, Key: key} }
func under(kind, mark string) ledger.Ref { return ledger.Ref{Kind: kind, Mark: mark} }

// newest is the newest of what stands under a mark, as much as a page lists.
func newest(from int64) ledger.Span {
	span := ledger.From(from, maxListed)
	span.Newest = true
	return span
}

// counted writes a number that was counted no further than maxCounted.
func counted(n int) string {
	if n >= maxCounted {
		return comma(maxCounted) + "+"
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
