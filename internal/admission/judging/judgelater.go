package judging

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// maxOwedPayload bounds what is kept of a question until it is asked, in bytes. What is longer is asked before.
const maxOwedPayload = 48 << 10

// NotAnAction is why plans and outputs are judged before.
const NotAnAction = "it is no action"

// A later is how an action's judge is heard other than before.
type later struct {
	class string
	after bool // it is asked afterwards
	share int  // of a hundred actions so many are judged
}

// Later returns how the judge of an action may be heard other than before, or nil. Whatever anybody is asked about is judged
// before, so that people see what the judge says; and where nobody would be there to ask afterwards it is asked before.
func (a *Judging) Later(q *Inquiry, impacts []interlock.Impact, d *interlock.Decision) *later {
	set := &a.Config.JudgeLater
	if len(set.After) == 0 && len(set.Sample) == 0 || d.Mode != interlock.Enforcing || len(q.Asks) != 1 || len(q.judges) != 1 ||
		q.alone ||
		objected(d) || gate.JudgedBefore(d.Danger, impacts) != "" {
		return nil
	}
	l := &later{class: interlock.ImpactClass(impacts), after: !a.Config.Brief && len(q.Asks[0].Payload) <= maxOwedPayload}
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

// spare takes for what is said of an action that nobody is asked before it, and reports whether that is so. What can't be found
// out, such as how many judgments are owed already, has the judge asked before.
func (a *Judging) spare(ctx context.Context, j *Consultation, q *Inquiry) bool {
	if q.Later == nil {
		return false
	}
	said := interlock.Judgment{Judge: q.judges[0].Identity().Name, Verdict: interlock.Deny, Model: q.judges[0].Identity().Model,
		GroundRules: q.judges[0].Identity().GroundRules}
	if q.Later.share < 100 {
		if !j.drawn {
			n, err := draw(a.Config.Random)
			if err != nil {
				return false
			}
			j.drawn, j.draw = true, n
		}
		said.Share, said.Draw = q.Later.share, j.draw
	}
	switch {
	case said.Share > 0 && said.Draw >= said.Share:
		said.Failure = interlock.JudgeUnsampled
		said.Reason = strconv.Itoa(said.Share) + " of 100 actions of the class " + q.Later.class + " are judged, and this one " +
			"was not drawn"
	case q.Later.after && a.roomForOwed(ctx):
		said.Failure = interlock.JudgeOwed
		said.Reason = "actions of the class " + q.Later.class + " are judged after they were let through"
	default:
		return false
	}
	j.Key, j.Said, j.Owes = q.Key, []interlock.Judgment{said}, q
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

// roomForOwed reports whether one more judgment may be owed. Decisions that are made at the same moment may go over the bound by
// as many as they are.
func (a *Judging) roomForOwed(ctx context.Context) bool {
	most := a.Config.JudgeLater.Most
	n, err := a.Config.Store.Count(ctx, core.Under(ledger.Owed, ledger.All), ledger.Every(most))
	return err == nil && n < most
}

// Self is this process among those that have the same store.
func (a *Judging) Self() (string, error) {
	a.Owing.Lock()
	defer a.Owing.Unlock()
	if a.Owing.self == "" {
		name, err := a.Random(8)
		if err != nil {
			return "", err
		}
		a.Owing.self = name
	}
	return a.Owing.self, nil
}

// errAnswered ends the change of an answer that another process has recorded.
var errAnswered = errors.New("this judgment is owed no more")
