package httpapi_test

import (
	"context"
	"fmt"

	"interlock"
	"interlock/internal/memory"
)

func (b *fakeBackend) PutFact(_ context.Context, by interlock.Requester, q memory.Put) (memory.Reply, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, fmt.Sprintf("MEMORY %s/%s in %s: %+v", by.Principal, by.Agent, by.Run, q))
	switch {
	case q.Store == "attic":
		return memory.Reply{}, interlock.Errorf(interlock.CodeInvalid, "/store", "is episodic or semantic")
	case !memory.ValidKey(q.Key):
		return memory.Reply{Outcome: memory.InvalidKey, Message: memory.KeyForm, Event: "e2"}, nil
	}
	return memory.Reply{Outcome: memory.OK, ID: "mem_1", Event: "e1"}, nil
}

func (b *fakeBackend) PromoteFact(_ context.Context, by interlock.Requester, q memory.Promotion) (memory.Reply, error) {
	return memory.Reply{Outcome: memory.OK, ID: "mem_2", Request: "act_1", Event: "e-" + by.Agent + "-" + q.Because}, nil
}

func (b *fakeBackend) GetFact(_ context.Context, by interlock.Requester, key string) (memory.Reply, error) {
	if key != "user/person/7/colour" {
		return memory.Reply{Outcome: memory.NotFound, Message: "nothing is kept under this key"}, nil
	}
	return memory.Reply{Outcome: memory.OK, Facts: []memory.Told{{Store: memory.Episodic, Key: key, ID: "mem_1", Value: "green",
		Agent: by.Agent, Run: by.Run, Taint: []string{memory.TaintSource}, Number: 1, At: noon}}}, nil
}

func (b *fakeBackend) SearchFacts(ctx context.Context, by interlock.Requester, q memory.Query) (memory.Reply, error) {
	if q.Limit > 100 {
		return memory.Reply{}, interlock.Errorf(interlock.CodeInvalid, "/query", "asks for too much")
	}
	return b.GetFact(ctx, by, "user/person/7/colour")
}
