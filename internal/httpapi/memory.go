package httpapi

import (
	"context"
	"errors"
	"net/http"

	"interlock"
	"interlock/internal/memory"
	"interlock/internal/strictjson"
)

// Memory is what keeping facts needs of admission. Whose a fact is says the credential of who asks.
type Memory interface {
	PutFact(ctx context.Context, by interlock.Requester, q memory.Put) (memory.Reply, error)
	PromoteFact(ctx context.Context, by interlock.Requester, q memory.Promotion) (memory.Reply, error)
	GetFact(ctx context.Context, by interlock.Requester, key string) (memory.Reply, error)
	SearchFacts(ctx context.Context, by interlock.Requester, q memory.Query) (memory.Reply, error)
}

// The bodies that the paths of the memory take.
type (
	factPutBody struct {
		memory.Put
		Run       string               `json:"run"` // in which it is learnt
		Requester *interlock.Requester `json:"requester"`
	}
	factPromoteBody struct {
		memory.Promotion
		Run       string               `json:"run"`
		Requester *interlock.Requester `json:"requester"`
	}
	factGetBody struct {
		Key       string               `json:"key"`
		Run       string               `json:"run"`
		Requester *interlock.Requester `json:"requester"`
	}
	factSearchBody struct {
		memory.Query
		Run       string               `json:"run"`
		Requester *interlock.Requester `json:"requester"`
	}
)

// memory answers the paths of the memory. What is not kept, or is not there, is an answer whose outcome says why.
func (x *exchange) memory() {
	if x.server.config.Memory == nil {
		x.fail(interlock.Errorf(interlock.CodeUnavailable, "", "no facts are kept here"))
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	reply, err := x.answerFact(ctx, x.server.config.Memory)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		x.refuse(unread.err)
		return
	}
	if err != nil {
		x.fail(err)
		return
	}
	text, err := strictjson.Marshal(&reply)
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, append(text, '\n'))
}

func (x *exchange) answerFact(ctx context.Context, facts Memory) (memory.Reply, error) {
	switch x.route {
	case routeFactPut:
		var body factPutBody
		by, err := readIn(x, &body, &body.Requester, &body.Run)
		if err != nil {
			return memory.Reply{}, err
		}
		return facts.PutFact(ctx, by, body.Put)
	case routeFactPromote:
		var body factPromoteBody
		by, err := readIn(x, &body, &body.Requester, &body.Run)
		if err != nil {
			return memory.Reply{}, err
		}
		return facts.PromoteFact(ctx, by, body.Promotion)
	case routeFactSearch:
		var body factSearchBody
		by, err := readIn(x, &body, &body.Requester, &body.Run)
		if err != nil {
			return memory.Reply{}, err
		}
		return facts.SearchFacts(ctx, by, body.Query)
	}
	var body factGetBody
	by, err := readIn(x, &body, &body.Requester, &body.Run)
	if err != nil {
		return memory.Reply{}, err
	}
	return facts.GetFact(ctx, by, body.Key)
}

// readIn reads a body that may name the run it is about.
func readIn[T any](x *exchange, body *T, named **interlock.Requester, run *string) (interlock.Requester, error) {
	by, err := readRun(x, body, named)
	if *run != "" {
		by.Run = *run
	}
	return by, err
}
