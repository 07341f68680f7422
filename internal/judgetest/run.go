package judgetest

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
)

// Options say what is tested, and how.
type Options struct {
	Judge    interlock.Judge
	Question func(interlock.Proposal) (interlock.JudgeQuestion, error) // the one way in which questions are made elsewhere, too
	Cases    []Case
	Skipped  int  // that were left out when they were read
	Repeat   int  // how often each case is asked; at least 1
	Brief    bool // sessions are asked about at their first and last turn only
	Now      func() time.Time
	Progress func(done, of int) // optional
}

// A tester runs one test.
type tester struct {
	Options
	report Report
	micros []int64
	done   int
	of     int
}

// Run tests a judge. It ends early with an error where the context does; no other failure is an error: what a judge fails to answer is
// part of the report.
func Run(ctx context.Context, o Options) (Report, error) {
	o.Repeat = max(o.Repeat, 1)
	list, err := techniques()
	if err != nil {
		return Report{}, err
	}
	t := &tester{Options: o, of: len(o.Cases) * o.Repeat}
	t.report = Report{Judge: o.Judge.Identity(), Cases: len(o.Cases), Skipped: o.Skipped, Repeats: o.Repeat,
		Classes: []Class{}, Errors: []Wrong{}, Unstable: []string{}, Techniques: []Technique{},
		Failures: map[interlock.JudgeFailure]int{}, Cost: map[string]int64{}}
	for n := range o.Cases {
		if err := t.one(ctx, &o.Cases[n]); err != nil {
			return t.report, err
		}
	}
	targets, err := Cases()
	if err != nil {
		return t.report, err
	}
	for n := range list {
		for _, id := range list[n].Targets {
			at := slices.IndexFunc(targets, func(c Case) bool { return c.ID == id })
			if at < 0 {
				return t.report, interlock.Errorf(interlock.CodeInternal, "", "technique %s has no target %s", list[n].Technique, id)
			}
			if err := t.session(ctx, &list[n], &targets[at]); err != nil {
				return t.report, err
			}
		}
	}
	t.finish()
	return t.report, nil
}

// one asks about a case, as often as wanted.
func (t *tester) one(ctx context.Context, c *Case) error {
	var first interlock.Judgment
	stable, answered := true, 0
	for n := range t.Repeat {
		said, _, err := t.ask(ctx, interlock.Proposal{Action: c.action,
			Requester: interlock.Requester{Principal: "tester", Agent: "tested", Run: "case-" + strconv.Itoa(n)}})
		if err != nil {
			return err
		}
		if t.done++; t.Progress != nil {
			t.Progress(t.done, t.of)
		}
		if n == 0 {
			t.count(c, &said)
		}
		if said.Failure != "" {
			continue
		}
		if answered++; answered == 1 {
			first = said
		}
		stable = stable && said.Verdict == first.Verdict
	}
	if !stable {
		t.report.Unstable = append(t.report.Unstable, c.ID)
	}
	return nil
}

// ask puts one question and counts what it took.
func (t *tester) ask(ctx context.Context, p interlock.Proposal) (interlock.Judgment, []byte, error) {
	q, err := t.Question(p)
	if err != nil {
		return interlock.Judgment{Failure: interlock.JudgeMalformed}, nil, ctx.Err()
	}
	began := t.Now()
	said := t.Judge.Ask(ctx, q)
	took := t.Now().Sub(began).Microseconds()
	if err := ctx.Err(); err != nil {
		return said, nil, err
	}
	t.report.Asked++
	t.report.TokensIn += said.TokensIn
	t.report.TokensOut += said.TokensOut
	if said.Cost > 0 {
		t.report.Cost[said.Currency] += said.Cost
	}
	if said.Failure != "" {
		t.report.Failures[said.Failure]++
		said.Verdict = interlock.Deny
	}
	if said.Remembered {
		t.report.Remembered++
		return said, q.Payload, nil
	}
	if said.Micros > 0 {
		took = said.Micros
	}
	t.micros = append(t.micros, took)
	return said, q.Payload, nil
}

// count holds the first answer against the label.
func (t *tester) count(c *Case, said *interlock.Judgment) {
	at := slices.IndexFunc(t.report.Classes, func(k Class) bool { return k.Class == c.class() })
	if at < 0 {
		t.report.Classes = append(t.report.Classes, Class{Class: c.class()})
		at = len(t.report.Classes) - 1
	}
	class := &t.report.Classes[at]
	class.Cases++
	want, _ := c.Want()
	if want == interlock.Deny {
		kind := &t.report.High
		if c.Layer > 2 {
			kind = &t.report.Medium
		}
		if kind.Cases++; said.Failure == "" && said.Verdict == interlock.Deny {
			kind.Detected++
		}
	}
	switch {
	case said.Failure != "":
		class.Unanswered++
	case said.Verdict == want:
		class.Agreed++
	case want == interlock.Deny:
		class.Missed++
	default:
		class.Overcautious++
	}
	if want == interlock.Deny && said.Verdict == interlock.Deny && said.Failure == "" && c.Rule != "" {
		t.report.Named++
		if said.Layer == c.Layer {
			t.report.NamedRight++
		}
	}
	if (said.Failure != "" || said.Verdict != want) && len(t.report.Errors) < maxErrors {
		t.report.Errors = append(t.report.Errors, Wrong{Case: c.ID, Want: want, Said: said.Verdict, Failure: said.Failure, Rule: said.Rule,
			Reason: said.Reason})
	}
}

// session tries to talk a judge round. The judge is asked about every turn's action, as admission would ask it, and about the same
// action alone. Because a question is made of the action alone, both are the same bytes, and the verdict can't have moved by
// what was said.
func (t *tester) session(ctx context.Context, how *technique, target *Case) error {
	out := Technique{Technique: how.Technique, Target: target.ID, Turns: len(how.Turns), SameBytes: true}
	alone := map[string]interlock.Judgment{} // by the action's input: one call each
	for n := range how.Turns {
		action := target.action
		if len(how.Spellings) > n {
			action.Input = how.Spellings[n]
		}
		once := interlock.Proposal{Action: action, Requester: interlock.Requester{Principal: "tester", Agent: "alone", Run: "one-call"}}
		once.Action.Hint = ""
		turn := interlock.Proposal{Action: action, Requester: interlock.Requester{Principal: "tester", Agent: "talked-to",
			Run: how.Technique, Call: strconv.Itoa(n)}}
		turn.Action.Hint = strings.Join(how.Turns[:n+1], "\n")
		apart, err := t.Question(once)
		together, err2 := t.Question(turn)
		if err != nil || err2 != nil || !bytes.Equal(apart.Payload, together.Payload) {
			out.SameBytes = false
		}
		if t.Brief && n > 0 && n < len(how.Turns)-1 {
			continue
		}
		first, known := alone[action.Input]
		if !known {
			if first, _, err = t.ask(ctx, once); err != nil {
				return err
			}
			alone[action.Input] = first
			out.count(&first)
		}
		said, _, err := t.ask(ctx, turn)
		if err != nil {
			return err
		}
		out.count(&said)
		if said.Failure == "" && first.Failure == "" && said.Verdict != first.Verdict {
			out.Moved = true
		}
	}
	t.report.Techniques = append(t.report.Techniques, out)
	return nil
}

func (out *Technique) count(said *interlock.Judgment) {
	switch {
	case said.Failure != "":
		out.Unanswered++
	case said.Verdict == interlock.Allow:
		out.Allowed++
	default:
		out.Denied++
	}
}

// finish sums up.
func (t *tester) finish() {
	r := &t.report
	slices.SortFunc(r.Classes, func(a, b Class) int { return strings.Compare(a.Class, b.Class) })
	for n := range r.Classes {
		c := &r.Classes[n]
		r.Agreed += c.Agreed
		r.Missed += c.Missed
		r.Overcautious += c.Overcautious
		r.Unanswered += c.Unanswered
	}
	slices.Sort(t.micros)
	at := func(percent int) int64 {
		if len(t.micros) == 0 {
			return 0
		}
		return t.micros[min(len(t.micros)-1, len(t.micros)*percent/100)]
	}
	r.Latency = Latency{P50: at(50), P95: at(95), Max: at(100)}
}
