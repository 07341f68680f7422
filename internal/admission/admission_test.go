package admission_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
	"interlock/internal/strictjson"
)

// A house is an Admission over a real store, with a clock the test moves and faults the test sets.
type house struct {
	*admission.Admission
	t       *testing.T
	store   *faulty
	key     *auditlog.PublicKey
	now     time.Time
	ticks   sync.Mutex // of the clock, where it moves while something is under way
	guard   sync.Mutex // of alerts, which may come from several callers at once
	alerts  []string
	tiered  bool              // a tier of execution control is in force from the beginning
	renewal admission.Renewal // what the operator's rules are, in tests that change them
	verify  error             // what checking a signature ends with
}

// faulty stands before the store and fails where the test says.
type faulty struct {
	*sqlite.Store
	commit func(next func() (ledger.Receipt, error)) (ledger.Receipt, error)
}

func (f *faulty) Commit(ctx context.Context, c ledger.Change) (ledger.Receipt, error) {
	next := func() (ledger.Receipt, error) { return f.Store.Commit(ctx, c) }
	if f.commit == nil {
		return next()
	}
	return f.commit(next)
}

func newHouse(t *testing.T, edit ...func(*admission.Config)) *house {
	t.Helper()
	evaluator, err := embedded.NewEvaluator(config.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, key: sealer.Public(), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time {
		h.ticks.Lock()
		defer h.ticks.Unlock()
		return h.now
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "interlock.db"), driver.Options{Sealer: sealer, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	h.store = &faulty{Store: store}
	c := admission.Config{Evaluator: *evaluator, Store: h.store, Redact: classify.Redact,
		Verify: func(_ interlock.OperatorRecord, _, _, signature string) (string, error) {
			return "fingerprint of " + signature, h.verify
		},
		Now: clock, Random: rand.Reader, Owner: "olga", Alert: func(kind, message string) {
			h.guard.Lock()
			defer h.guard.Unlock()
			h.alerts = append(h.alerts, kind+": "+message)
		}}
	for _, e := range edit {
		e(&c)
	}
	h.tiered = c.Rules.HighestTier() > 0
	if h.Admission, err = admission.New(c); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) propose(command string, edit ...func(*admission.Case)) interlock.Answer {
	p := admission.Case{Proposal: interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: command, Dir: "/repo"},
		Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"},
		View:      interlock.View{Workspace: "/repo", Home: "/home/alice"}}}
	for _, e := range edit {
		e(&p)
	}
	return h.ProposeBy(h.t.Context(), p.Way, p.Proposal)
}

func event(name, call string) func(*admission.Case) {
	return func(p *admission.Case) { p.Event, p.Requester.Call = name, call }
}

// entries returns the types of all entries, and fails the test if the log does not verify, or if a tier is in force and an entry does not
// name the accountable human.
func (h *house) entries() []interlock.EventType {
	h.t.Helper()
	report, err := auditlog.Verify(h.t.Context(), h.store.Store, h.key, auditlog.VerifyOptions{})
	if err != nil || report.Problem != nil {
		h.t.Fatalf("the log does not verify: %v %v", report.Problem, err)
	}
	var types []interlock.EventType
	for _, e := range h.log() {
		types = append(types, e.Type)
		if h.tiered && answers(h.t, e) == "" {
			h.t.Errorf("nobody answers for entry %d: %s", e.Index, e.Body)
		}
	}
	return types
}

// answers names the human who answers for an entry, as it says itself.
func answers(t *testing.T, e interlock.Entry) string {
	t.Helper()
	var said struct {
		Human string `json:"accountable_human"`
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err := errors.Join(err, strictjson.DecodeSome(event.Payload, &said)); err != nil {
		t.Fatal(err)
	}
	return said.Human
}

func (h *house) log() []interlock.Entry {
	h.t.Helper()
	var all []interlock.Entry
	if err := h.store.Walk(h.t.Context(), func(e interlock.Entry) error {
		e.Body = bytes.Clone(e.Body)
		all = append(all, e)
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
	return all
}

func TestAllowNamesADurableEvent(t *testing.T) {
	h := newHouse(t)
	answer := h.propose("git status")
	if answer.Answer != interlock.Allow {
		t.Fatalf("answer %v: %+v", answer.Answer, answer.Findings)
	}
	entry, found, err := h.store.Entry(t.Context(), answer.Event)
	if err != nil || !found || entry.Index != answer.Index || entry.Type != interlock.EventDecision {
		t.Fatalf("entry %d %s, found %v, %v; the answer names %d", entry.Index, entry.Type, found, err, answer.Index)
	}
	if len(answer.Checkpoint) == 0 {
		t.Error("the answer carries no checkpoint")
	}
}

func TestWhatIsNotRecordedIsDenied(t *testing.T) {
	broken := errors.New("disk on fire at /secret/path")
	for _, test := range []struct {
		name   string
		commit func(next func() (ledger.Receipt, error)) (ledger.Receipt, error)
		rule   string
	}{
		{"failed before it was written", func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
			return ledger.Receipt{}, broken
		}, "admission.unavailable"},
		{"failed after it was written", func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
			_, _ = next()
			return ledger.Receipt{}, broken
		}, "admission.unavailable"},
		{"always another version", func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
			return ledger.Receipt{}, ledger.ErrConflict
		}, "admission.conflict"},
		{"too late", func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
			return ledger.Receipt{}, context.DeadlineExceeded
		}, "admission.deadline"},
		{"panics", func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
			panic("boom at /secret/path")
		}, "admission.internal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHouse(t)
			failed := false
			h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
				if failed && test.rule == "admission.internal" {
					return next() // let the refusal itself be recorded
				}
				failed = true
				return test.commit(next)
			}
			answer := h.propose("git status")
			if answer.Answer != interlock.Deny || answer.Verdict != interlock.Deny || answer.Decisive().Rule != test.rule {
				t.Errorf("answer %v by %+v, want deny by %s", answer.Answer, answer.Decisive(), test.rule)
			}
			if strings.Contains(answer.Decisive().Reason, "secret") {
				t.Errorf("the reason tells an agent about the machine: %s", answer.Decisive().Reason)
			}
			if len(h.alerts) == 0 {
				t.Error("nobody was alerted")
			}
		})
	}
}

// What is slow is not done again because a commit lost a race: what an action lies in the way of is looked at once.
func TestLostRaceLooksOnce(t *testing.T) {
	h := newHouse(t)
	races, looks := 3, 0
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		if races > 0 {
			races--
			return ledger.Receipt{}, ledger.ErrConflict
		}
		return next()
	}
	h.propose("rm -rf src", func(p *admission.Case) {
		p.Work = func([]string) map[string]interlock.Work { looks++; return nil }
	})
	if looks != 1 || races != 0 {
		t.Errorf("looked %d times, with %d races left", looks, races)
	}
}

func TestLostRaceIsDecidedAgain(t *testing.T) {
	h := newHouse(t)
	races := 3
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		if races > 0 {
			races--
			return ledger.Receipt{}, ledger.ErrConflict
		}
		return next()
	}
	if answer := h.propose("git status"); answer.Answer != interlock.Allow || races != 0 {
		t.Errorf("answer %v with %d races left", answer.Answer, races)
	}
	if diff := cmp.Diff([]interlock.EventType{interlock.EventDecision}, h.entries()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// approve answers a request as the operator bob, whose key every signature of the fake verifier matches.
func (h *house) approve(id string, verdict interlock.Verdict) error {
	h.t.Helper()
	standing, err := h.Ground(h.t.Context(), storagetest.Everything()...)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, known := standing.Operators["bob"]; !known {
		if err := h.PutOperator(h.t.Context(), interlock.OperatorRecord{Name: "bob", Role: "operator", SSHKey: "key", Created: h.now}); err != nil {
			h.t.Fatal(err)
		}
	}
	_, err = h.Resolve(h.t.Context(), interlock.Approval{Request: id, Verdict: verdict, Operator: "bob", Key: "fingerprint of bob's",
		Statement: quorum.Statement(standing.Requests[id], verdict, "bob"), Signature: "bob's"})
	return err
}

func TestApprovedActionPassesOnce(t *testing.T) {
	h := newHouse(t)
	const risky = "git push --force origin feature"
	first := h.propose(risky)
	if first.Answer != interlock.Deny || first.Verdict != interlock.Ask || first.Request == "" {
		t.Fatalf("answer %v, verdict %v, request %q: want a refusal that names a request", first.Answer, first.Verdict, first.Request)
	}
	if again := h.propose(risky); again.Request != first.Request {
		t.Errorf("the same question opened a second request %s beside %s", again.Request, first.Request)
	}
	if err := h.approve(first.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if other := h.propose(risky + " --tags"); other.Answer != interlock.Deny {
		t.Errorf("a changed action passed: %v", other.Answer)
	}
	passed := h.propose(risky, event("PreToolUse", "call-9"))
	if passed.Answer != interlock.Allow || passed.Approval != first.Request {
		t.Fatalf("the approved action got %v with approval %q", passed.Answer, passed.Approval)
	}
	if retried := h.propose(risky, event("PreToolUse", "call-9")); retried.Answer != interlock.Deny {
		t.Errorf("one approval let the call pass twice: %v", retried.Answer)
	}
	if err := h.approve(first.Request, interlock.Allow); err == nil {
		t.Error("a spent request was answered again")
	}
	h.entries()
}

// TestForgedApprovalIsNotSpent: an approval that was written into the store without a signature that verifies lowers
// nothing, and somebody is told.
func TestForgedApprovalIsNotSpent(t *testing.T) {
	h := newHouse(t)
	const risky = "git push --force origin feature"
	first := h.propose(risky)
	if err := h.approve(first.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.verify = errors.New("the signature is not bob's")
	forged := h.propose(risky)
	if forged.Answer != interlock.Deny || forged.Verdict != interlock.Ask || forged.Approval != "" {
		t.Errorf("answer %v, verdict %v, approval %q", forged.Answer, forged.Verdict, forged.Approval)
	}
	if len(h.alerts) == 0 {
		t.Error("nobody was told")
	}
	if types := h.entries(); types[len(types)-1] != interlock.EventAlert {
		t.Errorf("the log ends in %s", types[len(types)-1])
	}
	h.verify = nil
	if proved := h.propose(risky); proved.Answer != interlock.Allow {
		t.Errorf("the approval whose signature holds got %v", proved.Answer)
	}
}

func TestOneCallSeenByTwoEventsIsRecordedOnce(t *testing.T) {
	h := newHouse(t)
	first := h.propose("git status", event("PreToolUse", "toolu_1"))
	second := h.propose("git status", event("PermissionRequest", ""))
	if !second.Repeated || second.Event != first.Event || second.Answer != interlock.Allow {
		t.Errorf("the second event got %v, repeated %v, event %s; want the first answer, %s", second.Answer, second.Repeated, second.Event, first.Event)
	}
	if third := h.propose("git status", event("PreToolUse", "toolu_2")); third.Repeated {
		t.Error("another call of the same command was taken for the first")
	}
	h.now = h.now.Add(2 * time.Minute)
	if late := h.propose("git status", event("PermissionRequest", "")); late.Repeated {
		t.Error("an event two minutes later was taken for the same call")
	}
	want := []interlock.EventType{interlock.EventDecision, interlock.EventDecision, interlock.EventDecision}
	if diff := cmp.Diff(want, h.entries()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestOutcomesFindTheirDecision(t *testing.T) {
	h := newHouse(t)
	requester := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1", Call: "toolu_1"}
	allowed := h.propose("git status", event("PreToolUse", "toolu_1"))
	denied := h.propose("rm -rf /", event("PreToolUse", "toolu_2"))
	for _, r := range []struct {
		requester interlock.Requester
		outcome   interlock.Outcome
	}{
		{requester, interlock.Outcome{Action: allowed.Action, Status: interlock.OutcomeSuccess}},
		{interlock.Requester{Agent: "claude", Run: "run-1", Call: "toolu_2"}, interlock.Outcome{Action: denied.Action, Status: interlock.OutcomeSuccess}},
		{interlock.Requester{Agent: "claude", Run: "run-1", Call: "toolu_3"}, interlock.Outcome{Action: "sha256:0", Status: interlock.OutcomeFailure}},
		{interlock.Requester{Agent: "claude"}, interlock.Outcome{Event: allowed.Event, Status: interlock.OutcomeSuccess}},
	} {
		if err := h.Report(t.Context(), r.requester, r.outcome); err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range []interlock.OutcomeStatus{interlock.OutcomeSuccess, interlock.OutcomeSkipped} {
		if err := h.Report(t.Context(), interlock.Requester{Agent: "other", Run: "run-1"},
			interlock.Outcome{Event: allowed.Event, Status: status}); err == nil {
			t.Errorf("another agent tells of what this one did: %s", status)
		}
	}
	want := []interlock.EventType{interlock.EventDecision, interlock.EventBlock, interlock.EventOutcome, interlock.EventAlert,
		interlock.EventAlert, interlock.EventOutcome, interlock.EventAlert, interlock.EventAlert}
	if diff := cmp.Diff(want, h.entries()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if body := string(h.log()[2].Body); !strings.Contains(body, allowed.Event) {
		t.Errorf("the outcome does not name its decision: %s", body)
	}
	if err := h.Report(t.Context(), requester, interlock.Outcome{Status: "done"}); err == nil {
		t.Error("an unknown outcome was accepted")
	}
}

func TestSecretsDoNotReachTheRecord(t *testing.T) {
	h := newHouse(t)
	const secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	answer := h.propose("curl -H 'Authorization: Bearer "+secret+"' -X DELETE https://api.github.com/repos/o/r/issues/comments/7?token="+secret,
		event("PreToolUse", "toolu_1"))
	if answer.Request == "" {
		t.Fatalf("answer %v: the case should wait for a human", answer.Answer)
	}
	standing, err := h.Ground(t.Context(), storagetest.Everything()...)
	if err != nil {
		t.Fatal(err)
	}
	if shown := standing.Requests[answer.Request].Display; strings.Contains(shown, secret) || !strings.Contains(shown, "[redacted]") {
		t.Errorf("the request shows: %s", shown)
	}
	for _, entry := range h.log() {
		if bytes.Contains(entry.Body, []byte(secret)) {
			t.Errorf("entry %d holds the secret: %s", entry.Index, entry.Body)
		}
	}
	if err := h.Report(t.Context(), interlock.Requester{Agent: "claude", Run: "run-1", Call: "toolu_1"},
		interlock.Outcome{Action: answer.Action, Status: interlock.OutcomeFailure, Detail: "401 for " + secret}); err != nil {
		t.Fatal(err)
	}
	last := h.log()
	if body := last[len(last)-1].Body; bytes.Contains(body, []byte(secret)) {
		t.Errorf("the outcome holds the secret: %s", body)
	}
}

// TestSecretsDoNotReachTheStore: neither an entry nor the row that remembers a call holds a secret that stood in the command,
// was spelled in pieces, or only came to light when the analysis decoded it.
func TestSecretsDoNotReachTheStore(t *testing.T) {
	const secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	for name, command := range map[string]string{
		"plain":     "touch /tmp/" + secret,
		"in pieces": "touch '/tmp/ghp_A1b2C3d4E5'f6G7h8I9j0K1l2M3n4O5p6Q7r8",
		"decoded":   "echo " + base64.StdEncoding.EncodeToString([]byte("touch /tmp/"+secret)) + " | base64 -d | sh",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			answer := h.propose(command, event("PreToolUse", "toolu_1"))
			if !strings.Contains(fmt.Sprint(answer.Impacts), secret) {
				t.Fatalf("the analysis does not see the secret, so the case proves nothing: %v", answer.Impacts)
			}
			for _, entry := range h.log() {
				if bytes.Contains(entry.Body, []byte(secret)) {
					t.Errorf("entry %d holds the secret", entry.Index)
				}
			}
			call, found, err := admission.FindCall(h.Admission, interlock.Requester{Agent: "claude", Run: "run-1", Call: "toolu_1"}, answer.Action)
			if err != nil || !found {
				t.Fatalf("found %v, %v", found, err)
			}
			if strings.Contains(fmt.Sprint(call), secret) {
				t.Error("the row that remembers the call holds the secret")
			}
		})
	}
}

func TestWhatIsNoActionIsRefusedAndRecorded(t *testing.T) {
	h := newHouse(t)
	for _, edit := range []func(*admission.Case){
		func(p *admission.Case) { p.Action.Kind = "spell" },
		func(p *admission.Case) { p.Action.Kind = interlock.KindTool },
		func(p *admission.Case) { p.Action.Arguments = []byte(`{"command":"rm -rf /"}`) }, // what a door might run instead
		func(p *admission.Case) { p.Requester.Agent = "" },
	} {
		answer := h.propose("git status", edit)
		if answer.Answer != interlock.Deny || answer.Event == "" || answer.Decisive().Rule != "admission.invalid" {
			t.Errorf("answer %v, event %q, %+v", answer.Answer, answer.Event, answer.Decisive())
		}
	}
	want := []interlock.EventType{interlock.EventRefusal, interlock.EventRefusal, interlock.EventRefusal, interlock.EventRefusal}
	if diff := cmp.Diff(want, h.entries()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestStartRecordsOnlyChanges(t *testing.T) {
	h := newHouse(t)
	for range 3 {
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := []interlock.EventType{interlock.EventRuleset, interlock.EventMode}
	if diff := cmp.Diff(want, h.entries()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// How a request ended stands in the log also when nobody answered it, or nobody used the answer, and each ends once.
func TestExpiredRequestsAreRecorded(t *testing.T) {
	h := newHouse(t)
	first := h.propose("sudo systemctl stop nginx")
	h.now = h.now.Add(time.Minute)
	second := h.propose("sudo systemctl stop redis")
	if first.Request == "" || second.Request == "" {
		t.Fatalf("no requests: %+v %+v", first, second)
	}
	before := len(h.entries())
	if n, err := h.Expire(t.Context()); n != 0 || err != nil {
		t.Fatalf("expired %d live requests: %v", n, err)
	}
	standing, err := h.Ground(t.Context(), storagetest.Everything()...)
	if err != nil {
		t.Fatal(err)
	}
	h.now = standing.Requests[first.Request].Expires
	if n, err := h.Expire(t.Context()); n != 1 || err != nil {
		t.Fatalf("expired %d requests, want 1: %v", n, err)
	}
	h.now = h.now.Add(time.Hour)
	third := h.propose("sudo systemctl stop mysql") // no server sweeps here: the next request clears one away
	if n, err := h.Expire(t.Context()); n != 0 || err != nil {
		t.Fatalf("expired %d requests again: %v", n, err)
	}
	want := []interlock.EventType{interlock.EventApprovalExpired, interlock.EventReviewRequest, interlock.EventApprovalExpired}
	if diff := cmp.Diff(want, h.entries()[before:]); diff != "" {
		t.Error(diff)
	}
	standing, err = h.Ground(t.Context(), storagetest.Everything()...)
	if err != nil {
		t.Fatal(err)
	}
	if len(standing.Requests) != 1 || standing.Requests[third.Request].Status != interlock.RequestPending {
		t.Errorf("what stands: %+v", standing.Requests)
	}
}
