package mcphttp_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/mcphttp"
	"interlock/test/wait"
)

// listen opens a stream and returns its events, each as its id and its data, and how to lose it.
func (r *httpRig) listen(x exchange) (next func() string, lose func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	response, err := http.DefaultClient.Do(r.request(ctx, x))
	if err != nil {
		r.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		r.t.Fatalf("no stream: %s %s", response.Status, r.text(response))
	}
	r.t.Cleanup(func() { cancel(); response.Body.Close() })
	lines := bufio.NewReader(response.Body)
	return func() string {
		id := ""
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return err.Error()
			}
			if value, ok := strings.CutPrefix(line, "id: "); ok {
				id = strings.TrimSpace(value)
			}
			if data, ok := strings.CutPrefix(line, "data:"); ok {
				return strings.TrimSpace(id + " " + strings.TrimSpace(data))
			}
		}
	}, cancel
}

// resume reads what follows an event until its stream ends.
func (r *httpRig) resume(session, id string) (all []string) {
	r.t.Helper()
	next, _ := r.listen(exchange{method: "GET", header: map[string]string{"Mcp-Session-Id": session, "Last-Event-ID": id}})
	for {
		line := next()
		if line == "EOF" {
			return all
		}
		all = append(all, line)
	}
}

const (
	stepOf   = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":`
	resultOf = `{"jsonrpc":"2.0","id":1,"result":{"text":"done","agent":"ann","shared":false}}`
)

// A client that loses the stream of a call reads on behind the last event it had, whether the call has ended meanwhile or not.
// It gets what belongs to that stream, and nobody else gets any of it.
func TestHTTPResumedCall(t *testing.T) {
	r := newHTTP(t, nil)
	r.steps, r.said = 1, "done"
	session := r.begin("ann")
	in := map[string]string{"Mcp-Session-Id": session}
	next, lose := r.listen(exchange{body: call(1, "steps"), header: in})
	if got := next(); got != "1-1 "+stepOf+"0}}" {
		t.Fatalf("the first event: %s", got)
	}
	<-r.waiting
	lose()
	again, loseAgain := r.listen(exchange{method: "GET", header: map[string]string{"Mcp-Session-Id": session, "Last-Event-ID": "1-0"}})
	if got := again(); got != "1-1 "+stepOf+"0}}" {
		t.Errorf("the first event again, while the call goes on: %s", got)
	}
	loseAgain()
	r.do(exchange{body: call(7, "notice"), header: in}) // it belongs to another stream
	r.release <- struct{}{}
	<-r.cancelled // it has ended
	want := []string{"1-2 " + stepOf + "1}}", "1-3 " + resultOf}
	if diff := cmp.Diff(want, r.resume(session, "1-1")); diff != "" {
		t.Errorf("what was missed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1:], r.resume(session, "1-2")); diff != "" {
		t.Errorf("the answer alone (-want +got):\n%s", diff)
	}
	if got := r.resume(session, "1-3"); got != nil {
		t.Errorf("behind the last: %q", got)
	}
	other := r.begin("ann")
	for name, x := range map[string]struct {
		session, id, token string
		status             int
	}{
		"another session":      {other, "1-1", "ann", http.StatusBadRequest},
		"another agent":        {session, "1-1", "bob", http.StatusNotFound},
		"another owner":        {session, "1-1", "ann-of-carl", http.StatusNotFound},
		"an event to come":     {session, "1-4", "ann", http.StatusBadRequest},
		"a stream to come":     {session, "2-0", "ann", http.StatusBadRequest},
		"an id without stream": {session, "1", "ann", http.StatusBadRequest},
		"a negative one":       {session, "1--1", "ann", http.StatusBadRequest},
		"words":                {session, "x-y", "ann", http.StatusBadRequest},
	} {
		response := r.do(exchange{method: "GET", token: x.token, header: map[string]string{"Mcp-Session-Id": x.session, "Last-Event-ID": x.id}})
		if response.StatusCode != x.status {
			t.Errorf("%s: %s", name, response.Status)
		}
	}
}

// One that comes back before the call has ended gets the rest as it comes.
func TestHTTPResumedWhileItGoesOn(t *testing.T) {
	r := newHTTP(t, nil)
	r.steps, r.said = 1, "done"
	session := r.begin("ann")
	next, lose := r.listen(exchange{body: call(1, "steps"), header: map[string]string{"Mcp-Session-Id": session}})
	next()
	<-r.waiting
	lose()
	next, _ = r.listen(exchange{method: "GET", header: map[string]string{"Mcp-Session-Id": session, "Last-Event-ID": "1-1"}})
	r.release <- struct{}{}
	if diff := cmp.Diff([]string{"1-2 " + stepOf + "1}}", "1-3 " + resultOf, "EOF"}, []string{next(), next(), next()}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The session's own stream begins with what came since the session began, and goes on from where it stands. One that is opened
// again without saying where begins anew.
func TestHTTPResumedSession(t *testing.T) {
	r := newHTTP(t, nil)
	session := r.begin("ann")
	in := map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25"}
	const notice = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	r.do(exchange{body: call(1, "notice"), header: in})
	next, lose := r.listen(exchange{method: "GET", header: in})
	if diff := cmp.Diff([]string{"0-1 " + notice, "0-1"}, []string{next(), next()}); diff != "" {
		t.Errorf("the first events (-want +got):\n%s", diff)
	}
	r.do(exchange{body: call(2, "notice"), header: in})
	if got := next(); got != "0-2 "+notice {
		t.Errorf("a notice: %q", got)
	}
	lose()
	r.do(exchange{body: call(3, "notice"), header: in})
	r.do(exchange{body: call(4, "notice"), header: in})
	next, lose = r.listen(exchange{method: "GET", header: map[string]string{"Mcp-Session-Id": session, "Last-Event-ID": "0-2"}})
	if diff := cmp.Diff([]string{"0-3 " + notice, "0-4 " + notice}, []string{next(), next()}); diff != "" {
		t.Errorf("what was missed (-want +got):\n%s", diff)
	}
	lose()
	next, _ = r.listen(exchange{method: "GET", header: map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"}})
	r.do(exchange{body: call(5, "notice"), header: in})
	if got := next(); got != "0-5 "+notice {
		t.Errorf("a stream anew, in a revision without events that say nothing: %q", got)
	}
}

// Nothing is kept for a client that does not open a stream in time.
func TestHTTPStreamNeverOpened(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.First = time.Millisecond })
	in := map[string]string{"Mcp-Session-Id": r.begin("ann"), "Mcp-Protocol-Version": "2025-11-25"}
	n := 0
	wait.Until(t, "it is late", func() bool {
		n++
		return strings.Contains(r.text(r.do(exchange{body: call(n, "notice"), header: in})), "lost")
	})
}

// A client of a call that takes long learns how to come back for its answer before there is anything to say.
func TestHTTPSlowCallIsResumed(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.Slow = 20 * time.Millisecond })
	session := r.begin("ann")
	older := make(chan string, 1)
	go func() {
		response := r.do(exchange{body: call(2, "wait"), header: map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"}})
		older <- response.Header.Get("Content-Type")
	}()
	<-r.waiting
	next, lose := r.listen(exchange{body: call(1, "wait"), header: map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25"}})
	if got := next(); got != "1-0" {
		t.Errorf("the first event: %q", got)
	}
	lose()
	close(r.release)
	if diff := cmp.Diff([]string{"1-1 " + strings.Replace(resultOf, "done", "waited", 1)}, r.resume(session, "1-0")); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	if got := <-older; got != "application/json" {
		t.Errorf("a client of an earlier revision got %s", got)
	}
}

// What is kept is bounded in number, bytes and time. Answers are kept longest, and one that is too large leaves word.
func TestHTTPWhatIsKeptIsBounded(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) {
		c.Limits.Keep, c.Limits.KeepBytes, c.Limits.KeepFor = 4, 2048, time.Minute
	})
	session := r.begin("ann")
	lost := func(id int, name string, steps int, said string) {
		t.Helper()
		r.steps, r.said = steps, said
		next, lose := r.listen(exchange{body: call(id, name), header: map[string]string{"Mcp-Session-Id": session}})
		next()
		<-r.waiting
		lose()
		r.release <- struct{}{}
		<-r.cancelled
	}
	refused := func(id string) {
		t.Helper()
		response := r.do(exchange{method: "GET", header: map[string]string{"Mcp-Session-Id": session, "Last-Event-ID": id}})
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s is still kept: %s", id, response.Status)
		}
	}
	lost(1, "steps", 100, "done")
	want := []string{"1-99 " + stepOf + "98}}", "1-100 " + stepOf + "99}}", "1-101 " + stepOf + "100}}", "1-102 " + resultOf}
	if diff := cmp.Diff(want, r.resume(session, "1-1")); diff != "" {
		t.Errorf("four events (-want +got):\n%s", diff)
	}
	lost(2, "steps", 100, strings.Repeat("x", 4096))
	if got := r.resume(session, "2-1"); len(got) != 3 || !strings.Contains(got[2], `"id":2,"error":`) || !strings.Contains(got[2], "too large") {
		t.Errorf("an answer that is too large: %q", got)
	}
	if diff := cmp.Diff(want[3:], r.resume(session, "1-1")); diff != "" {
		t.Errorf("the answer of before (-want +got):\n%s", diff)
	}
	lost(3, "silent", 0, "")
	if got := r.resume(session, "3-1"); len(got) != 1 || !strings.Contains(got[0], `"id":3,"error":`) || !strings.Contains(got[0], "cancelled") {
		t.Errorf("a call that got no answer: %q", got)
	}
	r.mu.Lock()
	r.now = r.now.Add(2 * time.Minute)
	r.mu.Unlock()
	r.front.Sweep(context.Background())
	for _, id := range []string{"1-1", "2-1", "3-1"} {
		refused(id)
	}
	if got := r.text(r.do(exchange{body: call(9, "echo"), header: map[string]string{"Mcp-Session-Id": session}})); !strings.Contains(got, "hi") {
		t.Errorf("the session afterwards: %s", got)
	}
}

// From 2026-07-28 on no event has an id and no stream is gone on with.
func TestHTTPNothingIsResumedWithoutASession(t *testing.T) {
	r := newHTTP(t, nil)
	response := r.do(modern(1, "progress"))
	if text, err := io.ReadAll(response.Body); err != nil || strings.Contains(string(text), "id: ") {
		t.Errorf("%q, %v", text, err)
	}
	if response := r.do(exchange{method: "GET",
		header: map[string]string{"MCP-Protocol-Version": "2026-07-28", "Last-Event-ID": "1-1"}}); response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a stream to go on with: %s", response.Status)
	}
}
