package mcphttp

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/mcpgateway"
	"interlock/internal/rpc"
	"interlock/internal/sse"
)

// A resumable is one stream of a session, whichever connections its client reads it on. What is sent on it is kept for a while,
// so that a client that lost the connection can say what it had last and read on (MCP 2025-11-25, transports: resumability and
// redelivery). It is guarded by its session's lock.
type resumable struct {
	number  int             // 0: the session's own; others belong to one request each
	request json.RawMessage // its id
	seq     int             // of the last event
	kept    int             // how many of them are kept
	live    *eventStream    // that the client reads; nil: none
	lost    time.Time       // since when there is none; zero: there never was one
	done    bool            // nothing comes any more
}

// A keptEvent is an event as it was or would have been written.
type keptEvent struct {
	of     *resumable
	seq    int
	text   []byte
	answer bool
	at     time.Time
}

// A replay is what is kept of a session's streams, guarded by the session's lock.
type replay struct {
	own     resumable
	streams map[int]*resumable // those of requests, while they go on or anything of them is kept
	last    int                // number of a stream
	events  []keptEvent        // the oldest first
	bytes   int
}

// eventID is what a client shows to read on behind an event. It is the session's own and means nothing in another.
func eventID(stream, seq int) string { return strconv.Itoa(stream) + "-" + strconv.Itoa(seq) }

// openStream begins the stream of a request.
func (s *httpSession) openStream(request json.RawMessage) (*resumable, *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replay.last++
	r := &resumable{number: s.replay.last, request: request, live: newEventStream(s.front.limits)}
	if s.replay.streams == nil {
		s.replay.streams = map[int]*resumable{}
	}
	s.replay.streams[r.number] = r
	return r, r.live
}

// sendOn sends a message on a stream, whether its client reads it now or comes back for it.
func (s *httpSession) sendOn(r *resumable, message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendOnLocked(r, message)
}

func (s *httpSession) sendOnLocked(r *resumable, message []byte) {
	r.seq++
	text := event(message, eventID(r.number, r.seq))
	s.keepLocked(r, text, rpc.KindOf(message) != rpc.KindOther)
	if r.live != nil && !r.live.pushEvent(text) {
		s.loseLocked(r)
	}
}

// prime tells a client how to come back before there is anything to tell it.
func (s *httpSession) prime(r *resumable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.live != nil && !r.live.pushEvent(sse.Append(nil, eventID(r.number, r.seq), "", nil)) {
		s.loseLocked(r)
	}
}

// finishStream ends a stream. farewell is what a client that comes back is told that had no answer and gets none.
func (s *httpSession) finishStream(r *resumable, farewell []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if farewell != nil {
		r.seq++
		s.keepLocked(r, event(farewell, eventID(r.number, r.seq)), true)
	}
	r.done = true
	if r.live != nil {
		r.live.end()
	}
	s.forgetStreamLocked(r)
}

// attach gives a client a stream to read, from behind an event on, or nil if there is no such stream. A connection that read it
// before ends: its client has probably lost it and come back.
func (s *httpSession) attach(number, after int) (*resumable, *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.replay.own
	if number != 0 {
		r = s.replay.streams[number]
	}
	if r == nil || after > r.seq {
		return nil, nil
	}
	if after < 0 {
		after = r.seq
		if number == 0 && !s.opened { // what came before it, since the session began
			after = 0
		}
	}
	s.opened = s.opened || number == 0
	if r.live != nil {
		r.live.end()
	}
	stream := newEventStream(s.front.limits)
	for _, e := range s.replay.events {
		if e.of == r && e.seq > after {
			stream.queue = append(stream.queue, e.text)
			stream.bytes += len(e.text)
		}
	}
	stream.last = r.done
	r.live = stream
	return r, stream
}

// detach takes a connection from a stream, if it has no other since.
func (s *httpSession) detach(r *resumable, stream *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.live == stream {
		s.loseLocked(r)
	}
}

func (s *httpSession) loseLocked(r *resumable) { r.live, r.lost = nil, s.front.now() }

// keepLocked keeps an event within the session's bounds. For an answer that is too large to keep, its client learns that there
// was one.
func (s *httpSession) keepLocked(r *resumable, text []byte, answer bool) {
	limits := s.front.limits
	if len(text) > limits.KeepBytes {
		if !answer {
			return
		}
		text = event(rpc.AppendFault(nil, r.request,
			rpc.FaultObject(rpc.CodeInternal, "the request was answered while its stream was lost, and the answer is too "+
				"large to be kept", nil)), eventID(r.number, r.seq))
	}
	for len(s.replay.events) > 0 && (len(s.replay.events) >= limits.Keep || s.replay.bytes+len(text) > limits.KeepBytes) {
		// answers last: nothing makes up for them
		s.dropLocked(max(slices.IndexFunc(s.replay.events, func(e keptEvent) bool { return !e.answer }), 0))
	}
	s.replay.events = append(s.replay.events, keptEvent{of: r, seq: r.seq, text: text, answer: answer, at: s.front.now()})
	s.replay.bytes += len(text)
	r.kept++
}

func (s *httpSession) dropLocked(n int) {
	e := s.replay.events[n]
	s.replay.events = slices.Delete(s.replay.events, n, n+1)
	s.replay.bytes -= len(e.text)
	e.of.kept--
	s.forgetStreamLocked(e.of)
}

func (s *httpSession) forgetStreamLocked(r *resumable) {
	if r.done && r.kept == 0 {
		delete(s.replay.streams, r.number)
	}
}

// forget drops what has been kept for long enough.
func (s *httpSession) forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.replay.events) > 0 && now.Sub(s.replay.events[0].at) > s.front.limits.KeepFor {
		s.dropLocked(0)
	}
}

// resumption reads which stream a client wants, and behind which event; none: the session's own, from now on.
func resumption(header http.Header) (stream, after int, ok bool) {
	values := header["Last-Event-Id"]
	if len(values) == 0 {
		return 0, -1, true
	}
	first, second, _ := strings.Cut(values[0], "-")
	stream, err := strconv.Atoi(first)
	after, wrong := strconv.Atoi(second)
	return stream, after, len(values) == 1 && err == nil && wrong == nil && stream >= 0 && after >= 0
}

// primes reports whether a client takes an event without data, as those of this revision do.
func primes(header http.Header) bool {
	values := header["Mcp-Protocol-Version"]
	return len(values) == 1 && strings.TrimSpace(values[0]) == mcpgateway.RevisionSessions
}

// primeSlow begins the streams of requests that have been under way for a while, so that their clients can come back for the
// answer if they lose the connection.
func (h *Front) primeSlow() {
	var busy []*httpSession
	h.mu.Lock()
	for _, s := range h.sessions {
		if s.active > 0 {
			busy = append(busy, s)
		}
	}
	h.mu.Unlock()
	var replies []*httpReply
	for _, s := range busy {
		s.mu.Lock()
		for _, reply := range s.underway {
			replies = append(replies, reply)
		}
		s.mu.Unlock()
	}
	for _, reply := range replies {
		reply.prime()
	}
}
