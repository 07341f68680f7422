package admission_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/strictjson/filltest"
)

// A worked store counts what it is asked for.
type worked struct {
	admission.Store
	loads, recalls, commits atomic.Int64
}

func (w *worked) Load(ctx context.Context, refs ...ledger.Ref) ([]ledger.Row, int64, error) {
	w.loads.Add(1)
	return w.Store.Load(ctx, refs...)
}

func (w *worked) Recall(ctx context.Context, refs ...ledger.Ref) ([]ledger.Row, int64, error) {
	w.recalls.Add(1)
	return w.Store.Recall(ctx, refs...)
}

func (w *worked) Commit(ctx context.Context, change ledger.Change) (ledger.Receipt, error) {
	w.commits.Add(1)
	return w.Store.Commit(ctx, change)
}

// work is what one decision took.
type work struct{ loads, commits, questions, asked int64 }

// TestWorkOfAJudgedDecision counts what a judge costs beside its own time: no commit but the decision's and, where what it may cost is
// bounded, the one before it is asked; nothing read again where nothing has moved; one question made, however often it is needed. What is
// remembered takes what a decision without a judge does.
func TestWorkOfAJudgedDecision(t *testing.T) {
	within := core.JudgeBudget{ID: "day", Most: 1000, Currency: "USD", Window: 24 * time.Hour}
	for name, one := range map[string]struct {
		command string
		edit    func(*admission.Config)
		want    work
	}{
		"no judge":           {"touch fresh.txt", func(c *admission.Config) { c.Judges = nil }, work{commits: 1}},
		"not due":            {"cat fresh.txt", nil, work{commits: 1}},
		"asked":              {"touch fresh.txt", nil, work{commits: 1, questions: 1, asked: 1}},
		"asked for a price":  {"touch fresh.txt", judgedWithin(within), work{commits: 2, questions: 1, asked: 1}},
		"remembered":         {"touch known.txt", nil, work{commits: 1}},
		"remembered, priced": {"touch known.txt", judgedWithin(within), work{commits: 1}},
	} {
		main := &bench{name: "main", says: says(interlock.Allow, 0)}
		var store *worked
		h := newHouse(t, func(c *admission.Config) {
			store = &worked{Store: c.Store}
			c.Profile, c.Attended, c.Store, c.JudgeWithin = "guard", true, store, time.Hour
			c.Judges = []interlock.Judge{pricedBench{main, 10}}
			if one.edit != nil {
				one.edit(c)
			}
		})
		for range 2 { // what a process does first
			if a := h.propose("touch known.txt"); a.Answer != interlock.Allow {
				t.Fatalf("%s: %s, %+v", name, a.Answer, a.Decisive())
			}
		}
		var made int64
		admission.HearQuestions(h.Admission, func(anew bool) {
			if anew {
				made++
			}
		})
		before, asked := work{loads: store.loads.Load(), commits: store.commits.Load()}, main.asked()
		if a := h.propose(one.command); a.Answer != interlock.Allow {
			t.Fatalf("%s: %s, %+v", name, a.Answer, a.Decisive())
		}
		got := work{store.loads.Load() - before.loads, store.commits.Load() - before.commits, made, int64(main.asked() - asked)}
		if got != one.want {
			t.Errorf("%s: %+v, want %+v", name, got, one.want)
		}
	}
}

func judgedWithin(budget core.JudgeBudget) func(*admission.Config) {
	return func(c *admission.Config) { c.JudgeBudgets = []core.JudgeBudget{budget} }
}

// TestQuestionsAreKeptByWhatTheyAreMadeFrom: a question that was made before is only the same where its action, its impacts, who is asked
// and what for are, and its digest is the general one.
func TestQuestionsAreKeptByWhatTheyAreMadeFrom(t *testing.T) {
	h, _ := judgedHouse(t, "asa")
	action := interlock.Action{Kind: interlock.KindShell, Input: "make", Dir: "/repo"}
	impact := filltest.Value[interlock.Impact]()
	other := impact
	other.Recipients++
	seen := map[interlock.Digest]string{}
	for _, one := range []struct {
		name      string
		action    interlock.Action
		impacts   []interlock.Impact
		bare      bool
		objective string
		tier      int
		again     bool
	}{
		{"plain", action, []interlock.Impact{impact}, false, "", 0, false},
		{"plain", action, []interlock.Impact{impact}, false, "", 0, true},
		{"another impact", action, []interlock.Impact{other}, false, "", 0, false},
		{"no impact", action, nil, false, "", 0, false},
		{"shown alone", action, []interlock.Impact{impact}, true, "", 0, false},
		{"shown alone", action, []interlock.Impact{impact}, true, "", 0, true},
		{"elsewhere", interlock.Action{Kind: interlock.KindShell, Input: "make", Dir: "/other"}, []interlock.Impact{impact}, true, "", 0, false},
	} {
		anew := false
		admission.HearQuestions(h.Admission, func(made bool) { anew = made })
		key, general, err := admission.QuestionKeys(h.Admission, one.action, one.impacts, one.bare, one.objective, one.tier)
		if err != nil || key != general {
			t.Errorf("%s: %s, general %s, %v", one.name, key, general, err)
		}
		if anew == one.again {
			t.Errorf("%s: made anew %v", one.name, anew)
		}
		if before, known := seen[key]; known && before != one.name {
			t.Errorf("%s has the digest of %s", one.name, before)
		}
		seen[key] = one.name
	}
}
