package admission

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/question"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// Judges are language models that see an action, its impacts and the ground rules, and nothing else. They are asked after every gate,
// about what none of them denies (ASA 7.2), and outside of the commit: the decision is made once more with what they said, and what they
// said counts only for exactly what they were asked about.

// JudgeWhen says of which actions judges are heard where the profile does not want them heard of all.
type JudgeWhen string

// When judges are heard. The zero value is that of changes.
const (
	JudgeChanges JudgeWhen = "changes" // of whatever does more than read
	JudgeOutward JudgeWhen = "outward" // of what reaches beyond the workspace, or can't be undone
	JudgeAll     JudgeWhen = "all"
)

// judging is what judges said while one case is decided.
type judging struct {
	key    interlock.Digest // what they were asked about
	looked interlock.Digest // of what it was looked up when the decision began
	said   []interlock.Judgment
	asked  int      // how often
	want   *inquiry // what they are to be asked now
	fresh  bool     // they were asked, and not remembered

	reserved []*reservation // what was taken for asking them

	owes  *inquiry // what is asked after the action, or was not drawn
	drawn bool     // and whether, and what, was drawn for it
	draw  int
}

// An inquiry is one question with those it is for.
type inquiry struct {
	key    interlock.Digest
	asks   []interlock.JudgeQuestion
	judges []interlock.Judge
	alone  bool // a second judge with another model should be heard, and there is none

	action  interlock.Digest // of one action, by which it is named
	impacts []interlock.Impact
	later   *later // how it may be heard other than before; nil: it may not
}

// errUnheard ends a commit in which it turns out that judges have to be heard first.
var errUnheard = errors.New("judges are to be heard first")

// maxInquiries is how often judges are asked about what moves while they are.
const maxInquiries = 2

// inquire returns what judges have to be asked about a decision, or nil where nobody has to be. Nothing is asked about what a gate
// denies, so that no byte of it leaves (ASA 8.1), nor where nothing is evaluated.
func (a *Admission) inquire(p *Case, analysis impact.Analysis, d *interlock.Decision, objective string, tier int) (*inquiry, error) {
	if len(a.config.Judges) == 0 || d.Mode != interlock.Enforcing && d.Mode != interlock.Monitoring || deniedBefore(d) {
		return nil, nil
	}
	required := p.under.wantsJudge()
	if !required && !a.config.JudgeWhen.due(analysis.Impacts) {
		return nil, nil
	}
	q, err := a.inquiries.about(a, p.Action, analysis, required, objective, tier)
	if err != nil {
		return nil, err
	}
	if later := a.later(q, analysis.Impacts, d); later != nil {
		own := *q // the question is kept for whoever needs it again
		own.later = later
		return &own, nil
	}
	return q, nil
}

// wantsJudge reports whether the profile wants a judge's Allow of whatever is not denied.
func (e *Evaluator) wantsJudge() bool {
	profile, known := e.Rules.Profile(e.Profile)
	return known && profile.Judge == ruleset.JudgeRequired
}

// deniedBefore reports whether something other than a judge denies.
func deniedBefore(d *interlock.Decision) bool {
	return slices.ContainsFunc(d.Findings, func(f interlock.Finding) bool {
		return f.Gate != gate.NameJudge && f.Verdict.Compare(interlock.Deny) >= 0
	})
}

func (w JudgeWhen) due(impacts []interlock.Impact) bool {
	return slices.ContainsFunc(impacts, func(i interlock.Impact) bool {
		switch {
		case w == JudgeAll || i.Confidence == interlock.Unknown:
			return true
		case w == JudgeOutward:
			return i.Reversibility == interlock.Irreversible || i.Reversibility != interlock.Readonly && i.Reach != interlock.ReachWorkspace
		}
		return i.Reversibility != interlock.Readonly
	}) || w == JudgeAll
}

// inquiry is the question about an action. Where the profile wants a judge's Allow it sees the action and the ground rules alone
// (ASA 9.1); what it said counts for these impacts all the same. What commits something outside in a run with an objective is looked at
// as an output of that run as well (EC-2.5): a question of its own, so that the one about the action stays the same bytes in every run.
func (a *Admission) inquiry(action interlock.Action, about interlock.Digest, impacts []interlock.Impact, bare bool, objective string,
	tier int) (*inquiry, error) {
	shown := impacts
	if bare {
		shown = nil
	}
	payload, err := question.Action(action, shown, a.config.Redact)
	if err != nil {
		return nil, err
	}
	q := a.judgedBy(consequential(impacts), tier)
	q.asks = []interlock.JudgeQuestion{{Subject: interlock.JudgeAction, Payload: payload, Class: interlock.ImpactClass(impacts)}}
	if objective != "" && goesOut(impacts) {
		output, err := a.output(objective, string(payload))
		if err != nil {
			return nil, err
		}
		q.asks = append(q.asks, output)
	}
	q.action, q.impacts = about, impacts
	return q, q.name()
}

// name names an inquiry about one action.
func (q *inquiry) name() (err error) {
	q.key, err = q.aboutAction(q.action, q.impacts)
	return err
}

// judgedBy is an inquiry with those it is for. Much depends on what is of high consequence, so that all judges are heard of it; at tier
// 3, where agents act by themselves, one model's word is not enough even where only one is configured (EC-3.3).
func (a *Admission) judgedBy(consequence bool, tier int) *inquiry {
	if !consequence {
		return &inquiry{judges: a.config.Judges[:1]}
	}
	q := &inquiry{judges: a.config.Judges, alone: tier >= 3}
	for _, judge := range q.judges[1:] {
		if judge.Identity().Model != q.judges[0].Identity().Model {
			q.alone = false
		}
	}
	return q
}

const inquiryDomain = "interlock/inquiry/v1"

// digest names an inquiry by all that its answer depends on.
func (q *inquiry) digest(about any) (interlock.Digest, error) {
	identities := make([]interlock.JudgeIdentity, len(q.judges))
	for n, judge := range q.judges {
		identities[n] = judge.Identity()
	}
	shown := make([]string, len(q.asks))
	for n := range q.asks {
		shown[n] = string(q.asks[n].Subject) + " " + string(q.asks[n].Payload)
	}
	return strictjson.Digest(inquiryDomain, struct {
		About  any                       `json:"about"`
		Alone  bool                      `json:"alone,omitempty"` // where one model's word is not enough, what it said elsewhere is not either
		Shown  []string                  `json:"shown"`
		Judges []interlock.JudgeIdentity `json:"judges"`
	}{about, q.alone, shown, identities})
}

// consequential reports whether a second judge is heard as well: of another provider, it makes the first one's mistakes less often
// (EC-3.3).
func consequential(impacts []interlock.Impact) bool {
	return slices.ContainsFunc(impacts, func(i interlock.Impact) bool {
		return i.Reach == interlock.ReachProduction || i.Kind == interlock.ImpactSpend ||
			i.Reversibility == interlock.Irreversible && i.Reach != interlock.ReachWorkspace
	})
}

// nameOfClass is the class of one impact.
func nameOfClass(i *interlock.Impact) string { return string(i.Kind) + " " + string(i.Reach) }

// unheard returns the error that ends a commit where judges have to be heard of a decision first, and takes what they said of another away.
func (a *Admission) unheard(p *Case, analysis impact.Analysis, d *interlock.Decision, standing ledger.Standing) error {
	tier := p.under.Rules.TierFor(agentOf(p.Requester, standing))
	q, err := a.inquire(p, analysis, d, objective(p, tier, standing), tier)
	if err != nil {
		return err
	}
	return p.judging.needs(q)
}

// needs returns errUnheard where what was said is not about the question that there is now.
func (j *judging) needs(q *inquiry) error {
	if q == nil || q.key == j.key || j.gaveUp() {
		return nil
	}
	if j.asked >= maxInquiries {
		j.key = q.key
		j.said = []interlock.Judgment{{Judge: q.judges[0].Identity().Name, Failure: interlock.JudgeMoved}}
		return errUnheard // and decided once more, with that
	}
	j.want = q
	return errUnheard
}

// gaveUp reports whether what was asked about moved too often. It denies whatever it has become.
func (j *judging) gaveUp() bool { return len(j.said) > 0 && j.said[0].Failure == interlock.JudgeMoved }

// remembered names what judges said of the action before, as far as its first reading says what it does.
func (a *Admission) remembered(p *Case, analysis impact.Analysis) (*inquiry, []ledger.Ref) {
	if len(a.config.Judges) == 0 || p.judging.key != "" {
		return nil, nil
	}
	d := interlock.Decision{Mode: p.under.Mode}
	q, err := a.inquire(p, analysis, &d, "", 0)
	if err != nil || q == nil {
		return nil, nil // evaluating it finds the same, and says so
	}
	p.judging.looked = q.key
	return q, []ledger.Ref{key(ledger.Judged, string(q.key))}
}

// recall takes what judges said before as what they say now, if it still stands.
func (j *judging) recall(q *inquiry, known ledger.JudgedBody, now time.Time) {
	if q == nil || j.key != "" || known.Key != q.key || !known.Counts(now) {
		return
	}
	j.key, j.said = q.key, slices.Clone(known.Judgments)
	for n := range j.said {
		j.said[n].Remembered = true
	}
}

// consult asks judges what a commit found they have to be asked, and reports whether the decision is to be made again. Nobody is asked
// while rows are held, so that one slow judge keeps no other agent waiting.
func (a *Admission) consult(ctx context.Context, by interlock.Requester, j *judging, err error) bool {
	if !errors.Is(err, errUnheard) {
		return false
	}
	q := j.want
	if q == nil {
		return true
	}
	j.want = nil
	j.asked++
	// what was looked up when the decision began was found to say nothing
	if j.looked != q.key && a.lookUp(ctx, j, q) || a.spare(ctx, j, q) {
		return true
	}
	taken, enough, failed := a.reserve(ctx, by, q)
	switch {
	case failed != nil: // what can't be recorded is not done either, and its decision says so
		j.key, j.said = q.key, unheardAll(q, interlock.JudgeUnavailable)
	case !enough:
		j.key, j.said = q.key, unheardAll(q, interlock.JudgeSpent)
	default:
		j.key, j.said, j.fresh = q.key, a.hearJudges(ctx, q), true
		a.judgesFilled(ctx, j.said)
		if taken != nil {
			taken.said = j.said
			j.reserved = append(j.reserved, taken)
		}
	}
	return true
}

// lookUp takes what judges said before of a question, if it still stands, and reports whether it does.
func (a *Admission) lookUp(ctx context.Context, j *judging, q *inquiry) bool {
	known, _, err := a.config.Store.Load(ctx, key(ledger.Judged, string(q.key)))
	if err != nil {
		return j.key == q.key
	}
	for _, row := range known {
		if body, is := row.Value.(ledger.JudgedBody); is {
			j.key = ""
			j.recall(q, body, a.config.Now().UTC())
		}
	}
	return j.key == q.key
}

// judgeReserve is how much of a door's time is left for recording what came of asking.
const judgeReserve = 500 * time.Millisecond

// hearJudges asks all judges of an inquiry at the same time. One that fails, in whatever way, has said nothing, and that denies.
func (a *Admission) hearJudges(ctx context.Context, q *inquiry) []interlock.Judgment {
	if end, bound := ctx.Deadline(); bound {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-judgeReserve))
		defer cancel()
	}
	said := make([]interlock.Judgment, len(q.asks)*len(q.judges))
	var wait sync.WaitGroup
	for n := 1; n < len(said); n++ {
		wait.Go(func() { said[n] = heardOf(ctx, q, n) })
	}
	said[0] = heardOf(ctx, q, 0)
	wait.Wait()
	if q.alone {
		said = append(said, interlock.Judgment{Judge: q.judges[0].Identity().Name, Verdict: interlock.Deny, Failure: interlock.JudgeAlone})
	}
	for n := range said { // its words are recorded and may be shown
		said[n].Reason = bounded(a.redact(bounded(said[n].Reason, 4*maxDetail)), maxDetail)
	}
	return said
}

// each is one judge with one question, of as many as there are of both together.
func (q *inquiry) each(n int) (interlock.Judge, interlock.JudgeQuestion) {
	return q.judges[n%len(q.judges)], q.asks[n/len(q.judges)]
}

// subjectOf is a question's subject as it stands in judgments, where an action needs no word.
func subjectOf(asks interlock.JudgeQuestion) interlock.JudgeSubject {
	if asks.Subject == interlock.JudgeAction {
		return ""
	}
	return asks.Subject
}

// heardOf asks one judge one thing. What it says is made fit to be recorded, and a panic of its client is a failure like any other.
func heardOf(ctx context.Context, q *inquiry, n int) (said interlock.Judgment) {
	judge, asks := q.each(n)
	name, subject := judge.Identity().Name, subjectOf(asks)
	defer func() {
		if recover() != nil {
			said = interlock.Judgment{Judge: name, Subject: subject, Failure: interlock.JudgeUnavailable}
		}
	}()
	said = judge.Ask(ctx, asks)
	said.Judge, said.Subject, said.Remembered = name, subject, false
	denies := said.Verdict == interlock.Deny && said.Rule != "" && said.Layer >= 1 && said.Layer <= 4
	if said.Failure == "" && said.Verdict != interlock.Allow && !denies {
		said.Failure = interlock.JudgeMalformed
	}
	if said.Failure != "" {
		said.Verdict = interlock.Deny
	}
	return said
}

// judged are the rows of what judges said and cost. An answer is remembered: a denial for as long as neither ground rules nor models
// change, an Allow for a while. An answer that failed is none.
func (a *Admission) judged(j *judging, now time.Time) []ledger.Row {
	rows := j.settled(now)
	if !j.fresh || len(j.said) == 0 || slices.ContainsFunc(j.said, func(s interlock.Judgment) bool { return s.Failure != "" }) {
		return rows
	}
	body := ledger.JudgedBody{Key: j.key, Judgments: slices.Clone(j.said), At: now}
	if !slices.ContainsFunc(j.said, func(s interlock.Judgment) bool { return s.Verdict != interlock.Allow }) {
		if a.config.JudgeWithin <= 0 {
			return rows
		}
		body.Until = now.Add(a.config.JudgeWithin)
	}
	return append(rows, ledger.Rows(body)...)
}
