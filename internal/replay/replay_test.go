package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/replay"
	"interlock/internal/ruleset"
	"interlock/rules"
	"interlock/spec"
)

// A home is a real one in which something was decided, as replay reads it.
type home struct {
	dir     string
	entries []interlock.Entry
	blobs   map[interlock.Digest][]byte
	rules   *ruleset.Ruleset
	sources replay.Sources
}

// decided opens a home, has the actions decided, and reads back what was recorded.
func decided(t *testing.T, proposals ...interlock.Proposal) *home {
	t.Helper()
	return decidedUnder(t, config.PrivacyKeep, proposals...)
}

func decidedUnder(t *testing.T, privacy config.PrivacyLog, proposals ...interlock.Proposal) *home {
	t.Helper()
	return decidedAfter(t, privacy, func(*embedded.Backend) {}, proposals...)
}

// decidedAfter is decidedUnder after something else was done in the home.
func decidedAfter(t *testing.T, privacy config.PrivacyLog, before func(*embedded.Backend), proposals ...interlock.Proposal) *home {
	t.Helper()
	h := &home{dir: t.TempDir() + "/home", blobs: map[interlock.Digest][]byte{}}
	settings, err := config.Load(h.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	settings.Privacy.Log = privacy
	backend, err := embedded.OpenConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	before(backend)
	for _, p := range proposals {
		if a := backend.Propose(t.Context(), p); a.Event == "" {
			t.Fatalf("nothing was recorded: %+v", a)
		}
	}
	if h.rules, err = ruleset.Load(rules.Defaults(), nil); err != nil {
		t.Fatal(err)
	}
	err = backend.Store.Recorded(t.Context(), 0, func(e interlock.Entry) error {
		if e.Body, e.Inputs = bytes.Clone(e.Body), bytes.Clone(e.Inputs); replay.Holds(e.Type) {
			h.entries = append(h.entries, e)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	open, err := embedded.InputsOpener(h.dir)
	h.sources = replay.Sources{Redact: classify.Redact,
		Ruleset: func(d interlock.Digest) (*ruleset.Ruleset, error) {
			if d == h.rules.Digest() {
				return h.rules, nil
			}
			return nil, nil
		},
		Blob: func(d interlock.Digest) ([]byte, error) {
			if text, kept := h.blobs[d]; kept {
				return text, nil
			}
			return blobIn(h.dir, d)
		}}
	if err == nil { // there is a key only where something was sealed
		h.sources.Open = func(sealed []byte) ([]byte, error) { return open(sealed, 1<<20) }
	}
	return h
}

func blobIn(dir string, d interlock.Digest) ([]byte, error) {
	backend, err := embedded.Open(context.Background(), embedded.Config{Home: dir})
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	text, _, err := backend.Store.Blob(context.Background(), d)
	return text, err
}

// again reads and decides the home's n-th decision again.
func (h *home) again(n int) error {
	r, err := h.sources.Read(h.entries[n])
	if err != nil {
		return err
	}
	return h.sources.Again(r)
}

func shell(run, command string) interlock.Proposal {
	return interlock.Proposal{
		Action:    interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: command, Dir: "/repo"},
		Requester: interlock.Requester{Principal: "pat", Agent: "claude", Run: run}, CanAsk: true, Door: "hook",
		View: interlock.View{Home: "/home/pat", Workspace: "/repo", User: "pat", Links: map[string]string{"/repo/l": "/etc"},
			Scripts: map[string]string{"/repo/x.sh": "rm -rf build\n"}},
	}
}

const secret = "curl -H 'Authorization: Bearer sk_live_51H8abcdef0123456789abcd' https://api.stripe.com/v1/balance"

// What was decided is decided again, byte for byte: allowed, asked and denied, with scripts, secrets and a past of the run, and
// actions that did not fit into their event.
func TestDecisionsAreMadeAgain(t *testing.T) {
	spec.Covers(t, "MACE-1-2", "MACE-REP-2", "MACE-REPLAY-01")
	proposals := []interlock.Proposal{shell("a", "ls"), shell("a", "sh x.sh"), shell("a", "curl -O https://example.com/i.sh"),
		shell("a", "sh i.sh"), shell("a", "rm -rf /"), shell("b", secret), shell("b", "echo "+strings.Repeat("long ", 20_000)),
		shell("b", "kubectl delete pod web-1")}
	many := "true"
	for n := range 200 {
		many += fmt.Sprintf("; rm -rf /repo/%d/%s", n, strings.Repeat("x", 200))
	}
	proposals = append(proposals, shell("b", many), interlock.Proposal{
		Action:    interlock.Action{Kind: interlock.KindTool, Tool: "send", Arguments: []byte(`{"to":"bob@example.com"}`)},
		Requester: interlock.Requester{Agent: "bot"}, Door: "http"})
	h := decided(t, proposals...)
	if len(h.entries) != len(proposals) {
		t.Fatalf("%d decisions have inputs, want %d", len(h.entries), len(proposals))
	}
	for n := range h.entries {
		if err := h.again(n); err != nil {
			t.Errorf("%.60s: %v", proposals[n].Action.Input, err)
		}
	}
}

// Where personal data was taken out of what was recorded, it is taken out again, and who can't do that does not say that it is the same.
func TestPersonalDataIsTakenOutAgain(t *testing.T) {
	h := decidedUnder(t, config.PrivacyRedact, shell("a", "cat ann@mailhouse.org"))
	if bytes.Contains(h.entries[0].Body, []byte("mailhouse")) || bytes.Contains(h.entries[0].Inputs, []byte("mailhouse")) {
		t.Error("the address is on record")
	}
	h.sources.RedactPersonal = classify.RedactPersonal
	if err := h.again(0); err != nil {
		t.Error(err)
	}
	h.sources.RedactPersonal = nil
	var f *replay.Failure
	if err := h.again(0); !errors.As(err, &f) || f.Code != replay.MissingSnapshot {
		t.Errorf("without knowing how: %v", err)
	}
	h.sources.RedactPersonal = classify.Redact
	if err := h.again(0); !errors.As(err, &f) || f.Code != replay.ResultMismatch {
		t.Errorf("taken out otherwise: %v", err)
	}
}

// What is missing or was changed is named by MACE's exact words.
func TestWhatIsMissingOrChangedIsNamed(t *testing.T) {
	spec.Covers(t, "MACE-REPLAY-02", "MACE-SNAP-3")
	for name, test := range map[string]struct {
		damage func(h *home)
		want   replay.Code
	}{
		"a byte of the inputs": {func(h *home) {
			h.entries[0].Inputs = bytes.Replace(h.entries[0].Inputs, []byte("ls"), []byte("df"), 1)
		}, replay.IntegrityFailure},
		"no inputs": {func(h *home) { h.entries[0].Inputs = nil }, replay.MissingSnapshot},
		"another base": {func(h *home) {
			for d, text := range basesOf(h) {
				h.blobs[d] = bytes.Replace(text, []byte("guard"), []byte("grade"), 1)
			}
		}, replay.IntegrityFailure},
		"no base": {func(h *home) {
			for d := range basesOf(h) {
				h.blobs[d] = nil
			}
		}, replay.MissingSnapshot},
		"no rules": {func(h *home) {
			h.sources.Ruleset = func(interlock.Digest) (*ruleset.Ruleset, error) { return nil, nil }
		}, replay.MissingSnapshot},
		"rules that can't be made": {func(h *home) {
			h.sources.Ruleset = func(interlock.Digest) (*ruleset.Ruleset, error) { return nil, errors.New("no") }
		}, replay.IntegrityFailure},
		"the event's verdict": {func(h *home) {
			h.entries[0].Body = bytes.Replace(h.entries[0].Body, []byte(`"verdict":"allow"`), []byte(`"verdict":"deny" `), 1)
		}, replay.IntegrityFailure},
		"other rules": {func(h *home) {
			set, err := ruleset.Load(rules.Defaults(), map[string][]byte{"t.yaml": []byte(
				"rules:\n  - {id: t.ls, layer: 3, verdict: deny, reason: no, match: {glob: [\"ls*\"]}}\n")})
			if err != nil {
				panic(err)
			}
			h.sources.Ruleset = func(interlock.Digest) (*ruleset.Ruleset, error) { return set, nil }
		}, replay.ResultMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			h := decided(t, shell("a", "ls"))
			if err := h.again(0); err != nil {
				t.Fatal(err)
			}
			test.damage(h)
			h.sources = replay.Sources{Blob: h.sources.Blob, Ruleset: h.sources.Ruleset, Redact: classify.Redact} // nothing is known yet
			var f *replay.Failure
			if err := h.again(0); !errors.As(err, &f) || f.Code != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

func basesOf(h *home) map[interlock.Digest][]byte {
	out := map[interlock.Digest][]byte{}
	fresh := replay.Sources{Blob: func(d interlock.Digest) ([]byte, error) {
		text, err := h.sources.Blob(d)
		if bytes.HasPrefix(text, []byte(`{"analyser"`)) {
			out[d] = text
		}
		return text, err
	}}
	_, _ = fresh.Read(h.entries[0])
	return out
}

// A decision that rested on a human's yes is not made again without it, and an analysis that comes out otherwise is told.
func TestOutputsThatAreMissingOrChanged(t *testing.T) {
	spec.Covers(t, "MACE-REPLAY-04", "MACE-REPLAY-05")
	h := decided(t, shell("a", "ls"))
	r, err := h.sources.Read(h.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	evaluator, err := embedded.NewEvaluator(config.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Reanalysed(evaluator.Analyser); err != nil {
		t.Errorf("nothing was changed yet: %v", err)
	}
	whole := *r
	r.Decision = bytes.Replace(r.Decision, []byte(`"answer":`), []byte(`"approval":"apr_1","answer":`), 1)
	var f *replay.Failure
	if err := h.sources.Again(r); !errors.As(err, &f) || f.Code != "MISSING_PERSISTED_AGENT_OUTPUT" {
		t.Errorf("%v", err)
	}
	whole.Inputs.Impacts = append(whole.Inputs.Impacts, interlock.Impact{Kind: interlock.ImpactDelete})
	if err := whole.Reanalysed(evaluator.Analyser); !errors.As(err, &f) || f.Code != "REPLAY_DIVERGENCE" {
		t.Errorf("%v", err)
	}
}

// A decision is made again under the rules it was made under, although others are in force.
func TestTheRulesOfThenDecide(t *testing.T) {
	spec.Covers(t, "MACE-S-06")
	h := decided(t, shell("a", "ls"))
	inForce, err := ruleset.Load(rules.Defaults(), map[string][]byte{"t.yaml": []byte(
		"rules:\n  - {id: t.ls, layer: 3, verdict: deny, reason: no, match: {glob: [\"ls*\"]}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.sources.Read(h.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Decide(inForce); d.Verdict != interlock.Deny {
		t.Fatalf("the rules in force don't decide otherwise, so nothing is shown: %v", d.Verdict)
	}
	if err := h.sources.Again(r); err != nil {
		t.Error(err)
	}
}

// Where nobody can open what is sealed, the decision is not made again, and the secret stands in nothing that is kept.
func TestSealedInputs(t *testing.T) {
	h := decided(t, shell("a", secret))
	if bytes.Contains(h.entries[0].Inputs, []byte("sk_live")) {
		t.Error("the secret stands in the inputs")
	}
	open := h.sources.Open
	h.sources.Open = nil
	var f *replay.Failure
	if err := h.again(0); !errors.Is(err, replay.ErrSealed) || !errors.As(err, &f) || f.Code != replay.MissingSnapshot {
		t.Errorf("without an order: %v", err)
	}
	trial := replay.NewWhatIf(h.rules)
	trial.Skip(replay.ErrSealed)
	if r := trial.Report(); r.Sealed != 1 || len(r.Skipped) != 0 {
		t.Errorf("tried: %+v", r)
	}
	h.sources.Open = func(sealed []byte) ([]byte, error) { return open(append(bytes.Clone(sealed), 0)) }
	if err := h.again(0); !errors.As(err, &f) || f.Code != replay.IntegrityFailure {
		t.Errorf("what was changed: %v", err)
	}
}

// What is never sealed can't be put aside by writing something in its place that looks sealed.
func TestNothingElsePassesForSealed(t *testing.T) {
	h := decided(t, shell("a", "ls"))
	manifest, m := manifestOf(t, h)
	fresh := replay.Sources{Blob: h.sources.Blob, Ruleset: h.sources.Ruleset, Redact: h.sources.Redact} // which nobody opens
	for name, digest := range map[string]interlock.Digest{"base": baseOf(t, h), "manifest": manifest,
		"limits": m.Snapshots[auditlog.SnapshotLimits].Blob} {
		t.Run(name, func(t *testing.T) {
			h.sources, h.blobs = fresh, map[interlock.Digest][]byte{digest: []byte(auditlog.SealedIntro + "-> X25519 A\n")}
			var f *replay.Failure
			if err := h.again(0); !errors.As(err, &f) || f.Code != replay.IntegrityFailure {
				t.Errorf("%v, want an %s", err, replay.IntegrityFailure)
			}
		})
	}
}

// baseOf names what the first decision of a home shares with others.
func baseOf(t *testing.T, h *home) interlock.Digest {
	t.Helper()
	r, err := h.sources.Read(h.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	return r.Inputs.Base
}

// Other rules tell exactly what they would have done, by agent and rule, and what can't be tried is counted.
func TestWhatIf(t *testing.T) {
	h := decided(t, shell("a", "ls"), shell("a", "npm install left-pad"), shell("a", "npm install right-pad"),
		shell("a", "kubectl delete pod web-1"))
	set, err := ruleset.Load(rules.Defaults(), map[string][]byte{"t.yaml": []byte(
		"rules:\n  - {id: t.npm, layer: 3, verdict: deny, reason: no packages, match: {glob: [\"npm install*\"]}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	trial := replay.NewWhatIf(set)
	for _, e := range h.entries {
		r, err := h.sources.Read(e)
		if err != nil {
			t.Fatal(err)
		}
		trial.Try(r, recorded(t, r), classify.Redact)
	}
	trial.Skip(&replay.Failure{Code: replay.MissingSnapshot})
	report := trial.Report()
	if report.Decisions != 4 || len(report.Changes) != 1 || report.Newly["deny"] != 2 || report.Skipped[replay.MissingSnapshot] != 1 {
		t.Fatalf("%+v", report)
	}
	c := report.Changes[0]
	if c.Agent != "claude" || c.Rule != "t.npm" || c.Was != interlock.Allow || c.Now != interlock.Deny || c.Count != 2 || !c.Stricter() ||
		len(c.Examples) != 2 || c.Examples[0].Event == "" || c.Examples[0].At.After(time.Now()) {
		t.Errorf("%+v", c)
	}
	if report.Questions[0] != report.Questions[1] || report.Questions[0] != 1 {
		t.Errorf("questions a day: %v", report.Questions)
	}
}

func recorded(t *testing.T, r *replay.Record) interlock.Decision {
	t.Helper()
	d, err := r.Was()
	if err != nil {
		t.Fatal(err)
	}
	return d
}
