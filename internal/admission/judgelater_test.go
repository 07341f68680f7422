package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/dataflow"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/rollback"
	"interlock/internal/ruleset"
	"interlock/spec"
)

// laterHouse is a house under a profile whose judge is heard of writes and reads in the workspace after they were let through.
func laterHouse(t *testing.T, profile string, edit ...func(*admission.Config)) (*house, *bench) {
	return judgedHouse(t, profile, append([]func(*admission.Config){func(c *admission.Config) {
		c.JudgeWithin = time.Minute
		c.JudgeLater = core.JudgeLater{After: []string{"write workspace", "read workspace"}, Most: 8, Within: 10 * time.Minute}
	}}, edit...)...)
}

// judgeOwed asks once about everything that is owed, and returns how much is owed after that.
func (h *house) judgeOwed() int {
	h.t.Helper()
	left, err := h.JudgeOwed(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return left
}

func (h *house) passes(d time.Duration) {
	h.ticks.Lock()
	defer h.ticks.Unlock()
	h.now = h.now.Add(d)
}

// judgedAfter are the events by which judges were heard afterwards.
func (h *house) judgedAfter() (list []auditlog.JudgedAfterRecord) {
	h.t.Helper()
	for _, e := range h.log() {
		if e.Type == interlock.EventJudgedLate {
			var is auditlog.JudgedAfterRecord
			if _, err := auditlog.Read(e, &is); err != nil {
				h.t.Fatal(err)
			}
			list = append(list, is)
		}
	}
	return list
}

// TestJudgedAfter: what a class that was opted in for does is let through at once, its record says that a judgment is owed, and an Allow
// that comes later ends it.
func TestJudgedAfter(t *testing.T) {
	spec.Covers(t, "ASA-17.1-1")
	for _, profile := range []string{"asa", "guard"} {
		h, main := laterHouse(t, profile)
		a := h.propose("touch notes.txt")
		if a.Answer != interlock.Allow || main.asked() != 0 {
			t.Fatalf("%s: %s after %d questions, %+v", profile, a.Answer, main.asked(), a.Decisive())
		}
		if got := h.gate2(a.Event); got.Result != "not_run" || !strings.Contains(got.Reason, "judged after") {
			t.Errorf("%s: its record says %+v", profile, got)
		}
		if left := h.judgeOwed(); left != 0 || main.asked() != 1 {
			t.Errorf("%s: %d are owed after %d questions", profile, left, main.asked())
		}
		said := h.judgedAfter()
		if len(said) != 1 || said[0].Event != a.Event || said[0].Result != auditlog.JudgedAllow || said[0].Held != "" || len(h.alerts) != 0 {
			t.Errorf("%s: %+v, %q", profile, said, h.alerts)
		}
		if h.judgeOwed(); main.asked() != 1 {
			t.Errorf("%s: it is asked about again", profile)
		}
		if a := h.propose("touch notes.txt", func(p *admission.Case) { p.Requester.Run = "run-2" }); a.Answer != interlock.Allow {
			t.Errorf("%s: %s", profile, a.Answer)
		}
		if h.judgeOwed(); main.asked() != 1 {
			t.Errorf("%s: what was allowed afterwards is not remembered: %d questions", profile, main.asked())
		}
	}
}

// TestJudgedBeforeAllTheSame: without the operator's word, and for whatever can't be undone for certain, a judge is heard before.
func TestJudgedBeforeAllTheSame(t *testing.T) {
	spec.Covers(t, "ASA-17.1-1", "ASA-17.1-2")
	every := func(c *admission.Config) {
		c.JudgeLater.After = nil
		for _, kind := range interlock.ImpactKinds() {
			for _, reach := range interlock.Reaches() {
				c.JudgeLater.After = append(c.JudgeLater.After, string(kind)+" "+string(reach))
			}
		}
	}
	for name, test := range map[string]struct {
		command string
		edit    func(*admission.Config)
	}{
		"nobody opted in":                    {"touch notes.txt", func(c *admission.Config) { c.JudgeLater = core.JudgeLater{} }},
		"another class":                      {"touch ~/notes.txt", func(*admission.Config) {}},
		"one half of it is of another class": {"touch notes.txt ~/notes.txt", func(*admission.Config) {}},
		"it can't be undone":                 {"rm notes.txt", every},
		"nobody sees through it":             {"make build", every},
		"its name was guessed":               {"touch $NAME", every},
		"bytes leave":                        {"curl -s https://example.com/", every},
		"a process that ends at once":        {"touch notes.txt", func(c *admission.Config) { c.Brief = true }},
		"no judgment may be owed":            {"touch notes.txt", func(c *admission.Config) { c.JudgeLater.Most = 0 }},
	} {
		h, main := laterHouse(t, "asa", test.edit)
		a := h.propose(test.command)
		if main.asked() != 1 {
			t.Errorf("%s: %s is %s after %d questions", name, test.command, a.Answer, main.asked())
		}
		if h.judgeOwed() != 0 || len(h.judgedAfter()) != 0 {
			t.Errorf("%s: a judgment is owed", name)
		}
	}
}

// TestOwedIsBounded: where as much is owed as may be, the judge is heard before; nothing is skipped.
func TestOwedIsBounded(t *testing.T) {
	h, main := laterHouse(t, "asa", func(c *admission.Config) { c.JudgeLater.Most = 2 })
	for _, file := range []string{"a", "b", "c"} {
		if a := h.propose("touch " + file); a.Answer != interlock.Allow {
			t.Errorf("%s: %s", file, a.Answer)
		}
	}
	if main.asked() != 1 {
		t.Errorf("asked %d times before", main.asked())
	}
	main.says = func(string) interlock.Judgment { return interlock.Judgment{Failure: interlock.JudgeUnavailable} }
	if a := h.propose("touch d"); a.Answer != interlock.Deny {
		t.Errorf("with a full queue and no judge: %s", a.Answer)
	}
	main.says = says(interlock.Allow, 0)
	if left := h.judgeOwed(); left != 0 || main.asked() != 4 {
		t.Errorf("%d are owed after %d questions", left, main.asked())
	}
}

// planned has a house say that one step undoes whatever it is asked about.
func planned(c *admission.Config) {
	c.Planner = func(_ context.Context, seed dataflow.Seed, _ int64, _ *ruleset.Ruleset) (rollback.Plan, error) {
		return rollback.Plan{Event: seed.Event, Size: 7, Agents: []rollback.Affected{{Agent: "claude"}}, Steps: []rollback.Step{{N: 1,
			Event: seed.Event, Agent: "claude", Itself: true, Undo: rollback.UndoCompensate, By: rollback.ByPerson, How: "carry out refund for it"}}}, nil
	}
}

// TestALateDenialRevokes: it is recorded with what would undo it, people are told, the run's further changes are asked about, the call's
// answer counts no more, and the action is denied from then on.
func TestALateDenialRevokes(t *testing.T) {
	h, main := laterHouse(t, "guard", planned)
	call := func(p *admission.Case) { p.Requester.Call, p.CanAsk = "call-1", true }
	a := h.propose("touch notes.txt", call)
	if again := h.propose("touch notes.txt", call); !again.Repeated || again.Event != a.Event {
		t.Fatalf("the call is not known: %+v", again)
	}
	main.says = says(interlock.Deny, 2)
	if left := h.judgeOwed(); left != 0 {
		t.Errorf("%d are owed", left)
	}
	said := h.judgedAfter()
	if len(said) != 1 || said[0].Result != auditlog.JudgedDeny || said[0].Event != a.Event || said[0].Held != "run:run-1" ||
		said[0].Undo == nil || said[0].Undo.How != "compensate, by person: carry out refund for it" || said[0].Undo.Open != 1 {
		t.Errorf("%+v", said)
	}
	if h.told("judge-denied-after") != 1 || !strings.Contains(strings.Join(h.alerts, "\n"), "interlock rollback begin --event "+a.Event) {
		t.Errorf("people are told %q", h.alerts)
	}
	if got, held := h.phaseOf("run:run-1"); got != phase.Alternate || held.Trigger != phase.TriggerJudge {
		t.Errorf("its run is in %q by %q", got, held.Trigger)
	}
	main.says = says(interlock.Allow, 0)
	before := main.asked()
	if b := h.propose("touch other.txt", asking); b.Answer != interlock.Ask || main.asked() != before+1 {
		t.Errorf("a further step of the run, of which whoever answers sees what the judge says: %s after %d questions", b.Answer, main.asked()-before)
	}
	elsewhere := func(p *admission.Case) { p.Requester.Run = "run-2" }
	asked := main.asked()
	if b := h.propose("touch notes.txt", elsewhere); b.Answer != interlock.Deny || main.asked() != asked {
		t.Errorf("the same action elsewhere: %s after %d more questions", b.Answer, main.asked()-asked)
	}
	if b := h.propose("touch notes.txt", call); b.Repeated || b.Answer == interlock.Allow {
		t.Errorf("the answer that the call had still counts: %s", b.Answer)
	}
	h.passes(9999 * time.Hour)
	if b := h.propose("touch notes.txt", elsewhere); b.Answer != interlock.Deny {
		t.Errorf("after a year: %s", b.Answer)
	}
}

// TestALateDenialWithoutARun: an agent that names no run is held itself, so that nothing is won by naming none.
func TestALateDenialWithoutARun(t *testing.T) {
	h, main := laterHouse(t, "guard")
	main.says = says(interlock.Deny, 4)
	nameless := func(p *admission.Case) { p.Requester.Run = "" }
	h.propose("touch notes.txt", nameless)
	h.judgeOwed()
	if got, _ := h.phaseOf("agent:claude"); got != phase.Alternate {
		t.Errorf("its agent is in %q", got)
	}
	if a := h.propose("cat README.md", nameless); a.Answer != interlock.Deny {
		t.Errorf("it goes on: %s", a.Answer)
	}
}

// TestOwedIsNeverDropped: while its judge can't be reached it is asked again, less and less often, and without an answer in time that
// counts as a denial, but for being remembered: nobody has judged the action.
func TestOwedIsNeverDropped(t *testing.T) {
	h, main := laterHouse(t, "guard")
	main.says = func(string) interlock.Judgment { return interlock.Judgment{Failure: interlock.JudgeUnavailable} }
	h.propose("touch notes.txt")
	for want := 1; want < 6; want++ {
		if left := h.judgeOwed(); left != 1 || main.asked() != want {
			t.Fatalf("%d are owed after %d questions, want %d", left, main.asked(), want)
		}
		if h.judgeOwed(); main.asked() != want {
			t.Fatalf("it is asked again at once")
		}
		h.passes(30 * time.Second)
	}
	h.passes(10 * time.Minute)
	if left := h.judgeOwed(); left != 0 {
		t.Errorf("%d are owed after their time", left)
	}
	said := h.judgedAfter()
	if len(said) != 1 || said[0].Result != auditlog.JudgedUnheard || said[0].Judgments[0].Failure != interlock.JudgeUnavailable ||
		said[0].Held != "run:run-1" || h.told("judge-unheard-after") != 1 {
		t.Errorf("%+v, %q", said, h.alerts)
	}
	main.says = says(interlock.Allow, 0)
	if a := h.propose("touch notes.txt", func(p *admission.Case) { p.Requester.Run = "run-2" }); a.Answer != interlock.Allow {
		t.Errorf("in another run, with the judge back: %s", a.Answer)
	}
}

// TestOwedSurvivesItsProcess: another process asks about what the one that let it through can't ask about any more, under the rules and
// the judge that there are by then; and not while the first one may be at it.
func TestOwedSurvivesItsProcess(t *testing.T) {
	var config admission.Config
	h, main := laterHouse(t, "guard", func(c *admission.Config) { config = *c })
	h.propose("touch notes.txt")
	config.Judges = []interlock.Judge{main}
	next, err := admission.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := next.JudgeOwed(t.Context()); err != nil || left != 1 || main.asked() != 0 {
		t.Errorf("at once: %d are owed after %d questions, %v", left, main.asked(), err)
	}
	h.passes(20 * time.Second)
	if left, err := next.JudgeOwed(t.Context()); err != nil || left != 0 || main.asked() != 1 || len(h.judgedAfter()) != 1 {
		t.Errorf("after a while: %d are owed after %d questions, %v", left, main.asked(), err)
	}
	if left := h.judgeOwed(); left != 0 || main.asked() != 1 {
		t.Errorf("the first one: %d are owed after %d questions", left, main.asked())
	}
}

// TestOwedToAJudgeThatIsGone: the judge was taken out of the settings, and that does not end what is owed.
func TestOwedToAJudgeThatIsGone(t *testing.T) {
	var config admission.Config
	h, _ := laterHouse(t, "guard", func(c *admission.Config) { config = *c })
	h.propose("touch notes.txt")
	config.Judges = []interlock.Judge{&bench{name: "other", says: says(interlock.Allow, 0)}}
	next, err := admission.New(config)
	if err != nil {
		t.Fatal(err)
	}
	h.passes(11 * time.Minute)
	if left, err := next.JudgeOwed(t.Context()); err != nil || left != 0 {
		t.Errorf("%d are owed, %v", left, err)
	}
	if said := h.judgedAfter(); len(said) != 1 || said[0].Result != auditlog.JudgedUnheard || said[0].Judgments[0].Failure != interlock.JudgeMissing {
		t.Errorf("%+v", said)
	}
}

// drawing is randomness that begins with one byte for what is drawn, as often as it is asked for one byte.
type drawing struct {
	rest  io.Reader
	first byte
}

func (d *drawing) Read(p []byte) (int, error) {
	if len(p) == 1 {
		p[0] = d.first
		return 1, nil
	}
	return d.rest.Read(p)
}

// TestSamples: of a class that is sampled only what is drawn is judged, before or after as the class is; the record says what was drawn.
func TestSamples(t *testing.T) {
	spec.Covers(t, "ASA-17.2-1")
	for name, test := range map[string]struct {
		byte   byte
		after  []string
		before int // questions before the action
		later  int // and after it
		says   string
	}{
		"drawn":                     {9, nil, 1, 0, "nothing"},
		"drawn, of two bytes":       {109, nil, 1, 0, "nothing"},
		"not drawn":                 {10, nil, 0, 0, "10 of 100 actions of the class write workspace are judged, and this one was not drawn"},
		"not drawn, of two bytes":   {199, nil, 0, 0, "was not drawn"},
		"drawn, and judged after":   {9, []string{"write workspace"}, 0, 1, "judged after"},
		"not drawn, nor ever after": {10, []string{"write workspace"}, 0, 0, "was not drawn"},
	} {
		h, main := judgedHouse(t, "asa", func(c *admission.Config) {
			c.Random = &drawing{c.Random, test.byte}
			c.JudgeLater = core.JudgeLater{Sample: map[string]int{"write workspace": 10}, After: test.after, Most: 8, Within: time.Minute}
		})
		main.says = func(string) interlock.Judgment {
			return interlock.Judgment{Verdict: interlock.Allow, Reason: "nothing speaks against it"}
		}
		a := h.propose("touch notes.txt")
		if a.Answer != interlock.Allow || main.asked() != test.before {
			t.Errorf("%s: %s after %d questions", name, a.Answer, main.asked())
		}
		if got := h.gate2(a.Event); !strings.Contains(got.Reason, test.says) || (got.Result == "not_run") != (test.before == 0) {
			t.Errorf("%s: %+v", name, got)
		}
		if h.judgeOwed(); main.asked() != test.before+test.later {
			t.Errorf("%s: %d questions in all", name, main.asked())
		}
	}
}

// TestSamplesOfWhatCantBeUndone: no draw keeps a judge from being heard of it, and none where nothing can be drawn.
func TestSamplesOfWhatCantBeUndone(t *testing.T) {
	spec.Covers(t, "ASA-17.1-2", "ASA-17.2-1")
	set := core.JudgeLater{Sample: map[string]int{"write workspace": 1, "execute workspace": 1, "delete workspace": 1,
		"read workspace": 1}}
	for _, command := range []string{"make build", "rm notes.txt", "touch notes.txt; touch ~/notes.txt"} {
		h, main := judgedHouse(t, "asa", func(c *admission.Config) {
			c.Random, c.JudgeLater = &drawing{c.Random, 99}, set
		})
		if a := h.propose(command); a.Answer == interlock.Allow && main.asked() != 1 {
			t.Errorf("%s: let through after %d questions", command, main.asked())
		}
	}
	h, main := judgedHouse(t, "asa", func(c *admission.Config) {
		c.Random, c.JudgeLater = &dry{rest: c.Random}, set
	})
	if a := h.propose("touch notes.txt"); main.asked() != 1 {
		t.Errorf("without randomness: %s after %d questions", a.Answer, main.asked())
	}
}

// TestTheGreaterShareCounts: an action of two classes is judged as often as the one that is judged more often.
func TestTheGreaterShareCounts(t *testing.T) {
	for _, sample := range []map[string]int{{"write workspace": 10, "read workspace": 90}, {"write workspace": 90, "read workspace": 10}} {
		h, main := judgedHouse(t, "asa", func(c *admission.Config) {
			c.Random, c.JudgeLater = &drawing{c.Random, 50}, core.JudgeLater{Sample: sample}
		})
		if a := h.propose("cp README.md notes.txt"); a.Answer != interlock.Allow || main.asked() != 1 {
			t.Errorf("%v: %s after %d questions", sample, a.Answer, main.asked())
		}
	}
}

// dry is randomness that can't be drawn from.
type dry struct{ rest io.Reader }

func (b *dry) Read(p []byte) (int, error) {
	if len(p) == 1 {
		return 0, errors.New("no randomness")
	}
	return b.rest.Read(p)
}

// TestADenialBeatsTheDraw: what a judge has denied before is denied, whatever is drawn and whoever would be asked afterwards.
func TestADenialBeatsTheDraw(t *testing.T) {
	random := &drawing{first: 0}
	h, main := judgedHouse(t, "asa", func(c *admission.Config) {
		random.rest = c.Random
		c.Random, c.JudgeLater = random, core.JudgeLater{Sample: map[string]int{"write workspace": 10}}
	})
	main.says = says(interlock.Deny, 2)
	h.propose("touch notes.txt")
	random.first = 99
	other := func(p *admission.Case) { p.Requester.Run = "run-2" }
	if a := h.propose("touch notes.txt", other); a.Answer != interlock.Deny || main.asked() != 1 {
		t.Errorf("%s after %d questions", a.Answer, main.asked())
	}
	if a := h.propose("touch other.txt", other); a.Answer != interlock.Allow || main.asked() != 1 {
		t.Errorf("another: %s after %d questions", a.Answer, main.asked())
	}
}

// TestWhatWasSparedIsRecorded: what was drawn, and that a judgment is owed, stands among what the decision was made from.
func TestWhatWasSparedIsRecorded(t *testing.T) {
	h, _ := laterHouse(t, "asa", func(c *admission.Config) {
		c.Random = &drawing{c.Random, 3}
		c.JudgeLater.Sample = map[string]int{"write workspace": 5}
	})
	a := h.propose("touch notes.txt")
	entry, _, err := h.store.Entry(t.Context(), a.Event)
	if err != nil {
		t.Fatal(err)
	}
	var event struct {
		Payload struct {
			Judgments []interlock.Judgment `json:"judgments"`
		} `json:"payload"`
	}
	if err := json.Unmarshal(entry.Body, &event); err != nil {
		t.Fatal(err)
	}
	if said := event.Payload.Judgments; len(said) != 1 || said[0].Failure != interlock.JudgeOwed || said[0].Draw != 3 || said[0].Share != 5 {
		t.Errorf("%+v", said)
	}
	rows, _, err := h.store.Load(t.Context(), ledger.Ref{Kind: ledger.Owed, Key: a.Event})
	if err != nil || len(rows) != 1 || bytes.Contains([]byte(rows[0].Value.(ledger.OwedBody).Payload), []byte("claude")) {
		t.Errorf("%v, %+v", err, rows)
	}
}
