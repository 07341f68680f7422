package judging

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/judgments"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// What is written around a model's name where providers, gateways and clouds call it otherwise.
var (
	modelCloud = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z]{2,6}\.)?(anthropic|openai|meta|mistral|google|amazon|cohere|deepseek|qwen)\.`)
	})
	modelEnd = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([-@](20\d{6}|20\d\d-\d\d-\d\d)|[-:]latest|-v\d+(:\d+)?|\[[0-9a-z]+\])$`)
	})
)

// sameModel is a model's name by which it is the same wherever it is called otherwise: without provider, date and version of the cloud
// that serves it. How large a model is stays part of its name.
func sameModel(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = modelCloud().ReplaceAllString(name, "")
	for range 4 {
		shorter := modelEnd().ReplaceAllString(name, "")
		if shorter == name {
			break
		}
		name = shorter
	}
	return strings.ReplaceAll(name, ".", "-")
}

// sharedDay is for how long an agent's use of a judge's model is no news.
const sharedDay = 24 * time.Hour

// ReportModels takes in which models an agent was reported to reason with. One that is a judge's is an alert, once per agent and judge
// within a day. What was reported is not repeated in it: those are an agent's words.
func (a *Judging) ReportModels(ctx context.Context, by interlock.Requester, models []string) error {
	if err := core.CheckAgent(by, "models are an agent's"); err != nil {
		return err
	}
	var names []string
	for _, model := range models {
		names = append(names, sameModel(model))
	}
	for _, judge := range a.Config.JudgeModels {
		if judge.Model == "" || !slices.Contains(names, sameModel(judge.Model)) {
			continue
		}
		if err := a.sharesModel(ctx, by, judge); err != nil {
			return err
		}
	}
	return nil
}

// sharesModel records that an agent reasons with a judge's model, unless that was recorded within a day.
func (a *Judging) sharesModel(ctx context.Context, by interlock.Requester, judge core.JudgeModel) error {
	name, err := strictjson.Digest("interlock/judge-shared/v1", []string{by.Agent, judge.Judge, judge.Model})
	if err != nil {
		return err
	}
	now := a.Config.Now().UTC()
	rows, _, err := a.Config.Store.Load(ctx, core.Key(ledger.Judged, string(name)))
	if err != nil {
		return err
	}
	for _, row := range rows {
		if body, is := row.Value.(ledger.JudgedBody); is && body.Counts(now) {
			return nil
		}
	}
	change := ledger.Change{Writes: ledger.Rows(ledger.JudgedBody{Key: name, At: now, Until: now.Add(sharedDay),
		Judgments: []interlock.Judgment{{Judge: judge.Judge, Verdict: interlock.Deny}}})}
	if err := a.Raise(&change, by, judgments.AlertShared, "its telemetry says that it reasons with the model of the judge "+
		judge.Judge+
		", which then shares its mistakes; give the judge another model, and name this one under judge.reasoning"); err != nil {
		return err
	}
	_, err = a.Config.Store.Commit(ctx, change)
	return err
}
