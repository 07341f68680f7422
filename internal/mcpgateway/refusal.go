package mcpgateway

import (
	"encoding/json"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/rpc"
	"interlock/internal/strictjson"
)

// codeRefused is the JSON-RPC error of what a decision said no to; data says which.
const codeRefused = -32001

// codePending is the JSON-RPC error of what waits for a human: the same request may be sent again. It is in the range that
// MCP leaves to servers.
const codePending = -32010

// A Refused is what an agent is told instead of an answer: the whole of it, and no more than the engine permits.
type Refused struct {
	Status     string `json:"status"` // denied or pending_approval
	Code       Reason `json:"code"`
	Reason     string `json:"reason"`
	Suggestion string `json:"suggestion,omitempty"`
	Event      string `json:"event_id,omitempty"`   // where operators find the whole story
	Request    string `json:"request_id,omitempty"` // what a human answers
	Expires    string `json:"expires,omitempty"`    // of the request
	URL        string `json:"url,omitempty"`        // the console's page of the request, for a human
	RetryAfter int    `json:"retry_after_seconds,omitempty"`
	Retry      string `json:"retry,omitempty"` // what to do once the request is answered
}

const (
	statusDenied  = "denied"
	statusPending = "pending_approval"

	retrySame = "send the identical call again once the request is approved; it passes once"
)

// refused renders an answer that is not Allow.
func refused(a interlock.Answer) Refused {
	r := Refused{Status: statusDenied, Code: reasonOf(a), Event: a.Event, Request: a.Request, Reason: "this is not permitted"}
	if f := a.Decisive(); f != nil {
		r.Reason, r.Suggestion = f.Reason, f.Suggestion
	}
	if wait := retryAfter(a.Decision); wait > 0 {
		r.RetryAfter = int((wait + time.Second - 1) / time.Second)
	}
	if a.Request != "" {
		r.Retry = retrySame
	}
	return r
}

// text is the refusal as a model reads it, where its client shows it nothing but text.
func (r Refused) text() string {
	text := "Interlock did not let this call through: " + r.Reason + "."
	if r.Status == statusPending {
		text = "A human has to approve this call and has not answered yet: " + r.Reason + "."
	}
	if r.Suggestion != "" {
		text += " Instead: " + r.Suggestion + "."
	}
	if r.RetryAfter > 0 {
		text += fmt.Sprintf(" The same call is not looked at again for %d s.", r.RetryAfter)
	}
	switch {
	case r.Request != "" && r.Retry != "":
		text += " Request " + r.Request + ": " + r.Retry + "."
	case r.Request != "": // it is answered
		text += " Request " + r.Request + "."
	}
	if r.URL != "" {
		text += " An operator answers it here: " + r.URL
	}
	return text
}

// result is the refusal as the result of a tools/call: an error that the client shows to its model.
func (r Refused) result(revision string, shaped bool) json.RawMessage {
	out := errorResult(r.text(), encode(r), shaped)
	if revision >= RevisionStateless {
		out.Type = "complete"
	}
	return encode(out)
}

// metaAnswer is the member of a result's _meta that says what structuredContent says otherwise.
const metaAnswer = "interlock/answer"

// A toolError is a result of ours in place of a tool's.
type toolError struct {
	Content    []textContent              `json:"content"`
	Structured json.RawMessage            `json:"structuredContent,omitempty"`
	IsError    bool                       `json:"isError"`
	Meta       map[string]json.RawMessage `json:"_meta,omitempty"`
	Type       string                     `json:"resultType,omitempty"`
}

// errorResult says something to the model and, in detail, to its client. The structured content of a tool that declares an
// outputSchema must conform to it (MCP 2025-11-25, server/tools), of errors too: clients hold it against the schema, and what
// does not fit never reaches their model. So there the detail is in _meta.
func errorResult(text string, detail json.RawMessage, shaped bool) toolError {
	out := toolError{Content: []textContent{{Type: "text", Text: text}}, IsError: true}
	if shaped {
		out.Meta = map[string]json.RawMessage{metaAnswer: detail}
	} else {
		out.Structured = detail
	}
	return out
}

// failure is the refusal as the JSON-RPC error of any other method.
func (r Refused) failure() *RPCError {
	code := codeRefused
	switch {
	case r.Status == statusPending:
		code = codePending
	case r.Code == ReasonState || r.Code == ReasonInvalid:
		code = rpc.CodeInvalidParams
	}
	return &RPCError{Code: code, Message: r.text(), Data: encode(r)}
}

// An RPCError is the error member of a JSON-RPC answer.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// encode writes a value of this package's own types. They hold nothing that has no JSON form.
func encode(v any) json.RawMessage {
	text, err := strictjson.Marshal(v)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}
