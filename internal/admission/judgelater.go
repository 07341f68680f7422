package admission

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// Where an operator has said so of a class of actions, a judge is heard after the action was let through, or of a share of the class
// only (ASA 17.1, 17.2). Nothing that can't be undone for certain is: see [gate.JudgedBefore], which every decision holds it to. That it
// was so stands in the decision's record, as what the judge did not say, with what was drawn, so that the decision is made again alike.

// JudgeLater says of which classes of action judges are heard afterwards, or of a share only. A class is a kind of impact and how far
// it reaches, such as "write workspace". An action is of no class that is named here unless all that it does is.
type JudgeLater struct {
	After  []string       // judged after they were let through
	Sample map[string]int // so many of a hundred are judged, 1 to 99
	Most   int            // so many judgments are owed at once, or about; over that judges are heard before
	Within time.Duration  // without an answer for so long, what was let through counts as denied
}

// maxOwedPayload bounds what is kept of a question until it is asked, in bytes. What is longer is asked before.
const maxOwedPayload = 48 << 10

// notAnAction is why plans and outputs are judged before.
const notAnAction = "it is no action"

// A later is how an action's judge is heard other than before.
type later struct {
	class string
	after bool // it is asked afterwards
	share int  // of a hundred actions so many are judged
}

// later returns how the judge of an action may be heard other than before, or nil. Whatever anybody is asked about is judged before, so
// that people see what the judge says; and where nobody would be there to ask afterwards it is asked before.
func (a *Admission) later(q *inquiry, impacts []interlock.Impact, d *interlock.Decision) *later {
	set := &a.config.JudgeLater
	if len(set.After) == 0 && len(set.Sample) == 0 || d.Mode != interlock.Enforcing || len(q.asks) != 1 || len(q.judges) != 1 || q.alone ||
		objected(d) || gate.JudgedBefore(d.Danger, impacts) != "" {
		return nil
	}
	l := &later{class: interlock.ImpactClass(impacts), after: !a.config.Brief && len(q.asks[0].Payload) <= maxOwedPayload}
	for n := range impacts {
		class := nameOfClass(&impacts[n])
		share, sampled := set.Sample[class]
		if !sampled {
			share = 100
		}
		l.share, l.after = max(l.share, share), l.after && slices.Contains(set.After, class)
	}
	if l.share >= 100 && !l.after {
		return nil
	}
	return l
}

// objected reports whether anything but a judge objects to an action.
func objected(d *interlock.Decision) bool {
	return slices.ContainsFunc(d.Findings, func(f interlock.Finding) bool {
		return f.Gate != gate.NameJudge && f.Verdict.Compare(interlock.Ask) >= 0
	})
}

// spare takes for what is said of an action that nobody is asked before it, and reports whether that is so. What can't be found out,
// such as how many judgments are owed already, has the judge asked before.
func (a *Admission) spare(ctx context.Context, j *judging, q *inquiry) bool {
	if q.later == nil {
		return false
	}
	said := interlock.Judgment{Judge: q.judges[0].Identity().Name, Verdict: interlock.Deny, Model: q.judges[0].Identity().Model,
		GroundRules: q.judges[0].Identity().GroundRules}
	if q.later.share < 100 {
		if !j.drawn {
			n, err := draw(a.config.Random)
			if err != nil {
				return false
			}
			j.drawn, j.draw = true, n
		}
		said.Share, said.Draw = q.later.share, j.draw
	}
	switch {
	case said.Share > 0 && said.Draw >= said.Share:
		said.Failure = interlock.JudgeUnsampled
		said.Reason = strconv.Itoa(said.Share) + " of 100 actions of the class " + q.later.class + " are judged, and this one was not drawn"
	case q.later.after && a.roomForOwed(ctx):
		said.Failure = interlock.JudgeOwed
		said.Reason = "actions of the class " + q.later.class + " are judged after they were let through"
	default:
		return false
	}
	j.key, j.said, j.owes = q.key, []interlock.Judgment{said}, q
	return true
}

// draw is a number from 0 to 99, each as likely as any other.
func draw(random io.Reader) (int, error) {
	const even = 200 // bytes from here on would make small numbers likelier
	var b [1]byte
	for {
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return 0, err
		}
		if b[0] < even {
			return int(b[0]) % 100, nil
		}
	}
}

// roomForOwed reports whether one more judgment may be owed. Decisions that are made at the same moment may go over the bound by as many
// as they are.
func (a *Admission) roomForOwed(ctx context.Context) bool {
	most := a.config.JudgeLater.Most
	n, err := a.config.Store.Count(ctx, under(ledger.Owed, ledger.All), ledger.Every(most))
	return err == nil && n < most
}

// owe adds to the change that lets an action through that its judge is owed an answer, where one is.
func (a *Admission) owe(change *ledger.Change, p *Case, d interlock.Decision, now time.Time) error {
	j := &p.judging
	if j.owes == nil || j.owes.key != j.key || len(j.said) != 1 || j.said[0].Failure != interlock.JudgeOwed || !d.Answer.Allowed() {
		return nil
	}
	by, err := a.self()
	if err != nil {
		return err
	}
	asks := j.owes.asks[0]
	change.Writes = append(change.Writes, ledger.Rows(ledger.OwedBody{Requester: p.Requester, Action: j.owes.action, Impacts: j.owes.impacts,
		Class: asks.Class, Payload: string(asks.Payload), Judge: j.said[0].Judge, By: by, At: now, Until: now.Add(a.config.JudgeLater.Within)})...)
	return nil
}

// self is this process among those that have the same store.
func (a *Admission) self() (string, error) {
	a.owing.Lock()
	defer a.owing.Unlock()
	if a.owing.self == "" {
		name, err := a.random(8)
		if err != nil {
			return "", err
		}
		a.owing.self = name
	}
	return a.owing.self, nil
}

// errAnswered ends the change of an answer that another process has recorded.
var errAnswered = errors.New("this judgment is owed no more")
