package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/httpapi"
	"interlock/internal/ledger"
	"interlock/test/wait"
)

const awaited = "apr_0123456789ab"

func (b *fakeBackend) Asked(_ context.Context, r interlock.Requester, id string) (interlock.ApprovalRequest, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked, known := b.standing.Requests[id]
	if !known || r.Agent != "builder" {
		return asked, interlock.Errorf(interlock.CodeNotFound, "request", "there is no such request of this agent")
	}
	return asked, nil
}

func (b *fakeBackend) Watch(ctx context.Context, what ledger.Watch) (<-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(what.Kinds) != 1 || what.Kinds[0] != ledger.Request {
		b.t.Errorf("watches %v", what.Kinds)
	}
	changed := make(chan struct{}, 1)
	b.watches = append(b.watches, changed)
	return changed, nil
}

// become changes the awaited request once n wait for it.
func (b *fakeBackend) become(n int, edit func(*interlock.ApprovalRequest)) {
	wait.Holds(func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.watches) >= n
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	requests := map[string]interlock.ApprovalRequest{}
	for id, r := range b.standing.Requests {
		if id == awaited {
			edit(&r)
		}
		requests[id] = r
	}
	b.standing.Requests = requests
	for _, changed := range b.watches {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}

func deny(r *interlock.ApprovalRequest) {
	r.Status, r.Approval = interlock.RequestDenied, &interlock.Approval{Verdict: interlock.Deny, Operator: "olga", Reason: "not today"}
}

// TestWaitTellsTheAnswer: a program hears of the answer when it is given, and of what it says nothing that is not its to know.
func TestWaitTellsTheAnswer(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	network, _ := open(t, h)
	go h.backend.become(1, deny)
	response, body := quickly(t, "tcp", network, "POST", "/v1/requests/"+awaited+"/wait", liveToken, "")
	if response.StatusCode != http.StatusOK || !strings.Contains(body, `"status":"denied","waiting":false,"state":"denied","reason":"not today"`) ||
		strings.Contains(body, "olga") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if response, body := quickly(t, "tcp", network, "POST", "/v1/requests/"+awaited+"/wait", otherToken, "{}"); response.StatusCode != 404 {
		t.Errorf("another agent: %d %s", response.StatusCode, body)
	}
}

func TestWaitEndsWithItsTime(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	network, socket := open(t, h)
	path := "/v1/requests/" + awaited + "/wait"
	response, body := quickly(t, "tcp", network, "POST", path, liveToken, `{"timeout_seconds":0}`)
	if response.StatusCode != http.StatusOK || !strings.Contains(body, `"status":"pending","waiting":true`) {
		t.Errorf("no time: %d %s", response.StatusCode, body)
	}
	response, body = quickly(t, "unix", socket, "POST", path, liveToken, `{"timeout_seconds":0}`)
	if response.StatusCode != http.StatusOK {
		t.Errorf("on the socket: %d %s", response.StatusCode, body)
	}
	for name, tc := range map[string]struct {
		method, path, token, body string
		status                    int
	}{
		"too long":         {"POST", path, liveToken, `{"timeout_seconds":61}`, 400},
		"negative":         {"POST", path, liveToken, `{"timeout_seconds":-1}`, 400},
		"another's name":   {"POST", path, liveToken, `{"requester":{"agent":"other"}}`, 403},
		"no token":         {"POST", path, "", ``, 401},
		"looking":          {"GET", path, liveToken, ``, 405},
		"nobody's":         {"POST", "/v1/requests/apr_ffffffffffff/wait", liveToken, ``, 404},
		"no id":            {"POST", "/v1/requests/x/wait", liveToken, ``, 403},
		"answering":        {"POST", "/v1/requests/" + awaited + "/approve", liveToken, ``, 403},
		"answering behind": {"POST", path + "/approve", liveToken, ``, 403},
	} {
		if response, body := quickly(t, "tcp", network, tc.method, tc.path, tc.token, tc.body); response.StatusCode != tc.status {
			t.Errorf("%s: %d %s", name, response.StatusCode, body)
		}
	}
}

// TestWaitAsAStream: the same as server-sent events, which end with the answer.
func TestWaitAsAStream(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Write: time.Second})
	network, _ := open(t, h)
	conn, err := net.Dial("tcp", network)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/requests/%s/wait HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n"+
		"Content-Length: 0\r\n\r\n", awaited, liveToken)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%+v %v", response, err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	event := func() (name, data string) {
		for lines.Scan() && lines.Text() != "" {
			if rest, is := strings.CutPrefix(lines.Text(), "event: "); is {
				name = rest
			}
			if rest, is := strings.CutPrefix(lines.Text(), "data: "); is {
				data = rest
			}
		}
		return name, data
	}
	if name, data := event(); name != "waiting" || !strings.Contains(data, `"status":"pending"`) {
		t.Errorf("first %s %s", name, data)
	}
	h.backend.become(1, func(r *interlock.ApprovalRequest) {
		r.Status, r.Harness = interlock.RequestSettled, true
		r.Settled = &interlock.Settlement{How: interlock.SettledRan, At: noon}
	})
	if name, data := event(); name != "answered" || !strings.Contains(data, `"state":"allowed in the harness: it ran","settled":"ran"`) {
		t.Errorf("then %s %s", name, data)
	}
	if lines.Scan() {
		t.Errorf("and more: %s", lines.Text())
	}
}

// TestWaitingTakesNoRoomFromDecisions: as many as may wait, and the agent is answered all the same.
func TestWaitingTakesNoRoomFromDecisions(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Concurrent: 16, PerAgent: 4})
	network, _ := open(t, h)
	for range 4 {
		conn, err := net.Dial("tcp", network)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/requests/%s/wait HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n",
			awaited, liveToken)
	}
	h.backend.become(4, func(*interlock.ApprovalRequest) {})
	if response, body := quickly(t, "tcp", network, "POST", "/v1/requests/"+awaited+"/wait", liveToken, ""); response.StatusCode != 429 {
		t.Errorf("one more: %d %s", response.StatusCode, body)
	}
	for range 8 {
		if response, body := quickly(t, "tcp", network, "POST", "/v1/decide", liveToken, slowBody); response.StatusCode != 200 {
			t.Errorf("deciding: %d %s", response.StatusCode, body)
		}
	}
}
