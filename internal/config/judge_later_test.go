package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/config"
	"interlock/spec"
)

// TestJudgedLater: nothing is judged afterwards or in samples unless somebody has written so of its class, and no setting opens a class
// whose actions can't be undone for certain.
func TestJudgedLater(t *testing.T) {
	spec.Covers(t, "ASA-17.1-1", "ASA-17.1-2", "ASA-17.2-1")
	set, err := config.Load(write(t, "judge: {after: [write workspace], sample: {read home: 10}, owed: 9, within: 2m}"), "")
	if err != nil {
		t.Fatal(err)
	}
	if j := set.Judge; len(j.After) != 1 || j.Sample["read home"] != 10 || j.MostOwed() != 9 || j.AnswerWithin() != 2*time.Minute {
		t.Errorf("%+v", j)
	}
	if j := config.Defaults().Judge; len(j.After) != 0 || len(j.Sample) != 0 || j.MostOwed() != 256 || j.AnswerWithin() != 10*time.Minute {
		t.Errorf("without a word: %+v", j)
	}
	open := map[string]bool{}
	for _, kind := range interlock.ImpactKinds() {
		for _, reach := range interlock.Reaches() {
			class := string(kind) + " " + string(reach)
			for _, setting := range []string{"after: [%s]", "sample: {%s: 10}"} {
				if _, err := config.Load(write(t, "judge: {"+fmt.Sprintf(setting, class)+"}"), ""); err == nil {
					open[class] = true
				} else if !strings.Contains(err.Error(), "always judged before") {
					t.Errorf("%s: %v", class, err)
				}
			}
		}
	}
	for _, kind := range []string{"read", "write", "configure", "spawn"} {
		for _, reach := range []string{"workspace", "home", "system", "external"} {
			if !open[kind+" "+reach] {
				t.Errorf("%s %s can't be named", kind, reach)
			}
			delete(open, kind+" "+reach)
		}
	}
	if len(open) > 0 {
		t.Errorf("these may be judged afterwards as well: %v", open)
	}
}

// TestBadJudgedLater: what is no class, share or bound is refused, by the setting's name.
func TestBadJudgedLater(t *testing.T) {
	for text, names := range map[string]string{
		"after: [write]":                "judge.after",
		"after: [dance workspace]":      "judge.after",
		"after: ['write workspace x']":  "judge.after",
		"after: ['']":                   "judge.after",
		"sample: {write nowhere: 10}":   "judge.sample",
		"sample: {write workspace: 0}":  "judge.sample",
		"sample: {read workspace: 100}": "judge.sample",
		"sample: {read workspace: -1}":  "judge.sample",
		"owed: -1":                      "judge.owed",
		"owed: 10001":                   "judge.owed",
		"within: 10s":                   "judge.within",
		"within: 25h":                   "judge.within",
	} {
		if _, err := config.Load(write(t, "judge: {"+text+"}"), ""); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
