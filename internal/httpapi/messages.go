package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
	"sync"
)

// Messages is what carrying messages between agents needs of admission. Whose a message is, and whom it reaches, says the credential of
// who asks, and nothing else.
type Messages interface {
	SendMessage(ctx context.Context, by interlock.Requester, q interlock.MessageRequest) (interlock.MessageAnswer, error)
	ReceiveMessage(ctx context.Context, by interlock.Requester, id string) (interlock.MessageAnswer, error)
	AcknowledgeMessage(ctx context.Context, by interlock.Requester, id string) error
	WaitingMessages(ctx context.Context, by interlock.Requester) ([]interlock.Message, error)
}

// messageIDs is the form of a message's id.
var messageIDs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`msg_[0-9a-f]{24}`)
})

// messagePath finds the message that a path is about, and what is to be done with it.
func messagePath(path string) (id string, r route) {
	rest, found := strings.CutPrefix(path, "/v1/messages/")
	id, tail, _ := strings.Cut(rest, "/")
	if !found || id == "" || messageIDs().FindString(id) != id {
		return "", routeUnknown
	}
	switch tail {
	case "receive":
		return id, routeReceive
	case "acknowledge":
		return id, routeAcknowledge
	}
	return "", routeUnknown
}

// The bodies that the paths of messages take.
type (
	messageBody struct {
		interlock.MessageRequest
		Run       string               `json:"run"` // the registered run it is sent in
		Requester *interlock.Requester `json:"requester"`
	}
	receiveBody struct {
		Run       string               `json:"run"`
		Requester *interlock.Requester `json:"requester"`
	}
)

type (
	acknowledgedAnswer struct {
		Acknowledged bool `json:"acknowledged"`
	}
	waitingAnswer struct {
		Messages []interlock.Message `json:"messages"`
	}
)

// messages answers the paths of messages.
func (x *exchange) messages() {
	messages := x.server.config.Messages
	if messages == nil {
		x.fail(interlock.Errorf(interlock.CodeUnavailable, "", "no messages are carried here"))
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	text, err := x.answerMessage(ctx, messages)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		x.refuse(unread.err)
		return
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, append(text, '\n'))
}

func (x *exchange) answerMessage(ctx context.Context, messages Messages) ([]byte, error) {
	id, _ := messagePath(x.r.URL.Path)
	if x.route == routeWaiting {
		by, err := x.requester(interlock.Requester{})
		if err != nil {
			return nil, err
		}
		list, err := messages.WaitingMessages(ctx, by)
		if err != nil {
			return nil, err
		}
		return strictjson.Marshal(waitingAnswer{list})
	}
	if x.route == routeMessages {
		var body messageBody
		by, err := readRun(x, &body, &body.Requester)
		if err != nil {
			return nil, err
		}
		if body.Run != "" {
			by.Run = body.Run
		}
		answer, err := messages.SendMessage(ctx, by, body.MessageRequest)
		return carried(&answer, err)
	}
	var body receiveBody
	by, err := readRun(x, &body, &body.Requester)
	if err != nil {
		return nil, err
	}
	if body.Run != "" {
		by.Run = body.Run
	}
	if x.route == routeAcknowledge {
		if err := messages.AcknowledgeMessage(ctx, by, id); err != nil {
			return nil, err
		}
		return strictjson.Marshal(acknowledgedAnswer{true})
	}
	answer, err := messages.ReceiveMessage(ctx, by, id)
	return carried(&answer, err)
}

// A carriedBody is what is sent beside the decision about a message.
type carriedBody struct {
	Message   *interlock.Message   `json:"message,omitempty"`   // as it is now, where it was let through
	Violation *interlock.Violation `json:"violation,omitempty"` // where it is not built as it has to be
	Body      json.RawMessage      `json:"body,omitempty"`
	Text      string               `json:"text,omitempty"`
	Data      []byte               `json:"data,omitempty"`
}

// carried writes what became of a message: the decision, as of any action, and beside it the message, its content where it was received,
// and where it is not built as it has to be.
func carried(a *interlock.MessageAnswer, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	more := carriedBody{Message: a.Message, Violation: a.Violation}
	switch {
	case len(a.Content) == 0 || a.Message == nil:
	case a.Message.Media == "application/json":
		more.Body = a.Content
	case strings.HasPrefix(a.Message.Media, "text/"):
		more.Text = string(a.Content)
	default:
		more.Data = a.Content
	}
	text, err := strictjson.Marshal(more)
	if err != nil {
		return nil, err
	}
	out := appendAnswer(nil, &a.Answer)
	if len(text) <= len("{}") {
		return out, nil
	}
	return append(append(out[:len(out)-1], ','), text[1:]...), nil
}
