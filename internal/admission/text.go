package admission

import (
	"context"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/gate"
)

// SubmittedTexts is the ruleset that texts are classified by which are written, said or submitted as final.
const SubmittedTexts = "mace-stage1"

// textLooks are of actions that are texts.
var textLooks = []look{
	{gates: []string{gate.NameText}, tried: true, finds: (*pendingDecision).textFindings},
}

// classified has a case's text classified, once, where it is one (MACE 3.1).
func (c *Case) classified(e *core.Evaluator) {
	if c.Action.Kind == interlock.KindText && c.text == nil {
		r := classify.Text(e.Texts.Named(SubmittedTexts), c.Action.Input)
		c.text = &r
	}
}

// Classified is what the classifier says of a case that was decided; nil where it is no text.
func (c *Case) Classified() *interlock.Classified {
	if c.text == nil {
		return nil
	}
	return messages.Classified(c.text)
}

// textFindings deny a text of which nothing may go on. What is left out of others says the answer.
func (d *pendingDecision) textFindings() []interlock.Finding {
	r := d.text
	if r == nil || !r.Classification.Stricter(classify.Review) {
		return nil
	}
	return []interlock.Finding{{Gate: gate.NameText, Rule: r.Rule, Layer: 1, Verdict: interlock.Deny, Reason: r.Reason}}
}

// textRecord is what the decision's event says of the text.
func (c *Case) textRecord() *auditlog.ClassifiedText {
	if c.text == nil {
		return nil
	}
	return &auditlog.ClassifiedText{Classification: string(c.text.Classification), Rule: c.text.Rule, Ruleset: c.text.Ruleset}
}

// answerText puts what the classifier said of a text into its answer, once what it leaves out is recorded. The event of a decision that
// blocks the text says so itself, and one in a mode that evaluates nothing says that.
func (a *Admission) answerText(ctx context.Context, p *Case, answer *interlock.Answer) error {
	if p.text == nil {
		return nil
	}
	text := p.Classified()
	told := p.text.Classification == classify.Pass || p.text.Classification == classify.Refuse && !p.text.Integrity
	if evaluated := answer.Mode == interlock.Enforcing || answer.Mode == interlock.Monitoring; evaluated && !told &&
		answer.Verdict != interlock.Halt {
		done, err := a.screen(ctx, p.Requester, "submitted text", answer.Event, false, p.Action.Input, p.text)
		if err != nil {
			return err
		}
		text.Review, text.Unreviewed = done.Review, done.Unreviewed
	}
	answer.Text = text
	return nil
}

// screen records what the classifier took out of one text.
func (a *Admission) screen(ctx context.Context, by interlock.Requester, where, about string, durable bool, text string,
	r *classify.Result) (messages.Screened, error) {
	s := messages.Screening{Requester: by, Where: where, About: about, Durable: durable, Text: text}
	s.Take(text, *r)
	return a.Screened(ctx, s)
}

// ClassifyText says what may become of a text of an agent's, and records what it leaves out of it before that (MACE 12, POST
// /safety/classify). durable says that it is about to be kept. The event is empty where all of it may go on.
func (a *Admission) ClassifyText(ctx context.Context, by interlock.Requester, text string, durable bool) (*interlock.Classified, string,
	error) {
	if text == "" {
		return nil, "", interlock.Errorf(interlock.CodeInvalid, "/text", "is missing; give the text to classify")
	}
	if err := CheckText("/text", text); err != nil {
		return nil, "", err
	}
	now, err := a.InForce(ctx)
	if err != nil {
		return nil, "", err
	}
	done, err := a.turns.Take(ctx, by.Agent, len(text))
	if err != nil {
		return nil, "", err
	}
	r := classify.Text(now.Texts.Named(SubmittedTexts), text)
	done(len(text) / bytesAStep)
	answer := messages.Classified(&r)
	if r.Classification == classify.Pass {
		return answer, "", nil
	}
	kept, err := a.screen(ctx, by, "submitted text", "", durable, text, &r)
	if err != nil {
		return nil, "", err
	}
	answer.Review, answer.Unreviewed = kept.Review, kept.Unreviewed
	return answer, kept.Event, nil
}

// bytesAStep is how much of a text the classifier reads in about the time of one step of an analysis.
const bytesAStep = 8
