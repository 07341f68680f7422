package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/otlp"
	"interlock/internal/ruleset"
	"interlock/internal/upstream"
)

// telemetry is what `interlock up` tells of itself beside the log: more numbers for /metrics, and spans and metrics for a collector.
type telemetry struct {
	backend *embedded.Backend
	sender  *otlp.Sender // nil: there is no collector
	tally   otlp.Tally

	mutex sync.Mutex
	read  time.Time // when the numbers of the store were read last
	known standNumbers
}

// A standNumbers holds the numbers that stand in the store.
type standNumbers struct {
	shares map[string]float64 // of each budget, the largest part that anybody has used
	holds  int
}

// The bounds of reading them.
const (
	storedFor         = 5 * time.Second // for so long numbers are taken for those of now
	maxStored         = 5000
	metricsEvery      = time.Minute
	collectorPatience = 10 * time.Second
)

// newTelemetry has decisions counted, and told to the collector that the settings name.
func newTelemetry(p *cli.Program, backend *embedded.Backend, settings config.Config, logger *slog.Logger) (*telemetry, error) {
	t := &telemetry{backend: backend}
	c := settings.OTLPTo
	if c.To == "" {
		return t, nil
	}
	if err := collectorAddress(c.To); err != nil {
		return nil, err
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	t.sender = &otlp.Sender{To: strings.TrimSuffix(c.To, "/"), Version: embedded.Version(), Instance: hex.EncodeToString(id), Gather: t.gather,
		Logger: logger, Every: time.Duration(c.Every), Now: cli.Now, Client: &http.Client{Timeout: collectorPatience,
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if t.sender.Every <= 0 {
		t.sender.Every = metricsEvery
	}
	if c.Token != "" {
		t.sender.Token = func() (string, error) {
			secret, err := upstream.Secret(p.Getenv, "otlp_to.token", c.Token)
			return secret.Reveal(), err
		}
		if _, err := t.sender.Token(); err != nil { // now rather than with the first span
			return nil, err
		}
	}
	t.sender.Start()
	backend.Observe(t.decided)
	return t, nil
}

// collectorAddress refuses an address that telemetry must not go to: it names agents and what was refused.
func collectorAddress(to string) error {
	u, err := url.Parse(to)
	wrong := func(what string) error { return interlock.Errorf(interlock.CodeInvalid, "otlp_to.to", "%s", what) }
	switch {
	case err != nil || u.Host == "":
		return wrong("is no address; give an HTTPS URL under which /v1/traces and /v1/metrics are")
	case u.User != nil:
		return wrong("a URL must not carry user information; name a token")
	case u.RawQuery != "" || u.Fragment != "":
		return wrong("give the address without what follows a ? or #")
	case u.Scheme == "https":
		return nil
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return wrong("is neither an HTTPS URL nor one of this machine")
}

// decided counts and tells one decision.
func (t *telemetry) decided(d core.Decided) {
	a := d.Answer
	t.tally.Add(a.Verdict.String(), a.Answer.String(), a.Mode.String(), d.Took)
	span := otlp.Span{Event: a.Event, Start: d.Start, Took: d.Took, Agent: d.Agent, Door: d.Door, Kind: string(d.Kind),
		Verdict: a.Verdict.String(), Answer: a.Answer.String(), Mode: a.Mode.String(), Ruleset: string(a.Ruleset), Failed: a.Event == ""}
	if f := a.Decisive(); f != nil {
		span.Rule, span.Gate = f.Rule, f.Gate
	}
	t.sender.Span(span)
}

// run tells the collector until ctx ends.
func (t *telemetry) run(ctx context.Context) {
	if t.sender != nil {
		t.sender.Run(ctx)
	}
}

// gather are the metrics that a collector is told.
func (t *telemetry) gather(ctx context.Context) []otlp.Metric {
	list := t.tally.Metrics()
	if pending, err := t.backend.Pending(ctx, 0); err == nil {
		list = append(list, otlp.Metric{Name: "interlock.requests.pending", Unit: "{request}", Says: "Approval requests that wait for a human.",
			Gauge: true, Samples: []otlp.Sample{{Value: float64(pending)}}})
	}
	s, err := t.numbers(ctx)
	if err != nil {
		return list
	}
	list = append(list, otlp.Metric{Name: "interlock.holds", Unit: "{hold}", Says: "Holds, phases and open breakers that stand.", Gauge: true,
		Samples: []otlp.Sample{{Value: float64(s.holds)}}})
	used := otlp.Metric{Name: "interlock.budget.used", Unit: "1", Says: "The largest part of a budget that anybody has used.", Gauge: true}
	for _, id := range slices.Sorted(maps.Keys(s.shares)) {
		used.Samples = append(used.Samples, otlp.Sample{Labels: [][2]string{{"budget", id}}, Value: s.shares[id]})
	}
	if len(used.Samples) > 0 {
		list = append(list, used)
	}
	return list
}

// page writes further metrics for /metrics.
func (t *telemetry) page(w io.Writer) error {
	s, err := t.numbers(context.Background())
	if err != nil {
		return nil // what can be told is told; /readyz says that the store can't be read
	}
	fmt.Fprintf(w, "# HELP interlock_holds Holds, phases and open breakers that stand.\n# TYPE interlock_holds gauge\ninterlock_holds %d\n", s.holds)
	fmt.Fprint(w, "# HELP interlock_budget_used_ratio The largest part of a budget that anybody has used.\n"+
		"# TYPE interlock_budget_used_ratio gauge\n")
	for _, id := range slices.Sorted(maps.Keys(s.shares)) {
		fmt.Fprintf(w, "interlock_budget_used_ratio{budget=%q} %g\n", id, s.shares[id])
	}
	dropped := int64(0)
	if t.sender != nil {
		dropped = t.sender.Dropped()
	}
	_, err = fmt.Fprintf(w, "# HELP interlock_telemetry_dropped_total Spans that the collector was not told.\n"+
		"# TYPE interlock_telemetry_dropped_total counter\ninterlock_telemetry_dropped_total %d\n", dropped)
	return err
}

// numbers reads the numbers of the store, no more often than they are of use.
func (t *telemetry) numbers(ctx context.Context) (standNumbers, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	at := cli.Now()
	if since := at.Sub(t.read); !t.read.IsZero() && since >= 0 && since < storedFor {
		return t.known, nil
	}
	s := standNumbers{shares: map[string]float64{}}
	for _, b := range t.backend.Rules().AllBudgets() {
		s.shares[b.ID] = 0
	}
	every := ledger.Span{From: math.MinInt64, UpTo: math.MaxInt64, Newest: true, Limit: 500}
	holds, err := t.backend.Store.Count(ctx, ledger.Ref{Kind: ledger.Hold, Mark: ledger.All}, every)
	if err != nil {
		return s, err
	}
	s.holds = holds
	if len(s.shares) > 0 {
		rules := t.backend.Rules()
		if _, _, err := core.EachUse(ctx, t.backend.Store, maxStored, func(u ledger.CountedFor) { s.count(rules, u, at) }); err != nil {
			return s, err
		}
	}
	t.read, t.known = at, s
	return s, nil
}

// count takes in what was used of a budget.
func (s *standNumbers) count(rules *ruleset.Ruleset, u ledger.CountedFor, at time.Time) {
	id, is := ruleset.BudgetOf(u.Limit)
	if b, known := rules.Budget(id); is && known && u.Per == string(b.Per) {
		s.shares[id] = max(s.shares[id], float64(u.Body.Used(b.Window(), at))/float64(b.Most))
	}
}
