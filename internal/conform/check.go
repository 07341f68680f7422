package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/spec"
)

// A Check drives homes and says what it saw. Its error says what is wrong; one made with [NotHere] that it can't be told on this
// machine.
type Check struct {
	IDs    []string // clauses, which it decides together
	Drives string   // which doors, for the evidence
	Do     func(ctx context.Context, d *Driver) (seen string, err error)
}

// Checks is the table, by area.
func Checks() []Check {
	return slices.Concat(tier1Checks(), runChecks(), limitChecks(), breakerChecks(), phaseChecks(), stopChecks(), signalChecks(),
		sandboxChecks(), peopleChecks(), logChecks(), gatewayChecks(), redTeamChecks(), maturityChecks(), planChecks(), recoveryChecks(),
		oversightChecks(), budgetChecks(), keptChecks(), unusualChecks(),
		messagesChecks(), rollbackChecks(), bypassChecks(), judgedChecks())
}

// A Clause is one of the specification's, as spec/clauses.tsv and spec/gaps.tsv have it.
type Clause struct {
	ID    string
	Must  bool
	Text  string
	Gap   string // why it is not proved yet; empty: tests prove it
	Waits bool   // it may be pending, except where that is asked for strictly
}

// Clauses are those of MASO Execution Control. None of them waits.
func Clauses() ([]Clause, error) { return clausesOf("EC-", nil) }

// ASAClauses are those of the Asimov Safety Architecture. What waits needs components on several machines.
func ASAClauses() ([]Clause, error) {
	clauses, err := clausesOf("ASA-", later)
	for n := range clauses {
		if c := &clauses[n]; c.Waits && c.Gap != "" {
			c.Gap = "topology: " + c.Gap
		}
	}
	return clauses, err
}

// MACEClauses are those of the MACE safety boundaries. None of them waits.
func MACEClauses() ([]Clause, error) { return clausesOf("MACE-", nil) }

// AQLClauses are those of MCP-AQL. What waits is departed from on purpose, as docs/divergences.md has it.
func AQLClauses() ([]Clause, error) { return clausesOf("AQL-", []string{"AQL-T-3"}) }

func clausesOf(family string, waits []string) ([]Clause, error) {
	all, err := spec.Clauses()
	if err != nil {
		return nil, err
	}
	gaps, err := spec.Gaps()
	if err != nil {
		return nil, err
	}
	why := map[string]string{}
	for _, g := range gaps {
		why[g.ID] = g.Reason
	}
	var out []Clause
	for _, c := range all {
		if strings.HasPrefix(c.ID, family) {
			out = append(out, Clause{ID: c.ID, Must: c.Level == spec.Must, Text: c.Text, Gap: why[c.ID], Waits: slices.Contains(waits, c.ID)})
		}
	}
	return out, nil
}

// A Word is what is said of a clause.
type Word string

// The words.
const (
	Pass    Word = "pass"
	Fail    Word = "fail"
	Pending Word = "pending"
)

// A Result is what was seen of one clause.
type Result struct {
	ID     string        `json:"id"`
	Must   bool          `json:"must"`
	Waits  bool          `json:"waits,omitempty"` // it may be pending, except where that is asked for strictly
	Word   Word          `json:"result"`
	Seen   string        `json:"seen"`
	Took   time.Duration `json:"took_ns,omitempty"`
	Drives string        `json:"drives,omitempty"`
	Steps  []Step        `json:"steps,omitempty"`        // what was sent and answered
	With   string        `json:"checked_with,omitempty"` // the clause under which the steps stand
}

// errNotHere is what can't be told here.
var errNotHere = errors.New("not here")

// NotHere says why a check can't be made on this machine.
func NotHere(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotHere, fmt.Sprintf(format, args...))
}

// checkTime bounds one check.
const checkTime = 3 * time.Minute

// Run makes the checks of the clauses that are wanted, one after another, and returns a result for each of them, in the clauses' order.
// Two clauses of one check share what it saw. told hears each as it comes.
func Run(ctx context.Context, d *Driver, clauses []Clause, checks []Check, told func(Result)) []Result {
	done := map[string]Result{}
	var out []Result
	for _, c := range clauses {
		r, made := done[c.ID]
		if !made {
			r = Result{Word: Pending, Seen: "tests prove it, and no check drives it from outside yet"}
			if c.Gap != "" {
				r.Seen = "not built: " + c.Gap
			}
			for _, check := range checks {
				if !slices.Contains(check.IDs, c.ID) {
					continue
				}
				r = one(ctx, d, check)
				for _, id := range check.IDs {
					same := r
					same.With = c.ID
					done[id] = same
				}
				break
			}
		} else {
			r.Took, r.Steps = 0, nil // they stand with the first
		}
		r.ID, r.Must, r.Waits = c.ID, c.Must, c.Waits
		out = append(out, r)
		if told != nil {
			told(r)
		}
	}
	return out
}

// one makes a check. What it panics with is a failure of the check, and ends nothing else.
func one(ctx context.Context, d *Driver, check Check) (r Result) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	began := d.env.Now()
	d.begin()
	defer func() {
		if broken := recover(); broken != nil {
			r = Result{Word: Fail, Seen: fmt.Sprintf("the check itself broke: %v", broken)}
		}
		r.Seen = d.clean(strings.Join(strings.Fields(r.Seen), " "))
		r.Took, r.Drives, r.Steps = d.env.Now().Sub(began), check.Drives, d.take()
	}()
	seen, err := check.Do(ctx, d)
	switch {
	case errors.Is(err, errNotHere):
		return Result{Word: Pending, Seen: err.Error()}
	case err != nil:
		return Result{Word: Fail, Seen: err.Error()}
	}
	return Result{Word: Pass, Seen: seen}
}

// A Tally counts results.
type Tally struct {
	Passed  int  `json:"passed"`
	Failed  int  `json:"failed"`
	Pending int  `json:"pending"`
	Open    int  `json:"must_open"` // MUSTs that failed or are pending, but for those that may wait; where strict, every clause that does
	OK      bool `json:"conformant"`
}

// Count counts results. Where strict, what may wait counts as open as well, and so does what is no MUST.
func Count(results []Result, strict bool) Tally {
	var t Tally
	for _, r := range results {
		switch r.Word {
		case Pass:
			t.Passed++
			continue
		case Fail:
			t.Failed++
		default:
			t.Pending++
			if r.Waits && !strict {
				continue
			}
		}
		if r.Must || strict {
			t.Open++
		}
	}
	t.OK = t.Open == 0
	return t
}
