package httpapi

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// metrics counts in fixed arrays, so that counting costs an atomic add and no label can be chosen by a caller. The
// Prometheus client library would add its registry, a dozen packages and a label map per observation for the same page.
type metrics struct {
	build     Build
	started   time.Time
	decisions [kinds][verdicts][verdicts][modes]atomic.Int64 // by kind, verdict, answer and mode
	denials   [kinds][2]atomic.Int64                         // by kind and which gate denied
	requests  [len(routeNames)][600]atomic.Int64             // by route and status
	failures  [len(codes)]atomic.Int64
	latency   [len(latencyBounds) + 1]atomic.Int64 // not cumulative
	seconds   atomic.Int64                         // sum, in nanoseconds
	inForce   func() InForce                       // never nil
	renewing  sync.Mutex                           // held while rules are made again
	rules     atomic.Pointer[counted]              // replaced when other rules come into force
	others    ruleHits                             // of rules that are no rule of the ruleset: gates, profiles, refusals
}

// ruleHits counts the findings of one rule by what they argued for. Findings that were suppressed argue for allow.
type ruleHits [verdicts]atomic.Int64

const (
	kinds    = 10 // the nine kinds, and one for a kind that has none
	verdicts = 4
	modes    = 4
)

// latencyBounds are the upper bounds of the latency histogram: 50 µs to 5 s.
var latencyBounds = [...]time.Duration{50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond,
	500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second}

var codes = [...]interlock.Code{interlock.CodeInvalid, interlock.CodeNotFound, interlock.CodeConflict, interlock.CodeExpired,
	interlock.CodeUnauthorized, interlock.CodeLimited, interlock.CodeUnavailable, interlock.CodeInternal}

// counted are the findings of every rule that was in force since the process began. It is never changed after it is made.
type counted struct {
	ruleset interlock.Digest // the newest
	rules   map[string]*ruleHits
}

func newMetrics(started time.Time, build Build, inForce func() InForce) *metrics {
	if inForce == nil {
		inForce = func() InForce { return InForce{} }
	}
	m := &metrics{build: build, started: started, inForce: inForce}
	m.rules.Store(&counted{})
	m.counted("")
	return m
}

// counted is where the findings of decisions under a ruleset are counted. What was counted under others goes on.
func (m *metrics) counted(ruleset interlock.Digest) map[string]*ruleHits {
	have := m.rules.Load()
	if have.rules != nil && (have.ruleset == ruleset || ruleset == "") { // without one nothing was decided
		return have.rules
	}
	m.renewing.Lock()
	defer m.renewing.Unlock()
	have, now := m.rules.Load(), m.inForce()
	if have.ruleset == now.Ruleset && have.rules != nil { // a decision that began under those of before
		return have.rules
	}
	next := &counted{ruleset: now.Ruleset, rules: maps.Clone(have.rules)}
	if next.rules == nil {
		next.rules = make(map[string]*ruleHits, len(now.Rules))
	}
	for _, id := range now.Rules {
		if next.rules[id] == nil {
			next.rules[id] = new(ruleHits)
		}
	}
	m.rules.Store(next)
	return next.rules
}

func kindIndex(kind interlock.Kind) int {
	switch kind {
	case interlock.KindShell:
		return 0
	case interlock.KindSQL:
		return 1
	case interlock.KindPython:
		return 2
	case interlock.KindJavaScript:
		return 3
	case interlock.KindFile:
		return 4
	case interlock.KindHTTP:
		return 5
	case interlock.KindTool:
		return 6
	case interlock.KindHint:
		return 7
	case interlock.KindText:
		return 8
	default:
		return kinds - 1
	}
}

func (m *metrics) decision(kind interlock.Kind, a *interlock.Answer, took time.Duration) {
	m.decisions[kindIndex(kind)][a.Verdict%verdicts][a.Answer%verdicts][a.Mode%modes].Add(1)
	if a.Verdict.Compare(interlock.Deny) >= 0 {
		if gate := auditlog.DenyingGate(a.Decision); gate > 0 {
			m.denials[kindIndex(kind)][gate-1].Add(1)
		}
	}
	bucket := 0
	for bucket < len(latencyBounds) && took > latencyBounds[bucket] {
		bucket++
	}
	var rules map[string]*ruleHits
	if len(a.Findings) > 0 {
		rules = m.counted(a.Ruleset)
	}
	for i := range a.Findings {
		hits, known := rules[a.Findings[i].Rule]
		if !known {
			hits = &m.others
		}
		hits[a.Findings[i].Verdict%verdicts].Add(1)
	}
	m.latency[bucket].Add(1)
	m.seconds.Add(int64(took))
}

func (m *metrics) request(r route, status int) {
	if status >= 0 && status < len(m.requests[0]) {
		m.requests[r][status].Add(1)
	}
}

func (m *metrics) failure(code interlock.Code) {
	for i, known := range codes {
		if code == known {
			m.failures[i].Add(1)
			return
		}
	}
}

// exposition writes the Prometheus text format, version 0.0.4.
type exposition struct{ bytes.Buffer }

func (e *exposition) family(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) }

// label quotes a label's value as the format asks.
func label(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

func (m *metrics) write(e *exposition) {
	e.family("interlock_build_info", "gauge", "What is running; the value is always 1.")
	fmt.Fprintf(e, "interlock_build_info{go=%s,revision=%s,ruleset=%s,version=%s} 1\n",
		label(m.build.Go), label(m.build.Revision), label(string(m.inForce().Ruleset)), label(m.build.Version))
	e.family("process_start_time_seconds", "gauge", "When the server started, in seconds since the epoch.")
	fmt.Fprintf(e, "process_start_time_seconds %.3f\n", float64(m.started.UnixMilli())/1000)
	m.writeDecisions(e)
	m.writeRules(e)
	e.family("interlock_http_requests_total", "counter", "Requests answered, by route and status.")
	for r := range m.requests {
		for status := range m.requests[r] {
			if n := m.requests[r][status].Load(); n > 0 {
				fmt.Fprintf(e, "interlock_http_requests_total{route=%q,status=\"%d\"} %d\n", routeNames[r], status, n)
			}
		}
	}
	e.family("interlock_errors_total", "counter", "Requests that ended in an error, by its code.")
	for i, code := range codes {
		fmt.Fprintf(e, "interlock_errors_total{code=%q} %d\n", string(code), m.failures[i].Load())
	}
}

func (m *metrics) writeDecisions(e *exposition) {
	e.family("interlock_decisions_total", "counter", "Decisions by kind of action, verdict of the rules, answer given and mode.")
	names := append(interlock.Kinds(), "none")
	for k := range m.decisions {
		for v := range m.decisions[k] {
			for a := range m.decisions[k][v] {
				for o := range m.decisions[k][v][a] {
					if n := m.decisions[k][v][a][o].Load(); n > 0 {
						fmt.Fprintf(e, "interlock_decisions_total{answer=%q,kind=%q,mode=%q,verdict=%q} %d\n",
							interlock.Verdict(a), string(names[k]), interlock.Mode(o), interlock.Verdict(v), n)
					}
				}
			}
		}
	}
	e.family("interlock_denials_total", "counter", "Denials by kind of action and gate: 1 is deterministic, 2 the judge.")
	for k := range m.denials {
		for g := range m.denials[k] {
			if n := m.denials[k][g].Load(); n > 0 {
				fmt.Fprintf(e, "interlock_denials_total{gate=\"%d\",kind=%q} %d\n", g+1, string(names[k]), n)
			}
		}
	}
	e.family("interlock_decision_seconds", "histogram", "Time to decide and record one action.")
	var total int64
	for i, bound := range latencyBounds {
		total += m.latency[i].Load()
		fmt.Fprintf(e, "interlock_decision_seconds_bucket{le=%q} %d\n", seconds(bound), total)
	}
	total += m.latency[len(latencyBounds)].Load()
	fmt.Fprintf(e, "interlock_decision_seconds_bucket{le=\"+Inf\"} %d\n", total)
	fmt.Fprintf(e, "interlock_decision_seconds_sum %s\n", seconds(time.Duration(m.seconds.Load())))
	fmt.Fprintf(e, "interlock_decision_seconds_count %d\n", total)
}

// otherRules is what findings are counted under that come from no rule of the ruleset.
const otherRules = "other"

// writeRules writes what has objected so far. There are no more series than rules and verdicts.
func (m *metrics) writeRules(e *exposition) {
	e.family("interlock_rule_hits_total", "counter",
		"Findings by rule and what they argued for; allow is a finding that was suppressed.")
	rules := m.rules.Load().rules
	ids := slices.Sorted(maps.Keys(rules))
	line := func(id string, hits *ruleHits) {
		for v := range hits {
			if n := hits[v].Load(); n > 0 {
				fmt.Fprintf(e, "interlock_rule_hits_total{rule=%s,verdict=%q} %d\n", label(id), interlock.Verdict(v), n)
			}
		}
	}
	for _, id := range ids {
		line(id, rules[id])
	}
	line(otherRules, &m.others)
}

// typeMetrics is the content type of the text format.
var typeMetrics = []string{"text/plain; version=0.0.4; charset=utf-8"}

// writeMetrics answers GET /metrics. It needs no token: it holds counts and no names.
func (x *exchange) writeMetrics() {
	s, ctx := x.server, x.r.Context()
	var page exposition
	s.metrics.write(&page)
	page.family("interlock_http_in_flight", "gauge", "Requests under way.")
	fmt.Fprintf(&page, "interlock_http_in_flight %d\n", s.underWay())
	if pending, err := s.config.Backend.Pending(ctx, 0); err == nil {
		page.family("interlock_requests_pending", "gauge", "Approval requests that wait for a human.")
		fmt.Fprintf(&page, "interlock_requests_pending %d\n", pending)
	}
	if head, err := s.config.Log.Head(ctx); err == nil {
		page.family("interlock_log_entries", "gauge", "Entries in the audit log.")
		fmt.Fprintf(&page, "interlock_log_entries %d\n", head.Size)
	}
	if s.config.Metrics != nil {
		if err := s.config.Metrics(&page); err != nil {
			x.fail(fmt.Errorf("writing further metrics: %w", err))
			return
		}
	}
	x.answer(http.StatusOK, typeMetrics, page.Bytes())
}

// health answers GET /healthz: the process serves. It reads nothing, so that it answers whatever else is wrong.
func (x *exchange) health() {
	x.answer(http.StatusOK, typeJSON, []byte(`{"status":"ok"}`+"\n"))
}

// ready answers GET /readyz: decisions can be recorded.
func (x *exchange) ready() {
	check := x.server.config.Ready
	ctx, cancel := x.decisionContext()
	defer cancel()
	var err error
	if check != nil {
		err = check(ctx)
	} else {
		_, err = x.server.config.Backend.Ground(ctx)
	}
	if err != nil {
		x.fail(interlock.Errorf(interlock.CodeUnavailable, "",
			"the store can't record decisions; `interlock doctor` says what is wrong"))
		return
	}
	x.answer(http.StatusOK, typeJSON, []byte(`{"status":"ready"}`+"\n"))
}
