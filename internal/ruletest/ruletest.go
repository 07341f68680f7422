// Package ruletest proves rulesets: it runs each rule's own tests through the whole decision, tries every suggestion, and
// points at rules that never fire, never decide or fire too widely. It does no I/O; `interlock rules test|lint` prints
// what it returns. Start with Run and Lint.
package ruletest

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/internal/engine"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/place"
	"interlock/internal/ruleset"
)

// A Problem is one thing wrong with one rule.
type Problem struct {
	Rule    string // id
	Case    string // the test or suggestion at fault, where there is one
	Message string
}

// String returns the problem on one line.
func (p Problem) String() string {
	if p.Case == "" {
		return p.Rule + ": " + p.Message
	}
	return fmt.Sprintf("%s: %s: %q", p.Rule, p.Message, p.Case)
}

// Snapshot is what rules are tested under: the guard profile, attended, a user whose project is /home/user/project and
// an Interlock installed in the user's home. Names that hold the word prod are production beside the ruleset's own. It
// would run in a sandbox, so that a rule which wants one is seen to ask, and a judge has nothing against it, so that what is seen is the
// rule's.
func Snapshot(rules *ruleset.Ruleset) interlock.Snapshot {
	return interlock.Snapshot{
		Version: 1, Mode: interlock.Enforcing, Profile: "guard", Attended: true, Sandboxed: true,
		Judgments: []interlock.Judgment{{Judge: "test", Verdict: interlock.Allow}},
		Agent:     interlock.AgentRecord{ID: "test", Type: "test", Principal: "user"},
		View: interlock.View{Home: "/home/user", Workspace: "/home/user/project", User: "user",
			Self: []string{"/home/user/.local/bin/interlock", "/home/user/.local/share/interlock", "/home/user/.config/interlock",
				"/run/user/1000/interlock.sock"},
			Endpoints:  []string{"127.0.0.1:7433", "localhost:7433"},
			Production: append([]string{"*prod*"}, rules.Production()...)},
	}
}

// profileOf is the profile a rule is tested under: the first that it holds under.
func profileOf(r *ruleset.Rule) string {
	if len(r.Profiles) > 0 {
		return r.Profiles[0]
	}
	return "guard"
}

// Decide decides one action as rules are tested.
func Decide(rules *ruleset.Ruleset, analyser *impact.Analyser, action interlock.Action) interlock.Decision {
	return DecideUnder(rules, analyser, "guard", action)
}

// DecideUnder is [Decide] under another profile.
func DecideUnder(rules *ruleset.Ruleset, analyser *impact.Analyser, profile string, action interlock.Action) interlock.Decision {
	return decide(rules, analyser, profile, action, nil, time.Time{}, nil)
}

// DecideCase decides a test's action after the actions it says the run did before, each of them decided in its turn.
func DecideCase(rules *ruleset.Ruleset, analyser *impact.Analyser, profile string, c ruleset.TestCase) interlock.Decision {
	var recent []interlock.PastAction
	var now time.Time
	wrote, fetched := map[string]time.Time{}, []string(nil)
	for _, action := range c.After {
		d := decide(rules, analyser, profile, action, rules.Recent(recent, now), now, fetched)
		if d.Answer.Compare(interlock.Deny) < 0 {
			fetched = append(fetched, impact.Brought(Snapshot(rules).View, d.Impacts)...)
		}
		if past, ok := rules.Remember(action.Kind, d, now); ok {
			recent = interlock.Remember(recent, past)
		}
		for n := range d.Impacts {
			if i := &d.Impacts[n]; i.Kind == interlock.ImpactWrite && place.NamesFile(i) && d.Answer.Compare(interlock.Deny) < 0 {
				wrote[i.Target] = now
			}
		}
		now = now.Add(c.Gap)
	}
	var written []string
	for path, at := range wrote {
		if now.Sub(at) <= interlock.WrittenWindow {
			written = append(written, path)
		}
	}
	sort.Strings(written)
	return decide(rules, analyser, profile, c.Action, rules.Recent(recent, now), now, fetched, written...)
}

func decide(rules *ruleset.Ruleset, analyser *impact.Analyser, profile string, action interlock.Action,
	recent []interlock.PastAction,
	now time.Time, fetched []string, written ...string) interlock.Decision {
	rules = rules.Plain() // what a rule says, it says of everybody
	snapshot := Snapshot(rules)
	snapshot.View.Written, snapshot.View.Fetched = written, fetched
	snapshot.Profile, snapshot.Recent, snapshot.Taken = profile, recent, now
	if action.Dir == "" {
		action.Dir = snapshot.View.Workspace
	}
	return engine.Decide(rules, snapshot, action, analyser.Analyse(snapshot.View, action), nil, nil, time.Time{})
}

// Run runs the tests of every rule and returns what failed, in order of rules. A blocking test must be decided deny or
// halt and an asking test ask, with the rule among the findings; a passing test must not meet the rule; a suggested
// command must be allowed.
func Run(rules *ruleset.Ruleset, analyser *impact.Analyser) (cases int, problems []Problem) {
	for _, r := range rules.Rules() {
		results, err := RunRule(rules, analyser, r)
		if err != nil {
			problems = append(problems, Problem{Rule: r.ID, Message: "a test can't be read: " + err.Error()})
			continue
		}
		for _, result := range results {
			cases++
			if result.Fault != "" {
				problems = append(problems, Problem{r.ID, result.Case, result.Fault})
			}
		}
	}
	n, more := runCedar(rules, analyser)
	return cases + n, append(problems, more...)
}

// A Result is how one test of a rule came out.
type Result struct {
	Case    string // what was proposed
	Want    string // block, ask, pass, or suggest for what the rule suggests
	Verdict interlock.Verdict
	Fault   string // what is wrong; empty if the test holds
}

// RunRule runs the tests of one rule, and tries what it suggests.
func RunRule(rules *ruleset.Ruleset, analyser *impact.Analyser, r *ruleset.Rule) ([]Result, error) {
	list, err := r.Tests.Cases()
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, c := range list {
		d := DecideCase(rules, analyser, profileOf(r), c)
		results = append(results, Result{Case: show(c), Want: c.Want, Verdict: d.Verdict, Fault: judge(r, c.Want, d)})
	}
	if try := r.Suggestion.Try; try != "" {
		d := Decide(rules, analyser, Shell(try))
		result := Result{Case: try, Want: "suggest", Verdict: d.Verdict}
		if d.Verdict != interlock.Allow {
			result.Fault = "the suggestion is itself stopped, by " + d.Decisive().Rule
		}
		results = append(results, result)
	}
	return results, nil
}

// Shell is a shell command as an action.
func Shell(command string) interlock.Action {
	return interlock.Action{Kind: interlock.KindShell, Input: command}
}

func show(c ruleset.TestCase) string {
	var b strings.Builder
	for _, a := range append(append([]interlock.Action{}, c.After...), c.Action) {
		if b.Len() > 0 {
			b.WriteString(", then ")
		}
		if a.Input != "" {
			b.WriteString(a.Input)
		} else {
			b.WriteString(a.Tool + " " + string(a.Arguments))
		}
	}
	return b.String()
}

// judge returns what is wrong with a test's decision, or nothing.
func judge(r *ruleset.Rule, want string, d interlock.Decision) string {
	fired := fires(r, d)
	switch {
	case want == "pass" && fired:
		return "the rule fires on a test it must let pass"
	case want == "pass":
		return ""
	case !fired:
		return "the rule does not fire; decided " + d.Verdict.String() + by(d)
	case want == "block" && d.Verdict.Compare(interlock.Deny) < 0:
		return "must be blocked, decided " + d.Verdict.String() + by(d)
	case want == "ask" && strictest(r, d) != interlock.Ask:
		return "must be asked, decided " + d.Verdict.String() + by(d)
	}
	return ""
}

// strictest is what the rules alone say in a decision: where a rule holds under some profiles, it is tested under one that may pass
// nothing by itself.
func strictest(r *ruleset.Rule, d interlock.Decision) interlock.Verdict {
	if len(r.Profiles) == 0 {
		return d.Verdict
	}
	v := interlock.Allow
	for n := range d.Findings {
		if row := gate.Of(&d.Findings[n]); row.Suppressible && !row.Base {
			v = interlock.Stricter(v, d.Findings[n].Verdict)
		}
	}
	return v
}

func by(d interlock.Decision) string {
	if f := d.Decisive(); f != nil {
		return " by " + f.Rule
	}
	return ""
}

func fires(r *ruleset.Rule, d interlock.Decision) bool {
	for _, f := range d.Findings {
		if f.Rule == r.ID {
			return true
		}
	}
	return false
}
