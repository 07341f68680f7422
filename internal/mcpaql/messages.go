package mcpaql

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// Plans and messages are the same as over HTTP (POST /v1/plans and /v1/messages): whose they are, and whom they reach, says the
// credential of the connection, and what is decided about them is decided and recorded by admission.

// anyValue is the type of a parameter that takes any JSON value but null.
const anyValue = "object|array|string|number|boolean"

func submitPlanOperation() operation {
	return operation{
		name: "submit_plan", endpoint: Create, permission: AutoApprove, danger: interlock.DangerReversible,
		description: "Hand over what one of your runs is to do, whole, before its first step. The same plan again tells how far it has come.",
		reasons:     []string{"Lets nothing happen: each step is decided by itself, and steps that the plan does not have next are asked about"},
		parameters: []Parameter{
			{Name: "run", Type: "string", Required: true, MaxLength: maxName, Description: "Your run, by the id that register_run returned."},
			{Name: "steps", Type: "array", Required: true, Items: &Parameter{Name: "step", Type: "object"},
				Description: "Its actions in order: kind, tool, input, arguments and dir as the step will be decided, compensation (an action " +
					"that makes it good) and takes_seconds."},
		},
		returns: typeInfo{Name: "Plan", Kind: "object", Description: "The plan, what was found of each step, and whether its steps may be taken."},
		examples: []example{{"Hand over two steps", `{"operation":"submit_plan","params":{"run":"run_…","steps":[` +
			`{"kind":"shell","input":"make test"},{"kind":"shell","input":"git push origin main"}]}}`}},
		run: (*Server).submitPlan,
	}
}

func sendMessageOperation() operation {
	return operation{
		name: "send_message", endpoint: Create, permission: AutoApprove, danger: interlock.DangerReversible,
		description: "Send another agent a message. Sending is decided; so is receiving, by what binds the other.",
		reasons:     []string{"Reaches an agent only past what binds you and it, and only if it is built as your type publishes it"},
		parameters: []Parameter{
			{Name: "to", Type: "string", Required: true, MaxLength: maxName, Description: "The agent it is for."},
			{Name: "type", Type: "string", Required: true, MaxLength: maxName, Description: "What sort of message it is, as types publish and accept them."},
			{Name: "run", Type: "string", MaxLength: maxName, Description: "Your run that it is sent in."},
			{Name: "version", Type: "integer", Description: "Of the schema. Default: the latest that your type publishes."},
			{Name: "media", Type: "string", MaxLength: maxName, Description: "Media type. Default: application/json for body, text/plain for text."},
			{Name: "body", Type: anyValue, Description: "Content as JSON. Give one of body, text and data."},
			{Name: "text", Type: "string", Description: "Content as text."},
			{Name: "data", Type: "string", Description: "Content of any other media type, in base64."},
			{Name: "follows", Type: "array", Items: &Parameter{Name: "message", Type: "string", MaxLength: maxName},
				Description: "Messages that you have received and made this of."},
			{Name: "key", Type: "string", MaxLength: maxName, Description: "Your name for it: the same one again is the same message."},
		},
		returns: typeInfo{Name: "CarriedMessage", Kind: "object", Description: "What was decided, and the message where it was let through."},
		examples: []example{{"Send a finding",
			`{"operation":"send_message","params":{"to":"planner","type":"finding","run":"run_…","body":{"ok":true}}}`}},
		run: (*Server).sendMessage,
	}
}

func receiveMessageOperation() operation {
	return operation{
		name: "receive_message", endpoint: Execute, permission: AutoApprove, danger: interlock.DangerReversible,
		description: "Receive a message that was sent to you, with its content. It can be received again until you acknowledge it.",
		reasons:     []string{"Hands over content only as your type accepts it"},
		parameters:  []Parameter{messageID(), {Name: "run", Type: "string", MaxLength: maxName, Description: "Your run that it is received in."}},
		returns:     typeInfo{Name: "CarriedMessage", Kind: "object", Description: "What was decided, and the message with its content."},
		examples:    []example{{"Receive one", `{"operation":"receive_message","params":{"message":"msg_…"}}`}},
		run:         (*Server).receiveMessage,
	}
}

func acknowledgeMessageOperation() operation {
	return operation{
		name: "acknowledge_message", endpoint: Execute, permission: AutoApprove, danger: interlock.DangerReversible,
		description: "Say that you are done with a message that you have received. Its content is gone then.",
		reasons:     []string{"Ends a message of your own"},
		parameters:  []Parameter{messageID()},
		returns:     typeInfo{Name: "Acknowledged", Kind: "object", Description: "That it is done with."},
		examples:    []example{{"Be done with one", `{"operation":"acknowledge_message","params":{"message":"msg_…"}}`}},
		run:         (*Server).acknowledgeMessage,
	}
}

func waitingMessagesOperation() operation {
	return operation{
		name: "waiting_messages", endpoint: Read, permission: AutoApprove, danger: interlock.DangerSafe,
		description: "List what was sent to you and is not acknowledged, oldest first, without contents.",
		reasons:     []string{"Reads what is addressed to you and changes nothing"},
		parameters: []Parameter{{Name: "fields", Type: "string|array", Items: &Parameter{Name: "field", Type: "string"},
			Description: "Members of the answer to return. Default: everything."}},
		returns:  typeInfo{Name: "WaitingMessages", Kind: "object", Description: "The messages."},
		examples: []example{{"Look whether there is any", `{"operation":"waiting_messages","params":{}}`}},
		run:      (*Server).waitingMessages,
	}
}

func messageID() Parameter {
	return Parameter{Name: "message", Type: "string", Required: true, MaxLength: maxName, Description: "Its id, msg_ and 24 digits."}
}

// in is the requester of a call that names a run.
func (a arguments) in(c Caller) interlock.Requester {
	r := c.requester()
	r.Run = a.text("run")
	return r
}

func (s *Server) submitPlan(ctx context.Context, c Caller, a arguments) (any, error) {
	text, err := strictjson.Marshal(map[string]any(a))
	if err != nil {
		return nil, invalidType("steps", "JSON without numbers beyond 2^53", a["steps"], "submit_plan")
	}
	var q interlock.PlanRequest
	if err := strictjson.Decode(text, &q); err != nil {
		return nil, err
	}
	return s.config.Backend.SubmitPlan(ctx, c.requester(), q)
}

func (s *Server) sendMessage(ctx context.Context, c Caller, a arguments) (any, error) {
	version, _ := a["version"].(float64) // checked: a whole number, or nothing
	q := interlock.MessageRequest{To: a.text("to"), Type: a.text("type"), Version: int(version), Media: a.text("media"),
		Text: a.text("text"), Follows: a.texts("follows"), Key: a.text("key")}
	if body, given := a["body"]; given {
		text, err := strictjson.Marshal(body)
		if err != nil {
			return nil, invalidType("body", "JSON without numbers beyond 2^53", body, "send_message")
		}
		q.Body = text
	}
	if data := a.text("data"); data != "" {
		var err error
		if q.Data, err = base64.StdEncoding.DecodeString(data); err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/data", "is no base64")
		}
	}
	answer, err := s.config.Backend.SendMessage(ctx, a.in(c), q)
	if err != nil {
		return nil, err
	}
	return carried(answer), nil
}

func (s *Server) receiveMessage(ctx context.Context, c Caller, a arguments) (any, error) {
	answer, err := s.config.Backend.ReceiveMessage(ctx, a.in(c), a.text("message"))
	if err != nil {
		return nil, err
	}
	return carried(answer), nil
}

func (s *Server) acknowledgeMessage(ctx context.Context, c Caller, a arguments) (any, error) {
	return map[string]bool{"acknowledged": true}, s.config.Backend.AcknowledgeMessage(ctx, c.requester(), a.text("message"))
}

func (s *Server) waitingMessages(ctx context.Context, c Caller, _ arguments) (any, error) {
	list, err := s.config.Backend.WaitingMessages(ctx, c.requester())
	if list == nil {
		list = []interlock.Message{}
	}
	return map[string][]interlock.Message{"messages": list}, err
}

// A carriedMessage is what was decided about sending or receiving a message, and what there is of it after that.
type carriedMessage struct {
	Answer    interlock.Verdict    `json:"answer"`
	Rule      string               `json:"rule,omitempty"`
	Reason    string               `json:"reason,omitempty"`
	Event     string               `json:"event_id,omitempty"`
	Request   string               `json:"request_id,omitempty"` // waits for a person
	Message   *interlock.Message   `json:"message,omitempty"`
	Violation *interlock.Violation `json:"violation,omitempty"`
	Body      json.RawMessage      `json:"body,omitempty"`
	Text      string               `json:"text,omitempty"`
	Data      []byte               `json:"data,omitempty"`
}

func carried(m interlock.MessageAnswer) carriedMessage {
	c := carriedMessage{Answer: m.Answer.Answer, Event: m.Event, Request: m.Request, Message: m.Message, Violation: m.Violation}
	if f := m.Decisive(); f != nil {
		c.Rule, c.Reason = f.Rule, f.Reason
	}
	switch {
	case len(m.Content) == 0 || m.Message == nil:
	case m.Message.Media == "application/json":
		c.Body = m.Content
	case strings.HasPrefix(m.Message.Media, "text/"):
		c.Text = string(m.Content)
	default:
		c.Data = m.Content
	}
	return c
}
