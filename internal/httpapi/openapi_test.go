package httpapi

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/memory"
	"interlock/internal/replay"
)

// anID is what may stand for {id} in a path.
const anID = "apr_0123456789ab"

// aRun is what may stand there in the path of a run.
const aRun = "run_0123456789abcdef01234567"

const aMessage = "msg_0123456789abcdef01234567"

const openAPIFile = "../../docs/openapi.yaml"

// An operation is one path of the API as the document describes it. What its bodies hold is read off the types themselves.
type operation struct {
	path, method, id, about string
	local                   bool // the socket alone takes it
	open                    bool // it takes no token
	query                   []string
	body, answer            reflect.Type
	text                    bool // the answer is text
	also                    []int
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// operations are the paths of the API; TestOpenAPIHasEveryPath holds them against the ones that are served.
func operations() []operation {
	type status struct {
		Status string `json:"status"`
	}
	type answer struct {
		interlock.Answer
		Trust *trustBody `json:"trust,omitempty"`
	}
	type messageAnswer struct {
		interlock.Answer
		carriedBody
	}
	type oneEvent struct {
		Actor     string            `json:"actor_id"`
		Content   string            `json:"content_hash"` // of the whole payload
		ID        string            `json:"event_id"`
		Type      string            `json:"event_type"`
		Seed      string            `json:"job_seed"`
		Key       string            `json:"key_id,omitempty"`
		Payload   json.RawMessage   `json:"payload"` // who, what kind of thing, when and what came of it; and "redacted": true
		Previous  string            `json:"prev_hash"`
		Role      string            `json:"role"`
		Schema    string            `json:"schema"`
		Sequence  int64             `json:"sequence_index"`
		Algorithm string            `json:"sig_alg,omitempty"`
		Signature string            `json:"signature,omitempty"`
		Snapshots map[string]string `json:"snapshot_ids"`
		Trace     string            `json:"trace_id"`
		Recorded  string            `json:"ts_recorded"`
		Seeded    string            `json:"ts_seeded"`
	}
	return []operation{
		{path: "/v1/decide", method: "post", id: "decide", body: typeOf[decideBody](), answer: typeOf[answer](),
			also: []int{429, 503}, about: "Decide and record one action. Act only if answer is allow; everything else is a no."},
		{path: "/v1/outcome", method: "post", id: "report", body: typeOf[outcomeBody](), answer: typeOf[struct {
			Recorded bool `json:"recorded"`
		}](), also: []int{404}, about: "Record what executing an action did."},
		{path: "/v1/requests/{id}/wait", method: "post", id: "wait", body: typeOf[waitBody](), answer: typeOf[answeredBody](), also: []int{404},
			about: "Wait until a question is answered; as server-sent events where those are accepted."},
		{path: "/v1/runs", method: "post", id: "registerRun", body: typeOf[runBody](), answer: typeOf[interlock.Run](),
			also: []int{404}, about: "Register a run, or delegate one: what is done in it is held against the types of all who delegated it."},
		{path: "/v1/runs/{id}/end", method: "post", id: "endRun", body: typeOf[runEndBody](), answer: typeOf[interlock.Run](),
			also: []int{404}, about: "End a run, and all that it has delegated."},
		{path: "/v1/runs/{id}/turns", method: "post", id: "turn", body: typeOf[turnBody](), answer: typeOf[turnAnswer](),
			also: []int{404}, about: "Count one more turn of a conversation between agents. 429: there are no more, and the message says who decides."},
		{path: "/v1/runs/{id}/session", method: "post", id: "bindRun", body: typeOf[bindBody](), answer: typeOf[boundAnswer](),
			also: []int{404}, about: "Have what a harness does in one of its sessions count as done in a run, where types are in use."},
		{path: "/v1/messages", method: "post", id: "sendMessage", body: typeOf[messageBody](), answer: typeOf[messageAnswer](), also: []int{404, 409},
			about: "Send another agent a message, in a registered run. It was sent only if answer is allow."},
		{path: "/v1/messages/waiting", method: "get", id: "waitingMessages", answer: typeOf[waitingAnswer](),
			about: "List what was sent to this agent and is not acknowledged, without contents."},
		{path: "/v1/messages/{id}/receive", method: "post", id: "receiveMessage", body: typeOf[receiveBody](), answer: typeOf[messageAnswer](),
			also: []int{404}, about: "Receive a message: its content comes only if answer is allow."},
		{path: "/v1/messages/{id}/acknowledge", method: "post", id: "acknowledgeMessage", body: typeOf[receiveBody](),
			answer: typeOf[acknowledgedAnswer](),
			also:   []int{404, 409}, about: "Say that a message was dealt with: its content is kept no longer."},
		{path: "/v1/actionrequest/create", method: "post", id: "createActionRequest", body: typeOf[actionBody](), answer: typeOf[actionAnswer](),
			also: []int{409, 429}, about: "Ask for an act of governance. Agents ask; people vote on it and carry it out."},
		{path: "/v1/memory/put", method: "post", id: "putFact", body: typeOf[factPutBody](), answer: typeOf[memory.Reply](),
			also: []int{404}, about: "Keep a fact, or ask the council for a stable one. It is kept, or waits, only if outcome is OK."},
		{path: "/v1/memory/promote", method: "post", id: "promoteFact", body: typeOf[factPromoteBody](), answer: typeOf[memory.Reply](),
			about: "Ask the council to make an episodic fact a stable one."},
		{path: "/v1/memory/get", method: "post", id: "getFact", body: typeOf[factGetBody](), answer: typeOf[memory.Reply](),
			about: "Read what is kept under a key, with where it comes from."},
		{path: "/v1/memory/search", method: "post", id: "searchFacts", body: typeOf[factSearchBody](), answer: typeOf[memory.Reply](),
			about: "Find facts that hold every word of a query, of this agent's own and of those that are shared."},
		{path: "/v1/runs/{id}/checkpoints", method: "post", id: "keepCheckpoint", body: typeOf[checkpointBody](), answer: typeOf[interlock.RunKept](),
			also: []int{404, 409}, about: "Keep what a run is at, typed, before its context is rotated. The first one fixes its constraints."},
		{path: "/v1/runs/{id}/checkpoints", method: "get", id: "resumeCheckpoint", answer: typeOf[interlock.RunKept](), also: []int{404},
			about: "Read the newest checkpoint of a run, to go on from there."},
		{path: "/v1/plans", method: "post", id: "submitPlan", body: typeOf[planBody](), answer: typeOf[interlock.Plan](),
			also: []int{409}, about: "Hand over what a run is to do, whole, before its first step; the same again says how far it has come."},
		{path: "/v1/heartbeat", method: "post", id: "heartbeat", body: typeOf[heartbeatBody](), answer: typeOf[heartbeatAnswer](),
			about: "Say that this agent is there, so that work may be given to it."},
		{path: "/safety/report", method: "post", id: "reportSafety", body: typeOf[safetyReportBody](), answer: typeOf[safetyReportAnswer](),
			also: []int{429}, about: "Report what is wrong: title, text, and as needed severity and from. It is recorded, and permits nothing."},
		{path: "/safety/events/{id}", method: "get", id: "readEvent", answer: typeOf[oneEvent](), also: []int{404, 410},
			about: "Read one event without what was wanted and written, an agent one of its own; /governance/events/{id} and /audit/event/{id} too."},
		{path: "/pii/detect_and_handle", method: "post", id: "detectPersonal", body: typeOf[personalBody](),
			answer: typeOf[governance.PersonalAnswer](), also: []int{404, 409, 429},
			about: "Say what may become of a text before it is kept: allowed, redacted or consent_required; keep it sealed where that is asked."},
		{path: "/safety/classify", method: "post", id: "classifyText", body: typeOf[classifyBody](), answer: typeOf[classifyAnswer](),
			also: []int{429}, about: "Classify a text. What is left out of it is recorded first; only shown may go on."},
		{path: "/v1/heard", method: "post", id: "heard", local: true, body: typeOf[heardBody](),
			answer: typeOf[heardAnswer](), about: "Tell what a run's user said, or what an action of the run returned. For Interlock's own hook."},
		{path: "/v1/events", method: "get", id: "events", query: []string{"from", "limit", "type"}, answer: typeOf[page](),
			about: "Read events from an index on, oldest first. An agent sees those it is the actor of, under the profile asa none."},
		{path: "/v1/checkpoint", method: "get", id: "checkpoint", text: true, also: []int{404},
			about: "Read the newest signed head of the log, a C2SP checkpoint."},
		{path: "/v1/proof", method: "get", id: "proof", query: []string{"index", "event_id", "size"}, answer: typeOf[inclusion](),
			also: []int{404}, about: "Prove that one event is in the log (RFC 6962)."},
		{path: "/v1/whatif", method: "get", id: "whatIf", local: true, query: []string{"rule", "rules", "agent", "since"},
			answer: typeOf[replay.Report](), about: "Tell what rules would have decided about the past."},
		{path: "/v1/shadow", method: "get", id: "shadow", local: true, answer: typeOf[replay.ShadowState](),
			about: "Tell which rules decide in the shadow, and where they have parted from those in force."},
		{path: "/access/v1/evaluation", method: "post", id: "evaluation", body: typeOf[evaluationBody](), answer: typeOf[evaluationAnswer](),
			about: "OpenID AuthZEN 1.0: one access evaluation."},
		{path: "/access/v1/evaluations", method: "post", id: "evaluations", body: typeOf[evaluationsBody](), answer: typeOf[struct {
			Evaluations []evaluationAnswer `json:"evaluations"`
		}](), about: "OpenID AuthZEN 1.0: access evaluations, decided in order; without a list, one evaluation."},
		{path: "/.well-known/authzen-configuration", method: "get", id: "authzenConfiguration", open: true, answer: typeOf[struct {
			Point       string `json:"policy_decision_point"`
			Evaluation  string `json:"access_evaluation_endpoint"`
			Evaluations string `json:"access_evaluations_endpoint"`
		}](), about: "OpenID AuthZEN 1.0: where to ask."},
		{path: "/healthz", method: "get", id: "health", open: true, answer: typeOf[status](), about: "The process serves."},
		{path: "/readyz", method: "get", id: "ready", open: true, answer: typeOf[status](), also: []int{503},
			about: "Decisions can be recorded."},
		{path: "/metrics", method: "get", id: "metrics", open: true, text: true, about: "Counts in the Prometheus text format."},
	}
}

//go:generate go test . -run TestOpenAPIIsFresh -count=1 -update

// TestOpenAPIIsFresh: docs/openapi.yaml is what the code says. -update writes it.
func TestOpenAPIIsFresh(t *testing.T) {
	got := newAPIDocument(t).write()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(openAPIFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(openAPIFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run: go generate ./internal/httpapi\n(-file +code):\n%s", diff)
	}
}

// TestOpenAPIHasEveryPath: what is served is described, and what is described is served.
func TestOpenAPIHasEveryPath(t *testing.T) {
	server := &Server{paths: routesByPath(endpoints())}
	var served []string
	for path := range server.paths {
		if path != "/mcp" { // MCP describes itself
			served = append(served, path)
		}
	}
	var described []string
	for _, o := range operations() {
		if !strings.Contains(o.path, "{") { // what has a part that varies is no constant there
			described = append(described, o.path)
		}
		id := anID
		if strings.HasPrefix(o.path, "/v1/runs/") {
			id = aRun
		}
		if strings.HasPrefix(o.path, "/v1/messages/") {
			id = aMessage
		}
		if route := server.routeOf(strings.ReplaceAll(o.path, "{id}", id)); route == routeUnknown || route == routeGovernance {
			t.Errorf("%s is described and not served", o.path)
		}
	}
	slices.Sort(served)
	slices.Sort(described)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("paths (-served +described):\n%s", diff)
	}
}

// TestAnswersAreAsDescribed: every answer of every recorded exchange, which TestWire holds against the server, has a status that
// its path is described with, and a body that fits.
func TestAnswersAreAsDescribed(t *testing.T) {
	document := newAPIDocument(t)
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		request := ""
		for _, section := range archive.Files {
			switch section.Name {
			case "request", "request local":
				request = string(section.Data)
			case "response":
				id, problem := document.check(request, string(section.Data))
				seen[id]++
				if problem != "" {
					t.Errorf("%s: %s: %s\n%s", filepath.Base(file), id, problem, section.Data)
				}
			}
		}
	}
	for _, o := range operations() {
		if seen[o.id] == 0 {
			t.Errorf("no recorded exchange is one of %s %s", o.method, o.path)
		}
	}
}

// check holds one exchange against the document. The id is empty for what is no operation of it.
func (d *apiDocument) check(request, response string) (id, problem string) {
	line, _, _ := strings.Cut(request, "\n")
	words := strings.Fields(line)
	target, err := url.Parse(words[1])
	if err != nil {
		return "", ""
	}
	head, body, _ := strings.Cut(response, "\n\n")
	first, headers, _ := strings.Cut(head, "\n")
	status, err := strconv.Atoi(first)
	if err != nil {
		return "", err.Error()
	}
	eventIDs := regexp.MustCompile(`[0-9a-f]{64}`)
	for _, o := range operations() {
		target.Path = eventIDs.ReplaceAllString(target.Path, "{id}")
		if o.path != messageIDs().ReplaceAllString(runIDs().ReplaceAllString(requestIDs().ReplaceAllString(target.Path, "{id}"),
			"{id}"),
			"{id}") || strings.ToLower(words[0]) != o.method {
			continue
		}
		if status == http.StatusRequestHeaderFieldsTooLarge {
			return o.id, "" // before any path is looked at
		}
		if !slices.Contains(append(o.statuses(), http.StatusOK), status) {
			return o.id, "its status " + first + " is not described"
		}
		schema := d.answerSchema(o, status)
		if schema == nil {
			return o.id, ""
		}
		if !strings.Contains(headers, "application/json") {
			return o.id, "it is no JSON"
		}
		var value any
		if err := json.Unmarshal([]byte(body), &value); err != nil {
			return o.id, err.Error()
		}
		return o.id, d.fits(schema, value, "")
	}
	return "", ""
}

// statuses are those of the errors an operation may answer.
func (o operation) statuses() []int {
	out := []int{400, 403, 405, 429, 500, 503}
	if !o.open {
		out = append(out, 401)
	}
	if o.method == "post" {
		out = append(out, 408, 409, 413, 415)
	}
	for _, status := range o.also {
		if !slices.Contains(out, status) {
			out = append(out, status)
		}
	}
	slices.Sort(out)
	return out
}
