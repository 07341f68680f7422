package interlock

import (
	"context"
	"encoding/json"
	"time"
)

// The names under which sending and receiving a message are decided, as lists of tools and conditions on parameters name them. Nobody
// else's tools are called so.
const (
	ToolMessageSend    = "interlock.message.send"
	ToolMessageReceive = "interlock.message.receive"
)

// A Message is what one agent sends another through Interlock. Sending and receiving it are two decided actions, so that it reaches its
// receiver only past what binds either of them, and only if it is built as the sender's type publishes it and the receiver's type takes it.
type Message struct {
	ID            string `json:"id"` // made by Interlock: "msg_" and 24 hexadecimal digits
	From          string `json:"from"`
	FromType      string `json:"from_type"`
	Principal     string `json:"principal,omitempty"` // who answers for the sender
	To            string `json:"to"`
	Run           string `json:"run"`           // the sender's
	Orchestration string `json:"orchestration"` // that the run is part of
	Type          string `json:"type"`          // what sort of message it is, as types publish and accept them
	Version       int    `json:"version,omitempty"`
	Media         string `json:"media"` // its media type, e.g. application/json
	Bytes         int    `json:"bytes"`
	Digest        Digest `json:"digest"` // of its content

	Steps  []StepAttestation `json:"steps"` // what was attested on the way here, this message's own last
	Unread string            `json:"unread,omitempty"`
	Status MessageStatus     `json:"status"`
	Key    string            `json:"key,omitempty"` // by which its sender sends it no second time

	Sent     time.Time `json:"sent"`
	Until    time.Time `json:"until"` // from then on nobody receives it
	Received time.Time `json:"received,omitzero"`
}

// A MessageStatus says what has become of a message.
type MessageStatus string

// The statuses of messages.
const (
	MessageWaiting  MessageStatus = "waiting"  // sent, and not received
	MessageReceived MessageStatus = "received" // its receiver has it, and has not acknowledged it
	// what is told of a waiting message while a person has to say yes before it is received
	MessageQuarantined  MessageStatus = "quarantined"
	MessageAcknowledged MessageStatus = "acknowledged" // its receiver is done with it: its content is gone
)

// A StepAttestation says that one step of a pipeline put out what it had to. The log's event of the message holds the same, so that nobody
// has to believe it.
type StepAttestation struct {
	Step    int    `json:"step"` // from 1
	Agent   string `json:"agent"`
	Message string `json:"message"` // the step's
	Type    string `json:"type"`
	Version int    `json:"version,omitempty"`
	Schema  Digest `json:"schema,omitempty"` // that its content was held against; empty: the sender's type publishes none
	Content Digest `json:"content"`
	Valid   bool   `json:"valid"` // it was held against a schema and is as that says
}

// A Violation says where a message is not as it has to be, and whose fault that is.
type Violation struct {
	Agent   string `json:"agent"` // whose fault it is
	Step    int    `json:"step"`  // of the pipeline
	Side    string `json:"side"`  // what it violates: "schema", what the sender's type publishes, or "contract", what the receiver's accepts
	At      string `json:"at"`    // JSON pointer of the value at fault; empty: the whole
	Keyword string `json:"keyword"`
	Why     string `json:"why"`
}

// A MessageRequest asks to send a message. Its content is one of Body, Text and Data.
type MessageRequest struct {
	To      string          `json:"to"`
	Type    string          `json:"type"`
	Version int             `json:"version,omitempty"` // of the schema; the latest that the sender's type publishes, if none is named
	Media   string          `json:"media,omitempty"`   // application/json for a body and text/plain for a text, if none is named
	Body    json.RawMessage `json:"body,omitempty"`    // JSON
	Text    string          `json:"text,omitempty"`    // for media types that are text
	Data    []byte          `json:"data,omitempty"`    // of any other media type
	Follows []string        `json:"follows,omitempty"` // messages that the sender has received and made this of
	Key     string          `json:"key,omitempty"`     // chosen by the caller: the same one again is the same message
}

// A MessageAnswer is what became of an attempt to send or to receive a message.
type MessageAnswer struct {
	Answer
	Message   *Message   // nil: it was not let through
	Violation *Violation // why not, where it is not built as it has to be
	Content   []byte     // of a message that was received
}

// Messages is a [Backend] that carries messages between agents, as that of package interlock/embedded does. A program that speaks for
// several agents names in each call which one it speaks for; nobody else can have found that out.
type Messages interface {
	// SendMessage proposes to send a message within the registered run that the requester names. An error is of a request that is
	// none; what is refused is an answer.
	SendMessage(ctx context.Context, by Requester, q MessageRequest) (MessageAnswer, error)
	// ReceiveMessage proposes to receive one that was sent to the requester's agent. It may be received again until it is acknowledged.
	ReceiveMessage(ctx context.Context, by Requester, id string) (MessageAnswer, error)
	// AcknowledgeMessage says that the receiver is done with a message that it has received.
	AcknowledgeMessage(ctx context.Context, by Requester, id string) error
	// WaitingMessages lists what was sent to the requester's agent and is not acknowledged, oldest first, without contents.
	WaitingMessages(ctx context.Context, by Requester) ([]Message, error)
}

// SendMessage proposes to send a message of the guard's requester.
func (g *Guard) SendMessage(ctx context.Context, q MessageRequest) (MessageAnswer, error) {
	m, err := g.messages()
	if err != nil {
		return MessageAnswer{}, err
	}
	return m.SendMessage(ctx, g.config.Requester, q)
}

// ReceiveMessage proposes to receive a message that was sent to the guard's requester.
func (g *Guard) ReceiveMessage(ctx context.Context, id string) (MessageAnswer, error) {
	m, err := g.messages()
	if err != nil {
		return MessageAnswer{}, err
	}
	return m.ReceiveMessage(ctx, g.config.Requester, id)
}

func (g *Guard) messages() (Messages, error) {
	m, ok := g.config.Backend.(Messages)
	if !ok {
		return nil, Errorf(CodeUnavailable, "Backend", "carries no messages; interlock/embedded.Open makes one that does")
	}
	return m, nil
}
