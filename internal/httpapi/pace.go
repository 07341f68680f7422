package httpapi

import (
	"io"
	"net/http"
	"time"
)

// How long whoever sends nothing more is waited for, beside the limit for the whole request. They are measured in real time,
// because it is the connection that waits.
const (
	bodyRate    = 16 << 10               // bytes a second, after Limits.Pause
	refusedBody = 250 * time.Millisecond // the rest of a request that is answered already
)

// A pacedBody is a request's body that has to come at a pace: its sender gets a pause at the beginning and a second for each
// bodyRate bytes. Who sends one byte a second would hold a slot for as long as the whole request may take.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	begun   time.Time
	pause   time.Duration
	whole   time.Duration // for the whole request, which holds again once the body is there
	got     int64
	ended   bool
}

// paced gives a request such a body; nil: it has none.
func (s *Server) paced(w http.ResponseWriter, r *http.Request) *pacedBody {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	body := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), begun: time.Now(),
		pause: s.config.Limits.Pause, whole: s.config.Limits.Read}
	r.Body = body
	return body
}

// Read reads on, and fails with a timeout if nothing comes in time.
func (b *pacedBody) Read(p []byte) (int, error) {
	due := b.pause + time.Duration(b.got)*time.Second/bodyRate
	_ = b.control.SetReadDeadline(b.begun.Add(min(due, b.whole))) // where none can be set, the server's own holds
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if b.ended = err != nil; err == io.EOF {
		_ = b.control.SetReadDeadline(b.begun.Add(b.whole)) // after any other error nothing more is waited for
	}
	return n, err
}

// leave ends with a request that is answered. Of a body that was not read net/http reads the rest, and sends the answer only
// then; it is not waited for longer than a sender needs that has sent it already.
func (b *pacedBody) leave() {
	if !b.ended {
		_ = b.control.SetReadDeadline(time.Now().Add(refusedBody))
	}
}
