package admission

import (
	"encoding/json"
	"slices"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/question"
)

// From tier 2 on judges look at what a run puts out before it is committed outside, beside the objective that the run was registered with
// and that nothing changes since (EC-2.5). It leaves in two ways: by an action that reaches beyond the machine, and as the result of a
// run that nobody delegated, which ends the orchestration. What a run hands to the one that delegated it stays inside.

// outputTier is from which tier on outputs are looked at.
const outputTier = 2

// goesOut reports whether an action commits something outside.
func goesOut(impacts []interlock.Impact) bool {
	return slices.ContainsFunc(impacts, func(i interlock.Impact) bool {
		return i.Reversibility != interlock.Readonly && (i.Reach == interlock.ReachExternal || i.Reach == interlock.ReachProduction)
	})
}

// objective is what the run of a case is for, where its outputs are looked at. Its own words for each action are no part of it.
func objective(p *Case, tier int, standing ledger.Standing) string {
	if tier < outputTier {
		return ""
	}
	run, _ := standing.Run(p.Requester.Agent, standing.RunOf(p.Requester))
	return run.Task
}

func (a *Admission) output(objective, text string) (interlock.JudgeQuestion, error) {
	payload, err := question.Output(objective, text, a.config.Redact)
	return interlock.JudgeQuestion{Subject: interlock.JudgeOutput, Payload: payload, Class: "output"}, err
}

// reviewed refuses a result that judges object to, before it leaves the orchestration; errUnheard has them asked first. An objection of
// whatever layer refuses it, and so does silence: a result waits for nobody, and its agent may end the run with another.
func (a *Admission) reviewed(run interlock.Run, result json.RawMessage, standing ledger.Standing, heard *judging) error {
	under := a.force.Load()
	tier := under.Rules.TierFor(agentOf(interlock.Requester{Agent: run.Agent}, standing))
	if run.Parent != "" || len(result) == 0 || tier < outputTier || under.Mode != interlock.Enforcing && under.Mode != interlock.Monitoring {
		return nil
	}
	if len(a.config.Judges) > 0 {
		q := a.judgedBy(tier >= 3, 0) // a result's consequence is not known: where agents act by themselves all judges are heard
		asks, err := a.output(run.Task, string(result))
		if err != nil {
			return err
		}
		q.asks = []interlock.JudgeQuestion{asks}
		if q.key, err = q.digest(struct {
			Result string `json:"result"`
		}{string(result)}); err != nil {
			return err
		}
		if err := heard.needs(q); err != nil {
			return err
		}
	}
	snapshot := interlock.Snapshot{Profile: under.Profile, Judgments: heard.said}
	for _, f := range gate.Judged(under.Rules, &snapshot, interlock.Allow, notAnAction) {
		if under.Mode == interlock.Enforcing {
			return &unfit{interlock.Errorf(interlock.CodeUnauthorized, "/result", "is not handed over: %s (%s); the run goes on", f.Reason, f.Rule),
				heard.said, a.judged(heard, a.config.Now().UTC())}
		}
	}
	return nil
}

// unfit is a result that judges object to, with what they said of it and how that is remembered.
type unfit struct {
	error
	said []interlock.Judgment
	rows []ledger.Row
}

func (u *unfit) Unwrap() error { return u.error }
