package httpapi_test

import (
	"context"
	"fmt"

	"interlock"
	"interlock/internal/admission/containment"
)

// aMessage is what the fake backend carries.
func aMessage(from string) *interlock.Message {
	const id = "msg_0123456789abcdef01234567"
	return &interlock.Message{ID: id, From: from, FromType: "builder", To: "other", Run: "run_0123456789abcdef01234567",
		Orchestration: "run_0123456789abcdef01234567", Type: "invoice", Version: 2, Media: "application/json", Bytes: 7, Digest: "sha256:aa",
		Steps: []interlock.StepAttestation{{Step: 1, Agent: from, Message: id, Type: "invoice", Version: 2, Schema: "sha256:bb",
			Content: "sha256:aa", Valid: true}},
		Status: interlock.MessageWaiting, Sent: noon, Until: noon}
}

func letThrough(verdict interlock.Verdict) interlock.Answer {
	return interlock.Answer{Decision: interlock.Decision{Verdict: verdict, Answer: verdict, Findings: []interlock.Finding{},
		Impacts: []interlock.Impact{}}, Event: "e1", Index: 7}
}

func (b *fakeBackend) SendMessage(_ context.Context, by interlock.Requester, q interlock.MessageRequest) (interlock.MessageAnswer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, fmt.Sprintf("MESSAGE %s/%s in %s: to=%q type=%q body=%s text=%q", by.Principal, by.Agent, by.Run,
		q.To, q.Type, q.Body, q.Text))
	switch {
	case q.To == "nobody":
		return interlock.MessageAnswer{}, interlock.Errorf(interlock.CodeNotFound, "/to", "no agent of this name receives messages")
	case string(q.Body) == "{}":
		return interlock.MessageAnswer{Answer: letThrough(interlock.Deny), Violation: &interlock.Violation{Agent: by.Agent, Step: 1, Side: "schema",
			At: "/cents", Keyword: "required", Why: "is missing"}}, nil
	}
	return interlock.MessageAnswer{Answer: letThrough(interlock.Allow), Message: aMessage(by.Agent)}, nil
}

func (b *fakeBackend) ReceiveMessage(_ context.Context, by interlock.Requester, _ string) (interlock.MessageAnswer, error) {
	if by.Agent != "other" {
		return interlock.MessageAnswer{}, interlock.Errorf(interlock.CodeNotFound, "/id", "no message of this id waits for this agent")
	}
	return interlock.MessageAnswer{Answer: letThrough(interlock.Allow), Message: aMessage("builder"), Content: []byte(`{"a":1}`)}, nil
}

func (b *fakeBackend) AcknowledgeMessage(context.Context, interlock.Requester, string) error {
	return nil
}

func (b *fakeBackend) WaitingMessages(context.Context, interlock.Requester) ([]interlock.Message, error) {
	return []interlock.Message{*aMessage("builder")}, nil
}

func (b *fakeBackend) ReportIncident(_ context.Context, by interlock.Requester, r containment.IncidentReport) (string, error) {
	if r.Title == "" {
		return "", interlock.Errorf(interlock.CodeInvalid, "title", "is missing")
	}
	return "e-" + by.Agent, nil
}
