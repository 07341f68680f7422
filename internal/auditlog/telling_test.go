package auditlog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/module"
	"interlock/internal/phase"
	"interlock/internal/privacy"
)

// TestTelling: every type of event that is no decision is told in words, by what its record says; no line is blank, and none is JSON.
func TestTelling(t *testing.T) {
	when := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	order := interlock.Order{ID: "ord_1", Verb: interlock.VerbApproveTool, Subject: "notes", Operator: "olga", Reason: "read it", At: when}
	request := interlock.ApprovalRequest{ID: "apr_1", Status: interlock.RequestPending, Requester: interlock.Requester{Agent: "claude"}}
	upload := interlock.GovernedAction{Type: "code_upload", Target: "agent:claude"}
	digest := "sha256:" + strings.Repeat("ab", 32)
	type record interface {
		Payload() (json.RawMessage, error)
	}
	told := map[interlock.EventType][]struct {
		record record
		want   string
	}{
		interlock.EventOutcome: {{auditlog.OutcomeRecord{Outcome: interlock.Outcome{Status: interlock.OutcomeSuccess, Detail: "exit 0",
			Duration: 1500 * time.Millisecond}}, "success · exit 0 · after 1.5s"}},
		interlock.EventApproval: {{auditlog.ApprovalRecord{Request: request, Approval: interlock.Approval{Request: "apr_1", Verdict: interlock.Allow,
			Operator: "olga", Reason: "fine"}}, "allow · olga · apr_1 · fine"}},
		interlock.EventApprovalRefused: {{auditlog.RefusalRecord{Door: "approval", Code: "UNAUTHORIZED", Reason: "own request", Request: "apr_1"},
			"UNAUTHORIZED · own request · apr_1"}},
		interlock.EventApprovalExpired: {{auditlog.ExpiryRecord{Request: request}, "pending · apr_1"}},
		interlock.EventSettled:         {{auditlog.SettledRecord{Request: request}, "apr_1"}},
		interlock.EventAlert: {{auditlog.AlertRecord{Code: "tampering", Message: "somebody changed a row"},
			"somebody changed a row · tampering"}},
		interlock.EventIntegrity: {{auditlog.IntegrityRecord{Held: []string{"ruleset/1"}, Why: "a blob is gone"}, "a blob is gone · ruleset/1"}},
		interlock.EventRedaction: {{auditlog.TextRecord{Where: "result of a server", Classification: "REDACT", Rule: "safety.secret", Found: 2,
			Kinds: []string{"aws-key", "iban"}}, "REDACT by safety.secret · result of a server · 2 found · aws-key, iban"}},
		interlock.EventPersonal: {{auditlog.PersonalRecord{Where: "memory", Type: "us-ssn", Tier: "high", Reason: "PII_DETECTED"},
			"us-ssn · high · memory · PII_DETECTED"}},
		interlock.EventMemory: {{auditlog.MemoryRecord{Did: auditlog.FactKept, Store: "episodic", Key: "user/person/7/colour of claude"},
			"kept · episodic · user/person/7/colour of claude"}},
		interlock.EventSemPut: {{auditlog.MemoryRecord{Did: auditlog.FactStable, Store: "semantic", Key: "a/b/c/d", Request: "act_1"},
			"stable · semantic · a/b/c/d · act_1"}},
		interlock.EventSemDelete: {{auditlog.MemoryRecord{Did: auditlog.FactCut, Key: "agent:claude", Request: "act_1"},
			"cut · agent:claude · act_1"}},
		interlock.EventRateLimit: {{auditlog.RateRecord{Limit: "calls", Measure: "actions", Used: 9, Room: 9, RetryAfter: 90},
			"calls · 9 of 9 actions · again in 1m30s"}},
		interlock.EventIntegritySummary: {{auditlog.IntegritySummary{Day: "2026-11-23", To: 9, Failures: []string{"entry 4: it was changed"}},
			"2026-11-23 · 9 entries · 1 failures · entry 4: it was changed"}},
		interlock.EventIncident: {{auditlog.HoldRecord{Name: "home", Cause: interlock.EventIncident, Why: "a laptop was stolen", Order: &order},
			"home · approve-tool · notes · olga · read it · a laptop was stolen"}},
		interlock.EventHalt:      {{auditlog.HoldRecord{Name: "home", Why: "found"}, "home · found"}},
		interlock.EventHaltClear: {{auditlog.HoldRecord{Name: "home", Order: &order}, "home · approve-tool · notes · olga · read it"}},
		interlock.EventMended:    {{auditlog.MendRecord{Order: order}, "approve-tool · notes · olga · read it"}},
		interlock.EventIdentity: {
			{auditlog.IdentityRecord{Operator: &interlock.OperatorRecord{Name: "olga", Role: "admin"}, First: true}, "olga · admin · the first who governs"},
			{auditlog.IdentityRecord{Agent: &interlock.AgentRecord{ID: "builder", Principal: "dana", Revoked: when}}, "builder · dana · revoked"},
			{auditlog.IdentityRecord{WeakKeys: true, Order: &order}, "approve-tool · notes · olga · read it"},
		},
		interlock.EventRuleset: {{auditlog.SettingsRecord{Before: map[string]string{"ruleset": "sha256:" + strings.Repeat("0", 64)},
			After: map[string]string{"ruleset": digest, "ruleset_text": digest}}, "ruleset abababababab, before 000000000000"}},
		interlock.EventMode:    {{auditlog.SettingsRecord{After: map[string]string{"mode": "enforcing", "profile": "guard"}}, "enforcing · guard"}},
		interlock.EventRefusal: {{auditlog.RefusalRecord{Door: "http", Code: "INVALID", Reason: "is not JSON"}, "INVALID · is not JSON"}},
		interlock.EventSuppression: {{auditlog.SuppressionRecord{Suppression: interlock.Suppression{Rule: "net.upload", Agent: "claude",
			Operator: "olga", Reason: "nightly"}}, "net.upload · claude · olga · nightly"}},
		interlock.EventBlocked: {{auditlog.ChallengeRecord{Challenge: interlock.Challenge{ID: "chl_1", Kind: interlock.ChallengeBlock,
			Rule: "fs.delete-root"}}, "block · fs.delete-root"}},
		interlock.EventUnblocked: {{auditlog.ChallengeRecord{Challenge: interlock.Challenge{Kind: interlock.ChallengeBlock, Outcome: "passed"}},
			"block · passed"}},
		interlock.EventChallenge: {{auditlog.ChallengeRecord{Challenge: interlock.Challenge{Kind: interlock.ChallengeBlock, Rule: "r"}, Order: &order},
			"approve-tool · notes · olga · read it · block · r"}},
		interlock.EventVerification: {{auditlog.VerificationRecord{Challenge: "chl_1", Result: "wrong", Reason: "another code"}, "wrong · another code"}},
		interlock.EventExecution: {{auditlog.ExecutionRecord{Execution: "exe_1", Element: "tidy", State: "paused", Steps: 4, Reason: "a doubt"},
			"paused · exe_1 · tidy · step 4 · a doubt"}},
		interlock.EventGrant: {{auditlog.GrantRecord{Grant: interlock.Grant{Agent: "claude", Tool: "send_mail", Operator: "olga"}, Ended: "revoked"},
			"claude · send_mail · olga · revoked"}},
		interlock.EventTrust: {{auditlog.TrustRecord{Agent: "builder", Before: interlock.TrustValidated, After: interlock.TrustCommunityReviewed,
			Operator: "olga", Evidence: "thirty runs"}, "builder · validated to community reviewed · by olga · thirty runs"}},
		interlock.EventPin: {
			{auditlog.PinRecord{Server: "notes", Steps: []auditlog.PinStep{{Status: interlock.PinApproved}, {Tool: "a", Status: interlock.PinApproved},
				{Tool: "b", Status: interlock.PinQuarantined, Why: interlock.PinOrdered}, {Tool: "c"}, {Tool: "d"}}, Order: &order},
				"notes · approved · a approved · b quarantined (ordered) · and 2 more · approve-tool · notes · olga · read it"},
			{auditlog.PinRecord{Server: "notes", Identity: interlock.Digest(digest)}, "notes"},
		},
		interlock.EventSession: {{auditlog.SessionRecord{Operator: "olga", What: "entered", Reason: "passkey"}, "entered · olga · passkey"}},
		interlock.EventDryRun: {{auditlog.DryRunRecord{Run: interlock.DryRun{Exit: 3, Effects: []interlock.Effect{{Path: "a", Change: "added"},
			{Path: "b", Change: "deleted"}, {Path: "c", Change: "added"}, {Path: "d", Change: "added"}}}},
			"tried in a throw-away copy, ended with 3 · added a · deleted b · added c · and 1 more"}},
		interlock.EventAccess:  {{auditlog.AccessRecord{Order: order}, "approve-tool · notes · olga · read it"}},
		interlock.EventArchive: {{auditlog.ArchiveRecord{First: 256, Size: 512, To: "/srv/log"}, "entries 256 to 511 · to /srv/log"}},
		interlock.EventShadow: {{auditlog.ShadowRecord{Step: "begun", Ruleset: interlock.Digest(digest), InForce: interlock.Digest(digest)},
			"begun · ruleset abababababab · beside abababababab"}},
		interlock.EventPromotion: {{auditlog.PromotionRecord{Order: order}, "approve-tool · notes · olga · read it"}},
		interlock.EventInstalled: {
			{auditlog.InstalledRecord{Harness: "claude", Settings: "/home/dana/.claude/settings.json"},
				"claude · registered in · /home/dana/.claude/settings.json"},
			{auditlog.InstalledRecord{Harness: "claude", Settings: "/x", Removed: true}, "claude · taken out of · /x"},
			{auditlog.InstalledRecord{Harness: "claude", Settings: "/x", Again: true}, "claude · written anew in · /x"},
		},
		interlock.EventReplayRequest: {{auditlog.ReplayRequestRecord{Mode: "audit", What: "all", Orders: []interlock.Order{order}},
			"audit · all · ordered by olga · read it"}},
		interlock.EventReplayResult: {{auditlog.ReplayResultRecord{Mode: "audit", Decisions: 12, Same: 11, Code: "DIVERGENCE"},
			"audit · 11 of 12 decisions came out the same · DIVERGENCE"}},
		interlock.EventRollback: {{auditlog.RollbackRecord{Rollback: ledger.RollbackBody{ID: "rb_1", What: "event:ab", Steps: 5, Open: 4,
			Held: []string{"clerk", "scout"}, By: "olga", Why: "a bad page"}},
			"rb_1 · event:ab · 4 of 5 steps to carry out · isolated clerk, scout · by olga · a bad page"}},
		interlock.EventRollbackStep: {{auditlog.RollbackRecord{Rollback: ledger.RollbackBody{ID: "rb_1"}, Step: &ledger.RollbackStepBody{N: 3,
			Status: "failed", Agent: "clerk", Did: "send_mail", By: "olga", Said: "it is read already"}},
			"rb_1 · step 3 failed · clerk · send_mail · by olga · it is read already"}},
		interlock.EventRollbackEnd: {{auditlog.RollbackRecord{Rollback: ledger.RollbackBody{ID: "rb_1",
			Residue: []ledger.RollbackLeft{{N: 3, What: "a mail"}}}}, "rb_1 · stays: a mail"}},
		interlock.EventKill: {{auditlog.KillRecord{Mode: "hard", Why: "card testing", By: "fraud desk"}, "hard · fraud desk · card testing"}},
		interlock.EventKillRelease: {{auditlog.KillRecord{Mode: "hard", Why: "card testing", Order: &order},
			"hard · card testing · approve-tool · notes · olga · read it"}},
		interlock.EventWatched: {{auditlog.WatchedRecord{From: 3, UpTo: 9, Agents: 2, Alarms: 1}, "entries 3 to 9 · 1 alarms"}},
		interlock.EventSignal: {{auditlog.SignalRecord{Signal: interlock.Signal{Kind: interlock.SignalDrift, Agent: "claude", Value: 61, Reason: "odd"},
			Observer: "meter", Severity: "warning"}, "claude · drift 61 · warning · odd · told by meter"}},
		interlock.EventUsage: {{auditlog.UsageRecord{Run: "s", Service: "claude-code", Used: []auditlog.Used{{Measure: "tokens", Amount: 12, Source: "m"},
			{Measure: "money", Currency: "USD", Amount: 1_500_000, Source: "c"}}}, "12 tokens by m · 1.500000 USD by c · claude-code"}},
		interlock.EventBudget: {{auditlog.BudgetRecord{Budget: "team.day", Step: "warn", Share: 75, Per: "agent"}, "team.day · warn at 75%"}},
		interlock.EventPhase: {{auditlog.PhaseRecord{On: "agent:claude", From: "P", To: "A", Trigger: "breaker", Why: "three refusals"},
			"agent:claude · P to A · by breaker · three refusals"}},
		interlock.EventRootCause: {{auditlog.CauseRecord{On: "system:all", Cause: phase.Cause{By: "olga", What: "a stolen token"}, Order: order},
			"system:all · a stolen token · olga"}},
		interlock.EventSeconded: {{auditlog.SecondedRecord{Subject: "sha256:01", Teams: []string{"risk"}, Order: order},
			"sha256:01 · approve-tool · notes · olga · read it"}},
		interlock.EventJudgeTested: {{auditlog.JudgeTestedRecord{Judge: interlock.JudgeIdentity{Name: "main"}, Failure: interlock.JudgeCanary,
			Reason: "it allows what it must deny"}, "main · canary · it allows what it must deny"}},
		interlock.EventGroundRules: {{auditlog.GroundRulesRecord{GroundRules: "sha256:01", Order: &order},
			"sha256:01 · approve-tool · notes · olga · read it"}},
		interlock.EventRedteam: {{auditlog.RedteamRecord{Seed: 7, Cases: 700, Where: "throw-away", Passed: true},
			"seed 7 · 700 cases · throw-away · passed"}, {auditlog.RedteamRecord{Seed: 8, Cases: 7, Family: "judge", Where: "live"},
			"seed 8 · 7 cases · judge · live · failed"}},
		interlock.EventReport: {{auditlog.ReportRecord{Title: "a way past", Severity: "high", Text: "so"}, "high · a way past"}},
		interlock.EventTriage: {{auditlog.TriageRecord{Report: "01", State: "confirmed", Title: "a way past", Severity: "high", Order: order},
			"confirmed · high · a way past · approve-tool · notes · olga · read it"}},
		interlock.EventJudgeAsked: {{auditlog.JudgeAskedRecord{Class: "delete production", Subject: interlock.JudgeAction}, "delete production"}},
		interlock.EventJudgedLate: {{auditlog.JudgedAfterRecord{Event: "e1", Class: "write workspace", Result: auditlog.JudgedDeny,
			Held: "run:r1"},
			"deny · write workspace · held: run:r1 · about event e1"}},
		interlock.EventProbe: {{auditlog.ProbeRecord{Requests: []string{"apr_1"}, Why: "quarterly"}, "quarterly"}},
		interlock.EventBreaker: {{auditlog.BreakerRecord{On: "breaker:agent:claude", From: "closed", To: "open", Trigger: "breaker", Why: "three refusals"},
			"breaker:agent:claude · closed to open · by breaker · three refusals"}},
		interlock.EventBreakerReset: {{auditlog.BreakerRecord{On: "breaker:agent:claude", From: "open", To: "half-open", Order: &order},
			"breaker:agent:claude · open to half-open · approve-tool · notes · olga · read it"}},
		interlock.EventNodeDegraded: {{auditlog.NodeRecord{Node: "claude", From: module.Healthy, To: module.Degraded, Why: "it has failed",
			Health: &module.Health{Trust: module.Initial}}, "claude · healthy to degraded · 0.500000000 · it has failed"}},
		interlock.EventNodeOffline: {{auditlog.NodeRecord{Node: "claude", From: module.Degraded, To: module.Offline, Why: "three failures in a row"},
			"claude · degraded to offline · three failures in a row"}},
		interlock.EventNodeHealthy: {{auditlog.NodeRecord{Node: "claude", From: module.Degraded, To: module.Healthy}, "claude · degraded to healthy"}},
		interlock.EventRetry:       {{auditlog.NodeRecord{Node: "claude", Attempt: 1}, "claude"}},
		interlock.EventAccountReview: {{auditlog.AccountRecord{Agent: "claude", Heuristic: "refusals", Most: 3, Window: 600, Then: "blocked"},
			"claude · refusals · blocked"}},
		interlock.EventRunRegistered: {{auditlog.RunRecord{Run: interlock.Run{ID: "run_1", Agent: "claude", Task: "tidy"}}, "run_1 · claude · tidy"}},
		interlock.EventRunEnded: {{auditlog.RunRecord{Run: interlock.Run{ID: "run_1", Agent: "claude", Status: interlock.RunCompleted}},
			"run_1 · claude · completed"}},
		interlock.EventLost: {{auditlog.LossRecord{Agent: "payer", Did: "backup", Backup: "second", Why: "has not been heard for 1m0s"},
			"payer · backup · stands in: second · has not been heard for 1m0s"}},
		interlock.EventCheckpoint: {{auditlog.CheckpointRecord{Run: "run_1", Agent: "claude", Number: 2}, "run_1 · claude · number 2"}},
		interlock.EventRunPaused:  {{auditlog.RunPausedRecord{Run: interlock.Run{ID: "run_1", Agent: "claude", Task: "tidy"}}, "run_1 · claude · tidy"}},
		interlock.EventRunChanged: {{auditlog.RunChangedRecord{Run: "run_1", Accepted: "sha256:01", Order: order},
			"run_1 · constraints sha256:01 · approve-tool · notes · olga · read it"}},
		interlock.EventRunBound: {{auditlog.BindingRecord{Run: "run_1", Session: "s1"}, "run_1 · s1"}},
		interlock.EventMessage: {
			{auditlog.MessageRecord{What: "sent", Message: interlock.Message{ID: "msg_1", From: "claude", To: "builder", Type: "bill"}},
				"msg_1 · claude · builder · bill · sent"},
			{auditlog.MessageRecord{What: "refused", Message: interlock.Message{From: "claude", To: "builder", Type: "bill"},
				Violation: &interlock.Violation{Agent: "claude", At: "/amount", Why: "is missing"}},
				"claude · builder · bill · refused · claude · /amount · is missing"}},
		interlock.EventTurn: {{auditlog.TurnRecord{Run: "run_1", Conversation: "prices", Turn: 10, Most: 10, Decides: "olga"},
			"run_1 · prices · turn 10 of 10 · decided by olga"}},
		interlock.EventPlan: {{auditlog.PlanRecord{Plan: interlock.Plan{ID: "pln_1", Run: "run_1", Status: interlock.PlanAccepted, By: "olga"}},
			"pln_1 · run_1 · accepted · olga"}},
		interlock.EventCommitment: {{auditlog.UnlockRecord{Commitment: ledger.CommitmentBody{Name: "cmt_1", Rule: "claim", Says: "pay"}, Order: order},
			"cmt_1 · claim · pay · approve-tool · notes · olga · read it"}},
		interlock.EventActionRequest: {{auditlog.ActionRecord{Request: "act_1", Action: upload, To: interlock.ActionPending, Why: "v2", Order: &order},
			"act_1 · code_upload · agent:claude · pending · v2 · approve-tool · notes · olga · read it"}},
		interlock.EventVote: {{auditlog.ActionRecord{Request: "act_1", Action: upload, Vote: "reject", Why: "no tests"},
			"act_1 · code_upload · agent:claude · reject · no tests"}},
		interlock.EventActionStatus: {{auditlog.ActionRecord{Request: "act_1", Action: upload, From: "pending", To: "approved"},
			"act_1 · code_upload · agent:claude · pending to approved"}},
		interlock.EventExecuted: {{auditlog.ActionRecord{Request: "act_1", Action: upload, From: "executing", To: "executed"},
			"act_1 · code_upload · agent:claude · executing to executed"}},
		interlock.EventOverride: {{auditlog.ActionRecord{Request: "act_1", Action: upload, Why: "a leak"},
			"act_1 · code_upload · agent:claude · a leak"}},
		interlock.EventSafetyOverride: {{auditlog.ActionRecord{Request: "act_1", Action: upload, Why: "the release waits"},
			"act_1 · code_upload · agent:claude · the release waits"}},
		interlock.EventReview: {{auditlog.ActionRecord{Request: "act_2", Action: upload, Why: "ratified"},
			"act_2 · code_upload · agent:claude · ratified"}},
		interlock.EventReviewOverdue: {{auditlog.ActionRecord{Request: "act_2", Action: upload, Why: "late"},
			"act_2 · code_upload · agent:claude · late"}},
		interlock.EventPause: {{auditlog.HoldRecord{Name: "system:intake", Order: &order},
			"system:intake · approve-tool · notes · olga · read it"}},
		interlock.EventResume: {{auditlog.HoldRecord{Name: "system:intake", Order: &order},
			"system:intake · approve-tool · notes · olga · read it"}},
		interlock.EventConsent: {{auditlog.ConsentRecord{Consent: privacy.Consent{Terms: privacy.Terms{ID: "c1", Tier: "high"}, Subject: "u-1"},
			Order: &order}, "u-1 · high · c1 · approve-tool · notes · olga · read it"}},
		interlock.EventConsentRevoked: {{auditlog.ConsentRecord{Consent: privacy.Consent{Terms: privacy.Terms{ID: "c1", Tier: "high"}, Subject: "u-1"},
			Request: "act_1"}, "u-1 · high · c1 · act_1"}},
		interlock.EventPersonalKept: {{auditlog.KeptRecord{Kept: "pd_1", Subject: "u-1", Tier: "high"}, "pd_1 · u-1 · high"}},
		interlock.EventDataRequest: {{auditlog.DataRequestRecord{Subject: "u-1", Wants: "export", Order: order},
			"u-1 · export · approve-tool · notes · olga · read it"}},
		interlock.EventDataDelete: {{auditlog.DataRequestRecord{Subject: "u-1", Wants: "delete", Request: "act_1", Order: order},
			"u-1 · delete · act_1 · approve-tool · notes · olga · read it"}},
		interlock.EventDeletedPersonal: {{auditlog.DeletionRecord{Subject: "u-1", Request: "act_1", Texts: 2, Facts: 3}, "u-1 · 2 texts, 3 facts · act_1"}},
		interlock.EventTokenIssued:     {{auditlog.TokenRecord{Operation: "delete_element", Danger: interlock.DangerDestructive}, "delete_element"}},
		interlock.EventTokenValidated:  {{auditlog.TokenRecord{Operation: "delete_element"}, "delete_element"}},
		interlock.EventTokenRejected:   {{auditlog.TokenRecord{Operation: "delete_element", Code: "EXPIRED"}, "delete_element · EXPIRED"}},
		interlock.EventTokenRevoked:    {{auditlog.TokenRecord{Operation: "delete_element"}, "delete_element"}},
	}
	for _, kind := range interlock.EventTypes() {
		if auditlog.IsDecision(kind) {
			continue
		}
		if len(told[kind]) == 0 {
			t.Errorf("nobody says how a %s is told", kind)
		}
		for _, one := range told[kind] {
			payload, err := one.record.Payload()
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if got := auditlog.Telling(auditlog.Event{Type: kind, Payload: payload}); got != one.want {
				t.Errorf("%s is told as\n%q, want\n%q", kind, got, one.want)
			}
		}
	}
	for payload, want := range map[string]string{
		`{"colour":"red","n":-4,"sure":true,"a":{"b":1},"z":"later"}`: "colour red · n -4 · sure true",
		`{}`: "of a kind to come", `[1]`: "of a kind to come", `{"a":{}}`: "of a kind to come", "{": "of a kind to come",
	} {
		if got := auditlog.Telling(auditlog.Event{Type: "OF_A_KIND_TO_COME", Payload: []byte(payload)}); got != want {
			t.Errorf("%s is told as %q, want %q", payload, got, want)
		}
	}
}

func TestActionLine(t *testing.T) {
	for want, action := range map[string]interlock.Action{
		"ls -l":                {Kind: interlock.KindShell, Tool: "Bash", Input: "ls -l"},
		"Write /etc/passwd":    {Kind: interlock.KindFile, Tool: "Write", Arguments: json.RawMessage(`{"path":"/etc/passwd"}`)},
		"GET https://x.org/":   {Kind: interlock.KindHTTP, Arguments: json.RawMessage(`{"method":"GET","url":"https://x.org/"}`)},
		`send_mail {"to":"a"}`: {Kind: interlock.KindTool, Tool: "send_mail", Arguments: json.RawMessage(`{"to":"a"}`)},
		"send_mail":            {Kind: interlock.KindTool, Tool: "send_mail"},
	} {
		if got := auditlog.ActionLine(action); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
