package admission_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/admission/judging"
	"interlock/internal/admission/pinning"
	"interlock/internal/admission/runs"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
)

// staged makes what an order of each verb is about, and the order. A verb that is missing here fails the test.
var staged = map[interlock.Verb]func(t *testing.T) (*house, func(operator string) quorum.Given){
	interlock.VerbUnblock: ofChallenge, interlock.VerbNewCode: ofChallenge,
	interlock.VerbPromote: ofAgent("validated"), interlock.VerbDemote: ofAgent("untested"),
	interlock.VerbGrant: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, func(operator string) quorum.Given { return quorum.OfGrant(h.grants(operator)) }
	},
	interlock.VerbEndGrant: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		h.employ("giver", quorum.RoleOperator)
		if _, err := h.Grant(t.Context(), h.grants("giver")); err != nil {
			t.Fatal(err)
		}
		return h, h.about("grt_1", "")
	},
	interlock.VerbSuppress: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, func(operator string) quorum.Given {
			return quorum.OfSuppression(ordered(h, func(s *interlock.Suppression) { s.Operator = operator }))
		}
	},
	interlock.VerbLift: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		h.employ("olga", quorum.RoleOperator)
		if _, err := h.Suppress(t.Context(), ordered(h)); err != nil {
			t.Fatal(err)
		}
		return h, h.about("sup_1", "")
	},
	interlock.VerbApproveTool: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		h.examine("sha256:aa", tool("read", "Reads."))
		h.examine("sha256:aa", tool("read", "Reads everything."))
		_, detail, err := pinning.Approvable(h.standing(), "files.read")
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about("files.read", detail)
	},
	interlock.VerbQuarantineTool: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		h.examine("sha256:aa", tool("read", "Reads."), tool("list", "Lists."))
		return h, h.about("files", "")
	},
	interlock.VerbSignTools: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		h.examine("sha256:aa", tool("read", "Reads."), tool("list", "Lists."))
		_, detail, err := pinning.Signable(h.standing(), "files")
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about("files", detail)
	},
	interlock.VerbReadSealed: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about("replay", "")
	},
	interlock.VerbPromoteRules: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t, candidates)
		return h, h.about(string(h.begin(noTouching).Ruleset), string(h.Rules().Digest()))
	},
	interlock.VerbAddOperator: ofPerson("nora", governance.OperatorTerms{Role: quorum.RoleAuditor, SSHKey: "key of nora"}),
	interlock.VerbRevoke:      ofPerson("a-superadmin", governance.OperatorTerms{}),
	interlock.VerbAddAgent: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		detail, err := governance.Detail(governance.AgentTerms{Trust: interlock.TrustValidated, Token: governance.BindToken("hash")})
		if err != nil {
			t.Fatal(err)
		}
		return h, func(operator string) quorum.Given {
			given := h.about("builder", detail)(operator)
			given.Aside = "hash"
			return given
		}
	},
	interlock.VerbChangeOperator: func(t *testing.T) (*house, func(string) quorum.Given) { // of one's own, which every role may
		h := newHouse(t)
		detail,
			err := governance.Detail(governance.OperatorTerms{Enrolment: &interlock.Enrolment{Hash: "x", Expires: h.now.Add(time.Hour)}})
		if err != nil {
			t.Fatal(err)
		}
		return h, func(operator string) quorum.Given { return h.about(operator, detail)(operator) }
	},
	interlock.VerbWeakKeys: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about(core.WeakKeysSubject, core.WeakKeysMay)
	},
	interlock.VerbAdoptRules: func(t *testing.T) (*house, func(string) quorum.Given) {
		own := map[string][]byte{"team.yaml": []byte(noTouching)}
		h := newHouse(t, func(c *admission.Config) { c.Own = own })
		digest, err := governance.DocumentsDigest(governance.Documents(own))
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about(string(h.Rules().Digest()), string(digest))
	},
	interlock.VerbAdoptGround: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t, func(c *admission.Config) {
			c.Grounds = func(string) (interlock.Digest, error) { return "sha256:01", nil }
		})
		return h, func(operator string) quorum.Given {
			given := h.about("sha256:01", judging.GroundDetail("ours"))(operator)
			given.Aside = "ours"
			return given
		}
	},
	interlock.VerbAdoptSettings: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		detail, _, err := governance.SaySettings(map[string]json.RawMessage{"mode": json.RawMessage(`"monitoring"`)}, public)
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about(governance.SettingsSubject, detail)
	},
	interlock.VerbMend: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about(interlock.MendSubject, string(ledger.PlanDigest(nil)))
	},
	interlock.VerbBeginRollback: func(t *testing.T) (*house, func(string) quorum.Given) {
		h, detail := rollingBack(t)
		return h, h.about("event:"+badEvent, detail)
	},
	interlock.VerbTellRollback: func(t *testing.T) (*house, func(string) quorum.Given) {
		h, detail := rollingBack(t)
		begun := h.begun(t, detail)
		return h, h.about(begun+"/1", ledger.StepDone)
	},
	interlock.VerbHold: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about("ruleset:sha256:01", "")
	},
	interlock.VerbClearHold: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		if err := h.Hold(t.Context(), ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:01", Why: "it is not there"}); err != nil {
			t.Fatal(err)
		}
		return h, h.about("ruleset:sha256:01", "")
	},
	interlock.VerbTriage: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		event, err := h.ReportIncident(t.Context(), interlock.Requester{Agent: "cli"},
			containment.IncidentReport{Title: "a way past", Text: "as follows", Severity: "high"})
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about(event, containment.TriageConfirmed)
	},
	interlock.VerbKill: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about(interlock.KillSubject, string(ledger.KillHard))
	},
	interlock.VerbReleaseKill: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		stop, err := h.Kill(t.Context(), ledger.KillHard, "now", "observer")
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about(interlock.KillSubject, containment.KillID(stop))
	},
	interlock.VerbTightenPhase: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about("agent:claude", "A")
	},
	interlock.VerbLoosenPhase: inPhase(phase.Alternate, "P proof=INC-7"),
	interlock.VerbRootCause:   inPhase(phase.Emergency, ""),
	interlock.VerbTripBreaker: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about("agent:claude", "")
	},
	interlock.VerbResetBreaker: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		if err := h.Tighten(t.Context(), containment.Tightening{Scope: ledger.HoldBreaker, Key: "agent:claude",
			Trigger: phase.TriggerCost,
			Why:     "it cost too much"}); err != nil {
			t.Fatal(err)
		}
		h.now = h.now.Add(time.Hour)
		return h, h.about("agent:claude", "")
	},
	interlock.VerbChangeRun: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		run, err := h.register("claude", interlock.RunRequest{Box: 60})
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about(run.ID, runs.ExtendDetail(time.Hour))
	},
	interlock.VerbSecond: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about("sha256:01", "")
	},
	interlock.VerbUnlockCommitment: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := team(t, claims)
		for n, choice := range []string{"pay", "refuse", "pay", "refuse"} {
			h.propose("", in("planner", "s1"), func(p *admission.Case) { p.Action = verdict(17, choice, string(rune(97+n))) })
		}
		return h, h.about(h.committed()[0].Name, "")
	},
	interlock.VerbRequest: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := council(t)
		h.employ("another-admin", quorum.RoleAdmin)
		detail, err := governance.Detail(governance.RequestTerms{Target: "on"})
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about("maintenance_toggle", detail)
	},
	interlock.VerbVote: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := council(t)
		h.employ("a-admin", quorum.RoleAdmin)
		r := h.asks("maintenance_toggle", "on", "member-0")
		return h, h.about(r.ID, h.ballot(r.ID, quorum.VoteApprove, "a-admin").Detail)
	},
	interlock.VerbWithdraw: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := council(t)
		h.employ("a-viewer", quorum.RoleViewer)
		return h, h.about(h.asks("maintenance_toggle", "on", "a-viewer").ID, "")
	},
	interlock.VerbExecute: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := council(t)
		r := h.asks("maintenance_toggle", "on", "member-0")
		h.votes(r.ID, quorum.VoteApprove, "ada")
		return h, h.about(r.ID, string(interlock.ActionExecuting))
	},
	interlock.VerbPause: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about(interlock.PauseSubject, "")
	},
	interlock.VerbResume: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := council(t)
		if _, err := h.CarryOut(t.Context(), h.signs(interlock.VerbPause, interlock.PauseSubject, "", "x", "ada")); err != nil {
			t.Fatal(err)
		}
		return h, h.about(interlock.PauseSubject, "")
	},
	interlock.VerbConsent: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t, vaulted)
		return h, h.about("u-1", consentDetail(t, h.now, "high", "yes"))
	},
	interlock.VerbRevokeConsent: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t, vaulted)
		h.employ("giver", quorum.RoleOperator)
		return h, h.about(h.consents("u-1", "medium", "giver"), "")
	},
	interlock.VerbDataRequest: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := council(t, vaulted)
		h.consents("u-1", "medium", "ada")
		return h, h.about("u-1", governance.DataDelete)
	},
	interlock.VerbReplay: func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		return h, h.about("everything", string(quorum.ReplayAudit))
	},
}

func inPhase(p phase.Phase, detail string) func(t *testing.T) (*house, func(string) quorum.Given) {
	return func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		if err := h.Tighten(t.Context(), containment.Tightening{Scope: ledger.HoldSystem, Key: phase.SystemKey, To: p,
			Trigger: phase.TriggerSignal, Why: "an anomaly"}); err != nil {
			t.Fatal(err)
		}
		return h, h.about("system:all", detail)
	}
}

func ofChallenge(t *testing.T) (*house, func(string) quorum.Given) {
	h, _, first := blocked(t)
	h.now = h.now.Add(time.Second)
	return h, h.about(first.Challenge, "")
}

func ofAgent(level string) func(t *testing.T) (*house, func(string) quorum.Given) {
	return func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Trust: interlock.TrustGenerated, Created: h.now}); err != nil {
			t.Fatal(err)
		}
		return h, h.about("claude", level)
	}
}

func ofPerson(name string, terms governance.OperatorTerms) func(t *testing.T) (*house, func(string) quorum.Given) {
	return func(t *testing.T) (*house, func(string) quorum.Given) {
		h := newHouse(t)
		detail, err := governance.Detail(terms)
		if err != nil {
			t.Fatal(err)
		}
		return h, h.about(name, detail)
	}
}

// about is an order of a verb that is filled in later.
func (h *house) about(subject, detail string) func(operator string) quorum.Given {
	return func(operator string) quorum.Given {
		return quorum.OfOrder(interlock.Order{ID: "ord_1", Subject: subject, Detail: detail, Reason: "looked at it", Operator: operator,
			At: h.now, Expires: h.now.Add(5 * time.Minute)}, interlock.Requester{})
	}
}

// give has an order carried out, or a replay begun.
func (h *house) give(given quorum.Given) error {
	if given.Verb == interlock.VerbReplay || given.Verb == interlock.VerbForceContinue {
		_, _, err := h.BeginReplay(h.t.Context(), quorum.ReplayMode(given.Detail), given.Subject, []interlock.Order{given.Order})
		return err
	}
	_, err := h.CarryOut(h.t.Context(), given)
	return err
}

// elsewhere are the verbs that have no deed of their own, and why.
var elsewhere = map[interlock.Verb]string{
	interlock.VerbForceContinue: "comes beside an order to replay, see TestCheckReplay",
}

// TestEveryOrder: whatever the verb, an order counts once and from whom the table names; a revoked operator's, one with another
// role, one that somebody else signed, that has expired, or that was given already changes nothing and leaves its event.
func TestEveryOrder(t *testing.T) {
	for _, verb := range quorum.Verbs() {
		stage, known := staged[verb.Name]
		if elsewhere[verb.Name] != "" {
			continue
		}
		if !known {
			t.Errorf("%s: nothing is staged to give it about", verb.Name)
			continue
		}
		t.Run(string(verb.Name), func(t *testing.T) { everyOrder(t, verb, stage) })
	}
}

func everyOrder(t *testing.T, verb quorum.Verb, stage func(t *testing.T) (*house, func(operator string) quorum.Given)) {
	h, of := stage(t)
	for _, role := range quorum.Roles() {
		h.employ("a-"+role, role)
	}
	h.employ("gone", quorum.RoleAdmin)
	if err := h.PutOperator(t.Context(), interlock.OperatorRecord{Name: "gone", Role: quorum.RoleAdmin, SSHKey: "key of gone", Created: h.now,
		Revoked: h.now}); err != nil {
		t.Fatal(err)
	}
	by := func(operator string) quorum.Given {
		given := of(operator)
		given.Verb = verb.Name
		if verb.Person {
			return given.Signed(interlock.MethodPasskey, "fingerprint of "+operator+"'s", operator+"'s")
		}
		return given.Signed(interlock.MethodSSH, "fingerprint of "+operator+"'s", operator+"'s")
	}
	refused := func(what string, given quorum.Given) {
		t.Helper()
		before, stands := len(h.entries()), image(t, h)
		if err := h.give(given); codeOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff([]interlock.EventType{interlock.EventApprovalRefused}, h.entries()[before:]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(stands, image(t, h)); diff != "" {
			t.Errorf("%s changed what stands (-before +after):\n%s", what, diff)
		}
	}
	refused("a revoked operator's", by("gone"))
	refused("nobody's", by("nobody"))
	right := ""
	for _, role := range quorum.Roles() {
		if verb.Role(role) && right == "" && role != quorum.RoleCouncil { // who answers nothing alone
			right = "a-" + role
		} else if !verb.Role(role) {
			refused("of the role "+role, by("a-"+role))
		}
	}
	refused("unsigned", by(right).Signed("", "", ""))
	foreign := by(right)
	refused("signed by somebody else", foreign.Signed(foreign.Method, "fingerprint of "+right+"'s", "somebody else's"))
	refused("with other words than were signed", retold(by(right)))
	late := by(right)
	h.now = late.Expires
	refused("expired", late)
	if verb.Person {
		soft := by(right)
		refused("with a key in software", soft.Signed(interlock.MethodSSH, soft.Key, soft.Signature))
	}
	if verb.Reason {
		silent := by(right)
		silent.Reason = " "
		refused("without a reason", silent)
	}
	before := len(h.entries())
	if err := h.give(by(right)); err != nil {
		t.Fatalf("in order: %v", err)
	}
	if types := h.entries()[before:]; len(types) == 0 || types[0] != verb.Event {
		t.Errorf("carried out, it leaves %v; want %s", types, verb.Event)
	}
	refused("again", by(right))
}

// retold is an order with other words than were signed.
func retold(given quorum.Given) quorum.Given {
	given.Statement += " "
	switch terms := given.Terms.(type) {
	case interlock.Grant:
		terms.Statement = given.Statement
		return quorum.OfGrant(terms)
	case interlock.Suppression:
		terms.Statement = given.Statement
		return quorum.OfSuppression(terms)
	}
	return given
}

// image is all that stands, but for the log's own version.
func image(t *testing.T, h *house) string {
	t.Helper()
	standing := h.standing()
	standing.Version = 0
	text, err := json.Marshal(standing)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
