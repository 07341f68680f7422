package mcpaql_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/mcpaql"
	"interlock/spec"
)

// with alters an answer.
func with(a interlock.Answer, change func(*interlock.Answer)) interlock.Answer { change(&a); return a }

func TestAnswersBecomeDirectives(t *testing.T) {
	spec.Covers(t, "AQL-8.7.1", "AQL-8.7.1s", "AQL-8.8.2d")
	const challenge = "3f0c7a52-0000-4000-8000-000000000001"
	type notice struct{ Type, Level, Verification string }
	for name, tc := range map[string]struct {
		answer        interlock.Answer
		goOn, stopped bool
		risk          string
		notices       []notice
		reason        any
		factors       []any
	}{
		"allowed": {allowed(), true, false, "advisory", nil, nil, []any{"nothing objects to this action (risk 12, advisory)"}},
		"approved": {with(objected(interlock.Ask, "rules", "deploys"),
			func(a *interlock.Answer) { a.Answer = interlock.Allow; a.Approval = "apr_1" }), true, false, "advisory", nil, "deploys",
			[]any{"deploys (ask, rule rules.rule)", "an operator has approved exactly this action"}},
		"granted": {with(objected(interlock.Ask, "rules", "deploys"),
			func(a *interlock.Answer) { a.Answer = interlock.Allow; a.Grant = "g" }), true, false, "advisory", nil, "deploys",
			[]any{"deploys (ask, rule rules.rule)", "an operator's standing grant covers this action"}},
		"a rule asks": {with(objected(interlock.Ask, "rules", "deploys"),
			func(a *interlock.Answer) { a.Request = "apr_1"; a.Tier = interlock.TierConfirm }), false, false, "confirm",
			[]notice{{"autonomy_pause", "confirm", ""}, {"permission_pending", "CONFIRM_SINGLE_USE", ""}}, "deploys", []any{"deploys (ask, rule rules.rule)"}},
		"the loop asks": {with(objected(interlock.Ask, "loop", "Step limit exceeded"),
			func(a *interlock.Answer) { a.Request = "apr_1"; a.Tier = interlock.TierConfirm }), false, false, "confirm",
			[]notice{{"autonomy_pause", "confirm", ""}}, "Step limit exceeded", []any{"Step limit exceeded (ask, rule loop.rule)"}},
		"unattended": {with(objected(interlock.Ask, "rules", "deploys"), func(a *interlock.Answer) {
			a.Answer = interlock.Deny
			a.Request = "apr_1"
			a.Tier = interlock.TierConfirm
		}), false, false, "confirm",
			[]notice{{"autonomy_pause", "confirm", ""}, {"permission_pending", "CONFIRM_SINGLE_USE", ""}}, "deploys", []any{"deploys (ask, rule rules.rule)"}},
		"a code is needed": {with(objected(interlock.Ask, "loop", "risky"),
			func(a *interlock.Answer) { a.Request, a.Challenge, a.Tier = "apr_1", challenge, interlock.TierVerify }), false, false, "verify",
			[]notice{{"autonomy_pause", "verify", challenge}}, "risky", []any{"risky (ask, rule loop.rule)"}},
		"paused for a code, unattended": {with(objected(interlock.Ask, "loop", "waits for a code"), func(a *interlock.Answer) {
			a.Answer, a.Challenge, a.Tier = interlock.Deny, challenge, interlock.TierVerify
		}), false, false, "verify",
			[]notice{{"autonomy_pause", "verify", challenge}}, "waits for a code", []any{"waits for a code (ask, rule loop.rule)"}},
		"stopped": {with(objected(interlock.Deny, "rules", "root"), func(a *interlock.Answer) {
			a.Challenge, a.Channels, a.Tier = challenge, []string{"console"}, interlock.TierDangerZone
		}), false, true, "danger_zone",
			[]notice{{"danger_zone", "danger_zone", challenge}}, "root", []any{"root (deny, rule rules.rule)"}},
		"blocked already": {with(objected(interlock.Halt, "standing", "blocked"),
			func(a *interlock.Answer) { a.Challenge, a.Tier = challenge, interlock.TierDangerZone }), false, true, "danger_zone",
			[]notice{{"danger_zone", "danger_zone", challenge}}, "blocked", []any{"blocked (halt, rule standing.rule)"}},
		"refused": {objected(interlock.Deny, "danger", "not trusted"), false, false, "advisory",
			[]notice{{"autonomy_pause", "confirm", ""}}, "not trusted", []any{"not trusted (deny, rule danger.rule)"}},
		"another action while a pause lasts": {objected(interlock.Deny, "pause", "waits for apr_1"), false, false, "advisory",
			[]notice{{"autonomy_pause", "confirm", ""}}, "waits for apr_1", []any{"waits for apr_1 (deny, rule pause.rule)"}},
		"not recorded": {interlock.Refusal("unavailable", "the store is gone"), false, false, "advisory",
			[]notice{{"error", "advisory", ""}}, "the store is gone",
			[]any{"the store is gone (deny, rule admission.unavailable)"}},
		"everything that contributed": {with(objected(interlock.Deny, "rules", "root"), func(a *interlock.Answer) {
			a.Findings[0].Suggestion = "rm -rf ./build"
			a.Findings = append(a.Findings,
				interlock.Finding{Gate: "risk", Rule: "risk.score", Verdict: interlock.Ask, Reason: "risky"},
				interlock.Finding{Verdict: interlock.Allow, Reason: "kept silent"})
		}), false, false, "advisory", []notice{{"autonomy_pause", "confirm", ""}}, "root",
			[]any{"root (deny, rule rules.rule); instead: rm -rf ./build", "risky (ask, rule risk.score)", "kept silent"}},
	} {
		f := newFixture(t, nil)
		f.start("e")
		f.backend.answer = func(interlock.Proposal) interlock.Answer { return tc.answer }
		d := f.step("e", "do it")
		var notices []notice
		for _, n := range d["notifications"].([]any) {
			n := n.(map[string]any)
			m := n["metadata"].(map[string]any)
			verification, _ := m["verificationId"].(string)
			notices = append(notices, notice{n["type"].(string), m["level"].(string), verification})
			if n["timestamp"] != "2026-03-01T12:00:00Z" || n["message"] == "" || m["operation"] != "record_execution_step" || m["reason"] != tc.reason {
				t.Errorf("%s: notification %v", name, n)
			}
		}
		got := []any{d["continue"], d["stopped"], d["nextStepRisk"], notices, d["reason"], d["factors"]}
		if diff := cmp.Diff([]any{tc.goOn, tc.stopped, tc.risk, tc.notices, tc.reason, tc.factors}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if d["next"] == "" || len(d["factors"].([]any)) == 0 {
			t.Errorf("%s: %v says nothing", name, d)
		}
	}
}

func TestNoVerdictGoesOnByMistake(t *testing.T) {
	for verdict := range interlock.Verdict(8) {
		f := newFixture(t, nil)
		f.start("e")
		f.backend.answer = func(interlock.Proposal) interlock.Answer {
			return interlock.Answer{Event: "event", Decision: interlock.Decision{Verdict: interlock.Deny, Answer: verdict}}
		}
		if d := f.step("e", "do it"); d["continue"] != (verdict == interlock.Allow) {
			t.Errorf("answer %v: continue %v", verdict, d["continue"])
		}
	}
}

func TestModesAreSaidAndNeverStop(t *testing.T) {
	spec.Covers(t, "AQL-8.6.1", "AQL-8.6.1c", "AQL-8.6.7", "AQL-8.6.7m", "AQL-8.6.7l")
	for mode, says := range map[interlock.Mode]string{interlock.Monitoring: "the safety loop only monitors: this is what it would have said",
		interlock.Logging:  "the safety loop only logs: the action was recorded and not evaluated",
		interlock.Disabled: "the safety loop is disabled: the action was not evaluated"} {
		f := newFixture(t, func(c *mcpaql.Config) { c.Mode = mode })
		f.start("e")
		f.backend.answer = func(interlock.Proposal) interlock.Answer { a := allowed(); a.Mode = mode; return a }
		d := f.step("e", "rm -rf /")
		if factors := d["factors"].([]any); d["continue"] != true || d["stopped"] != false || factors[len(factors)-1] != says {
			t.Errorf("%s: %v", mode, d)
		}
	}
	for mode := range interlock.Disabled + 1 {
		f := newFixture(t, func(c *mcpaql.Config) { c.Mode = mode })
		protocol := f.data(mcpaql.Read, `{"operation":"introspect","query":"operations"}`)["_protocol"].(map[string]any)
		loop := protocol["safety_loop"].(map[string]any)
		if protocol["capabilities"].(map[string]any)["execution_safety_loop"] != mode.String() || loop["mode"] != mode.String() ||
			loop["enforced"] != (mode == interlock.Enforcing) {
			t.Errorf("%s: introspection says %v", mode, protocol)
		}
	}
}

// A danger_zone notification with the blocked agent's challenge reaches every agent that reports, until the block is lifted.
func TestBlocksAreBroadcastUntilTheyAreCleared(t *testing.T) {
	spec.Covers(t, "AQL-8.7.3", "AQL-8.8.1", "AQL-D-8.2n")
	const challenge = "3f0c7a52-0000-4000-8000-000000000001"
	f := newFixture(t, nil)
	f.start("e")
	block := interlock.Challenge{ID: challenge, Kind: interlock.ChallengeBlock, Reason: "this deletes the file system root", Created: noon,
		Requester: interlock.Requester{Agent: "other", Principal: "dev"}}
	f.backend.standing.Challenges[challenge] = block
	f.backend.standing.Challenges["verify"] = interlock.Challenge{ID: "verify", Kind: interlock.ChallengeVerify, Requester: block.Requester}
	for range 2 { // pulled, and still there the next time
		want := []any{map[string]any{"type": "danger_zone", "message": "Another agent is stopped: this deletes the file system root",
			"metadata":  map[string]any{"reason": "this deletes the file system root", "level": "danger_zone", "verificationId": challenge},
			"timestamp": "2026-03-01T12:00:00Z"}}
		if diff := cmp.Diff(want, f.step("e", "ls")["notifications"]); diff != "" {
			t.Errorf("another agent's block (-want +got):\n%s", diff)
		}
	}
	block.Requester.Agent = "mcp"
	f.backend.standing.Challenges[challenge] = block
	if n := f.step("e", "ls")["notifications"].([]any)[0].(map[string]any); n["metadata"].(map[string]any)["verificationId"] != challenge {
		t.Errorf("the agent's own block: %v", n)
	}
	block.Ended = noon
	f.backend.standing.Challenges[challenge] = block
	if n := f.step("e", "ls")["notifications"]; len(n.([]any)) != 0 {
		t.Errorf("after it was lifted: %v", n)
	}
}

func TestCodesAreHandedOnAndNeverShown(t *testing.T) {
	const challenge, code = "3f0c7a52-0000-4000-8000-000000000001", "SECR-ETCO-DE00"
	for name, tc := range map[string]struct {
		verification governance.Verification
		code         mcpaql.Code
		details      map[string]any
	}{
		"right": {governance.Verification{Result: "passed", Unblocked: true}, "", nil},
		"wrong": {governance.Verification{Result: "wrong", Reason: "the code is not right", Failed: 1},
			mcpaql.CodePermissionDenied, map[string]any{"result": "wrong", "failed_attempts": 1.0}},
		"expired": {governance.Verification{Result: "expired", Failed: 2}, mcpaql.CodePermissionDenied,
			map[string]any{"result": "expired", "failed_attempts": 2.0}},
		"unknown": {governance.Verification{Result: "unknown", Failed: 3}, mcpaql.CodeNoResource, map[string]any{"result": "unknown",
			"failed_attempts": 3.0}},
		"limited": {governance.Verification{Result: "limited", Failed: 10, RetryAfter: time.Minute}, mcpaql.CodeRateLimit,
			map[string]any{"result": "limited", "failed_attempts": 10.0, "retry_after_seconds": 60.0}},
		"odd": {governance.Verification{Result: "perhaps"}, mcpaql.CodePermissionDenied, map[string]any{"result": "perhaps",
			"failed_attempts": 0.0}},
	} {
		f := newFixture(t, nil)
		f.backend.verify = func(gotChallenge, gotCode string) (governance.Verification, error) {
			if gotChallenge != challenge || gotCode != code {
				t.Errorf("%s: handed on %q, %q", name, gotChallenge, gotCode)
			}
			return tc.verification, nil
		}
		const request = `{"operation":"verify_challenge","params":{"challenge_id":"` + challenge + `","code":"` + code + `"}}`
		if tc.code == "" {
			want := map[string]any{"challenge_id": challenge, "verified": true, "unblocked": true,
				"next": "Report the step again with record_execution_step; it is judged afresh."}
			if diff := cmp.Diff(want, f.data(mcpaql.Create, request)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			continue
		}
		failure := f.failure(mcpaql.Create, request, tc.code)
		if diff := cmp.Diff(tc.details, failure["details"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestConfirmingSaysWhatAHumanSaid(t *testing.T) {
	f := newFixture(t, nil)
	var status interlock.RequestStatus
	var refusal error
	f.backend.confirm = func(request, code string) (interlock.ApprovalRequest, error) {
		return interlock.ApprovalRequest{ID: request, Status: status, Expires: noon.Add(time.Hour)}, refusal
	}
	const request = `{"operation":"confirm_operation","params":{"request_id":"apr_1"}}`
	for s, confirmed := range map[interlock.RequestStatus]bool{interlock.RequestApproved: true, interlock.RequestPending: false, interlock.RequestDenied: false,
		interlock.RequestExpired: false, interlock.RequestSpent: false, "": false} {
		status = s
		if d := f.data(mcpaql.Execute, request); d["confirmed"] != confirmed || d["status"] != string(s) || d["expires_at"] != "2026-03-01T13:00:00Z" {
			t.Errorf("%q: %v", s, d)
		}
	}
	refusal = interlock.Errorf(interlock.CodeUnauthorized, "", "an agent can't approve its own action")
	if failure := f.failure(mcpaql.Execute, request, mcpaql.CodePermissionDenied); failure["message"] != "an agent can't approve its own action" {
		t.Error(failure)
	}
}
