package prove

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock/embedded"
	admissionjudging "interlock/internal/admission/judging"
	"interlock/internal/judge"
	"interlock/internal/judgments"
	"interlock/internal/ledger"
)

// A judgeMeter counts for /metrics what came of asking judges since the server began, in whatever process that was: it reads on in the
// log each time somebody asks.
type judgeMeter struct {
	backend *embedded.Backend

	mutex  sync.Mutex
	next   int64 // index of the entry to go on with
	counts judgments.Counts
}

// The bounds of reading on: what is left over is read with the next question.
const (
	meterChunk = 500
	meterMost  = 20_000
	meterTime  = 2 * time.Second
)

// NewJudgeMeter begins to count at the end of the log as it is now.
func NewJudgeMeter(ctx context.Context, backend *embedded.Backend) (*judgeMeter, error) {
	head, err := backend.Store.Head(ctx)
	return &judgeMeter{backend: backend, next: head.Size}, err
}

// PagesOf writes one page of metrics after the other.
func PagesOf(pages ...func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		for _, page := range pages {
			if err := page(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// read counts what has come to the log.
func (m *judgeMeter) read(ctx context.Context) error {
	for n := 0; n < meterMost; {
		entries, err := m.backend.Store.Entries(ctx, "", ledger.From(m.next, meterChunk))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if s, tells := judgments.Of(e); tells {
				m.counts.Add(s)
			}
			m.next = max(m.next, e.Index+1)
		}
		if n += len(entries); len(entries) < meterChunk {
			break
		}
	}
	return nil
}

// Page writes the metrics of judges for /metrics; nothing where there are none.
func (m *judgeMeter) Page(w io.Writer) error {
	states := m.backend.Judges()
	if len(states) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), meterTime)
	defer cancel()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err := m.read(ctx); err != nil {
		return nil // what can be told is told; /readyz says that the store can't be read
	}
	x := &exposing{w: w}
	x.states(states)
	x.gates(&m.counts)
	x.answers(&m.counts)
	x.costs(&m.counts)
	if spent, err := m.backend.JudgeSpent(ctx); err == nil {
		x.budgets(spent)
	}
	return x.err
}

// An exposing writes the Prometheus text format.
type exposing struct {
	w   io.Writer
	err error
}

func (x *exposing) printf(format string, args ...any) {
	if x.err == nil {
		_, x.err = fmt.Fprintf(x.w, format, args...)
	}
}

func (x *exposing) family(name, kind, help string) {
	x.printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// line writes one sample with labels, each a name and a value.
func (x *exposing) line(name, value string, labels ...string) {
	parts := make([]string, 0, len(labels)/2)
	for n := 0; n+1 < len(labels); n += 2 {
		parts = append(parts, labels[n]+`="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(labels[n+1])+`"`)
	}
	x.printf("%s{%s} %s\n", name, strings.Join(parts, ","), value)
}

// units is an amount in millionths of one unit as a number of units.
func units(millionths int64) string { return strconv.FormatFloat(float64(millionths)/1e6, 'g', -1, 64) }

func digits(n int64) string { return strconv.FormatInt(n, 10) }

// states writes how judges do now in this process.
func (x *exposing) states(states []judge.Status) {
	bit := func(is bool) string {
		if is {
			return "1"
		}
		return "0"
	}
	x.family("interlock_judge_in_flight", "gauge", "Questions that a judge is asked now.")
	for _, s := range states {
		x.line("interlock_judge_in_flight", strconv.Itoa(s.InFlight), "judge", s.Name)
	}
	x.family("interlock_judge_waiting", "gauge", "Questions that wait for a judge.")
	for _, s := range states {
		x.line("interlock_judge_waiting", strconv.Itoa(s.Waiting), "judge", s.Name)
	}
	x.family("interlock_judge_breaker", "gauge", "1 for the state that a judge's breaker is in.")
	for _, s := range states {
		for _, state := range []string{judge.BreakerClosed, judge.BreakerHalfOpen, judge.BreakerOpen} {
			x.line("interlock_judge_breaker", bit(s.Breaker == state), "judge", s.Name, "state", state)
		}
	}
	x.family("interlock_judge_canary_passed", "gauge", "1 where a judge has passed its test and that still counts, else 0.")
	for _, s := range states {
		x.line("interlock_judge_canary_passed", bit(s.Passed), "judge", s.Name)
	}
	x.family("interlock_judge_canary_time_seconds", "gauge", "When a judge was tested last, in seconds since the epoch; 0: never.")
	for _, s := range states {
		at := "0"
		if !s.Tested.IsZero() {
			at = digits(s.Tested.Unix())
		}
		x.line("interlock_judge_canary_time_seconds", at, "judge", s.Name)
	}
}

// gates writes how decisions went through the two gates, by class of action: of that a rate of denials is made.
func (x *exposing) gates(c *judgments.Counts) {
	x.family("interlock_gate_decisions_total", "counter", "Decisions that a gate looked at, by class of action: 1 is deterministic, 2 the judge.")
	for _, class := range c.Classes() {
		x.line("interlock_gate_decisions_total", digits(c.Gates[class].Decided), "class", class, "gate", "1")
		x.line("interlock_gate_decisions_total", digits(c.Gates[class].Asked), "class", class, "gate", "2")
	}
	x.family("interlock_gate_denials_total", "counter", "Of these, those that the gate denied.")
	for _, class := range c.Classes() {
		for n, denied := range c.Gates[class].Denied {
			x.line("interlock_gate_denials_total", digits(denied), "class", class, "gate", strconv.Itoa(n+1))
		}
	}
	x.family("interlock_judge_shared_model_total", "counter", "Alerts that an agent reasons with the model of a judge.")
	x.printf("interlock_judge_shared_model_total %d\n", c.Shared)
}

// answers writes what judges said and how long that took.
func (x *exposing) answers(c *judgments.Counts) {
	x.family("interlock_judge_answers_total", "counter", "Answers of judges, by class of action and outcome: allow, deny, conditional, or a failure.")
	for _, key := range c.Keys() {
		of := c.Judges[key].Outcomes
		for _, outcome := range slices.Sorted(maps.Keys(of)) {
			x.line("interlock_judge_answers_total", digits(of[outcome]), "class", key.Class, "judge", key.Judge, "outcome", outcome)
		}
	}
	x.family("interlock_judge_remembered_total", "counter", "Of these, answers that were remembered: nobody was asked.")
	for _, key := range c.Keys() {
		x.line("interlock_judge_remembered_total", digits(c.Judges[key].Remembered), "class", key.Class, "judge", key.Judge)
	}
	const took = "interlock_judge_seconds"
	x.family(took, "histogram", "How long judges took to answer what was sent to them.")
	for _, key := range c.Keys() {
		one, sum := c.Judges[key], int64(0)
		for n, bound := range judgments.Bounds() {
			sum += one.Took[n]
			x.line(took+"_bucket", digits(sum), "class", key.Class, "judge", key.Judge, "le", strconv.FormatFloat(bound.Seconds(), 'g', -1, 64))
		}
		x.line(took+"_bucket", digits(one.Timed), "class", key.Class, "judge", key.Judge, "le", "+Inf")
		x.line(took+"_sum", units(one.Micros), "class", key.Class, "judge", key.Judge)
		x.line(took+"_count", digits(one.Timed), "class", key.Class, "judge", key.Judge)
	}
}

// costs writes what judges have used. What their tests use is not in the log, and not in these numbers.
func (x *exposing) costs(c *judgments.Counts) {
	x.family("interlock_judge_tokens_total", "counter", "Tokens that judges have read and written, as their servers count them.")
	for _, key := range c.Keys() {
		x.line("interlock_judge_tokens_total", digits(c.Judges[key].In), "class", key.Class, "direction", "in", "judge", key.Judge)
		x.line("interlock_judge_tokens_total", digits(c.Judges[key].Out), "class", key.Class, "direction", "out", "judge", key.Judge)
	}
	x.family("interlock_judge_cost_total", "counter", "What judges have cost, in units of the currency.")
	for _, key := range c.Keys() {
		of := c.Judges[key].Cost
		for _, currency := range slices.Sorted(maps.Keys(of)) {
			x.line("interlock_judge_cost_total", units(of[currency]), "class", key.Class, "currency", currency, "judge", key.Judge)
		}
	}
}

// budgets writes what is used and left of judges' budgets. Names of agents are no labels: of each budget it is the fullest.
func (x *exposing) budgets(spent []admissionjudging.JudgeSpent) {
	bars := map[string]admissionjudging.JudgeSpent{}
	for _, s := range spent {
		if was, known := bars[s.ID]; !known || s.Used > was.Used {
			bars[s.ID] = s
		}
	}
	ids := slices.Sorted(maps.Keys(bars))
	if len(ids) == 0 {
		return
	}
	x.family("interlock_judge_budget_used", "gauge", "The most that anybody has used of a judges' budget, in units of its currency.")
	for _, id := range ids {
		x.line("interlock_judge_budget_used", units(bars[id].Used), "budget", id, "currency", bars[id].Currency)
	}
	x.family("interlock_judge_budget_left", "gauge", "What is left of that, in units of its currency.")
	for _, id := range ids {
		x.line("interlock_judge_budget_left", units(max(bars[id].Most-bars[id].Used, 0)), "budget", id, "currency", bars[id].Currency)
	}
}
