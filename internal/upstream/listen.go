package upstream

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"time"

	"interlock/internal/sse"
)

// The waits between attempts to hear what a server says of itself.
const (
	firstListen   = time.Second
	longestListen = 30 * time.Second
)

// within bounds a server's wish for how long to wait.
func within(wish time.Duration) time.Duration {
	if wish <= 0 {
		return firstListen
	}
	return min(wish, longestListen)
}

// pause waits, and reports whether it was for the whole time.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// open asks for a stream of events: from an event on, or of what the server says of itself.
func (l *httpLink) open(ctx context.Context, after string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server.config.URL, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	l.address(request, nil)
	if after != "" {
		request.Header.Set(headerEvent, after)
	}
	return l.server.client.Do(request)
}

// startListening opens the stream of what the server says without being asked, which the revisions before 2026-07-28 have.
func (l *httpLink) startListening() {
	l.mu.Lock()
	begin := !l.listening && l.version < stateless
	l.listening = true
	l.mu.Unlock()
	if begin {
		l.spawn(l.listen)
	}
}

// listen keeps that stream open for as long as the link lasts, unless the server has none.
func (l *httpLink) listen() {
	wait, after := firstListen, ""
	for {
		response, err := l.open(l.ctx, after)
		if err == nil {
			kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
			switch {
			case response.StatusCode == http.StatusOK && kind == "text/event-stream":
				wait = l.hear(response, &after)
			case l.expired(response.StatusCode):
				response.Body.Close()
				l.forget()
				l.stop()
				return
			case response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= 500:
				response.Body.Close()
			default: // 405: it has none; some say so in other ways
				response.Body.Close()
				return
			}
		}
		if !pause(l.ctx, wait) {
			return
		}
		wait = min(2*wait, longestListen)
	}
}

// hear reads one such stream to its end and returns how long to wait before the next.
func (l *httpLink) hear(response *http.Response, after *string) time.Duration {
	defer response.Body.Close()
	reader := sse.NewReader(response.Body, l.server.config.MaxMessage, *after)
	wait := firstListen
	for {
		next, err := reader.Next()
		if errors.Is(err, sse.ErrTooLong) {
			*after = "" // to go on after the last that fitted would bring the same one again
		}
		if err != nil {
			return wait
		}
		*after = next.ID
		if next.Retry > 0 {
			wait = within(next.Retry)
		}
		if len(next.Data) > 0 && l.deliver(l.ctx, next.Data) != nil {
			return wait
		}
	}
}
