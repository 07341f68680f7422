package mcpgateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/mcpgateway"
)

// A memoryShelf outlives the askers of a test as a directory would.
type memoryShelf struct {
	mu   sync.Mutex
	kept map[string][]byte
	full bool
}

func (s *memoryShelf) Put(_ context.Context, id string, sealed []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return errors.New("no room")
	}
	s.kept[id] = sealed
	return nil
}

func (s *memoryShelf) Get(_ context.Context, id string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sealed, found := s.kept[id]
	return sealed, found, nil
}

// unpinned is an admission that is not asked about pins.
type unpinned struct{ *admission.Admission }

func (u unpinned) ProposeBy(ctx context.Context, way admission.Way, p interlock.Proposal) interlock.Answer {
	way.Upstream = nil
	return u.Admission.ProposeBy(ctx, way, p)
}

// A desk is a stateless client before a gateway over a house, and the operators' side of it.
type desk struct {
	*client
	house   *house
	process *admission.Admission
	server  *fakeServer
}

func newDesk(t *testing.T, h *house, shelf *memoryShelf) *desk {
	t.Helper()
	process := h.process()
	backend := unpinned{process}
	asker := h.asker(process, func(c *mcpgateway.AskConfig) { c.Approvals, c.Shelf = backend, shelf })
	server := newFakeServer("mail")
	server.answers["tools/list"] = `{"tools":[{"name":"send_email","inputSchema":{"type":"object"}}]}`
	g := newGateway(t, backend, func(c *mcpgateway.Config) { c.Asker, c.CanAsk, c.Now = asker, true, h.clock }, server)
	c := &client{t: t, news: make(chan struct{})}
	session, err := g.Open(mcpgateway.Caller{Agent: "tester", Principal: "alice", Connection: "memory", Dir: "/repo"}, c)
	if err != nil {
		t.Fatal(err)
	}
	c.session = session
	return &desk{client: c, house: h, process: process, server: server}
}

const letter = `"name":"mail.send_email","arguments":{"to":"all@example.org","attachment":"/etc/hosts"}`

// stateless makes a request of MCP 2026-07-28.
func (d *desk) stateless(method, params, capabilities string) message {
	d.t.Helper()
	if params != "" {
		params += ","
	}
	return d.call(method, `{`+params+`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+capabilities+`}}`)
}

const takesTasks = `{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{"url":{}}}`

// A seen is a task as its client sees it.
type seen struct {
	Type   string `json:"resultType"`
	ID     string `json:"taskId"`
	Status string `json:"status"`
	TTL    int64  `json:"ttlMs"`
	Poll   int64  `json:"pollIntervalMs"`
	Inputs map[string]struct {
		Method string
		Params struct{ Mode, URL string }
	} `json:"inputRequests"`
	Result *struct {
		Content    []struct{ Text string }
		Structured mcpgateway.Refused `json:"structuredContent"`
		IsError    bool               `json:"isError"`
	} `json:"result"`
	Error *rpcError `json:"error"`
}

func (d *desk) sees(m message) seen {
	d.t.Helper()
	var s seen
	if err := json.Unmarshal(m.Result, &s); err != nil || m.Error != nil {
		d.t.Fatalf("%v %+v: %s", err, m.Error, m.Result)
	}
	return s
}

func (d *desk) get(id string) seen {
	d.t.Helper()
	return d.sees(d.stateless("tasks/get", `"taskId":"`+id+`"`, takesTasks))
}

// TestTask: a client that takes tasks gets one for what waits; it is forwarded once when approved, whatever is lost in
// between, and its result is what the server said.
func TestTask(t *testing.T) {
	h, shelf := newHouse(t), &memoryShelf{kept: map[string][]byte{}}
	d := newDesk(t, h, shelf)
	if discovered := d.stateless("server/discover", "", takesTasks); !strings.Contains(string(discovered.Result),
		`"extensions":{"io.modelcontextprotocol/tasks":{}}`) {
		t.Errorf("not offered: %s", discovered.Result)
	}
	made := d.sees(d.stateless("tools/call", letter, takesTasks))
	request := h.waiting(d.process)
	want := seen{Type: "task", ID: "interlock-" + request, Status: "working", TTL: (2 * time.Hour).Milliseconds(), Poll: 2000}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if again := d.sees(d.stateless("tools/call", letter, takesTasks)); again.ID != made.ID {
		t.Errorf("the same call is another task: %s", again.ID)
	}
	for id, sealed := range shelf.kept {
		if strings.Contains(string(sealed), "example.org") {
			t.Errorf("%s can be read on the shelf", id)
		}
	}
	asked := d.get(made.ID)
	if in := asked.Inputs["interlock:"+request]; asked.Type != "complete" || asked.Status != "input_required" || in.Method != "elicitation/create" ||
		in.Params.Mode != "url" || in.Params.URL != "https://console.example/pending/"+request {
		t.Errorf("waiting: %+v", asked)
	}
	if plain := d.sees(d.stateless("tasks/get", `"taskId":"`+made.ID+`"`,
		`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)); plain.Status != "working" || plain.Inputs != nil {
		t.Errorf("for a client that opens nothing: %+v", plain)
	}
	updated := d.stateless("tasks/update",
		`"taskId":"`+made.ID+`","inputResponses":{"interlock:`+request+`":{"action":"accept"},"other":{"action":"decline"}}`, takesTasks)
	if string(updated.Result) != `{"resultType":"complete"}` {
		t.Errorf("updated: %s %+v", updated.Result, updated.Error)
	}
	if told := d.get(made.ID); told.Status != "working" || told.Inputs != nil {
		t.Errorf("once its user was told: %+v", told)
	}
	if sent := d.server.sent("tools/call"); len(sent) != 0 {
		t.Fatalf("forwarded unapproved: %s", sent)
	}
	d.process.Close()

	later := newDesk(t, h, shelf) // gateway and client come back
	h.answer(later.process, request, interlock.Allow)
	done := later.get(made.ID)
	if done.Status != "completed" || done.Result == nil || done.Result.IsError || done.Result.Content[0].Text != "done" {
		t.Fatalf("approved: %+v", done)
	}
	for range 3 {
		if still := later.get(made.ID); still.Status != "completed" {
			t.Errorf("asked again: %+v", still)
		}
	}
	sent := later.server.sent("tools/call")
	if len(sent) != 1 || !strings.Contains(sent[0], `"name":"send_email","arguments":{"attachment":"/etc/hosts","to":"all@example.org"}`) {
		t.Errorf("forwarded: %s", sent)
	}
	if once := later.sees(later.stateless("tools/call", letter, takesTasks)); once.Type != "task" || once.ID == made.ID {
		t.Errorf("one approval let two calls pass: %+v", once)
	}
}

// TestTaskEnds: a no of either side, a time that passes and a client that gives up end a task without a call.
func TestTaskEnds(t *testing.T) {
	for name, test := range map[string]struct {
		ends func(d *desk, id, request string)
		want string // status and code
	}{
		"an operator says no": {func(d *desk, _, request string) { d.house.answer(d.process, request, interlock.Deny) }, "completed approval_denied"},
		"the user says no": {func(d *desk, id, request string) {
			d.stateless("tasks/update", `"taskId":"`+id+`","inputResponses":{"interlock:`+request+`":{"action":"decline"}}`, takesTasks)
		}, "completed approval_declined"},
		"nobody answers":     {func(d *desk, _, _ string) { d.house.later(90 * time.Minute) }, "completed approval_expired"},
		"the client goes on": {func(d *desk, id, _ string) { d.stateless("tasks/cancel", `"taskId":"`+id+`"`, takesTasks) }, "cancelled "},
		"another call used it": {func(d *desk, _, request string) {
			d.house.answer(d.process, request, interlock.Allow)
			d.stateless("tools/call", letter, `{}`)
		}, "completed approval_expired"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			d := newDesk(t, h, &memoryShelf{kept: map[string][]byte{}})
			made := d.sees(d.stateless("tools/call", letter, takesTasks))
			request := h.waiting(d.process)
			test.ends(d, made.ID, request)
			before := len(d.server.sent("tools/call"))
			got := d.get(made.ID)
			code := ""
			if got.Result != nil {
				code = string(got.Result.Structured.Code)
			}
			if got.Status+" "+code != test.want {
				t.Errorf("got %s %s, want %s", got.Status, code, test.want)
			}
			if after := len(d.server.sent("tools/call")); after != before {
				t.Errorf("%d calls were forwarded", after-before)
			}
			now, err := d.process.Asked(t.Context(), interlock.Requester{Principal: "alice", Agent: "tester"}, request)
			if err != nil || now.Status == interlock.RequestPending {
				t.Errorf("the request is %s, %v", now.Status, err)
			}
		})
	}
}

// TestTaskOfOthers: what is nobody's or somebody else's looks alike, and so does what is no id at all; who has not declared
// the extension is told so.
func TestTaskOfOthers(t *testing.T) {
	h, shelf := newHouse(t), &memoryShelf{kept: map[string][]byte{}}
	d := newDesk(t, h, shelf)
	made := d.sees(d.stateless("tools/call", letter, takesTasks))
	other := interlock.Requester{Principal: "alice", Agent: "codex"}
	asker := h.asker(d.process, func(c *mcpgateway.AskConfig) { c.Shelf = shelf })
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		for _, id := range []string{made.ID, "interlock-apr_000000000000", "../gateway.key", "", strings.Repeat("a", 1000)} {
			params, _ := json.Marshal(map[string]any{"taskId": id, "inputResponses": map[string]any{}})
			settled := asker.Task(t.Context(), method, params, other, mcpgateway.Abilities{Revision: "2026-07-28", Tasks: true}, nil)
			if settled.Error == nil || settled.Error.Code != -32602 || !strings.Contains(settled.Error.Message, "no such task") {
				t.Errorf("%s %.20q: %s %+v", method, id, settled.Result, settled.Error)
			}
		}
		if plain := d.stateless(method, `"taskId":"`+made.ID+`"`, `{}`); plain.Error == nil || plain.Error.Code != -32021 {
			t.Errorf("%s without the extension: %s %+v", method, plain.Result, plain.Error)
		}
	}
	shelf.kept["interlock-apr_1"] = shelf.kept[made.ID]
	shelf.kept["interlock-apr_2"] = []byte("forged")
	for _, id := range []string{"interlock-apr_1", "interlock-apr_2"} {
		if moved := d.stateless("tasks/get", `"taskId":"`+id+`"`, takesTasks); moved.Error == nil || moved.Error.Code != -32602 {
			t.Errorf("%s: %s", id, moved.Result)
		}
	}
}

// TestTaskLost: a process that is lost while a call is under way leaves an outcome nobody knows, and the call is not made again.
func TestTaskLost(t *testing.T) {
	h, shelf := newHouse(t), &memoryShelf{kept: map[string][]byte{}}
	d := newDesk(t, h, shelf)
	begun, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	d.server.on = func(_ *fakeLink, m message) bool {
		if m.Method == "tools/call" {
			close(begun)
			go func() { <-release }()
			return true // and never answers
		}
		return false
	}
	made := d.sees(d.stateless("tools/call", letter, takesTasks))
	h.answer(d.process, h.waiting(d.process), interlock.Allow)
	if under := d.get(made.ID); under.Status != "working" {
		t.Errorf("under way: %+v", under)
	}
	<-begun
	next := newDesk(t, h, shelf)
	lost := next.get(made.ID)
	if lost.Status != "failed" || lost.Error == nil || !strings.Contains(lost.Error.Message, "nobody knows how it ended") {
		t.Errorf("after the process was lost: %+v", lost)
	}
	if sent := next.server.sent("tools/call"); len(sent) != 0 {
		t.Errorf("made again: %s", sent)
	}
	d.stateless("tasks/cancel", `"taskId":"`+made.ID+`"`, takesTasks)
}

// TestNoRoomForTasks: where a task can't be kept the client gets the other handle.
func TestNoRoomForTasks(t *testing.T) {
	d := newDesk(t, newHouse(t), &memoryShelf{full: true})
	if got := d.sees(d.stateless("tools/call", letter, takesTasks)); got.Type != "input_required" {
		t.Errorf("got %+v", got)
	}
}
