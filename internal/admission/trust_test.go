package admission_test

import (
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/quorum"
	"interlock/internal/store/storagetest"
	"interlock/spec"
)

// TestTrustIsClimbedAndEnds: an order raises trust by one level and no more, a replayed one not again, and a certificate
// leaves the level below it when it has expired.
func TestTrustIsClimbedAndEnds(t *testing.T) {
	spec.Covers(t, "AQL-T-1", "AQL-T-2", "AQL-T-4")
	h := newHouse(t)
	h.operator("adam", "admin")
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Trust: interlock.TrustValidated, Created: h.now}); err != nil {
		t.Fatal(err)
	}
	order := func(verb interlock.Verb, level interlock.Trust, until time.Time) interlock.Order {
		o := interlock.Order{ID: "ord_" + level.String(), Verb: verb, Subject: "claude", Detail: governance.TrustDetail(level, until),
			Reason:   "an audit",
			Operator: "adam", At: h.now, Expires: h.now.Add(5 * time.Minute), Method: interlock.MethodSSH, Key: "fingerprint of s", Signature: "s"}
		o.Statement = quorum.OrderStatement(o)
		return o
	}
	level := func() interlock.Trust {
		standing, err := h.Ground(t.Context(), storagetest.Everything()...)
		if err != nil {
			t.Fatal(err)
		}
		return standing.Agents["claude"].TrustAt(h.now)
	}
	reviewed := order(interlock.VerbPromote, interlock.TrustCommunityReviewed, time.Time{})
	for _, refused := range []interlock.Order{
		order(interlock.VerbPromote, interlock.TrustCertified, h.now.Add(time.Hour)),
		order(interlock.VerbPromote, interlock.TrustGenerated, time.Time{}),
		order(interlock.VerbDemote, interlock.TrustCommunityReviewed, time.Time{}),
		order(interlock.VerbUnblock, interlock.TrustCommunityReviewed, time.Time{}),
		{Verb: interlock.VerbPromote, Subject: "claude", Detail: "community_reviewed", Reason: "an audit", Operator: "adam"}, // unsigned
	} {
		if _, err := h.ChangeTrust(t.Context(), refused); err == nil || level() != interlock.TrustValidated {
			t.Errorf("%s %s: %v, the agent is %s", refused.Verb, refused.Detail, err, level())
		}
	}
	if _, err := h.ChangeTrust(t.Context(), reviewed); err != nil || level() != interlock.TrustCommunityReviewed {
		t.Fatalf("%v, the agent is %s", err, level())
	}
	if _, err := h.ChangeTrust(t.Context(), reviewed); err == nil {
		t.Error("the same order counted twice")
	}
	if _, err := h.ChangeTrust(t.Context(),
		order(interlock.VerbPromote, interlock.TrustCertified, h.now.Add(time.Hour))); err != nil || level() != interlock.TrustCertified {
		t.Fatalf("%v, the agent is %s", err, level())
	}
	h.now = h.now.Add(time.Hour)
	if level() != interlock.TrustCommunityReviewed {
		t.Errorf("an hour later the agent is %s", level())
	}
	untested := order(interlock.VerbDemote, interlock.TrustUntested, time.Time{})
	unsigned := untested
	unsigned.Method, unsigned.Key, unsigned.Statement, unsigned.Signature = "", "", "", ""
	if _, err := h.ChangeTrust(t.Context(), unsigned); err == nil {
		t.Error("an order that nobody signed lowered trust")
	}
	if _, err := h.ChangeTrust(t.Context(), untested); err != nil || level() != interlock.TrustUntested {
		t.Fatalf("%v, the agent is %s", err, level())
	}
	if a := h.propose("ls"); a.Answer.Allowed() {
		t.Errorf("an untested agent may act: %+v", a)
	}
	changes := 0
	for _, kind := range h.entries() {
		if kind == interlock.EventTrust {
			changes++
		}
	}
	if changes != 3 {
		t.Errorf("%d changes are recorded, want 3", changes)
	}
}
