package ledger

import (
	"strings"
	"time"

	"interlock"
)

// MessageID reports whether a text has the form of a message's id.
func MessageID(id string) bool {
	digits, found := strings.CutPrefix(id, "msg_")
	return found && len(digits) == 24 && strings.Trim(digits, "0123456789abcdef") == ""
}

// The marks of messages besides [All]: those that somebody has not acknowledged, those that somebody has sent and nobody has
// acknowledged, those of one orchestration, and all of them by when they are over.
func MessagesTo(agent string) string   { return "to\x00" + agent }
func MessagesFrom(agent string) string { return "from\x00" + agent }
func MessagesIn(root string) string    { return "in\x00" + root }

// MessagesDue is the mark of messages by when nobody receives them any more.
const MessagesDue = "due"

// A MessageBody is a message with its content. The row ends when its receiver has acknowledged it, or its time is over.
type MessageBody struct {
	interlock.Message
	Content []byte `json:"content"`
}

func messageMarks(m MessageBody) []Mark {
	marks := withAll(nano(m.Sent), MessagesTo(m.To), MessagesFrom(m.From), MessagesIn(m.Orchestration))
	return appendMarks(marks, nano(m.Until), MessagesDue)
}

// messageNext lets a message be sent once. It is received as often as its receiver likes, until it has ended.
func messageNext(was, is MessageBody, there bool, _ time.Time) error {
	switch {
	case there && is.Status == interlock.MessageWaiting:
		return moved(Message, "it was sent already")
	case there && is.ID != "" && (was.Digest != is.Digest || was.To != is.To):
		return moved(Message, "it is another message")
	}
	return nil
}

// Message is a message that is there.
func (s *Standing) Message(id string) (MessageBody, bool) {
	m, ok := s.Others[Message][id].(MessageBody)
	return m, ok
}
