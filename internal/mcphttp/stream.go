package mcphttp

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"interlock/internal/mcpgateway"
	"interlock/internal/sse"
)

// An eventStream holds messages for a client until they are written as server-sent events. It is safe for concurrent use.
type eventStream struct {
	limits Limits
	wake   chan struct{} // holds a value when there is something to do

	mu    sync.Mutex
	queue [][]byte
	bytes int
	last  bool // nothing comes any more
	over  bool // the client did not keep up
}

func newEventStream(limits Limits) *eventStream {
	return &eventStream{limits: limits, wake: make(chan struct{}, 1)}
}

// push adds a message of a stream that can't be resumed; see pushEvent.
func (s *eventStream) push(message []byte) bool { return s.pushEvent(event(message, "")) }

// pushEvent adds an event, or reports that the stream has ended or the client does not keep up, which ends it.
func (s *eventStream) pushEvent(text []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last {
		return false
	}
	// One message may be as large as it likes, if it is alone.
	if len(s.queue) >= s.limits.Queue || len(s.queue) > 0 && s.bytes+len(text) > s.limits.QueueBytes {
		s.last, s.over = true, true
		s.queue, s.bytes = nil, 0
		s.signal()
		return false
	}
	s.queue = append(s.queue, text)
	s.bytes += len(text)
	s.signal()
	return true
}

// end lets what waits be written and nothing more.
func (s *eventStream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = true
	s.signal()
}

func (s *eventStream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns what waits, and whether more may come.
func (s *eventStream) take() (events [][]byte, last, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events = s.queue
	s.queue, s.bytes = nil, 0
	return events, s.last, s.over
}

// write writes events until the stream ends, ctx does, or the client takes no more. A quiet client is tried now and then, so that
// one that is gone is noticed.
func (s *eventStream) write(ctx context.Context, w http.ResponseWriter, control *http.ResponseController, h *Front) error {
	quiet := time.NewTicker(s.limits.Quiet)
	defer quiet.Stop()
	if err := send(w, control, h, nil); err != nil { // the header, so that the client knows that it is heard
		return err
	}
	for {
		events, last, over := s.take()
		if over {
			return mcpgateway.ErrClientGone
		}
		for _, text := range events {
			if err := send(w, control, h, text); err != nil {
				s.end()
				return err
			}
		}
		if len(events) > 0 {
			continue
		}
		if last {
			return nil
		}
		select {
		case <-s.wake:
		case <-quiet.C:
			if err := send(w, control, h, []byte(":\n\n")); err != nil {
				s.end()
				return err
			}
		case <-ctx.Done():
			s.end()
			return nil
		}
	}
}

func send(w http.ResponseWriter, control *http.ResponseController, h *Front, text []byte) error {
	_ = control.SetWriteDeadline(h.writeDeadline(len(text))) // a connection without deadlines has the server's own
	if _, err := w.Write(text); err != nil {
		return err
	}
	return control.Flush()
}

// beginEvents says that events follow.
func beginEvents(w http.ResponseWriter) {
	header := w.Header()
	header["Content-Type"] = []string{"text/event-stream"}
	header["Cache-Control"] = []string{"no-store, no-transform"}
	header["X-Accel-Buffering"] = []string{"no"}
}

// event writes a message as one event, with an id if it has one. A line break can only stand between the parts of
// JSON, where a space says the same.
func event(message []byte, id string) []byte {
	if bytes.ContainsAny(message, "\r\n") {
		message = bytes.ReplaceAll(bytes.ReplaceAll(message, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" "))
	}
	return sse.Append(make([]byte, 0, len(message)+len(id)+64), id, "message", message)
}
