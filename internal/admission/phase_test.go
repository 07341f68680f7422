package admission_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
	"interlock/rules"
	"interlock/spec"
)

// atTier has a ruleset say at which tier agents act.
func atTier(t *testing.T, tier int) func(*admission.Config) {
	t.Helper()
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(),
		map[string][]byte{"maso.yaml": fmt.Appendf(nil, "maso: {tier: %d, first_use: noted}", tier)})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *admission.Config) { c.Rules = set }
}

func system(to phase.Phase) containment.Tightening {
	return containment.Tightening{Scope: ledger.HoldSystem, Key: phase.SystemKey, To: to, Trigger: phase.TriggerSignal,
		Why: "an anomaly"}
}

func (h *house) tighten(t containment.Tightening) {
	h.t.Helper()
	if err := h.Tighten(h.t.Context(), t); err != nil {
		h.t.Fatal(err)
	}
}

// phaseOf is the phase that something is in, and the hold that says so.
func (h *house) phaseOf(name string) (phase.Phase, ledger.HoldBody) {
	h.t.Helper()
	held, _ := h.standing().Others[ledger.Hold][name].(ledger.HoldBody)
	return held.At(h.now).Phase, held
}

// moves gives an order about a phase as an operator, who signs it.
func (h *house) moves(verb interlock.Verb, on, detail, operator string) error {
	h.t.Helper()
	given := quorum.OfOrder(interlock.Order{ID: fmt.Sprintf("ord_%s_%s_%d", verb, detail, len(h.log())), Verb: verb, Subject: on, Detail: detail,
		Reason: "looked at it", Operator: operator, At: h.now, Expires: h.now.Add(5 * time.Minute)}, interlock.Requester{})
	_, err := h.CarryOut(h.t.Context(), given.Signed(interlock.MethodSSH, "fingerprint of "+operator+"'s", operator+"'s"))
	return err
}

func rule(a interlock.Answer) string {
	if f := a.Decisive(); f != nil {
		return f.Rule
	}
	return ""
}

func codex(p *admission.Case) { p.Requester.Agent = "codex" }

// TestPhases: an agent in alternate does nothing, and what it had asked expires; everybody else reads on and is asked about changes,
// which no standing yes answers; and each change of phase leaves an event that names what stood before.
func TestPhases(t *testing.T) {
	spec.Covers(t, "EC-P-4", "EC-P-8")
	h := newHouse(t, atTier(t, 2))
	h.employ("olga", quorum.RoleOperator)
	if _, err := h.Grant(t.Context(), h.grants("olga", func(g *interlock.Grant) {
		g.Agent, g.Principal, g.Kind, g.Tool, g.Rules, g.Times, g.Left = "codex", "alice", interlock.KindShell, "touch *", nil, 5, 5
	})); err != nil {
		t.Fatal(err)
	}
	asked := h.propose("git push --force origin feature")
	if asked.Request == "" {
		t.Fatalf("%+v", asked)
	}
	h.tighten(containment.Tightening{Scope: ledger.HoldAgent, Key: "claude", To: phase.Alternate, Trigger: phase.TriggerSignal,
		Why: "it drifts"})
	if a := h.propose("ls"); a.Answer != interlock.Deny || rule(a) != "phase.isolated" || !strings.Contains(a.Decisive().Reason,
		"phase A (alternate) on agent:claude since 2026-11-20T12:00:00Z: ") {
		t.Errorf("isolated: %v %+v", a.Answer, a.Findings)
	}
	if r := h.requestNow(asked.Request); r.Status != interlock.RequestExpired {
		t.Errorf("what it had asked is %s", r.Status)
	}
	if a := h.propose("ls", codex); a.Answer != interlock.Allow {
		t.Errorf("others read: %v %+v", a.Answer, a.Findings)
	}
	a := h.propose("touch a", codex)
	if a.Verdict != interlock.Ask || rule(a) != "phase.change" || a.Decision.Grant != "" || a.Request == "" {
		t.Fatalf("others change: %v by grant %q, %+v", a.Verdict, a.Decision.Grant, a.Findings)
	}
	if err := h.approve(a.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("touch a", codex); a.Answer != interlock.Allow {
		t.Errorf("with a person's yes: %v %+v", a.Answer, a.Findings)
	}
	names := map[string]bool{}
	for _, e := range h.log() {
		if e.Type != interlock.EventPhase {
			continue
		}
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		var says struct{ Hold, From, To, Trigger, Authoriser, Snapshot string }
		if err := json.Unmarshal(event.Payload, &says); err != nil || says.From != "P" || says.To != "A" || says.Authoriser != "interlock" ||
			says.Trigger == "" || event.Snapshots[auditlog.SnapshotPace] != says.Snapshot {
			t.Errorf("%+v, %v", says, err)
		}
		text, _, err := h.store.Blob(t.Context(), interlock.Digest(says.Snapshot))
		if err != nil || !strings.Contains(string(text), asked.Request) || !strings.Contains(string(text), auditlog.PaceSchema) {
			t.Errorf("what stood before %s is %s, %v", says.Hold, text, err)
		}
		names[says.Hold] = true
	}
	if !names["agent:claude"] || !names["system:all"] || len(h.alerts) != 2 {
		t.Errorf("%v went elsewhere, and people were told %q", names, h.alerts)
	}
	h.entries()
}

// TestAYesOfBefore: a yes that was given under another phase was given without knowing of it, and counts for nothing.
func TestAYesOfBefore(t *testing.T) {
	h := newHouse(t)
	asked := h.propose("git push --force origin feature")
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Minute)
	h.tighten(system(phase.Alternate))
	if a := h.propose("git push --force origin feature"); a.Answer == interlock.Allow || a.Request == asked.Request {
		t.Errorf("%v by %s", a.Answer, a.Approval)
	}
}

// TestContingency: one named agent goes on, each of its actions is asked about, and it addresses nobody. Naming one is a person's order.
func TestContingency(t *testing.T) {
	spec.Covers(t, "EC-P-5")
	h := newHouse(t, atTier(t, 2))
	h.employ("olga", quorum.RoleOperator)
	h.employ("adam", quorum.RoleAdmin)
	h.tighten(system(phase.Contingency))
	if a := h.propose("ls"); a.Answer != interlock.Deny || rule(a) != "phase.suspended" {
		t.Errorf("nobody is named: %v %s", a.Answer, rule(a))
	}
	if err := h.moves(interlock.VerbLoosenPhase, "system:all", "C agent=claude", "olga"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("an operator lets one go on: %v", err)
	}
	if err := h.moves(interlock.VerbTightenPhase, "system:all", "C agent=claude", "olga"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("that tightens nothing: %v", err)
	}
	if err := h.moves(interlock.VerbLoosenPhase, "system:all", "C agent=claude", "adam"); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{"ls": "phase.every", "mail -s hi bob@example.com < a.txt": "phase.message"} {
		a := h.propose(command)
		if rule(a) != want || (a.Verdict == interlock.Ask) != (want == "phase.every") {
			t.Errorf("%s: %v %+v", command, a.Verdict, a.Findings)
		}
	}
	if a := h.propose("ls", codex); a.Answer != interlock.Deny || rule(a) != "phase.suspended" {
		t.Errorf("another agent: %v %s", a.Answer, rule(a))
	}
}

// TestEmergency: everything is stopped and stays so, whatever time passes and whoever is asked, until the root cause is named and a
// second person answers for it.
func TestEmergency(t *testing.T) {
	spec.Covers(t, "EC-P-6")
	h := newHouse(t, atTier(t, 1))
	h.employ("adam", quorum.RoleAdmin)
	h.employ("sue", quorum.RoleSuperadmin)
	h.tighten(system(phase.Emergency))
	for range 3 {
		if a := h.propose("ls"); a.Answer != interlock.Halt || rule(a) != "phase.emergency" {
			t.Errorf("%v %s", a.Answer, rule(a))
		}
		h.now = h.now.Add(30 * 24 * time.Hour)
		if _, err := h.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, t2 := range []phase.Phase{phase.Alternate, phase.Contingency, phase.Primary} {
		h.tighten(system(t2))
	}
	if p, _ := h.phaseOf("system:all"); p != phase.Emergency {
		t.Fatalf("a machine made it %s", p)
	}
	leave := func(operator, detail string) error {
		return h.moves(interlock.VerbLoosenPhase, "system:all", detail, operator)
	}
	if err := leave("sue", "P proof=INC-7"); codeOf(err) != interlock.CodeConflict || !strings.Contains(err.Error(), "what this emergency came of") {
		t.Errorf("without a cause: %v", err)
	}
	if err := h.moves(interlock.VerbRootCause, "system:all", "", "sue"); err != nil {
		t.Fatal(err)
	}
	if err := leave("sue", "P proof=INC-7"); codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), "another person") {
		t.Errorf("both words are one person's: %v", err)
	}
	if err := h.moves(interlock.VerbRootCause, "system:all", "", "adam"); err != nil {
		t.Fatal(err)
	}
	if err := leave("adam", "P proof=INC-7"); codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), "superadmin or council") {
		t.Errorf("an admin answers for the risk: %v", err)
	}
	if err := leave("sue", "P"); codeOf(err) != interlock.CodeInvalid || !strings.Contains(err.Error(), "tainted") {
		t.Errorf("without a proof: %v", err)
	}
	if err := leave("sue", "P proof=INC-7"); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("ls"); a.Answer != interlock.Allow {
		t.Errorf("afterwards: %v %+v", a.Answer, a.Findings)
	}
}

// TestEmergencyOnOnesOwnMachine: where no tier is in force an admin leaves an emergency alone, with a proof.
func TestEmergencyOnOnesOwnMachine(t *testing.T) {
	h := newHouse(t)
	h.employ("adam", quorum.RoleAdmin)
	h.tighten(system(phase.Emergency))
	if err := h.moves(interlock.VerbLoosenPhase, "system:all", "P", "adam"); codeOf(err) != interlock.CodeInvalid {
		t.Errorf("without a proof: %v", err)
	}
	if err := h.moves(interlock.VerbLoosenPhase, "system:all", "P proof=it was a drill", "adam"); err != nil {
		t.Error(err)
	}
}

// TestPhaseRace: of writes that are decided while the phase changes, none is in the log behind the change as one that was allowed: it
// loses the race and is decided again, in whichever process.
func TestPhaseRace(t *testing.T) {
	spec.Covers(t, "EC-P-9")
	h := newHouse(t)
	processes := []*admission.Admission{h.Admission, again(t, h, sameRules(h))}
	var mu sync.Mutex
	var answers []interlock.Answer
	var all sync.WaitGroup
	stop, begun := make(chan struct{}), make(chan struct{})
	var once sync.Once
	for n := range 8 {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				a := processes[n%2].Propose(t.Context(), interlock.Proposal{CanAsk: true,
					Action:    interlock.Action{Kind: interlock.KindShell, Input: fmt.Sprintf("touch f%d-%d", n, i), Dir: "/repo"},
					View:      interlock.View{Workspace: "/repo"},
					Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: fmt.Sprint("run-", n)}})
				mu.Lock()
				answers = append(answers, a)
				if len(answers) == 40 {
					once.Do(func() { close(begun) })
				}
				enough := len(answers) > 4000
				mu.Unlock()
				if enough || a.Answer != interlock.Allow {
					return
				}
			}
		})
	}
	<-begun
	h.tighten(system(phase.Alternate))
	all.Wait()
	close(stop)
	at := int64(-1)
	for _, e := range h.log() {
		if e.Type == interlock.EventPhase {
			at = e.Index
		}
	}
	before, after := 0, 0
	for _, a := range answers {
		switch {
		case a.Event == "":
			t.Errorf("an error: %+v", a.Decisive())
		case a.Answer == interlock.Allow && a.Index > at:
			t.Errorf("entry %d allows, and the phase has changed with entry %d", a.Index, at)
		case a.Answer == interlock.Allow:
			before++
		case rule(a) != "phase.change":
			t.Errorf("%v %+v", a.Answer, a.Findings)
		default:
			after++
		}
	}
	if before < 40 || after != 8 {
		t.Errorf("%d before and %d after", before, after)
	}
	h.entries()
}

// TestAPhaseThatChangesWhileAWriteIsDecided: the decision is made again from the new one, not refused for having been late.
func TestAPhaseThatChangesWhileAWriteIsDecided(t *testing.T) {
	h := newHouse(t)
	other := again(t, h, sameRules(h))
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		h.store.commit = nil
		if err := other.Tighten(t.Context(), system(phase.Emergency)); err != nil {
			return ledger.Receipt{}, err
		}
		return next()
	}
	if a := h.propose("touch a"); a.Answer != interlock.Halt || rule(a) != "phase.emergency" || a.Event == "" {
		t.Errorf("%v %+v", a.Answer, a.Findings)
	}
}

// TestUnresolved: from 48 hours on an alternate is contingency for whoever decides, also where nothing ran in between; what a server
// records of it comes when it looks.
func TestUnresolved(t *testing.T) {
	spec.Covers(t, "EC-P-7")
	h := newHouse(t, atTier(t, 2))
	h.tighten(system(phase.Alternate))
	h.now = h.now.Add(phase.MaxAlternate - time.Second)
	if n, err := h.Expire(t.Context()); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	if a := h.propose("ls"); a.Answer != interlock.Allow {
		t.Errorf("a second before: %v %s", a.Answer, rule(a))
	}
	h.now = h.now.Add(time.Second)
	h.Admission = again(t, h, sameRules(h))
	a := h.propose("ls")
	if a.Answer != interlock.Deny || rule(a) != "phase.suspended" || !strings.Contains(a.Decisive().Reason, "since 2026-11-22T12:00:00Z") {
		t.Errorf("from then on: %v %+v", a.Answer, a.Findings)
	}
	for want := 1; want >= 0; want-- {
		if n, err := h.Expire(t.Context()); err != nil || n != want {
			t.Errorf("%d were recorded, %v", n, err)
		}
	}
	if p, held := h.phaseOf("system:all"); p != phase.Contingency || held.Trigger != phase.TriggerTimer || h.count(interlock.EventPhase) != 2 {
		t.Errorf("%+v, %d events", held, h.count(interlock.EventPhase))
	}
}

// TestSelfHealBounds: what comes back to alternate a fourth time within a day goes to contingency, in whichever process it was before.
func TestSelfHealBounds(t *testing.T) {
	spec.Covers(t, "EC-T3.3")
	h := newHouse(t, atTier(t, 3))
	h.employ("adam", quorum.RoleAdmin)
	drift := containment.Tightening{Scope: ledger.HoldAgent, Key: "claude", To: phase.Alternate, Trigger: phase.TriggerSignal,
		Why: "it drifts"}
	for n := range 4 {
		h.Admission = again(t, h, sameRules(h))
		h.tighten(drift)
		want := phase.Alternate
		if n == 3 {
			want = phase.Contingency
		}
		if p, held := h.phaseOf("agent:claude"); p != want || (n == 3) != (held.Trigger == phase.TriggerCycles) {
			t.Fatalf("time %d: %+v", n+1, held)
		}
		if n < 3 {
			if err := h.moves(interlock.VerbLoosenPhase, "agent:claude", "P proof=INC-7", "adam"); err != nil {
				t.Fatal(err)
			}
		}
		h.now = h.now.Add(time.Hour)
	}
	if err := h.moves(interlock.VerbLoosenPhase, "agent:claude", "P proof=INC-7", "adam"); err == nil ||
		!strings.Contains(err.Error(), "the one step back is to A (alternate)") {
		t.Errorf("two steps at once: %v", err)
	}
}

// TestScopesOfPhases: a hold is over those of its scope and nobody else, and of several the strictest holds.
func TestScopesOfPhases(t *testing.T) {
	spec.Covers(t, "EC-P-1")
	for name, c := range map[string]struct {
		holds []string
		of    string // the agent
		want  string
	}{
		"nobody's":                  {nil, "claude", ""},
		"another agent's":           {[]string{"agent:other E"}, "claude", ""},
		"another type's":            {[]string{"type:other E"}, "claude", ""},
		"a type's, and it has none": {[]string{"type:builder E"}, "codex", ""},
		"another run's":             {[]string{"run:run-2 E"}, "claude", ""},
		"its type's":                {[]string{"type:builder A"}, "claude", "phase.change"},
		"its run's":                 {[]string{"run:run-1 A"}, "claude", "phase.change"},
		"a layer's":                 {[]string{"layer:judge A"}, "claude", "phase.change"},
		"two layers'":               {[]string{"layer:judge E", "layer:people E"}, "claude", "phase.emergency"},
		"the stricter of two":       {[]string{"system:all A", "agent:claude A"}, "claude", "phase.isolated"},
		"and of three":              {[]string{"agent:claude A", "type:builder E", "run:run-1 C"}, "claude", "phase.emergency"},
	} {
		h := newHouse(t)
		for _, id := range []string{"claude", "codex"} {
			record := interlock.AgentRecord{ID: id, Principal: "alice", Trust: interlock.TrustCommunityReviewed, Created: h.now}
			if id == "claude" {
				record.Type = "builder"
			}
			if err := h.PutAgent(t.Context(), record); err != nil {
				t.Fatal(err)
			}
		}
		for _, hold := range c.holds {
			on, to, _ := strings.Cut(hold, " ")
			scope, key, ok := ledger.Actors(on)
			if !ok {
				t.Fatal(on)
			}
			h.tighten(containment.Tightening{Scope: scope, Key: key, To: phase.Phase(to), Trigger: phase.TriggerSignal, Why: "an anomaly"})
		}
		a := h.propose("touch a", func(p *admission.Case) { p.Requester.Agent = c.of })
		if rule(a) != c.want {
			t.Errorf("%s: %q, %+v", name, rule(a), a.Findings)
		}
		if name == "two layers'" {
			if p, held := h.phaseOf("system:all"); p != phase.Emergency || held.Trigger != phase.TriggerLayers {
				t.Errorf("two layers are in emergency, and the system in %+v", held)
			}
		}
	}
}

// TestMachinesNeverLoosen: whatever machines want, in whichever order and however much time passes, no phase becomes looser.
func TestMachinesNeverLoosen(t *testing.T) {
	spec.Covers(t, "EC-P-2")
	h := newHouse(t, atTier(t, 3))
	on := []string{"agent:claude", "system:all", "layer:judge", "layer:gates", "type:x"}
	rapid.Check(t, func(t *rapid.T) {
		before := map[string]phase.Phase{}
		for _, name := range on {
			before[name], _ = h.phaseOf(name)
		}
		scope, key, _ := ledger.Actors(rapid.SampledFrom(on).Draw(t, "on"))
		want := containment.Tightening{Scope: scope, Key: key, To: rapid.SampledFrom(phase.Phases()).Draw(t, "to"),
			Trigger: phase.TriggerSignal, Why: "an anomaly"}
		if err := h.Tighten(h.t.Context(), want); err != nil {
			t.Fatal(err)
		}
		h.now = h.now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "hours")) * time.Hour)
		if _, err := h.Expire(h.t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, name := range on {
			if after, _ := h.phaseOf(name); after.Compare(before[name]) < 0 {
				t.Fatalf("%s went from %s to %s", name, before[name], after)
			}
		}
	})
	if err := h.Tighten(t.Context(), containment.Tightening{Scope: "nobody", Key: "x", To: phase.Emergency}); codeOf(
		err) != interlock.CodeInvalid {
		t.Errorf("a scope that there is not: %v", err)
	}
}

// TestNoPhaseWithoutItsEvent: where what changes a phase can't be recorded the phase stays, and a hold is cleared by no other order.
func TestNoPhaseWithoutItsEvent(t *testing.T) {
	h := newHouse(t)
	h.employ("adam", quorum.RoleAdmin)
	h.store.commit = func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		return ledger.Receipt{}, errors.New("disk on fire")
	}
	if err := h.Tighten(t.Context(), system(phase.Emergency)); err == nil {
		t.Error("nothing was recorded, and that is no error")
	}
	h.store.commit = nil
	if p, _ := h.phaseOf("system:all"); p != "" {
		t.Errorf("it is in %s", p)
	}
	h.tighten(system(phase.Emergency))
	if err := h.moves(interlock.VerbClearHold, "system:all", "", "adam"); codeOf(err) != interlock.CodeInvalid {
		t.Errorf("cleared like a ruleset's: %v", err)
	}
	if got := h.entries(); slices.Contains(got, interlock.EventHaltClear) {
		t.Errorf("%v", got)
	}
}
