package judging

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/question"
	"interlock/internal/strictjson"
)

// Consultation is what judges said while one case is decided.
type Consultation struct {
	Key    interlock.Digest // what they were asked about
	Looked interlock.Digest // of what it was looked up when the decision began
	Said   []interlock.Judgment
	asked  int      // how often
	want   *Inquiry // what they are to be asked now
	fresh  bool     // they were asked, and not remembered

	reserved []*reservation // what was taken for asking them

	Owes  *Inquiry // what is asked after the action, or was not drawn
	drawn bool     // and whether, and what, was drawn for it
	draw  int
}

// An Inquiry is one question with those it is for.
type Inquiry struct {
	Key    interlock.Digest
	Asks   []interlock.JudgeQuestion
	judges []interlock.Judge
	alone  bool // a second judge with another model should be heard, and there is none

	Action  interlock.Digest // of one action, by which it is named
	Impacts []interlock.Impact
	Later   *later // how it may be heard other than before; nil: it may not
}

// errUnheard ends a commit in which it turns out that judges have to be heard first.
var errUnheard = errors.New("judges are to be heard first")

// maxInquiries is how often judges are asked about what moves while they are.
const maxInquiries = 2

// DeniedBefore reports whether something other than a judge denies.
func DeniedBefore(d *interlock.Decision) bool {
	return slices.ContainsFunc(d.Findings, func(f interlock.Finding) bool {
		return f.Gate != gate.NameJudge && f.Verdict.Compare(interlock.Deny) >= 0
	})
}

// inquiry is the question about an action. Where the profile wants a judge's Allow it sees the action and the ground rules alone
// (ASA 9.1); what it said counts for these impacts all the same. What commits something outside in a run with an objective is
// looked at as an output of that run as well (EC-2.5): a question of its own, so that the one about the action stays the same
// bytes in every run.
func (a *Judging) inquiry(action interlock.Action, about interlock.Digest, impacts []interlock.Impact, bare bool,
	objective string,
	tier int) (*Inquiry, error) {
	shown := impacts
	if bare {
		shown = nil
	}
	payload, err := question.Action(action, shown, a.Config.Redact)
	if err != nil {
		return nil, err
	}
	q := a.JudgedBy(Consequential(impacts), tier)
	q.Asks = []interlock.JudgeQuestion{{Subject: interlock.JudgeAction, Payload: payload, Class: interlock.ImpactClass(impacts)}}
	if objective != "" && goesOut(impacts) {
		output, err := a.Output(objective, string(payload))
		if err != nil {
			return nil, err
		}
		q.Asks = append(q.Asks, output)
	}
	q.Action, q.Impacts = about, impacts
	return q, q.name()
}

// name names an inquiry about one action.
func (q *Inquiry) name() (err error) {
	q.Key, err = q.aboutAction(q.Action, q.Impacts)
	return err
}

// JudgedBy is an inquiry with those it is for. Much depends on what is of high consequence, so that all judges are heard of it;
// at tier 3, where agents act by themselves, one model's word is not enough even where only one is configured (EC-3.3).
func (a *Judging) JudgedBy(consequence bool, tier int) *Inquiry {
	if !consequence {
		return &Inquiry{judges: a.Config.Judges[:1]}
	}
	q := &Inquiry{judges: a.Config.Judges, alone: tier >= 3}
	for _, judge := range q.judges[1:] {
		if judge.Identity().Model != q.judges[0].Identity().Model {
			q.alone = false
		}
	}
	return q
}

const inquiryDomain = "interlock/inquiry/v1"

// Digest names an inquiry by all that its answer depends on.
func (q *Inquiry) Digest(about any) (interlock.Digest, error) {
	identities := make([]interlock.JudgeIdentity, len(q.judges))
	for n, judge := range q.judges {
		identities[n] = judge.Identity()
	}
	shown := make([]string, len(q.Asks))
	for n := range q.Asks {
		shown[n] = string(q.Asks[n].Subject) + " " + string(q.Asks[n].Payload)
	}
	return strictjson.Digest(inquiryDomain, struct {
		About any `json:"about"`
		// where one model's word is not enough, what it said elsewhere is not either
		Alone  bool                      `json:"alone,omitempty"`
		Shown  []string                  `json:"shown"`
		Judges []interlock.JudgeIdentity `json:"judges"`
	}{about, q.alone, shown, identities})
}

// Consequential reports whether a second judge is heard as well: of another provider, it makes the first one's mistakes less
// often (EC-3.3).
func Consequential(impacts []interlock.Impact) bool {
	return slices.ContainsFunc(impacts, func(i interlock.Impact) bool {
		return i.Reach == interlock.ReachProduction || i.Kind == interlock.ImpactSpend ||
			i.Reversibility == interlock.Irreversible && i.Reach != interlock.ReachWorkspace
	})
}

// nameOfClass is the class of one impact.
func nameOfClass(i *interlock.Impact) string { return string(i.Kind) + " " + string(i.Reach) }

// Needs returns errUnheard where what was said is not about the question that there is now.
func (j *Consultation) Needs(q *Inquiry) error {
	if q == nil || q.Key == j.Key || j.gaveUp() {
		return nil
	}
	if j.asked >= maxInquiries {
		j.Key = q.Key
		j.Said = []interlock.Judgment{{Judge: q.judges[0].Identity().Name, Failure: interlock.JudgeMoved}}
		return errUnheard // and decided once more, with that
	}
	j.want = q
	return errUnheard
}

// gaveUp reports whether what was asked about moved too often. It denies whatever it has become.
func (j *Consultation) gaveUp() bool {
	return len(j.Said) > 0 && j.Said[0].Failure == interlock.JudgeMoved
}

// Recall takes what judges said before as what they say now, if it still counts.
func (j *Consultation) Recall(q *Inquiry, known ledger.JudgedBody, now time.Time) {
	if q == nil || j.Key != "" || known.Key != q.Key || !known.Counts(now) {
		return
	}
	j.Key, j.Said = q.Key, slices.Clone(known.Judgments)
	for n := range j.Said {
		j.Said[n].Remembered = true
	}
}

// Consult asks judges what a commit found they have to be asked, and reports whether the decision is to be made again. Nobody is
// asked while rows are held, so that one slow judge keeps no other agent waiting.
func (a *Judging) Consult(ctx context.Context, by interlock.Requester, j *Consultation, err error) bool {
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
	if j.Looked != q.Key && a.lookUp(ctx, j, q) || a.spare(ctx, j, q) {
		return true
	}
	taken, enough, failed := a.reserve(ctx, by, q)
	switch {
	case failed != nil: // what can't be recorded is not done either, and its decision says so
		j.Key, j.Said = q.Key, unheardAll(q, interlock.JudgeUnavailable)
	case !enough:
		j.Key, j.Said = q.Key, unheardAll(q, interlock.JudgeSpent)
	default:
		j.Key, j.Said, j.fresh = q.Key, a.hearJudges(ctx, q), true
		a.Containment.JudgesFilled(ctx, j.Said)
		if taken != nil {
			taken.said = j.Said
			j.reserved = append(j.reserved, taken)
		}
	}
	return true
}

// lookUp takes what judges said before of a question, if it still counts, and reports whether it does.
func (a *Judging) lookUp(ctx context.Context, j *Consultation, q *Inquiry) bool {
	known, _, err := a.Config.Store.Load(ctx, core.Key(ledger.Judged, string(q.Key)))
	if err != nil {
		return j.Key == q.Key
	}
	for _, row := range known {
		if body, is := row.Value.(ledger.JudgedBody); is {
			j.Key = ""
			j.Recall(q, body, a.Config.Now().UTC())
		}
	}
	return j.Key == q.Key
}

// judgeReserve is how much of a door's time is left for recording what came of asking.
const judgeReserve = 500 * time.Millisecond

// hearJudges asks all judges of an inquiry at the same time. One that fails, in whatever way, has said nothing, and that denies.
func (a *Judging) hearJudges(ctx context.Context, q *Inquiry) []interlock.Judgment {
	if end, bound := ctx.Deadline(); bound {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-judgeReserve))
		defer cancel()
	}
	said := make([]interlock.Judgment, len(q.Asks)*len(q.judges))
	var wait sync.WaitGroup
	for n := 1; n < len(said); n++ {
		wait.Go(func() { said[n] = heardOf(ctx, q, n) })
	}
	said[0] = heardOf(ctx, q, 0)
	wait.Wait()
	if q.alone {
		said = append(said, interlock.Judgment{Judge: q.judges[0].Identity().Name, Verdict: interlock.Deny,
			Failure: interlock.JudgeAlone})
	}
	for n := range said { // its words are recorded and may be shown
		said[n].Reason = core.Bounded(a.Redact(core.Bounded(said[n].Reason, 4*core.MaxDetail)), core.MaxDetail)
	}
	return said
}

// each is one judge with one question, of as many as there are of both together.
func (q *Inquiry) each(n int) (interlock.Judge, interlock.JudgeQuestion) {
	return q.judges[n%len(q.judges)], q.Asks[n/len(q.judges)]
}

// subjectOf is a question's subject as it is written in judgments, where an action needs no word.
func subjectOf(asks interlock.JudgeQuestion) interlock.JudgeSubject {
	if asks.Subject == interlock.JudgeAction {
		return ""
	}
	return asks.Subject
}

// heardOf asks one judge one thing. What it says is made fit to be recorded, and a panic of its client is a failure like any
// other.
func heardOf(ctx context.Context, q *Inquiry, n int) (said interlock.Judgment) {
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

func (a *Judging) JudgedRows(j *Consultation, now time.Time) []ledger.Row {
	rows := j.settled(now)
	if !j.fresh || len(j.Said) == 0 || slices.ContainsFunc(j.Said, func(s interlock.Judgment) bool { return s.Failure != "" }) {
		return rows
	}
	body := ledger.JudgedBody{Key: j.Key, Judgments: slices.Clone(j.Said), At: now}
	if !slices.ContainsFunc(j.Said, func(s interlock.Judgment) bool { return s.Verdict != interlock.Allow }) {
		if a.Config.JudgeWithin <= 0 {
			return rows
		}
		body.Until = now.Add(a.Config.JudgeWithin)
	}
	return append(rows, ledger.Rows(body)...)
}
