package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	metrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// The bounds of what is sent.
const (
	queued    = 4096 // spans that wait; more are dropped and counted
	batch     = 512
	maxAnswer = 64 << 10
	tries     = 4
	lastTime  = 2 * time.Second // for what is still to be sent at the end
)

// A Span is one decision as it is told to a collector: who wanted to act through which door, what the rules said and how long it took;
// nothing of the action itself.
type Span struct {
	Event   string // its id, from which the ids of the trace are made
	Start   time.Time
	Took    time.Duration
	Agent   string
	Door    string
	Kind    string
	Verdict string
	Answer  string
	Mode    string
	Rule    string // that decided, if one did
	Gate    string
	Ruleset string
	Failed  bool // no decision could be made or recorded
}

// A Sample is one number of a metric.
type Sample struct {
	Labels [][2]string
	Value  float64
	Counts []uint64 // of a histogram, by bound, with one more for what is above all of them
}

// A Metric is one metric as it is told to a collector.
type Metric struct {
	Name    string
	Unit    string
	Says    string
	Gauge   bool      // otherwise it is a sum that rises
	Bounds  []float64 // of a histogram
	Samples []Sample
}

// A Sender sends spans and metrics to a collector. Nothing waits for it: what does not fit into its queue, and what the collector does
// not take in a few tries, is dropped and counted.
type Sender struct {
	To       string                 // address under which /v1/traces and /v1/metrics are
	Token    func() (string, error) // optional: sent as a bearer token
	Version  string
	Instance string
	Gather   func(ctx context.Context) []Metric
	Client   *http.Client
	Logger   *slog.Logger
	Every    time.Duration // between metrics; spans go every twelfth of it, or when there is a batch of them
	Now      func() time.Time

	started time.Time
	queue   chan Span
	dropped atomic.Int64
	failing bool
}

// Start makes the sender ready to take spans.
func (s *Sender) Start() {
	s.queue, s.started = make(chan Span, queued), s.Now()
}

// Span takes a span to send. It never waits.
func (s *Sender) Span(span Span) {
	select {
	case s.queue <- span:
	default:
		s.dropped.Add(1)
	}
}

// Dropped is how many spans were not told.
func (s *Sender) Dropped() int64 { return s.dropped.Load() }

// Run sends until ctx ends, and then what there is once more.
func (s *Sender) Run(ctx context.Context) {
	soon, each := time.NewTicker(max(s.Every/12, time.Millisecond)), time.NewTicker(s.Every)
	defer soon.Stop()
	defer each.Stop()
	var spans []Span
	// what is on its way when it is to end has a little time to get there: whether it was taken could not be told otherwise
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastTime, stop) })()
	flush := func(ctx context.Context) {
		if len(spans) > 0 && !s.send(ctx, "/v1/traces", s.traces(spans)) {
			s.dropped.Add(int64(len(spans)))
		}
		spans = spans[:0]
	}
	for {
		select {
		case span := <-s.queue:
			if spans = append(spans, span); len(spans) >= batch {
				flush(sending)
			}
		case <-soon.C:
			flush(sending)
		case <-each.C:
			s.send(sending, "/v1/metrics", s.measures(sending))
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
			defer cancel()
			for len(s.queue) > 0 {
				spans = append(spans, <-s.queue)
			}
			flush(last)
			s.send(last, "/v1/metrics", s.measures(last))
			return
		}
	}
}

// send posts a request, again after a while where the collector says that it may be taken then. It reports whether it was.
func (s *Sender) send(ctx context.Context, path string, request proto.Message) bool {
	body, err := packed(request)
	if err != nil {
		s.note(path, err.Error())
		return false
	}
	wait := 500 * time.Millisecond
	for n := 1; ; n++ {
		again, why := s.post(ctx, path, body)
		if why == "" {
			s.failing = false
			return true
		}
		if !again || n == tries || ctx.Err() != nil {
			s.note(path, why)
			return false
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait *= 2
	}
}

// post tries once. why is empty if it was taken.
func (s *Sender) post(ctx context.Context, path string, body []byte) (again bool, why string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.To+path, bytes.NewReader(body))
	if err != nil {
		return false, "the address can't be asked"
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Content-Encoding", "gzip")
	if s.Token != nil {
		token, err := s.Token()
		if err != nil {
			return false, "its token can't be read"
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := s.Client.Do(request)
	if err != nil {
		return true, "it can't be reached"
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // so that the connection is used again
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, ""
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, answer.Status
	}
	return false, answer.Status
}

// note tells the server's log of what was not taken, once until something is.
func (s *Sender) note(path, why string) {
	if !s.failing {
		s.Logger.Warn("telemetry is not taken by its collector", "path", path, "why", why)
	}
	s.failing = true
}

func packed(request proto.Message) ([]byte, error) {
	text, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil { // which writes the end
		return nil, err
	}
	return b.Bytes(), nil
}

func attribute(name, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func attributes(pairs ...[2]string) (list []*commonpb.KeyValue) {
	for _, p := range pairs {
		if p[1] != "" {
			list = append(list, attribute(p[0], p[1]))
		}
	}
	return list
}

func (s *Sender) resource() *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: attributes([2]string{"service.name", "interlock"}, [2]string{"service.version", s.Version},
		[2]string{"service.instance.id", s.Instance})}
}

func (s *Sender) scope() *commonpb.InstrumentationScope {
	return &commonpb.InstrumentationScope{Name: "interlock", Version: s.Version}
}

func (s *Sender) traces(spans []Span) *trace.ExportTraceServiceRequest {
	list := make([]*tracepb.Span, len(spans))
	for n, d := range spans {
		list[n] = spanOf(d)
	}
	return &trace.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{Resource: s.resource(),
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: s.scope(), Spans: list}}}}}
}

// spanOf is a decision as a span. Its ids are part of its event's, so that who has the span finds the event.
func spanOf(d Span) *tracepb.Span {
	id, err := hex.DecodeString(d.Event)
	if err != nil || len(id) < 24 {
		sum := identity([]byte(d.Agent+d.Start.String()), nil) // a refusal that left no event
		id = sum[:]
	}
	start := max(d.Start.UnixNano(), 0)
	out := &tracepb.Span{TraceId: id[:16], SpanId: id[16:24], Name: "decide " + d.Kind, Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: uint64(start), EndTimeUnixNano: uint64(start + int64(max(d.Took, 0))),
		Attributes: attributes([2]string{"interlock.event_id", d.Event}, [2]string{"interlock.agent", d.Agent},
			[2]string{"interlock.door", d.Door}, [2]string{"interlock.kind", d.Kind}, [2]string{"interlock.verdict", d.Verdict},
			[2]string{"interlock.answer", d.Answer}, [2]string{"interlock.mode", d.Mode}, [2]string{"interlock.rule", d.Rule},
			[2]string{"interlock.gate", d.Gate}, [2]string{"interlock.ruleset", d.Ruleset})}
	took := &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: d.Took.Seconds()}}
	out.Attributes = append(out.Attributes, &commonpb.KeyValue{Key: "interlock.latency_seconds", Value: took})
	if d.Failed {
		out.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
	}
	return out
}

func (s *Sender) measures(ctx context.Context) *metrics.ExportMetricsServiceRequest {
	start, now := uint64(s.started.UnixNano()), uint64(s.Now().UnixNano())
	var list []*metricspb.Metric
	for _, m := range append(s.Gather(ctx), Metric{Name: "interlock.telemetry.dropped", Unit: "{span}", Says: "Spans that were not told.",
		Samples: []Sample{{Value: float64(s.Dropped())}}}) {
		list = append(list, metricOf(m, start, now))
	}
	return &metrics.ExportMetricsServiceRequest{ResourceMetrics: []*metricspb.ResourceMetrics{{Resource: s.resource(),
		ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: s.scope(), Metrics: list}}}}}
}

func metricOf(m Metric, start, now uint64) *metricspb.Metric {
	const cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	out := &metricspb.Metric{Name: m.Name, Unit: m.Unit, Description: m.Says}
	var points []*metricspb.NumberDataPoint
	var histograms []*metricspb.HistogramDataPoint
	for _, sample := range m.Samples {
		labels := attributes(sample.Labels...)
		if m.Bounds != nil {
			count := uint64(0)
			for _, n := range sample.Counts {
				count += n
			}
			histograms = append(histograms, &metricspb.HistogramDataPoint{Attributes: labels, StartTimeUnixNano: start, TimeUnixNano: now,
				Count: count, Sum: &sample.Value, BucketCounts: sample.Counts, ExplicitBounds: m.Bounds})
			continue
		}
		p := &metricspb.NumberDataPoint{Attributes: labels, TimeUnixNano: now, Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: sample.Value}}
		if !m.Gauge {
			p.StartTimeUnixNano = start
			p.Value = &metricspb.NumberDataPoint_AsInt{AsInt: int64(sample.Value)}
		}
		points = append(points, p)
	}
	switch {
	case m.Bounds != nil:
		out.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{DataPoints: histograms, AggregationTemporality: cumulative}}
	case m.Gauge:
		out.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: points}}
	default:
		out.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{DataPoints: points, AggregationTemporality: cumulative, IsMonotonic: true}}
	}
	return out
}
