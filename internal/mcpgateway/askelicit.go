package mcpgateway

import (
	"context"
	"encoding/json"
	"time"
)

// canElicit reports whether the client of a question can be asked by a request of ours: in revisions with sessions, where it
// opens addresses for its user and we know one.
func (a *Asker) canElicit(q Question) bool {
	return q.Elicit != nil && q.Client.URL && q.Client.Revision < RevisionStateless && a.config.Console != ""
}

// elicit has the client's user asked to open the request's page, for as long as a call is held, and returns what they said to
// that. It ends early, with nothing said, if the request is answered meanwhile: the page was open somewhere else.
func (a *Asker) elicit(ctx context.Context, q Question, request string) string {
	asked, err := a.config.Approvals.Asked(ctx, q.Proposal.Requester, request)
	if err != nil {
		return ""
	}
	params := elicitationOf(a.pending(asked))
	params.ID = request
	ctx, cancel := context.WithTimeout(ctx, a.patience(q))
	defer cancel()
	changed, stop := a.watch.follow(request)
	defer stop()
	responses := make(chan json.RawMessage, 1)
	go func() {
		response, err := q.Elicit(ctx, encode(params))
		if err != nil {
			response = nil
		}
		responses <- response
	}()
	select {
	case response := <-responses:
		return said(response)
	case <-changed:
		return answeredMeanwhile
	case <-ctx.Done():
		return ""
	case <-a.watch.closed:
		return ""
	}
}

// answeredMeanwhile is what elicit returns if an operator was faster than the client's user.
const answeredMeanwhile = "answered"

// afterElicit says whether a question is held on after its client's user was asked, and until when.
func (a *Asker) afterElicit(q Question, said string) (until time.Time, on bool) {
	switch said {
	case "accept", answeredMeanwhile:
		return time.Now().Add(a.patience(q)), true
	}
	return time.Time{}, false
}

// elicited tells the client that what it asked its user to do is done (MCP 2025-11-25).
func elicited(ctx context.Context, q Question, request string) {
	if q.Notify != nil {
		q.Notify(ctx, "notifications/elicitation/complete", encode(struct {
			ID string `json:"elicitationId"`
		}{request}))
	}
}
