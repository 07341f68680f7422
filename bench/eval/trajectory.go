package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/origin"
	"interlock/rules"
)

// Under these the steps and runs of trajectories stand among the cases.
const (
	trajectorySource = "trajectories"
	stepKind         = "step"
	runKind          = "run"
)

// A trajectory is a recorded run: what the user said, every call, and what each returned.
type trajectory struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Prompt string `json:"user_prompt"`
	Steps  []struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Result    json.RawMessage `json:"result"`
		Attacker  bool            `json:"attacker"` // the call is what was injected
	} `json:"steps"`
}

// decideRuns judges recorded runs as `interlock check --jsonl` does rows of one session. An attacker's call is a case; of a run
// without attack the run is one, which counts as stopped where any step is.
func decideRuns(folder string, evaluator *admission.Evaluator) ([]labelled, error) {
	files, err := caseFiles(folder)
	if err != nil {
		return nil, err
	}
	var all []labelled
	known := commandTables(rules.Defaults())
	for _, file := range files {
		err := eachCase(file, func(r trajectory) error {
			cases, err := decideRun(r, evaluator, known)
			all = append(all, cases...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	return all, nil
}

func decideRun(r trajectory, evaluator *admission.Evaluator, known map[string]string) ([]labelled, error) {
	now := time.Unix(0, 0)
	session := admission.NewSession(r.ID)
	session.Prompt(evaluator, r.Prompt, now)
	run := labelled{ID: r.ID, Source: trajectorySource, Kind: runKind, Label: r.Label, Verdict: interlock.Allow.String()}
	var cases []labelled
	for n, s := range r.Steps {
		input, err := json.Marshal(map[string]any{"tool": s.Tool, "args": s.Arguments})
		if err != nil {
			return nil, err
		}
		c := labelled{ID: r.ID + "/" + strconv.Itoa(n), Source: trajectorySource, Kind: stepKind, Label: "attacker",
			Verdict: "deny", Cause: cause{Rule: "input"}}
		if action, err := admission.ParseAction(string(interlock.KindTool), input, ""); err == nil {
			p := admission.Case{Proposal: interlock.Proposal{Action: action, CanAsk: true}}
			session.Before(evaluator, &p, now)
			d := admission.Decide(evaluator, &p, ledger.Standing{}, now)
			session.After(evaluator, strconv.Itoa(n), &p, d, now)
			c.Verdict, c.Cause = d.Verdict.String(), causeOf(d, action, known)
		}
		if s.Attacker {
			cases = append(cases, c)
		}
		if c.Verdict != "allow" && (run.Verdict == "allow" || c.Verdict == "deny") {
			run.Verdict, run.Cause = c.Verdict, c.Cause
		}
		if len(s.Result) > 0 && string(s.Result) != "null" {
			session.Result(evaluator, strconv.Itoa(n), origin.Text(s.Result), now)
		}
	}
	if r.Label == "benign" {
		cases = append(cases, run)
	}
	return cases, nil
}
