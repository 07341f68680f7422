package mcpaql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/mcpaql"
	"interlock/internal/ruleset"
	"interlock/rules"
)

// noon is when these tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// counting is randomness that never repeats and is the same in every run.
type counting struct {
	mu sync.Mutex
	n  byte
}

func (c *counting) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	for i := range p {
		p[i] = c.n
	}
	return len(p), nil
}

// fakeBackend is a small admission that answers as a test has it and polices what a door must keep: hints with a handle as
// run, or an operation of the door without one, and nothing decided without a loop.
type fakeBackend struct {
	t testing.TB

	mu        sync.Mutex
	standing  ledger.Standing
	answer    func(p interlock.Proposal) interlock.Answer
	proposals []admission.Case
	outcomes  []interlock.Outcome
	events    []string // type and what is said, in order
	paused    []string // why executions were
	verify    func(challenge, code string) (governance.Verification, error)
	confirm   func(request, code string) (interlock.ApprovalRequest, error)
}

func newBackend(t testing.TB) *fakeBackend {
	return &fakeBackend{t: t, answer: func(interlock.Proposal) interlock.Answer { return allowed() },
		standing: ledger.Standing{Agents: map[string]interlock.AgentRecord{}, Requests: map[string]interlock.ApprovalRequest{},
			Challenges: map[string]interlock.Challenge{}}}
}

// allowed is the answer nothing objects to.
func allowed() interlock.Answer {
	return interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow, Risk: 12}, Event: "event"}
}

// objected is an answer with one finding.
func objected(verdict interlock.Verdict, gate, reason string) interlock.Answer {
	a := allowed()
	a.Verdict, a.Answer = verdict, verdict
	a.Findings = []interlock.Finding{{Gate: gate, Rule: gate + ".rule", Layer: 3, Verdict: verdict, Reason: reason}}
	return a
}

func (b *fakeBackend) ProposeBy(_ context.Context, way admission.Way, p interlock.Proposal) interlock.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	isStep := p.Action.Kind == interlock.KindHint && p.Requester.Run != "" || p.Action.Kind == interlock.KindTool && p.Requester.Run == ""
	if way.Loop == nil || way.Loop.Execution != p.Requester.Run || !isStep || p.Door != "mcp" {
		b.t.Errorf("a step was proposed as %+v", p)
	}
	b.proposals = append(b.proposals, admission.Case{Proposal: p, Way: way})
	return b.answer(p)
}

func (b *fakeBackend) Report(_ context.Context, _ interlock.Requester, o interlock.Outcome) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outcomes = append(b.outcomes, o)
	return nil
}

func (b *fakeBackend) Refuse(_ context.Context, r interlock.Requester, door string, cause error) interlock.Answer {
	b.note("REFUSAL %s %s", r.Agent, cause)
	return interlock.Refusal("invalid", cause.Error())
}

func (b *fakeBackend) Ground(context.Context, ...ledger.Ref) (ledger.Standing, error) {
	return b.standing, nil
}
func (b *fakeBackend) Known(context.Context, ...ledger.Ref) (ledger.Standing, error) {
	return b.standing, nil
}

// Scan hands out the challenges that stand, one at a time, so that nobody gets by with a first page.
func (b *fakeBackend) Scan(_ context.Context, mark ledger.Ref, span ledger.Span) ([]ledger.Row, ledger.Place, error) {
	if mark != (ledger.Ref{Kind: ledger.Challenge, Mark: ledger.All}) || span.Limit < 1 {
		b.t.Errorf("a page of %+v, %+v", mark, span)
	}
	ids := slices.Sorted(maps.Keys(b.standing.Challenges))
	at := int(span.After.Row)
	if at >= len(ids) {
		return nil, ledger.Place{}, nil
	}
	c := b.standing.Challenges[ids[at]]
	return []ledger.Row{{Kind: mark.Kind, Key: c.ID, Value: c}}, ledger.Place{Row: int64(at + 1)}, nil
}

func (b *fakeBackend) Count(context.Context, ledger.Ref, ledger.Span) (int, error) {
	return len(b.standing.Challenges), nil
}

func (b *fakeBackend) Verify(_ context.Context, r interlock.Requester, challenge, code string) (governance.Verification, error) {
	return b.verify(challenge, code)
}

func (b *fakeBackend) Confirm(_ context.Context, r interlock.Requester, request, code string) (interlock.ApprovalRequest, error) {
	return b.confirm(request, code)
}

func (b *fakeBackend) RegisterRun(_ context.Context, by interlock.Requester, q interlock.RunRequest) (interlock.Run, error) {
	b.note("RUN %s by %s: %+v", q.Task, by.Agent, q)
	return interlock.Run{ID: "run_1", Agent: by.Agent, Task: q.Task, Parent: q.Parent}, nil
}

func (b *fakeBackend) SubmitPlan(_ context.Context, by interlock.Requester, q interlock.PlanRequest) (interlock.Plan, error) {
	b.note("PLAN of %s by %s: %d steps, the first %s", q.Run, by.Agent, len(q.Steps), q.Steps[0].Input)
	return interlock.Plan{ID: "pln_1", Run: q.Run, Agent: by.Agent, Status: interlock.PlanAccepted}, nil
}

func (b *fakeBackend) SendMessage(_ context.Context, by interlock.Requester, q interlock.MessageRequest) (interlock.MessageAnswer, error) {
	b.note("SEND by %s in %s: %+v", by.Agent, by.Run, q)
	if q.To == "nobody" {
		denied := interlock.Refusal(string(interlock.CodeUnauthorized), "nobody takes this")
		return interlock.MessageAnswer{Answer: denied, Violation: &interlock.Violation{Agent: by.Agent, Side: "schema"}}, nil
	}
	return interlock.MessageAnswer{Answer: allowed(), Message: &interlock.Message{ID: "msg_1", From: by.Agent, To: q.To}}, nil
}

func (b *fakeBackend) ReceiveMessage(_ context.Context, by interlock.Requester, id string) (interlock.MessageAnswer, error) {
	b.note("RECEIVE %s by %s in %s", id, by.Agent, by.Run)
	media, known := map[string]string{"msg_1": "application/json", "msg_2": "text/plain", "msg_3": "image/png"}[id]
	if !known {
		return interlock.MessageAnswer{}, interlock.Errorf(interlock.CodeNotFound, "/id", "no such message")
	}
	return interlock.MessageAnswer{Answer: allowed(), Message: &interlock.Message{ID: id, Media: media}, Content: []byte(`{"n":1}`)}, nil
}

func (b *fakeBackend) AcknowledgeMessage(_ context.Context, by interlock.Requester, id string) error {
	b.note("DONE %s by %s", id, by.Agent)
	return nil
}

func (b *fakeBackend) WaitingMessages(_ context.Context, by interlock.Requester) ([]interlock.Message, error) {
	b.note("WAITING for %s", by.Agent)
	return []interlock.Message{{ID: "msg_1", To: by.Agent}}, nil
}

func (b *fakeBackend) EndRun(_ context.Context, by interlock.Requester, id string, end interlock.RunEnd) (interlock.Run, error) {
	if id != "run_1" {
		return interlock.Run{}, interlock.Errorf(interlock.CodeNotFound, "run", "this agent holds no open run of this name")
	}
	b.note("END %s by %s: %s %s", id, by.Agent, end.Status, end.Why)
	return interlock.Run{ID: id, Agent: by.Agent, Status: end.Status}, nil
}

func (b *fakeBackend) Heartbeat(_ context.Context, by interlock.Requester) error {
	b.note("HEARD %s", by.Agent)
	return nil
}

func (b *fakeBackend) RecordExecution(_ context.Context, r interlock.Requester, record auditlog.ExecutionRecord) error {
	b.note("EXECUTION %s %s", record.Element, record.State)
	if record.State == string(mcpaql.Paused) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.paused = append(b.paused, record.Reason)
	}
	return nil
}

func (b *fakeBackend) RecordToken(_ context.Context, kind interlock.EventType, r interlock.Requester, record auditlog.TokenRecord) error {
	b.note("%s %s %s", kind, record.Operation, record.Code)
	return nil
}

func (b *fakeBackend) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// taken returns the events since the last time it was asked.
func (b *fakeBackend) taken() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events = nil
	return events
}

// A fixture is a server with everything under it in the test's hands.
type fixture struct {
	t       testing.TB
	server  *mcpaql.Server
	backend *fakeBackend
	clock   *clock
}

// newFixture makes a server over a fake; change may alter the configuration first.
func newFixture(t testing.TB, change func(*mcpaql.Config)) *fixture {
	t.Helper()
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, backend: newBackend(t), clock: &clock{at: noon}}
	config := mcpaql.Config{Backend: f.backend, Rules: func() *ruleset.Ruleset { return set },
		Profile: "guard", Now: f.clock.now, Random: &counting{},
		Logger: slog.New(slog.DiscardHandler), Version: "test"}
	if change != nil {
		change(&config)
	}
	if f.server, err = mcpaql.New(config); err != nil {
		t.Fatal(err)
	}
	return f
}

// caller is who calls in most tests.
var caller = mcpaql.Caller{Agent: "mcp", Principal: "dev", Connection: "one"}

// call carries out a request and returns the answer as a client reads it.
func (f *fixture) call(c mcpaql.Caller, endpoint mcpaql.Endpoint, request string) map[string]any {
	f.t.Helper()
	text, err := json.Marshal(f.server.Call(context.Background(), c, endpoint, json.RawMessage(request)))
	if err != nil {
		f.t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		f.t.Fatal(err)
	}
	return answer
}

// data demands success and returns what the operation answers.
func (f *fixture) data(endpoint mcpaql.Endpoint, request string) map[string]any {
	f.t.Helper()
	answer := f.call(caller, endpoint, request)
	data, ok := answer["data"].(map[string]any)
	if answer["success"] != true || !ok || answer["error"] != nil {
		f.t.Fatalf("%s: %v", request, answer)
	}
	return data
}

// failure demands a failure with a code and returns it.
func (f *fixture) failure(endpoint mcpaql.Endpoint, request string, code mcpaql.Code) map[string]any {
	f.t.Helper()
	answer := f.call(caller, endpoint, request)
	failure, ok := answer["error"].(map[string]any)
	if answer["success"] != false || !ok || answer["data"] != nil || failure["code"] != string(code) {
		f.t.Fatalf("%.200s: %v, want %s", request, answer, code)
	}
	return failure
}

// start begins an execution and returns its handle.
func (f *fixture) start(element string) string {
	f.t.Helper()
	return f.data(mcpaql.Execute, fmt.Sprintf(`{"operation":"execute_agent","params":{"element_name":%q}}`, element))["execution_id"].(string)
}

// step reports an action and returns the directive.
func (f *fixture) step(element, hint string) map[string]any {
	f.t.Helper()
	return f.data(mcpaql.Create, fmt.Sprintf(`{"operation":"record_execution_step","params":{"element_name":%q,"next_action_hint":%q}}`, element, hint))
}
