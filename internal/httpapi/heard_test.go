package httpapi_test

import (
	"context"
	"fmt"

	"interlock"
)

func (b *fakeBackend) HearPrompt(_ context.Context, r interlock.Requester, text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, fmt.Sprintf("heard the user of %s/%s run=%q: %s", r.Principal, r.Agent, r.Run, text))
	return nil
}

func (b *fakeBackend) HearResult(_ context.Context, p interlock.Proposal, result string) error {
	b.police(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, fmt.Sprintf("heard a result of %s/%s run=%q: %s %s in %q: %s", p.Requester.Principal, p.Requester.Agent,
		p.Requester.Run, p.Action.Tool, p.Action.Arguments, p.View.Workspace, result))
	return nil
}
