package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"interlock/internal/quorum"
)

// A stalling reader takes so many writes and then nothing more; a write that has no end in sight would wait for ever.
type stalling struct {
	header   http.Header
	takes    int
	deadline time.Time
	writes   int
	endless  bool // a write came without a time to end
}

func (s *stalling) Header() http.Header { return s.header }
func (s *stalling) WriteHeader(int)     {}
func (s *stalling) Flush()              {}

func (s *stalling) SetWriteDeadline(at time.Time) error { s.deadline = at; return nil }

func (s *stalling) Write(p []byte) (int, error) {
	s.writes++
	s.endless = s.endless || s.deadline.IsZero() || time.Until(s.deadline) > time.Minute
	s.deadline = time.Time{} // the next write needs its own
	if s.writes > s.takes {
		return 0, errors.New("the deadline has passed")
	}
	return len(p), nil
}

// ask sends a signed-in browser's request past the server to a reader of the test's own.
func (b *browser) ask(ctx context.Context, path string, to http.ResponseWriter) {
	b.h.t.Helper()
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, b.h.url+path, nil)
	request.Header.Set("User-Agent", b.agent)
	address, err := url.Parse(b.h.url)
	if err != nil {
		b.h.t.Fatal(err)
	}
	for _, cookie := range b.client.Jar.Cookies(address) {
		request.AddCookie(cookie)
	}
	defer func() {
		if r := recover(); r != nil && r != http.ErrAbortHandler { //nolint:errorlint // it is this value
			b.h.t.Error(r)
		}
	}()
	b.h.console.ServeHTTP(to, request)
}

// TestStallingReaders: whoever takes nothing any more keeps neither a live page nor the one reading of the whole log.
func TestStallingReaders(t *testing.T) {
	h := open(t)
	b := h.in("ada", quorum.RoleAdmin)
	h.act("claude", "r1", shell("echo hello"))
	for range 3 {
		for _, path := range []string{"/feed/stream", "/audit/export?format=jsonl", "/audit/export?format=ocsf"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			reader := &stalling{header: http.Header{}}
			b.ask(ctx, path, reader)
			if reader.writes != 1 || reader.endless || ctx.Err() != nil {
				t.Errorf("%s: %d writes, endless %v, %v", path, reader.writes, reader.endless, ctx.Err())
			}
			cancel()
		}
	}
	if got := b.get("/audit/export?format=jsonl"); got.status != http.StatusOK {
		t.Errorf("an export after stalled ones: %d %s", got.status, got.body)
	}
}

// TestAgentsWordsAtTheDoor: what an agent puts into an address is not written down, because it could be a code.
func TestAgentsWordsAtTheDoor(t *testing.T) {
	h := open(t)
	b := h.browser()
	b.header["Authorization"] = []string{"Bearer " + h.agentToken("builder")}
	h.want("a code in the address", b.get("/pending/ABCD-EFGH-JKLM-NPQR"), http.StatusForbidden, "the console is for people")
	h.want("a request", b.get("/pending/apr_0123456789ab"), http.StatusForbidden, "the console is for people")
	if n := h.logged("APPROVAL_REFUSED", "NPQR"); n != 0 {
		t.Error("what could be a code is in the log")
	}
	if n := h.logged("APPROVAL_REFUSED", "apr_0123456789ab"); n != 1 {
		t.Errorf("the request an agent was after is recorded %d times", n)
	}
}
