package admission_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/kill"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/spec"
)

// switched is a house with a switch of its own.
func switched(t *testing.T, configure ...func(*admission.Config)) (*house, *kill.Switch) {
	throws := kill.In(t.TempDir())
	h := newHouse(t, append(configure, func(c *admission.Config) { c.Kill = throws })...)
	h.employ("adam", quorum.RoleAdmin)
	h.employ("olga", quorum.RoleOperator)
	return h, throws
}

var gitStatus = interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "git status", Dir: "/repo"},
	Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"},
	View:      interlock.View{Workspace: "/repo", Home: "/home/alice"}}

// killing is an order about everything, signed.
func killing(h *house, verb interlock.Verb, detail, operator string) quorum.Given {
	return ordering(h, verb, interlock.KillSubject, detail, operator)
}

func ordering(h *house, verb interlock.Verb, subject, detail, operator string) quorum.Given {
	given := h.about(subject, detail)(operator)
	given.Verb = verb
	return given.Signed(interlock.MethodSSH, "fingerprint of "+operator+"'s", operator+"'s")
}

// goesOn holds what the next action is answered.
func goesOn(t *testing.T, h *house, when string, want interlock.Verdict) {
	t.Helper()
	if a := h.propose("git status"); a.Answer != want {
		t.Errorf("%s: %v, want %v: %+v", when, a.Answer, want, a.Findings)
	}
}

// TestKill: from an operator's order on every action is halted and recorded, until an admin's signed order ends it, and no other.
func TestKill(t *testing.T) {
	spec.Covers(t, "EC-K-1")
	spec.Covers(t, "EC-ENV-21")
	h, throws := switched(t)
	goesOn(t, h, "before", interlock.Allow)
	if _, err := h.CarryOut(t.Context(), killing(h, interlock.VerbKill, "hard", "olga")); err != nil {
		t.Fatal(err)
	}
	goesOn(t, h, "killed", interlock.Halt)
	if _, thrown := throws.Thrown(); !thrown || h.count(interlock.EventKill) != 1 || h.count(interlock.EventBlock) != 1 {
		t.Errorf("thrown %v, %d events, %d halted", thrown, h.count(interlock.EventKill), h.count(interlock.EventBlock))
	}
	if err := h.Stopped(t.Context()); err == nil {
		t.Error("agents' tokens count")
	}
	stop, _, err := h.Killed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Second)
	for name, given := range map[string]quorum.Given{
		"by an operator":           killing(h, interlock.VerbReleaseKill, containment.KillID(stop), "olga"),
		"of another stop":          killing(h, interlock.VerbReleaseKill, containment.KillID(ledger.HoldBody{}), "adam"),
		"as any other hold":        ordering(h, interlock.VerbClearHold, ledger.KillName, "", "adam"),
		"of something else":        ordering(h, interlock.VerbReleaseKill, "all", "", "adam"),
		"in a way that is unknown": killing(h, interlock.VerbKill, "softly", "olga"),
	} {
		if _, err := h.CarryOut(t.Context(), given); err == nil {
			t.Errorf("released %s", name)
		}
		goesOn(t, h, name, interlock.Halt)
	}
	if _, err := h.CarryOut(t.Context(), killing(h, interlock.VerbReleaseKill, containment.KillID(stop), "adam")); err != nil {
		t.Fatal(err)
	}
	goesOn(t, h, "released", interlock.Allow)
	if _, thrown := throws.Thrown(); thrown || h.count(interlock.EventKillRelease) != 1 || h.Stopped(t.Context()) != nil {
		t.Errorf("released: thrown %v, %d events", thrown, h.count(interlock.EventKillRelease))
	}
}

// TestEitherIsEnough: the file without the row stops everything, and so does the row without the file; each is put right by whoever
// finds it, so that taking one away lets nothing go on.
func TestEitherIsEnough(t *testing.T) {
	spec.Covers(t, "EC-K-1")
	h, throws := switched(t)
	if err := os.WriteFile(throws.Path(), nil, 0o600); err != nil { // as touch does
		t.Fatal(err)
	}
	goesOn(t, h, "with a file that somebody made", interlock.Halt)
	if err := throws.Clear(); err != nil {
		t.Fatal(err)
	}
	goesOn(t, h, "with the file removed", interlock.Halt)
	if _, thrown := throws.Thrown(); !thrown || h.count(interlock.EventKill) != 1 {
		t.Errorf("thrown %v, %d events", thrown, h.count(interlock.EventKill))
	}
	stop, _, err := h.Killed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(throws.Path())
	if err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Second)
	if _, err := h.CarryOut(t.Context(), killing(h, interlock.VerbReleaseKill, containment.KillID(stop), "adam")); err != nil {
		t.Fatal(err)
	}
	goesOn(t, h, "released", interlock.Allow)
	if err := os.WriteFile(throws.Path(), text, 0o600); err != nil { // as by who had seen the row a moment before
		t.Fatal(err)
	}
	goesOn(t, h, "with the file of the stop that was released", interlock.Halt)
	goesOn(t, h, "and then", interlock.Allow)
}

// TestUnreadableIsKilled: what can't be looked at counts as thrown.
func TestUnreadableIsKilled(t *testing.T) {
	h, throws := switched(t)
	if err := os.Mkdir(throws.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	goesOn(t, h, "with a directory in its place", interlock.Halt)
}

// TestKillHoldsInEveryMode: it is no verdict of the rules, so it holds also where those are not enforced.
func TestKillHoldsInEveryMode(t *testing.T) {
	spec.Covers(t, "EC-K-1")
	for _, mode := range []interlock.Mode{interlock.Monitoring, interlock.Logging, interlock.Disabled} {
		h, _ := switched(t, func(c *admission.Config) { c.Mode = mode })
		goesOn(t, h, mode.String(), interlock.Allow)
		if _, err := h.Kill(t.Context(), ledger.KillHard, "fraud alarm", "the fraud desk"); err != nil {
			t.Fatal(err)
		}
		goesOn(t, h, mode.String()+", killed", interlock.Halt)
		if _, ok := h.Weigh(t.Context(), admission.Way{}, gitStatus); ok {
			t.Errorf("%s: a door that only watches lets it through", mode)
		}
	}
}

// TestGraduated: nothing new is begun at first, then nothing is let through, then all is stopped; a clock that was set back gives no
// time, and a hard stop after it stops at once.
func TestGraduated(t *testing.T) {
	spec.Covers(t, "EC-K-2")
	h, _ := switched(t)
	if _, err := h.Kill(t.Context(), ledger.KillGraduated, "drift", "observer"); err != nil {
		t.Fatal(err)
	}
	began := h.now
	boxed := func() interlock.Verdict {
		return h.ProposeBy(t.Context(), admission.Way{Sandboxed: true}, gitStatus).Answer
	}
	for _, test := range []struct {
		after           time.Duration
		action, sandbox interlock.Verdict
		tokens          bool
	}{
		{0, interlock.Allow, interlock.Halt, true}, {29 * time.Second, interlock.Allow, interlock.Halt, true},
		{30 * time.Second, interlock.Halt, interlock.Halt, true}, {89 * time.Second, interlock.Halt, interlock.Halt, true},
		{90 * time.Second, interlock.Halt, interlock.Halt, false}, {-time.Hour, interlock.Halt, interlock.Halt, false},
	} {
		h.now = began.Add(test.after)
		goesOn(t, h, test.after.String(), test.action)
		if got := boxed(); got != test.sandbox {
			t.Errorf("after %v a sandbox is answered %v", test.after, got)
		}
		if err := h.Stopped(t.Context()); (err == nil) != test.tokens {
			t.Errorf("after %v: %v", test.after, err)
		}
	}
	h.now = began.Add(time.Second)
	if _, err := h.Kill(t.Context(), ledger.KillHard, "worse", "observer"); err != nil {
		t.Fatal(err)
	}
	goesOn(t, h, "hard after graduated", interlock.Halt)
	h.now = began.Add(2 * time.Second)
	if _, err := h.Kill(t.Context(), ledger.KillGraduated, "again", "observer"); err != nil {
		t.Fatal(err)
	}
	goesOn(t, h, "graduated after hard", interlock.Halt)
}

// TestKillRaces: an action that was allowed under what stood before a stop is decided again when it comes to be committed.
func TestKillRaces(t *testing.T) {
	spec.Covers(t, "EC-K-1")
	h, _ := switched(t)
	raced := false
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		if !raced {
			raced = true
			if _, err := h.Kill(t.Context(), ledger.KillHard, "now", "observer"); err != nil {
				t.Error(err)
			}
		}
		return next()
	}
	goesOn(t, h, "killed between its decision and its commit", interlock.Halt)
	if !raced {
		t.Fatal("nothing raced")
	}
}

// stuck is a switch that can't be thrown.
type stuck struct{ *kill.Switch }

func (stuck) Throw(ledger.HoldBody, time.Time) error { return errors.New("the disk is full") }

// TestKillWithoutItsFile: where the file can't be written the row stops everything, and whoever threw the switch is told.
func TestKillWithoutItsFile(t *testing.T) {
	h := newHouse(t, func(c *admission.Config) { c.Kill = stuck{kill.In(t.TempDir())} })
	_, err := h.Kill(t.Context(), ledger.KillHard, "now", "observer")
	if err == nil || !strings.Contains(err.Error(), "could not be written") {
		t.Errorf("told %v", err)
	}
	goesOn(t, h, "killed", interlock.Halt)
}
