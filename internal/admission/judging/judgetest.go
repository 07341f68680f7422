package judging

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// JudgeTested records that a judge was tested with what it must deny and what it must allow, and what came of it. A judge that failed is
// an alarm. One that passed counts as tested until then in every process, so that a hook that lives for one call need not test it first.
func (a *Judging) JudgeTested(ctx context.Context, judge interlock.JudgeIdentity, failure interlock.JudgeFailure, why string,
	until time.Time) error {
	now := a.Config.Now().UTC()
	record := auditlog.JudgeTestedRecord{Judge: judge, Passed: failure == "", Failure: failure, Reason: core.Bounded(a.Redact(why),
		core.MaxDetail)}
	system := interlock.Requester{Agent: "interlock"}
	var change ledger.Change
	if err := a.Append(&change, interlock.EventJudgeTested, system, "system", record); err != nil {
		return err
	}
	if failure != "" {
		if err := a.Raise(&change, system, "judge-failed",
			"the judge "+judge.Name+" failed its test ("+string(failure)+"): what needs it is denied"); err != nil {
			return err
		}
	} else {
		name, err := canaryKey(judge)
		if err != nil {
			return err
		}
		change.Writes = ledger.Rows(ledger.JudgedBody{Key: name, Judgments: []interlock.Judgment{{Judge: judge.Name, Verdict: interlock.Allow}},
			At: now, Until: until})
	}
	_, err := a.Config.Store.Commit(ctx, change)
	return err
}

// JudgeProved is when a judge last passed its test in any process, if that still counts.
func (a *Judging) JudgeProved(ctx context.Context, judge interlock.JudgeIdentity) (at time.Time, proved bool, err error) {
	name, err := canaryKey(judge)
	if err != nil {
		return at, false, err
	}
	rows, _, err := a.Config.Store.Load(ctx, core.Key(ledger.Judged, string(name)))
	if err != nil {
		return at, false, err
	}
	for _, row := range rows {
		if body, is := row.Value.(ledger.JudgedBody); is && body.Counts(a.Config.Now().UTC()) {
			return body.At, true, nil
		}
	}
	return at, false, nil
}

// canaryKey names the test of a judge, which counts for exactly this model under these ground rules.
func canaryKey(judge interlock.JudgeIdentity) (interlock.Digest, error) {
	return strictjson.Digest("interlock/judge-canary/v1", judge)
}
