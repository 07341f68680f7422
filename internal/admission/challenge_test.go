package admission_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/quorum"
	"interlock/spec"
)

// lists are an operator's own rules: one pattern that denies, one rule that wants a code.
const lists = `
policy:
  deny: ["shred *"]
rules:
  - id: local.publish
    layer: 3
    kinds: [shell]
    match: {glob: ["publish *"]}
    verdict: ask
    reason: this shows work to the public
    obligations: [{type: verify}]
    tests: {ask: ["publish notes"], pass: ["echo publish"]}
`

// A phone is a channel that keeps what it is told, in memory only.
type phone struct {
	mu      sync.Mutex
	notices []interlock.Notice
	down    bool
}

func (p *phone) Notify(_ context.Context, n interlock.Notice) interlock.Delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return interlock.Delivery{Failed: []string{"phone: no signal"}}
	}
	p.notices = append(p.notices, n)
	return interlock.Delivery{Channels: []string{"phone"}}
}

// code returns the code of the newest notice.
func (p *phone) code(t *testing.T) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notices) == 0 {
		t.Fatal("no code was sent")
	}
	return p.notices[len(p.notices)-1].Code.Reveal()
}

// guarded is a house with the operator's rules, a phone, and a server's key that is taken at its word.
func guarded(t *testing.T, edit ...func(*admission.Config)) (*house, *phone) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lists.yaml"), []byte(lists), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := config.Defaults()
	settings.Rules = dir
	evaluator, err := embedded.NewEvaluator(settings)
	if err != nil {
		t.Fatal(err)
	}
	told := &phone{}
	h := newHouse(t, append([]func(*admission.Config){func(c *admission.Config) {
		fingerprint := c.Verify
		c.Evaluator, c.Notify = *evaluator, told
		c.Attest = func(_, subject, _ string) (string, error) { return "witnessed " + subject, nil }
		c.Verify = func(o interlock.OperatorRecord, method, statement, signature string) (string, error) {
			if method == interlock.MethodCode {
				return strings.TrimPrefix(signature, "witnessed "), nil
			}
			return fingerprint(o, method, statement, signature)
		}
	}}, edit...)...)
	return h, told
}

// step makes a proposal one that a monitored execution reports.
func step(p *interlock.Proposal) {
	p.Loop = &interlock.Loop{Execution: "exe_1", Step: 1, Limit: 50, Tolerance: 50}
}

func from(agent, principal, run string) func(*interlock.Proposal) {
	return func(p *interlock.Proposal) {
		p.Requester = interlock.Requester{Agent: agent, Principal: principal, Run: run}
	}
}

func (h *house) standing() interlock.Standing {
	h.t.Helper()
	standing, err := h.Standing(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return standing
}

func (h *house) verifies(agent, challenge, code string) admission.Verification {
	h.t.Helper()
	v, err := h.Verify(h.t.Context(), interlock.Requester{Agent: agent, Principal: "alice", Run: "another"}, challenge, code)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

func (h *house) employ(name, role string) {
	h.t.Helper()
	if err := h.PutOperator(h.t.Context(), interlock.OperatorRecord{Name: name, Role: role, SSHKey: "key of " + name, Created: h.now}); err != nil {
		h.t.Fatal(err)
	}
}

// order is an operator's order as signed.
func (h *house) order(verb interlock.Verb, subject, operator string) interlock.Order {
	o := interlock.Order{ID: "ord_1", Verb: verb, Subject: subject, Reason: "looked at it", Operator: operator, At: h.now,
		Expires: h.now.Add(5 * time.Minute), Method: interlock.MethodSSH, Key: "fingerprint of " + operator + "'s", Signature: operator + "'s"}
	o.Statement = quorum.OrderStatement(o)
	return o
}

// blocked is a guarded house whose agent tried what an operator's pattern denies.
func blocked(t *testing.T, edit ...func(*admission.Config)) (*house, *phone, interlock.Answer) {
	t.Helper()
	h, told := guarded(t, edit...)
	answer := h.propose("shred notes.txt", step)
	if answer.Answer.Allowed() || answer.Challenge == "" {
		t.Fatalf("answer %v, challenge %q: want a hard block", answer.Answer, answer.Challenge)
	}
	return h, told, answer
}

// TestHardBlock: what a pattern denies stops the agent in the same commit, and its code goes to the channel alone.
func TestHardBlock(t *testing.T) {
	spec.Covers(t, "AQL-8.8", "AQL-8.8.2a")
	h, told, answer := blocked(t)
	want := []interlock.EventType{interlock.EventBlock, interlock.EventBlocked, interlock.EventChallenge, interlock.EventChallenge}
	if diff := cmp.Diff(want, h.entries()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if log := h.log(); len(log[0].Checkpoint) > 0 || len(log[1].Checkpoint) > 0 || len(log[2].Checkpoint) == 0 {
		t.Error("the block was not one commit with the decision")
	}
	if diff := cmp.Diff([]string{"phone"}, answer.Channels); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
	if uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`); !uuid.MatchString(answer.Challenge) {
		t.Errorf("the challenge's id %q is no UUID of version 4", answer.Challenge)
	}
	code := told.code(t)
	if format := regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4}$`); !format.MatchString(code) {
		t.Errorf("the code %q is not eight groups of four: 160 bits", code)
	}
	notice := told.notices[0]
	if notice.Severity != interlock.TierDangerZone || notice.Challenge != answer.Challenge || !strings.Contains(notice.Display, "shred notes.txt") {
		t.Errorf("the notice: %+v", notice)
	}
	_, second, _ := blocked(t)
	if second.code(t) == code {
		t.Error("two codes are the same")
	}
}

// TestHardBlockBindsTheAgent: no other run, call, element or door of the same agent gets round it; another agent is not in it.
func TestHardBlockBindsTheAgent(t *testing.T) {
	spec.Covers(t, "AQL-8.8.3a")
	h, _, answer := blocked(t)
	for name, edit := range map[string][]func(*interlock.Proposal){
		"the same step":            {step},
		"a new execution":          {step, func(p *interlock.Proposal) { p.Loop.Execution = "exe_2" }},
		"a new connection":         {step, from("claude", "alice", "run-2")},
		"another door":             {from("claude", "alice", "run-3"), func(p *interlock.Proposal) { p.Door = "hook" }},
		"a call id of its own":     {event("PreToolUse", "toolu_9")},
		"no run":                   {from("claude", "alice", "")},
		"what the door says of it": {step, func(p *interlock.Proposal) { p.Loop.Verifying = "none" }},
	} {
		got := h.propose("git status", edit...)
		if snapshot := h.standing().Challenges[answer.Challenge]; !snapshot.Blocks(requesterOf(edit)) {
			t.Fatal("the challenge does not bind the requester the case names")
		}
		if got.Challenge != answer.Challenge || got.Answer != interlock.Halt {
			t.Errorf("%s: %v, challenge %q, want %q", name, got.Answer, got.Challenge, answer.Challenge)
		}
	}
	if other := h.propose("git status", step, from("codex", "alice", "run-1")); other.Challenge != "" || other.Answer != interlock.Allow {
		t.Errorf("another agent got %v, challenge %q", other.Answer, other.Challenge)
	}
	if n := len(h.standing().Challenges); n != 1 {
		t.Errorf("%d challenges stand, want one", n)
	}
}

func requesterOf(edit []func(*interlock.Proposal)) interlock.Requester {
	p := interlock.Proposal{Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}}
	for _, e := range edit {
		e(&p)
	}
	return p.Requester
}

// TestBlockOutlivesAnotherOwner: a registered agent is its token, so giving it another owner lifts nothing.
func TestBlockOutlivesAnotherOwner(t *testing.T) {
	h, _ := guarded(t)
	agent := interlock.AgentRecord{ID: "builder", Principal: "dana", Created: h.now}
	if err := h.PutAgent(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	answer := h.propose("shred notes.txt", from("builder", "says-so", "r"), step)
	agent.Principal = "erik"
	if err := h.PutAgent(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	if again := h.propose("git status", from("builder", "erik", "r2")); again.Answer != interlock.Halt || again.Challenge != answer.Challenge || answer.Challenge == "" {
		t.Errorf("challenge %q, want %q", again.Challenge, answer.Challenge)
	}
}

// TestOnlyEnforcingBlocks: in every other mode nobody is blocked and no code is made.
func TestOnlyEnforcingBlocks(t *testing.T) {
	for _, mode := range []interlock.Mode{interlock.Monitoring, interlock.Logging, interlock.Disabled} {
		h, told := guarded(t, func(c *admission.Config) { c.Mode = mode })
		answer := h.propose("shred notes.txt", step)
		if answer.Answer != interlock.Allow || answer.Challenge != "" || len(told.notices) > 0 || len(h.standing().Challenges) > 0 {
			t.Errorf("%s: answer %v, challenge %q, %d notices", mode, answer.Answer, answer.Challenge, len(told.notices))
		}
	}
	h, told := guarded(t)
	if plain := h.propose("shred notes.txt"); plain.Challenge != "" || len(told.notices) > 0 {
		t.Errorf("a call outside a monitored execution blocked its agent: %q", plain.Challenge)
	}
}

// TestNobodyToTell: without a channel, or with one that fails, the block stands, the answer names no channel, and the log says
// that the code reached nobody.
func TestNobodyToTell(t *testing.T) {
	for name, edit := range map[string]func(*admission.Config){
		"no channel":    func(c *admission.Config) { c.Notify = nil },
		"one is down":   func(c *admission.Config) { c.Notify = &phone{down: true} },
		"one is broken": func(c *admission.Config) { c.Notify = broken{} },
	} {
		h, _, answer := blocked(t, edit)
		if len(answer.Channels) != 0 {
			t.Errorf("%s: channels %v", name, answer.Channels)
		}
		types := h.entries()
		if last := types[len(types)-1]; last != interlock.EventAlert {
			t.Errorf("%s: the log ends in %s", name, last)
		}
		for _, e := range h.log() {
			if strings.Contains(string(e.Body), "1234-SECRET") {
				t.Errorf("%s: what broke reached the log", name)
			}
		}
		if again := h.propose("git status"); again.Challenge != answer.Challenge {
			t.Errorf("%s: the block does not stand", name)
		}
	}
}

type broken struct{}

func (broken) Notify(context.Context, interlock.Notice) interlock.Delivery { panic("1234-SECRET") }

// TestRightCodeLiftsTheBlock: however a human types it, from any connection of the agent, once.
func TestRightCodeLiftsTheBlock(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2c")
	h, told, answer := blocked(t)
	typed := " " + strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(told.code(t), "-", " "), "0", "o"), "1", "l")) + "\n"
	v := h.verifies("claude", answer.Challenge, typed)
	if diff := cmp.Diff(admission.Verification{Result: "passed", Reason: v.Reason, Unblocked: true}, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if free := h.propose("git status", step); free.Answer != interlock.Allow || free.Challenge != "" {
		t.Errorf("afterwards: %v, challenge %q", free.Answer, free.Challenge)
	}
	if again := h.verifies("claude", answer.Challenge, typed); again.Result != "unknown" || again.Failed != 1 {
		t.Errorf("the code counted twice: %+v", again)
	}
	h.propose("shred notes.txt", step)
	if other := h.verifies("claude", challengeOf(h), typed); other.Result != "wrong" {
		t.Errorf("the code of one challenge answered another: %+v", other)
	}
	types := h.entries()
	want := []interlock.EventType{interlock.EventVerification, interlock.EventUnblocked, interlock.EventDecision}
	if diff := cmp.Diff(want, types[4:7]); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func challengeOf(h *house) string {
	h.t.Helper()
	for id := range h.standing().Challenges {
		return id
	}
	h.t.Fatal("no challenge stands")
	return ""
}

// TestWrongAnswers: each fails, burns the code if it named a challenge of this agent, and what does not exist, belongs to
// another or is no code looks alike.
func TestWrongAnswers(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2c", "AQL-8.8.2e")
	wrong := "0000-0000-0000-0000-0000-0000-0000-0000"
	type answer struct{ agent, challenge, code string }
	for name, test := range map[string]struct {
		answer func(id, code string) answer
		result string
		burnt  bool
	}{
		"another code":             {func(id, _ string) answer { return answer{"claude", id, wrong} }, "wrong", true},
		"no code":                  {func(id, _ string) answer { return answer{"claude", id, ""} }, "unknown", true},
		"half a code":              {func(id, code string) answer { return answer{"claude", id, code[:20]} }, "unknown", true},
		"very much":                {func(id, code string) answer { return answer{"claude", id, strings.Repeat(code, 1000)} }, "unknown", true},
		"a challenge that is none": {func(_, code string) answer { return answer{"claude", "11111111-1111-4111-8111-111111111111", code} }, "unknown", false},
		"no challenge":             {func(_, code string) answer { return answer{"claude", "", code} }, "unknown", false},
		"another agent's":          {func(id, code string) answer { return answer{"codex", id, code} }, "unknown", false},
	} {
		t.Run(name, func(t *testing.T) {
			h, told, first := blocked(t)
			before := len(h.entries())
			a := test.answer(first.Challenge, told.code(t))
			v := h.verifies(a.agent, a.challenge, a.code)
			if v.Result != test.result || v.Failed != 1 || v.Unblocked {
				t.Errorf("got %+v, want %s", v, test.result)
			}
			if diff := cmp.Diff([]interlock.EventType{interlock.EventVerification, interlock.EventAlert}, h.entries()[before:]); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			want := "passed"
			if test.burnt {
				want = "expired"
			}
			if then := h.verifies("claude", first.Challenge, told.code(t)); then.Result != want {
				t.Errorf("the right code then got %s, want %s", then.Result, want)
			}
		})
	}
	t.Run("too late", func(t *testing.T) {
		h, told, first := blocked(t)
		h.now = h.now.Add(5 * time.Minute)
		if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "expired" || v.Failed != 1 {
			t.Errorf("got %+v", v)
		}
		if still := h.propose("git status"); still.Challenge != first.Challenge {
			t.Error("the block ended with its code")
		}
	})
}

// TestGuessing: the tenth failure closes the door for a minute, whatever is tried and from wherever, the next time for two; a
// right code is not looked at either; and all of it survives the process.
func TestGuessing(t *testing.T) {
	spec.Covers(t, "AQL-8.8.5", "AQL-8.8.5p")
	h, told, first := blocked(t)
	for n := 1; n <= 10; n++ {
		if v := h.verifies("claude", first.Challenge, "1111"); v.Result == "limited" || v.Failed != n {
			t.Fatalf("failure %d: %+v", n, v)
		}
	}
	if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "limited" || v.RetryAfter != time.Minute {
		t.Errorf("the eleventh: %+v", v)
	}
	if v := h.verifies("codex", first.Challenge, "1111"); v.Result != "unknown" {
		t.Errorf("another agent is limited as well: %+v", v)
	}
	h.Admission = again(t, h)
	if v := h.verifies("claude", first.Challenge, "1111"); v.Result != "limited" {
		t.Errorf("after a restart: %+v", v)
	}
	h.now = h.now.Add(time.Minute)
	for range 10 {
		if v := h.verifies("claude", first.Challenge, "1111"); v.Result == "limited" {
			t.Fatalf("a minute later: %+v", v)
		}
	}
	if v := h.verifies("claude", first.Challenge, "1111"); v.Result != "limited" || v.RetryAfter != 2*time.Minute {
		t.Errorf("the second time: %+v", v)
	}
	limited := 0
	for _, e := range h.log() {
		if e.Type == interlock.EventVerification {
			limited++
		}
	}
	if limited != 24 {
		t.Errorf("%d answers are recorded, want every one of 24", limited)
	}
}

// again is another process on the same store.
func again(t *testing.T, h *house, edit ...func(*admission.Config)) *admission.Admission {
	t.Helper()
	other, _ := guarded(t, append([]func(*admission.Config){func(c *admission.Config) {
		c.Store, c.Now = h.store, func() time.Time { return h.now }
	}}, edit...)...)
	return other.Admission
}

// TestBlockSurvivesRestart: another process on the store blocks as well, and takes the code.
func TestBlockSurvivesRestart(t *testing.T) {
	spec.Covers(t, "AQL-8.8.3a")
	h, told, first := blocked(t)
	h.Admission = again(t, h)
	if answer := h.propose("git status"); answer.Answer != interlock.Halt || answer.Challenge != first.Challenge {
		t.Errorf("challenge %q, want %q", answer.Challenge, first.Challenge)
	}
	if v := h.verifies("claude", first.Challenge, told.code(t)); !v.Unblocked {
		t.Errorf("got %+v", v)
	}
}

// TestVerifyPause: a step that wants a code pauses the agent until it is given; then exactly that step passes, once.
func TestVerifyPause(t *testing.T) {
	spec.Covers(t, "AQL-8.8")
	h, told := guarded(t)
	first := h.propose("publish notes", step)
	if first.Answer.Allowed() || first.Challenge == "" || first.Request == "" || told.notices[0].Severity != interlock.TierVerify {
		t.Fatalf("answer %v, challenge %q, request %q", first.Answer, first.Challenge, first.Request)
	}
	same := h.propose("publish notes", step)
	if same.Challenge != first.Challenge || same.Request != first.Request || len(told.notices) != 1 {
		t.Errorf("asked again: challenge %q, request %q, %d notices", same.Challenge, same.Request, len(told.notices))
	}
	v := h.verifies("claude", first.Challenge, told.code(t))
	if diff := cmp.Diff(admission.Verification{Result: "passed", Reason: v.Reason, Request: first.Request}, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := h.standing().Requests[first.Request]; got.Status != interlock.RequestApproved || got.Approval.Method != interlock.MethodCode {
		t.Errorf("the request: %+v", got)
	}
	if changed := h.propose("publish notes --all", step); changed.Answer.Allowed() || changed.Challenge == first.Challenge {
		t.Errorf("a changed step got %v under challenge %q", changed.Answer, changed.Challenge)
	}
}

// TestCodeLetsTheStepPassOnce: the identical step, and no second one.
func TestCodeLetsTheStepPassOnce(t *testing.T) {
	spec.Covers(t, "AQL-8.8.3b")
	h, told := guarded(t)
	first := h.propose("publish notes", step)
	other := h.propose("git status", step)
	if other.Answer.Allowed() || other.Challenge != first.Challenge || other.Request != "" || !strings.Contains(other.Decisive().Reason, first.Challenge) {
		t.Errorf("another step while a code is awaited: %v, challenge %q, request %q, %q", other.Answer, other.Challenge, other.Request, other.Decisive().Reason)
	}
	if elsewhere := h.propose("git status"); elsewhere.Answer != interlock.Allow {
		t.Errorf("what no execution reports is paused as well: %v", elsewhere.Answer)
	}
	h.verifies("claude", first.Challenge, told.code(t))
	if passed := h.propose("publish notes", step); passed.Answer != interlock.Allow || passed.Approval != first.Request {
		t.Errorf("the step got %v, approval %q", passed.Answer, passed.Approval)
	}
	if second := h.propose("publish notes", step); second.Answer.Allowed() || second.Challenge == "" {
		t.Errorf("a second time: %v, challenge %q", second.Answer, second.Challenge)
	}
	h.entries()
}

// TestAnswerEndsThePause: an operator's signed no, or a yes by passkey, is an answer as good as a code; the code then counts no more.
func TestAnswerEndsThePause(t *testing.T) {
	h, told := guarded(t)
	h.employ("bob", "operator")
	first := h.propose("publish notes", step)
	if err := h.approve(first.Request, interlock.Allow); err == nil {
		t.Error("an SSH key answered what wants a fresh proof")
	}
	if err := h.approve(first.Request, interlock.Deny); err != nil {
		t.Fatal(err)
	}
	if free := h.propose("git status", step); free.Answer != interlock.Allow {
		t.Errorf("after a no: %v by %+v", free.Answer, free.Decisive())
	}
	if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "unknown" {
		t.Errorf("the code after the answer: %+v", v)
	}
}

// TestPauseEnds: with its code's time and with its process; the step is then evaluated afresh, and asked anew.
func TestPauseEnds(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2e")
	t.Run("in time", func(t *testing.T) {
		h, told := guarded(t)
		first := h.propose("publish notes", step)
		h.now = h.now.Add(5 * time.Minute)
		if n, err := h.Expire(t.Context()); n != 1 || err != nil {
			t.Errorf("%d lapsed: %v", n, err)
		}
		types := h.entries()
		if last := types[len(types)-1]; last != interlock.EventVerification {
			t.Errorf("the log ends in %s: that nobody answered counts as a failure", last)
		}
		fresh := h.propose("publish notes", step)
		if fresh.Challenge == first.Challenge || fresh.Challenge == "" || fresh.Request != first.Request || len(told.notices) != 2 {
			t.Errorf("challenge %q after %q, request %q after %q", fresh.Challenge, first.Challenge, fresh.Request, first.Request)
		}
	})
	t.Run("with the process", func(t *testing.T) {
		h, told := guarded(t)
		first := h.propose("publish notes", step)
		h.Admission = again(t, h)
		if other := h.propose("git status", step); other.Challenge != "" || other.Answer != interlock.Allow { // AQL-8.8.3b
			t.Errorf("another step after a restart: %v, challenge %q", other.Answer, other.Challenge)
		}
		if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "unknown" {
			t.Errorf("the code of a process that is gone: %+v", v)
		}
		if fresh := h.propose("publish notes", step); fresh.Challenge == first.Challenge || fresh.Challenge == "" {
			t.Errorf("challenge %q", fresh.Challenge)
		}
	})
}

// TestConfirmTakesNoWord: an agent can't say yes for itself; a code a human has, or a human's answer, is what confirms.
func TestConfirmTakesNoWord(t *testing.T) {
	spec.Covers(t, "AQL-8.7.3s")
	h, told := guarded(t)
	first := h.propose("publish notes", step)
	me := interlock.Requester{Agent: "claude", Principal: "alice"}
	if _, err := h.Confirm(t.Context(), me, first.Request, ""); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("its own word: %v", err)
	}
	types := h.entries()
	if last := types[len(types)-1]; last != interlock.EventApprovalRefused || len(h.alerts) == 0 {
		t.Errorf("the log ends in %s, alerts %v", last, h.alerts)
	}
	if _, err := h.Confirm(t.Context(), interlock.Requester{Agent: "codex", Principal: "alice"}, first.Request, told.code(t)); codeOf(err) != interlock.CodeNotFound {
		t.Errorf("another agent: %v", err)
	}
	got, err := h.Confirm(t.Context(), me, first.Request, told.code(t))
	if err != nil || got.Status != interlock.RequestApproved {
		t.Errorf("with the code: %s, %v", got.Status, err)
	}
	if got, err := h.Confirm(t.Context(), me, first.Request, ""); err != nil || got.Status != interlock.RequestApproved {
		t.Errorf("afterwards: %s, %v", got.Status, err)
	}
	second := h.propose("git push --force origin feature", step)
	if _, err := h.Confirm(t.Context(), me, second.Request, told.code(t)); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("a code for a request that waits for none: %v", err)
	}
	if err := h.approve(second.Request, interlock.Deny); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Confirm(t.Context(), me, second.Request, ""); err != nil || got.Status != interlock.RequestDenied {
		t.Errorf("denied: %s, %v", got.Status, err)
	}
	h.entries()
}

func codeOf(err error) interlock.Code {
	if e, ok := err.(*interlock.Error); ok {
		return e.Code
	}
	return ""
}

// TestOrders: who may have a code shown, who may lift a block, and that an order counts once.
func TestOrders(t *testing.T) {
	h, told, first := blocked(t)
	h.employ("olga", "operator")
	h.employ("ada", "admin")
	ctx := t.Context()
	h.now = h.now.Add(time.Second)
	order := h.order(interlock.VerbNewCode, first.Challenge, "olga")
	code, expires, err := h.NewCode(ctx, order)
	if err != nil || !expires.Equal(h.now.Add(5*time.Minute)) || code == told.code(t) {
		t.Fatalf("a new code until %v: %v", expires, err)
	}
	if len(told.notices) != 1 {
		t.Error("a code that was shown to an operator went to a channel as well")
	}
	if _, _, err := h.NewCode(ctx, order); codeOf(err) != interlock.CodeConflict {
		t.Errorf("the same order again: %v", err)
	}
	for name, o := range map[string]interlock.Order{
		"an unsigned order": func() interlock.Order {
			o := h.order(interlock.VerbNewCode, first.Challenge, "olga")
			o.Signature = ""
			return o
		}(),
		"an operator who unblocks":    h.order(interlock.VerbUnblock, first.Challenge, "olga"),
		"an order for something else": h.order(interlock.VerbNewCode, first.Challenge, "ada"),
		"nobody":                      h.order(interlock.VerbUnblock, first.Challenge, "claude"),
		"a challenge that is none":    h.order(interlock.VerbUnblock, "none", "ada"),
	} {
		before := len(h.entries())
		if _, err := h.Unblock(ctx, o); err == nil {
			t.Errorf("%s counted", name)
		}
		if diff := cmp.Diff([]interlock.EventType{interlock.EventApprovalRefused}, h.entries()[before:]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "wrong" {
		t.Errorf("the replaced code: %+v", v)
	}
	if _, err := h.Unblock(ctx, h.order(interlock.VerbUnblock, first.Challenge, "ada")); err != nil {
		t.Fatal(err)
	}
	if free := h.propose("git status"); free.Answer != interlock.Allow {
		t.Errorf("afterwards: %v", free.Answer)
	}
	body := ""
	for _, e := range h.log() {
		if e.Type == interlock.EventUnblocked {
			body = string(e.Body)
		}
	}
	if !strings.Contains(body, `"by":"ada"`) || !strings.Contains(body, "Interlock order, version 1") {
		t.Errorf("the log does not say who lifted it, with the proof: %s", body)
	}
}

// TestNoCodeInTheRecord: nothing that is written holds a code, whole or grouped otherwise.
func TestNoCodeInTheRecord(t *testing.T) {
	h, told, first := blocked(t)
	h.employ("olga", "operator")
	h.now = h.now.Add(time.Second)
	shown, _, err := h.NewCode(t.Context(), h.order(interlock.VerbNewCode, first.Challenge, "olga"))
	if err != nil {
		t.Fatal(err)
	}
	sent := told.code(t)
	h.verifies("claude", sent, sent) // in the wrong place
	h.verifies("claude", first.Challenge, sent)
	h.verifies("claude", first.Challenge, shown)
	standing := h.standing()
	written := strings.Join(h.alerts, "\n")
	for _, e := range h.log() {
		written += string(e.Body)
	}
	for _, c := range standing.Challenges {
		written += c.CodeHash + c.Reason + c.Display
	}
	for _, code := range []string{sent, shown} {
		for _, form := range []string{code, strings.ReplaceAll(code, "-", ""), code[:14]} {
			if strings.Contains(strings.ToUpper(written), form) {
				t.Errorf("a code is written down")
			}
		}
	}
	for _, text := range []string{told.notices[0].Code.String(), string(must(told.notices[0].Code.MarshalText())), told.notices[0].Code.GoString()} {
		if text != "[withheld]" {
			t.Errorf("a code prints as %q", text)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
