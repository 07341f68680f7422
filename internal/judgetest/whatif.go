package judgetest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/question"
	"interlock/internal/replay"
)

// gateJudge is the gate whose findings are what judges said.
const gateJudge = "judge"

// A WhatIf asks recorded actions again under candidate ground rules (ASA 17.3). Nothing of it is a decision or is recorded: a model
// is asked now, and what it says now is not what was decided by.
type WhatIf struct {
	Before  interlock.Judge // under the ground rules in force
	After   interlock.Judge // under the candidate
	Impacts bool            // judges are shown the impacts beside the action
	Most    int             // different actions that are asked about; the rest is counted
	// what judges said of a recorded decision; nil where records hold nothing of the kind. What was said by the judge, the model and
	// the ground rules of Before is not asked again.
	Said func(r *replay.Record) []interlock.Judgment

	report  WhatIfReport
	pending []*asked
	known   map[string]*asked // by payload
}

// asked is one action that is asked about, however often it was recorded.
type asked struct {
	question interlock.JudgeQuestion
	was      *interlock.Judgment
	shift    Shift
}

// A WhatIfReport says what a judge would say otherwise under other ground rules.
type WhatIfReport struct {
	Authoritative bool                    `json:"authoritative"` // always false
	Before        interlock.JudgeIdentity `json:"before"`
	After         interlock.JudgeIdentity `json:"after"`

	Decisions int                 `json:"decisions"` // that were gone through
	Denied    int                 `json:"denied"`    // by gates, before any judge: none is asked about them
	Skipped   map[replay.Code]int `json:"skipped,omitempty"`
	Archived  int                 `json:"archived,omitempty"`
	Actions   int                 `json:"actions"`           // different ones that were asked about
	Left      int                 `json:"left,omitempty"`    // different ones over the bound
	Unasked   int                 `json:"unasked,omitempty"` // that can't be put as a question

	Unanswered int     `json:"unanswered"` // the judge gave no verdict under one or the other
	Same       int     `json:"same"`
	Shifts     []Shift `json:"shifts"` // newly denied first, then newly allowed, then denied by another rule

	TokensIn  int64            `json:"tokens_in"`
	TokensOut int64            `json:"tokens_out"`
	Cost      map[string]int64 `json:"cost,omitempty"` // by currency, in millionths of one unit
	From      time.Time        `json:"from,omitzero"`
	To        time.Time        `json:"to,omitzero"`
}

// A Shift is one action about which the judge would say something else.
type Shift struct {
	Event  string            `json:"event"` // the first that recorded it
	Index  int64             `json:"index"`
	Agent  string            `json:"agent"`
	Times  int               `json:"times"`
	Action string            `json:"action"` // its kind and the beginning of its text, redacted
	Was    interlock.Verdict `json:"was"`
	Now    interlock.Verdict `json:"now"`
	WasBy  string            `json:"was_rule_id,omitempty"`
	NowBy  string            `json:"now_rule_id,omitempty"`
	Reason string            `json:"reason,omitempty"` // under whichever denies, the candidate first
}

// Skip counts a decision that can't be read.
func (w *WhatIf) Skip(why error) {
	code := replay.IntegrityFailure
	if f, ok := why.(*replay.Failure); ok { //nolint:errorlint // failures are never wrapped
		code = f.Code
	}
	if w.report.Skipped == nil {
		w.report.Skipped = map[replay.Code]int{}
	}
	w.report.Skipped[code]++
}

// Try takes a recorded decision to be asked about. What gates denied no judge ever sees (ASA 8.1), and it is not asked about here.
func (w *WhatIf) Try(r *replay.Record, was interlock.Decision, redact func(string) (string, []string)) {
	w.report.Decisions++
	if w.report.From.IsZero() || r.At().Before(w.report.From) {
		w.report.From = r.At()
	}
	if r.At().After(w.report.To) {
		w.report.To = r.At()
	}
	for n := range was.Findings {
		if f := &was.Findings[n]; f.Gate != gateJudge && f.Verdict.Compare(interlock.Deny) >= 0 {
			w.report.Denied++
			return
		}
	}
	impacts := r.Inputs.Impacts
	if !w.Impacts {
		impacts = nil
	}
	payload, err := question.Action(r.Inputs.Action, impacts, redact)
	if err != nil {
		w.report.Unasked++
		return
	}
	if one := w.known[string(payload)]; one != nil {
		one.shift.Times++
		return
	}
	if len(w.pending) >= w.Most {
		w.report.Left++
		return
	}
	a := &r.Inputs.Action
	text, _ := redact(strings.Join(strings.Fields(string(a.Kind)+" "+a.Tool+" "+a.Input+" "+string(a.Arguments)), " "))
	one := &asked{question: interlock.JudgeQuestion{Subject: interlock.JudgeAction, Payload: payload, Class: class(r.Inputs.Impacts)},
		was: w.said(r), shift: Shift{Event: r.Event.ID, Index: r.Index, Agent: r.Requester.Agent, Times: 1, Action: brief(text)}}
	if w.known == nil {
		w.known = map[string]*asked{}
	}
	w.known[string(payload)] = one
	w.pending = append(w.pending, one)
}

// class names an action's class by the first of its impacts: it is not sent, and prices are counted under it.
func class(impacts []interlock.Impact) string {
	if len(impacts) == 0 {
		return "none"
	}
	return string(impacts[0].Kind)
}

// shown is how many bytes of an action stand in a report.
const shown = 80

func brief(text string) string {
	if len(text) <= shown {
		return text
	}
	return strings.ToValidUTF8(text[:shown], "") + "…"
}

// said is what a judge said of the record under the very identity that would be asked again.
func (w *WhatIf) said(r *replay.Record) *interlock.Judgment {
	if w.Said == nil {
		return nil
	}
	is := w.Before.Identity()
	for _, j := range w.Said(r) {
		if j.Failure == "" && j.Judge == is.Name && j.Model == is.Model && j.GroundRules == is.GroundRules {
			return &j
		}
	}
	return nil
}

// Ask asks about everything that was taken. It ends with an error only where the context does.
func (w *WhatIf) Ask(ctx context.Context, progress func(done, of int)) (WhatIfReport, error) {
	w.report.Before, w.report.After, w.report.Shifts = w.Before.Identity(), w.After.Identity(), []Shift{}
	w.report.Cost = map[string]int64{}
	for n, one := range w.pending {
		now := w.ask(ctx, w.After, one)
		was := one.was
		if was == nil {
			said := w.ask(ctx, w.Before, one)
			was = &said
		}
		if err := ctx.Err(); err != nil {
			return w.report, err
		}
		if progress != nil {
			progress(n+1, len(w.pending))
		}
		w.report.Actions++
		w.compare(one, was, &now)
	}
	slices.SortStableFunc(w.report.Shifts, func(a, b Shift) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.Times, a.Times), cmp.Compare(a.Index, b.Index))
	})
	return w.report, nil
}

func (w *WhatIf) ask(ctx context.Context, judge interlock.Judge, one *asked) interlock.Judgment {
	said := judge.Ask(ctx, one.question)
	w.report.TokensIn += said.TokensIn
	w.report.TokensOut += said.TokensOut
	if said.Cost > 0 {
		w.report.Cost[said.Currency] += said.Cost
	}
	return said
}

func (w *WhatIf) compare(one *asked, was, now *interlock.Judgment) {
	switch {
	case was.Failure != "" || now.Failure != "":
		w.report.Unanswered++
	case was.Verdict == now.Verdict && was.Rule == now.Rule:
		w.report.Same++
	default:
		s := one.shift
		s.Was, s.Now, s.WasBy, s.NowBy, s.Reason = was.Verdict, now.Verdict, was.Rule, now.Rule, now.Reason
		if now.Verdict == interlock.Allow {
			s.Reason = was.Reason
		}
		w.report.Shifts = append(w.report.Shifts, s)
	}
}

func rank(s *Shift) int {
	switch change := s.Now.Compare(s.Was); {
	case change > 0:
		return 0
	case change < 0:
		return 1
	}
	return 2
}

// Stricter reports whether something would be denied that was not.
func (r *WhatIfReport) Stricter() bool {
	return slices.ContainsFunc(r.Shifts, func(s Shift) bool { return s.Now.Compare(s.Was) > 0 })
}

// Print writes the report for people. clean makes a text safe to show.
func (r *WhatIfReport) Print(w io.Writer, clean func(string) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "NOT AUTHORITATIVE: the judge %s, model %s, was asked now; nothing was decided or recorded\n", clean(r.After.Name),
		clean(r.After.Model))
	fmt.Fprintf(&b, "ground rules in force %s\ncandidate             %s\n", r.Before.GroundRules, r.After.GroundRules)
	fmt.Fprintf(&b, "%d decisions, %d denied by gates before any judge; %d different actions asked about: %d the same, %d otherwise, "+
		"%d unanswered\n", r.Decisions, r.Denied, r.Actions, r.Same, len(r.Shifts), r.Unanswered)
	var left []string
	if r.Left > 0 {
		left = append(left, fmt.Sprintf("%d records of actions over the bound (--most)", r.Left))
	}
	if r.Unasked > 0 {
		left = append(left, fmt.Sprintf("%d that can't be put as a question", r.Unasked))
	}
	for _, code := range sortedKeys(r.Skipped) {
		left = append(left, fmt.Sprintf("%d %s", r.Skipped[code], code))
	}
	if r.Archived > 0 {
		left = append(left, fmt.Sprintf("%d archived (--archive DIR reads them)", r.Archived))
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "not asked: %s\n", strings.Join(left, ", "))
	}
	for n := range r.Shifts {
		s := &r.Shifts[n]
		fmt.Fprintf(&b, "%s -> %s  %d times  %s  event %d: %s\n", by(s.Was, s.WasBy), by(s.Now, s.NowBy), s.Times, clean(s.Agent), s.Index,
			clean(s.Action))
		if s.Reason != "" {
			fmt.Fprintf(&b, "    %s\n", clean(s.Reason))
		}
	}
	fmt.Fprintf(&b, "%d tokens in, %d out", r.TokensIn, r.TokensOut)
	for _, currency := range sortedKeys(r.Cost) {
		fmt.Fprintf(&b, ", %d.%06d %s", r.Cost[currency]/1_000_000, r.Cost[currency]%1_000_000, currency)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func by(verdict interlock.Verdict, rule string) string {
	if rule == "" {
		return verdict.String()
	}
	return verdict.String() + " by " + rule
}
