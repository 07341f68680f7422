package httpapi

import (
	"io"
	"net/http"
	"time"
)

// How long a client that sends nothing more is waited for, beside the limit for the whole request. They are measured in real
// time, because it is the connection that waits.
const (
	bodyRate    = 16 << 10               // bytes a second, after Limits.Pause
	refusedBody = 250 * time.Millisecond // the rest of a request that is answered already
)

// A pacedBody is a request's body that has to come at a pace: its sender gets a pause at the beginning and a second for each
// bodyRate bytes. Who sends one byte a second would hold a slot for as long as the whole request may take.
type pacedBody struct {
	io.ReadCloser
	control http.ResponseController
	begun   time.Time
	pause   time.Duration
	whole   time.Duration // for the whole request, which holds again once the body is there
	got     int64
	ended   bool
	deaf    bool // what it comes over takes no deadline
}

// pace begins with the body of a request; it has none where ended says so.
func (s *Server) pace(w http.ResponseWriter, r *http.Request) pacedBody {
	body := r.Body
	if body == nil {
		body = http.NoBody
	}
	return pacedBody{ReadCloser: body, control: *http.NewResponseController(w), begun: time.Now(), pause: s.config.Limits.Pause,
		whole: s.config.Limits.Read, ended: body == http.NoBody}
}

// in is the request with that body, for a handler of others.
func (b *pacedBody) in(r *http.Request) *http.Request {
	if b.ended {
		return r
	}
	with := r.WithContext(r.Context())
	with.Body = b
	return with
}

// Read reads on, and fails with a timeout if nothing comes in time.
func (b *pacedBody) Read(p []byte) (int, error) {
	due := b.pause + time.Duration(b.got)*time.Second/bodyRate
	b.until(b.begun.Add(min(due, b.whole)))
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if b.ended = err != nil; err == io.EOF {
		b.until(b.begun.Add(b.whole)) // after any other error nothing more is waited for
	}
	return n, err
}

// leave ends with a request that is answered. Of a body that was not read net/http reads the rest, and sends the answer only
// then; it is not waited for longer than a sender needs that has sent it already.
func (b *pacedBody) leave() {
	if !b.ended {
		b.until(time.Now().Add(refusedBody))
	}
}

// until waits no longer than that for more. Where nothing of the kind can be said, the server's own time holds.
func (b *pacedBody) until(at time.Time) {
	if !b.deaf {
		b.deaf = b.control.SetReadDeadline(at) != nil
	}
}
