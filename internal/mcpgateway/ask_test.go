package mcpgateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
	"interlock/internal/mcpgateway"
)

// TestHeldUntilApproved: a call that is asked about waits, and passes once somebody has said yes, in this process or another.
func TestHeldUntilApproved(t *testing.T) {
	h := newHouse(t)
	gateway, console := h.process(), h.process()
	asker := h.asker(gateway, patient)
	first := decided(t.Context(), asker, question("1"))
	h.answer(gateway, h.waiting(gateway), interlock.Allow)
	settled := <-first
	if !settled.Forward || settled.Answer.Event == "" || settled.Answer.Approval == "" {
		t.Fatalf("approved here: %+v", settled)
	}
	second := decided(t.Context(), asker, question("2"))
	h.answer(console, h.waiting(console), interlock.Allow)
	if settled := <-second; !settled.Forward || settled.Answer.Event == "" || settled.Answer.Approval == "" {
		t.Fatalf("approved in another process: %+v", settled)
	}
}

// TestPendingHandle: whoever nobody answers gets a handle; the identical call passes once when approved, changed arguments
// never do, and none of it is lost with the processes.
func TestPendingHandle(t *testing.T) {
	h := newHouse(t)
	one := h.process()
	asker := h.asker(one)
	settled := asker.Decide(t.Context(), question("1"))
	got := structured(t, settled)
	want := mcpgateway.Refused{Status: "pending_approval", Code: mcpgateway.ReasonPending, Request: h.waiting(one), Expires: "2026-11-20T13:00:00Z",
		URL: "https://console.example/pending/" + got.Request, Retry: "send the identical call again once the request is approved; it passes once"}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(mcpgateway.Refused{}, "Reason")); diff != "" || got.Reason == "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(string(settled.Result), "An operator answers it here: https://console.example/pending/"+got.Request) {
		t.Errorf("a client that shows text only is told %s", settled.Result)
	}
	if again := structured(t, asker.Decide(t.Context(), question("2"))); again.Request != got.Request {
		t.Errorf("the same question was asked twice: %s and %s", got.Request, again.Request)
	}
	asker.Close()
	one.Close()

	two := h.process()
	h.answer(two, got.Request, interlock.Allow)
	two.Close()

	three := h.process()
	asker = h.asker(three)
	other := question("3", func(q *mcpgateway.Question) {
		q.Proposal.Action.Arguments = []byte(`{"attachment":"/etc/shadow","to":"all@example.org"}`)
	})
	if changed := structured(t, asker.Decide(t.Context(), other)); changed.Request == got.Request {
		t.Error("changed arguments are the same question")
	}
	stranger := question("4", func(q *mcpgateway.Question) { q.Proposal.Requester.Agent = "codex" })
	if changed := structured(t, asker.Decide(t.Context(), stranger)); changed.Request == got.Request {
		t.Error("another agent's call is the same question")
	}
	if passed := asker.Decide(t.Context(), question("5")); !passed.Forward || passed.Answer.Approval != got.Request {
		t.Fatalf("the approved call: %s %+v", passed.Result, passed.Answer.Findings)
	}
	if again := structured(t, asker.Decide(t.Context(), question("6"))); again.Status != "pending_approval" || again.Request == got.Request {
		t.Errorf("one approval let two calls pass: %+v", again)
	}
}

// TestSaidNo: a no reaches whoever waits and whoever comes back, and nobody is asked again for the same call in between.
func TestSaidNo(t *testing.T) {
	h := newHouse(t)
	a := h.process()
	held := decided(t.Context(), h.asker(a, patient), question("1"))
	id := h.waiting(a)
	h.answer(a, id, interlock.Deny)
	settled := <-held
	want := mcpgateway.Refused{Status: "denied", Code: mcpgateway.ReasonDenied, Reason: "a human was asked and said no",
		Event: settled.Answer.Event, Request: id}
	if diff := cmp.Diff(want, structured(t, settled)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNobodyInTime: a request whose time passes while a call is held is refused, and so is what never was a question.
func TestNobodyInTime(t *testing.T) {
	h := newHouse(t)
	a := h.process()
	held := decided(t.Context(), h.asker(a, patient), question("1"))
	h.waiting(a)
	h.later(2 * time.Hour)
	if got := structured(t, <-held); got.Code != mcpgateway.ReasonExpired || got.Status != "denied" {
		t.Errorf("got %+v", got)
	}
	resource := question("2", func(q *mcpgateway.Question) { q.Method = "resources/read" })
	settled := h.asker(a).Decide(t.Context(), resource)
	if settled.Result != nil || settled.Error == nil || settled.Error.Code != -32010 {
		t.Errorf("another method's pending answer: %s %+v", settled.Result, settled.Error)
	}
	deadly := question("3", func(q *mcpgateway.Question) {
		q.Proposal.Action = interlock.Action{Kind: interlock.KindShell, Input: "rm -rf /"}
	})
	if got := structured(t, h.asker(a, patient).Decide(t.Context(), deadly)); got.Code == mcpgateway.ReasonPending || got.Request != "" || got.Event == "" {
		t.Errorf("what nobody may approve: %+v", got)
	}
}

// stateless is a client of MCP 2026-07-28 that opens addresses for its user.
func stateless(q *mcpgateway.Question) {
	q.Client = mcpgateway.Abilities{Revision: "2026-07-28", URL: true}
}

// asked is the question in a result that wants input.
type asked struct {
	Type   string `json:"resultType"`
	State  string `json:"requestState"`
	Inputs map[string]struct {
		Method string `json:"method"`
		Params struct{ Mode, Message, URL string }
	} `json:"inputRequests"`
}

func input(t *testing.T, s mcpgateway.Settled) (a asked, key string) {
	t.Helper()
	if err := json.Unmarshal(s.Result, &a); err != nil || a.Type != "input_required" || len(a.Inputs) != 1 || !mcpgateway.OwnState(a.State) {
		t.Fatalf("no question: %s %v", s.Result, err)
	}
	for key = range a.Inputs {
	}
	return a, key
}

// back is the same question once the client has asked its user.
func back(call string, a asked, key, said string, edit ...func(*mcpgateway.Question)) mcpgateway.Question {
	return question(call, append([]func(*mcpgateway.Question){stateless, func(q *mcpgateway.Question) {
		q.State, q.Responses = a.State, map[string]json.RawMessage{key: json.RawMessage(`{"action":"` + said + `"}`)}
	}}, edit...)...)
}

// TestInputRequired: a client without sessions is told to have its user open the page and to come back; it passes once
// approved, and across restarts of everything.
func TestInputRequired(t *testing.T) {
	h := newHouse(t)
	one := h.process()
	a, key := input(t, h.asker(one).Decide(t.Context(), question("1", stateless)))
	id := h.waiting(one)
	for _, in := range a.Inputs {
		if in.Method != "elicitation/create" || in.Params.Mode != "url" ||
			in.Params.URL != "https://console.example/pending/"+id || !strings.Contains(in.Params.Message, id) {
			t.Errorf("the question: %+v", in)
		}
		if strings.Contains(in.Params.Message, "all@example.org") || strings.Contains(in.Params.URL, "?") {
			t.Errorf("the question tells more than it must: %+v", in)
		}
	}
	if strings.Contains(a.State, "claude") {
		t.Error("the state can be read")
	}
	again, key := input(t, h.asker(one).Decide(t.Context(), back("2", a, key, "accept")))
	if again.State == a.State {
		t.Error("two states are the same")
	}
	one.Close()
	two := h.process()
	h.answer(two, id, interlock.Allow)
	asker := h.asker(two)
	if other := asker.Decide(t.Context(), back("3", again, key, "accept", func(q *mcpgateway.Question) {
		q.Proposal.Action.Arguments = []byte(`{"attachment":"/etc/shadow","to":"all@example.org"}`)
	})); other.Forward {
		t.Fatal("changed arguments passed under the state")
	}
	if passed := asker.Decide(t.Context(), back("4", again, key, "accept")); !passed.Forward || passed.Answer.Approval != id {
		t.Fatalf("approved: %s %+v", passed.Result, passed.Answer.Findings)
	}
	if twice := asker.Decide(t.Context(), back("5", again, key, "accept")); twice.Forward {
		t.Fatal("one approval let two calls pass")
	}
}

// TestRoundsEnd: a client that comes back for ever is told at some point to stop.
func TestRoundsEnd(t *testing.T) {
	h := newHouse(t)
	asker := h.asker(h.process())
	settled := asker.Decide(t.Context(), question("1", stateless))
	for round := 0; round < 20; round++ {
		if !strings.Contains(string(settled.Result), "input_required") {
			if got := structured(t, settled); got.Status != "pending_approval" || round > 10 {
				t.Errorf("after %d rounds: %+v", round, got)
			}
			return
		}
		a, key := input(t, settled)
		settled = asker.Decide(t.Context(), back("again", a, key, "accept"))
	}
	t.Error("there is no end")
}

// TestUserSays: what the client's user says to the question counts as far as it is a no.
func TestUserSays(t *testing.T) {
	for said, want := range map[string]struct {
		code   mcpgateway.Reason
		status interlock.RequestStatus
	}{
		"decline": {mcpgateway.ReasonDeclined, interlock.RequestDenied},
		"cancel":  {mcpgateway.ReasonPending, interlock.RequestPending},
	} {
		t.Run(said, func(t *testing.T) {
			h := newHouse(t)
			process := h.process()
			asker := h.asker(process)
			a, key := input(t, asker.Decide(t.Context(), question("1", stateless)))
			id := h.waiting(process)
			settled := asker.Decide(t.Context(), back("2", a, key, said))
			if got := structured(t, settled); got.Code != want.code || got.Request != id ||
				!strings.Contains(string(settled.Result), `"resultType":"complete"`) {
				t.Errorf("got %s", settled.Result)
			}
			now, err := process.Asked(t.Context(), question("").Proposal.Requester, id)
			if err != nil || now.Status != want.status {
				t.Errorf("the request is %s, %v", now.Status, err)
			}
			if said == "decline" {
				if text := "declined to have this approved. Request " + id + `."`; !strings.Contains(string(settled.Result), text) {
					t.Errorf("nothing is left to do with the request, and the text is %s", settled.Result)
				}
				if got := structured(t, asker.Decide(t.Context(), back("3", a, key, "accept"))); got.Code != mcpgateway.ReasonDeclined {
					t.Errorf("a user who changed their mind: %+v", got)
				}
			}
		})
	}
}

// TestBadState: a state that was changed, made elsewhere, belongs to somebody else or is too old opens nothing, is recorded
// and harms nobody: the same client goes on.
func TestBadState(t *testing.T) {
	h := newHouse(t)
	process := h.process()
	asker := h.asker(process)
	a, key := input(t, asker.Decide(t.Context(), question("1", stateless)))
	h.answer(process, h.waiting(process), interlock.Allow)
	foreign := newHouse(t)
	theirs, _ := input(t, foreign.asker(foreign.process()).Decide(t.Context(), question("1", stateless)))
	for name, edit := range map[string]func(*mcpgateway.Question){
		"changed":           func(q *mcpgateway.Question) { q.State = flip(q.State) },
		"cut":               func(q *mcpgateway.Question) { q.State = q.State[:len(q.State)-4] },
		"empty":             func(q *mcpgateway.Question) { q.State = "ilk1." },
		"long":              func(q *mcpgateway.Question) { q.State += strings.Repeat("A", 1<<16) },
		"another gateway's": func(q *mcpgateway.Question) { q.State = theirs.State },
		"another agent's":   func(q *mcpgateway.Question) { q.Proposal.Requester.Agent = "codex" },
		"another owner's":   func(q *mcpgateway.Question) { q.Proposal.Requester.Principal = "mallory" },
	} {
		t.Run(name, func(t *testing.T) {
			if got := structured(t, asker.Decide(t.Context(), back("2", a, key, "accept", edit))); got.Code != mcpgateway.ReasonState || got.Event == "" {
				t.Errorf("got %+v", got)
			}
		})
	}
	if passed := asker.Decide(t.Context(), back("3", a, key, "accept")); !passed.Forward {
		t.Fatalf("the right one then: %s", passed.Result)
	}
	h.later(2 * time.Hour)
	if got := structured(t, asker.Decide(t.Context(), back("4", a, key, "accept"))); got.Code != mcpgateway.ReasonState {
		t.Errorf("too old: %+v", got)
	}
}

func flip(s string) string {
	middle := []byte(s)
	at := len(s) / 2
	if middle[at]++; middle[at] > 'y' || middle[at] < 'B' {
		middle[at] = 'C'
	}
	return string(middle)
}

// TestElicitation: a client with a session is asked to have its user open the page by a request of ours.
func TestElicitation(t *testing.T) {
	for _, test := range []struct {
		says    string
		forward bool
		code    mcpgateway.Reason
	}{{"accept", true, ""}, {"decline", false, mcpgateway.ReasonDeclined}, {"cancel", false, mcpgateway.ReasonPending}, {"never", true, ""}} {
		t.Run(test.says, func(t *testing.T) {
			h := newHouse(t)
			process := h.process()
			params, complete := make(chan json.RawMessage, 1), make(chan string, 1)
			q := question("1", func(q *mcpgateway.Question) {
				q.Client.URL = true
				q.Elicit = func(ctx context.Context, p json.RawMessage) (json.RawMessage, error) {
					params <- p
					if test.says == "never" {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return json.RawMessage(`{"action":"` + test.says + `"}`), nil
				}
				q.Notify = func(_ context.Context, method string, p json.RawMessage) { complete <- method + " " + string(p) }
			})
			var settled mcpgateway.Settled
			if test.forward {
				waits := decided(t.Context(), h.asker(process, func(c *mcpgateway.AskConfig) { c.Patience = time.Second }), q)
				asked := <-params
				id := h.waiting(process)
				want := `{"elicitationId":"` + id + `","message":`
				if !strings.HasPrefix(string(asked), want) || !strings.Contains(string(asked), `"mode":"url","url":"https://console.example/pending/`+id+`"`) {
					t.Errorf("asked %s", asked)
				}
				h.answer(process, id, interlock.Allow)
				settled = <-waits
				if got := <-complete; got != `notifications/elicitation/complete {"elicitationId":"`+id+`"}` {
					t.Errorf("told %s", got)
				}
			} else {
				settled = h.asker(process, func(c *mcpgateway.AskConfig) { c.Patience = time.Second }).Decide(t.Context(), q)
			}
			if settled.Forward != test.forward {
				t.Fatalf("forward %v: %s", settled.Forward, settled.Result)
			}
			if !test.forward && structured(t, settled).Code != test.code {
				t.Errorf("got %s", settled.Result)
			}
		})
	}
}

// TestProgress: a client that gave a progress token is told that its call is held, at once and with steps that grow.
func TestProgress(t *testing.T) {
	h := newHouse(t)
	steps := make(chan int, 8)
	settled := h.asker(h.process()).Decide(t.Context(), question("1", func(q *mcpgateway.Question) {
		q.Progress = func(_ context.Context, step int, message string) {
			if message != "" {
				steps <- step
			}
		}
	}))
	if got := structured(t, settled); got.Status != "pending_approval" || len(steps) == 0 || <-steps != 0 {
		t.Errorf("%+v, %d steps", got, len(steps))
	}
}

// FuzzOpenState: no text that this gateway did not seal is taken for a state, whatever it is.
func FuzzOpenState(f *testing.F) {
	f.Add("ilk1.")
	f.Add("ilk1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("ilkh1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("upstream")
	sealer, err := mcpgateway.NewSealer(make([]byte, mcpgateway.KeyBytes))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if state, err := sealer.OpenState(text, interlock.Requester{}, time.Unix(0, 0)); err == nil {
			t.Fatalf("%q opened as %+v", text, state)
		}
		if state, err := sealer.OpenHeldState(text, interlock.Requester{}, time.Unix(0, 0)); err == nil {
			t.Fatalf("%q opened as %+v", text, state)
		}
	})
}

// TestStateIsBound: a state opens for whom it was sealed, until its time, with the key it was sealed with, and for nobody else.
func TestStateIsBound(t *testing.T) {
	key := make([]byte, mcpgateway.KeyBytes)
	sealer, err := mcpgateway.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	own, until := interlock.Requester{Agent: "claude", Principal: "alice"}, time.Unix(1000, 0)
	text, err := sealer.Sealed(own, until)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sealer.OpenState(text, own, until.Add(-time.Second)); err != nil {
		t.Errorf("its own: %v", err)
	}
	key[0]++
	other, err := mcpgateway.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (any, error){
		"another agent": func() (any, error) {
			return sealer.OpenState(text, interlock.Requester{Agent: "codex", Principal: "alice"}, until.Add(-time.Second))
		},
		"another owner": func() (any, error) {
			return sealer.OpenState(text, interlock.Requester{Agent: "claude", Principal: "mallory"}, until.Add(-time.Second))
		},
		"too late":    func() (any, error) { return sealer.OpenState(text, own, until) },
		"a held call": func() (any, error) { return sealer.OpenHeldState(text, own, until.Add(-time.Second)) },
		"a held call by name": func() (any, error) {
			return sealer.OpenHeldState("ilkh1."+strings.TrimPrefix(text, "ilk1."), own, until.Add(-time.Second))
		},
		"another key": func() (any, error) { return other.OpenState(text, own, until.Add(-time.Second)) },
	} {
		if state, err := open(); err == nil {
			t.Errorf("%s opens it: %+v", name, state)
		}
	}
	if _, err := mcpgateway.NewSealer(key[:31]); err == nil {
		t.Error("a short key was taken")
	}
}
