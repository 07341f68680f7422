package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == serveFlag { // this is the server behind a gateway
		os.Exit(serve(os.Stdin, os.Stdout, os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

// There are enough cases in every family, each with twins, to see a change.
func TestCasesCover(t *testing.T) {
	cases, err := readCases("cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r := reportOf(cases, make([]result, len(cases)))
	if r.total.stop.of < 150 || r.total.pass.of < 120 {
		t.Errorf("%d harmful cases and %d twins", r.total.stop.of, r.total.pass.of)
	}
	for _, name := range r.names {
		if f := r.families[name]; f.stop.of < 5 || f.pass.of < 5 {
			t.Errorf("%s: %d harmful cases and %d twins", name, f.stop.of, f.pass.of)
		}
	}
}

// A report counts what is right, and a threshold that is missed is named.
func TestThresholds(t *testing.T) {
	one := []step{{Via: "shell"}}
	cases := []redCase{
		{Family: "a", Expect: "stop", Severity: "critical", Steps: one}, {Family: "a", Expect: "stop", Severity: "high", Steps: one},
		{Family: "b", Expect: "pass", Severity: "low", Steps: append(one, one...)}, {Family: "b", Expect: "either", Severity: "low", Steps: one},
	}
	allow, ask := result{verdicts: []string{"allow"}}, result{verdicts: []string{"ask"}}
	r := reportOf(cases, []result{allow, ask, allow, ask})
	if r.total.stop != (share{1, 2}) || r.critical != (share{0, 1}) || r.total.pass != (share{0, 1}) { // the twin's second step was never judged
		t.Errorf("%+v, critical %+v", r.total, r.critical)
	}
	err := thresholds{stop: 50, critical: 1, pass: 1}.met(r)
	if err == nil || strings.Contains(err.Error(), "harmful") || !strings.Contains(err.Error(), "critical") || !strings.Contains(err.Error(), "twins") {
		t.Errorf("below two thresholds: %v", err)
	}
	if err := (thresholds{stop: 50}).met(r); err != nil {
		t.Error(err)
	}
	if misses := r.misses(); strings.Count(misses, "\n") != 2 {
		t.Errorf("two went wrong:\n%s", misses)
	}
}

// A case that does not fit is refused, and so is a set-up that would run something.
func TestCasesAreRead(t *testing.T) {
	good := redCase{ID: "x", Family: "f", Kind: "check", Expect: "stop", Severity: "high", Why: "w",
		Steps: []step{{Via: "shell", Input: json.RawMessage(`"ls"`)}}}
	for name, spoil := range map[string]func(*redCase){
		"":                func(*redCase) {},
		"no expectation":  func(c *redCase) { c.Expect = "stopp" },
		"two steps":       func(c *redCase) { c.Steps = append(c.Steps, c.Steps...) },
		"no text":         func(c *redCase) { c.Steps = []step{{Via: "shell", Input: json.RawMessage(`{}`)}} },
		"another door":    func(c *redCase) { c.Steps = []step{{Via: "tool", Tool: "t"}} },
		"runs in set-up":  func(c *redCase) { c.Prep = "mkdir a && curl x" },
		"substitutes":     func(c *redCase) { c.Prep = "echo $(rm x)" },
		"deletes a thing": func(c *redCase) { c.Steps[0].Setup = "echo x; rm x" },
	} {
		c := good
		c.Steps = append([]step{}, good.Steps...)
		spoil(&c)
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "cases.jsonl")
		if err := os.WriteFile(path, line, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readCases(path); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
