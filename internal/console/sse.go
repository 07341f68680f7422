package console

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/console/render"
	"interlock/internal/console/signin"
	"interlock/internal/ledger"
	"interlock/internal/sse"
)

// The bounds of streams.
const (
	streamTick  = 500 * time.Millisecond // how often the log is looked at, at most, and how soon another process's events show
	inboxTick   = 200 * time.Millisecond // the same where somebody waits for an answer to show
	streamBeat  = 10 * time.Second       // without an event until something is said, so that a dead connection shows
	maxStreams  = 64
	streamReads = 500 // entries sent at once; what comes in faster is for the page to show
)

// A stream writes server-sent events to one browser.
type stream struct {
	w       *render.PatientWriter
	session signin.Session
	last    int64 // index after the last entry looked at
	filter  filter
	waiting counts
	quiet   int // ticks
	tick    time.Duration
	news    func(*http.Request, *stream) error // sends what has come in since the last look

	operator interlock.OperatorRecord // as last read
}

// feedStream sends each new decision that passes the page's filter as a row of the list. It ends with the request, with the
// session, or with the server.
func (c *Console) feedStream(w http.ResponseWriter, r *http.Request) {
	f, err := feedFilter(r.URL.Query())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	s := stream{filter: f, tick: streamTick, news: c.streamNew}
	if err := indexed(r.URL.Query(), "after", &s.last); err != nil {
		c.fail(w, r, err)
		return
	}
	if n, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil && n >= s.last {
		s.last = n + 1 // the browser has come back
	}
	c.live(w, r, &s, ledger.Watch{Within: streamTick})
}

// inboxStream says whenever requests may have changed; a page that hears it looks for itself.
func (c *Console) inboxStream(w http.ResponseWriter, r *http.Request) {
	s := stream{tick: inboxTick, news: func(r *http.Request, s *stream) error {
		if err := s.send("", "inbox", []byte("changed")); err != nil {
			return err
		}
		return c.streamWaiting(r.Context(), s)
	}}
	c.live(w, r, &s, ledger.Watch{Kinds: []string{ledger.Request, ledger.Challenge}, Within: inboxTick})
}

// live keeps a page up with what is written, for as long as it is looked at.
func (c *Console) live(w http.ResponseWriter, r *http.Request, s *stream, what ledger.Watch) {
	s.w, s.session, s.waiting = render.Patient(w), c.visitor(r).Session, counts{-1, -1}
	if c.streams.Add(1) > maxStreams {
		c.streams.Add(-1)
		c.fail(w, r, interlock.Errorf(interlock.CodeLimited, "", "too many pages are live at once; load the page again instead"))
		return
	}
	defer c.streams.Add(-1)
	changed, err := c.config.Backend.Watch(r.Context(), what)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	s.w.Extend() // the server's own deadline is for pages
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	c.follow(r, s, changed)
}

// follow sends what has come in, and again whenever something may have. Between two changes it costs a look at the clock a tick,
// however many watch; what comes faster than a tick is sent together.
func (c *Console) follow(r *http.Request, s *stream, changed <-chan struct{}) {
	ticker := time.NewTicker(s.tick)
	defer ticker.Stop()
	for look, next := true, (<-chan struct{})(nil); ; {
		in, err := c.stillIn(r.Context(), s, look)
		if !in {
			_ = s.send("", "end", []byte("signed out"))
			return
		}
		if err == nil && look {
			err = s.news(r, s)
		}
		if err == nil && time.Duration(s.quiet)*s.tick >= streamBeat {
			err = s.write([]byte(": still here\n\n"))
		}
		if err != nil {
			return // the reader or the store went away; the browser comes back by itself
		}
		open := true
		select {
		case <-r.Context().Done():
			return
		case <-c.config.Done:
			return
		case <-ticker.C:
			s.quiet++
			look, next = false, changed
		case _, open = <-next:
			look, next = true, nil // until the tick
		}
		if !open {
			return
		}
	}
}

// stillIn reports whether a session counts as before, by the operator's record as it was read last, or is now. It does not keep the
// session from ending by idleness.
func (c *Console) stillIn(ctx context.Context, s *stream, read bool) (in bool, err error) {
	if read {
		if s.operator, err = c.operatorNamed(ctx, s.session.Operator); err != nil {
			return false, err
		}
	}
	return c.sessions.Stands(s.session.ID) && c.over(s.session, s.operator) == "", nil
}

// streamNew sends what has come in since the last look.
func (c *Console) streamNew(r *http.Request, s *stream) error {
	head, err := c.config.Log.Head(r.Context())
	if err != nil {
		return err
	}
	if s.last+streamReads < head.Size {
		s.last = head.Size - streamReads
	}
	if s.last < head.Size {
		entries, err := c.config.Log.Entries(r.Context(), "", ledger.From(s.last, int(head.Size-s.last)))
		if err != nil {
			return err
		}
		for _, e := range entries {
			s.last = e.Index + 1
			if err := c.streamEntry(r, s, e); err != nil {
				return err
			}
		}
	}
	return c.streamWaiting(r.Context(), s)
}

func (c *Console) streamEntry(r *http.Request, s *stream, e interlock.Entry) error {
	if !s.filter.possible(e) {
		return nil
	}
	d, err := c.opened(r, e)
	if err != nil || !s.filter.holds(d) {
		return nil //nolint:nilerr // a damaged entry is for the audit pages to name
	}
	var b bytes.Buffer
	if err := c.pages.execute(&b, "feed.html", "row", rowOf(e.Index, d)); err != nil {
		return fmt.Errorf("making a row: %w", err)
	}
	return s.send(strconv.FormatInt(e.Index, 10), "decision", b.Bytes())
}

// streamWaiting says how much waits, when that has changed.
func (c *Console) streamWaiting(ctx context.Context, s *stream) error {
	now, err := c.waiting(ctx)
	if err != nil {
		return err
	}
	if now == s.waiting {
		return nil
	}
	s.waiting = now
	var b bytes.Buffer
	if err := c.pages.execute(&b, "feed.html", "told", now); err != nil {
		return fmt.Errorf("making the counts: %w", err)
	}
	return s.send("", "waiting", b.Bytes())
}

// send writes one event. Every line of its data is a line of the stream.
func (s *stream) send(id, name string, data []byte) error {
	return s.write(sse.Append(nil, id, name, data))
}

func (s *stream) write(text []byte) error {
	s.quiet = 0
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.w.Flush()
}
