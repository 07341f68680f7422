package otlp

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"interlock/internal/ledger"
)

// A meter is a metric that says how much was used.
type meter struct {
	measure, currency string
	by                string   // the attribute that says what a number is of
	counts            []string // those of its values that count; all others are parts of these, or sums of them
}

// meters are the metrics that are known, by name. Claude Code tells cache tokens apart from input; the others count them as part of it.
var meters = map[string]meter{
	"claude_code.token.usage":   {measure: MeasureTokens},
	"claude_code.cost.usage":    {measure: MeasureMoney, currency: "USD"},
	"gemini_cli.token.usage":    {measure: MeasureTokens, by: "type", counts: []string{"input", "output", "thought", "tool"}},
	"qwen-code.token.usage":     {measure: MeasureTokens, by: "type", counts: []string{"input", "output", "thought", "tool"}},
	"codex.turn.token_usage":    {measure: MeasureTokens, by: "token_type", counts: []string{"input", "output"}},
	"gen_ai.client.token.usage": {measure: MeasureTokens, by: "gen_ai.token.type", counts: []string{"input", "output", "completion", "prompt"}},
}

// A said is where a log record or a span says how much was used: the attributes whose sum that is.
type said struct {
	tokens []string
	cost   string // in US dollars
}

// events are the log records that are known, by their event's name.
var events = map[string]said{
	"claude_code.api_request": {[]string{"input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"}, "cost_usd"},
	"api_request":             {[]string{"input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"}, "cost_usd"},
	"codex.sse_event":         {tokens: []string{"input_token_count", "output_token_count"}},
	"gemini_cli.api_response": {tokens: []string{"input_token_count", "output_token_count", "thoughts_token_count", "tool_token_count"}},
	"qwen-code.api_response":  {tokens: []string{"input_token_count", "output_token_count", "thoughts_token_count", "tool_token_count"}},
}

// spanUsage are the attributes of a span that was a call of a model, the older names last.
var spanUsage = [2][]string{{"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"},
	{"gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"}}

// wholes are operations whose spans sum up what the spans below them say.
var wholes = []string{"invoke_agent", "create_agent", "execute_tool", "invoke_workflow"}

// sessions are the attributes that name a session, the first that is there counts.
var sessions = []string{"session.id", "gen_ai.conversation.id", "conversation.id"}

// modelNames are the attributes that name the model that was used.
var modelNames = []string{"gen_ai.response.model", "gen_ai.request.model", "model"}

// maxModels bounds how many models one report names.
const maxModels = 50

// models notes the models that attributes name.
func (f *finder) models(attributes []*commonpb.KeyValue) {
	for _, name := range modelNames {
		model := short(text(attributes, name))
		if model != "" && len(f.found.Models) < maxModels && !slices.Contains(f.found.Models, model) {
			f.found.Models = append(f.found.Models, model)
		}
	}
}

type useKey struct{ session, service, measure, currency, source string }

// A finder collects the usage in one request.
type finder struct {
	found Received
	uses  map[useKey]int
	items int
}

func (f *finder) add(k useKey, r ledger.Reading) {
	at, known := f.uses[k]
	if !known {
		at = len(f.found.Uses)
		f.uses[k] = at
		f.found.Uses = append(f.found.Uses, Use{Session: k.session, Service: k.service, Measure: k.measure, Currency: k.currency,
			Source: k.source})
	}
	f.found.Uses[at].Readings = append(f.found.Uses[at].Readings, r)
}

func (f *finder) reject(why string) {
	f.found.Rejected++
	if f.found.Why == "" {
		f.found.Why = why
	}
}

// A whose is what says whose a number is.
type whose struct {
	service string
	session string
	id      [sha256.Size]byte // of the resource
}

func whoseIs(r *resourcepb.Resource) whose {
	attributes := r.GetAttributes()
	name := text(attributes, "service.name")
	if name == "" {
		name = "unknown_service"
	}
	return whose{service: short(name), session: session(attributes), id: identity(nil, attributes)}
}

func session(attributes []*commonpb.KeyValue) string {
	for _, name := range sessions {
		if id := text(attributes, name); id != "" {
			return short(id)
		}
	}
	return ""
}

// short bounds a name.
func short(name string) string {
	const most = 128
	return strings.ToValidUTF8(name[:min(len(name), most)], "\uFFFD")
}

func (f *finder) metrics(list []*metricspb.ResourceMetrics) {
	for _, resource := range list {
		from := whoseIs(resource.GetResource())
		for _, scope := range resource.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				f.metric(from, m)
			}
		}
	}
}

// A point is what the kinds of points have in common.
type point struct {
	attributes []*commonpb.KeyValue
	start, at  uint64
	value      float64
	none       bool // there is no value
}

func (f *finder) metric(from whose, m *metricspb.Metric) {
	kind, known := meters[m.GetName()]
	points, temporality := pointsOf(m)
	f.items += len(points)
	if !known || f.items > maxItems {
		return
	}
	for _, p := range points {
		f.models(p.attributes)
		if p.none || kind.by != "" && !slices.Contains(kind.counts, text(p.attributes, kind.by)) {
			continue
		}
		value, ok := amount(p.value, kind.measure)
		rising := temporality == metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
		switch {
		case !ok:
			f.reject("a number of " + m.GetName() + " is below nothing, or more than can be")
			continue
		case !rising && temporality != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA:
			f.reject(m.GetName() + " has to be a sum or a histogram that says whether it is a delta or cumulative")
			continue
		}
		k := useKey{session(p.attributes), from.service, kind.measure, kind.currency, m.GetName()}
		if k.session == "" {
			k.session = from.session
		}
		r := ledger.Reading{Rising: rising, Value: value, At: int64(min(p.at, math.MaxInt64))}
		series := identity(append(from.id[:], m.GetName()...), p.attributes)
		if rising {
			r.ID = digest(series[:], p.start)
		} else {
			r.ID = digest(series[:], p.start, p.at)
		}
		f.add(k, r)
	}
}

// pointsOf are the points of a metric of any kind that sums something up. A gauge has no temporality, and sums up nothing.
func pointsOf(m *metricspb.Metric) (points []point, temporality metricspb.AggregationTemporality) {
	const noValue = uint32(metricspb.DataPointFlags_DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK)
	number := func(list []*metricspb.NumberDataPoint) {
		for _, p := range list {
			value := p.GetAsDouble()
			if _, whole := p.GetValue().(*metricspb.NumberDataPoint_AsInt); whole {
				value = float64(p.GetAsInt())
			}
			points = append(points, point{p.GetAttributes(), p.GetStartTimeUnixNano(), p.GetTimeUnixNano(), value, p.GetFlags()&noValue != 0})
		}
	}
	switch {
	case m.GetSum() != nil:
		number(m.GetSum().GetDataPoints())
		temporality = m.GetSum().GetAggregationTemporality()
		if !m.GetSum().GetIsMonotonic() {
			temporality = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_UNSPECIFIED
		}
	case m.GetGauge() != nil:
		number(m.GetGauge().GetDataPoints())
	case m.GetHistogram() != nil:
		for _, p := range m.GetHistogram().GetDataPoints() {
			points = append(points, point{p.GetAttributes(), p.GetStartTimeUnixNano(), p.GetTimeUnixNano(), p.GetSum(),
				p.GetFlags()&noValue != 0 || p.Sum == nil})
		}
		temporality = m.GetHistogram().GetAggregationTemporality()
	case m.GetExponentialHistogram() != nil:
		for _, p := range m.GetExponentialHistogram().GetDataPoints() {
			points = append(points, point{p.GetAttributes(), p.GetStartTimeUnixNano(), p.GetTimeUnixNano(), p.GetSum(),
				p.GetFlags()&noValue != 0 || p.Sum == nil})
		}
		temporality = m.GetExponentialHistogram().GetAggregationTemporality()
	}
	return points, temporality
}

func (f *finder) spans(list []*tracepb.ResourceSpans) {
	for _, resource := range list {
		from := whoseIs(resource.GetResource())
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				f.span(from, s)
			}
		}
	}
}

func (f *finder) span(from whose, s *tracepb.Span) {
	attributes := s.GetAttributes()
	f.items++
	if f.items <= maxItems {
		f.models(attributes)
	}
	if f.items > maxItems || slices.Contains(wholes, text(attributes, "gen_ai.operation.name")) {
		return
	}
	names := spanUsage[0]
	if find(attributes, names[0]) == nil && find(attributes, names[1]) == nil {
		names = spanUsage[1]
	}
	id := digest(append(append([]byte("span"), s.GetTraceId()...), s.GetSpanId()...))
	f.says(from, attributes, "span gen_ai.usage", said{tokens: names}, id)
}

func (f *finder) logs(list []*logspb.ResourceLogs) {
	for _, resource := range list {
		from := whoseIs(resource.GetResource())
		for _, scope := range resource.GetScopeLogs() {
			for _, r := range scope.GetLogRecords() {
				f.record(from, r)
			}
		}
	}
}

func (f *finder) record(from whose, r *logspb.LogRecord) {
	if f.items++; f.items > maxItems {
		return
	}
	name := r.GetEventName()
	if name == "" {
		name = text(r.GetAttributes(), "event.name")
	}
	says, known := events[name]
	if !known {
		if name = r.GetBody().GetStringValue(); name == "" {
			return
		}
		if says, known = events[name]; !known {
			return
		}
	}
	f.models(r.GetAttributes())
	canonical, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
	if err != nil {
		f.reject("a log record can't be told apart from others")
		return
	}
	f.says(from, r.GetAttributes(), "event "+name, says, digest(append(from.id[:], canonical...)))
}

// says adds what the attributes of one span or record say.
func (f *finder) says(from whose, attributes []*commonpb.KeyValue, source string, says said, id uint64) {
	k := useKey{session(attributes), from.service, MeasureTokens, "", source}
	if k.session == "" {
		k.session = from.session
	}
	sum, any := 0.0, false
	for _, name := range says.tokens {
		if v := find(attributes, name); v != nil {
			n, ok := number(v)
			if !ok || n < 0 {
				f.reject(name + " is no number of tokens")
				return
			}
			sum, any = sum+n, true
		}
	}
	if value, ok := amount(sum, MeasureTokens); any && ok {
		f.add(k, ledger.Reading{ID: id, Value: value})
	} else if any {
		f.reject("more tokens than can be")
	}
	if v := find(attributes, says.cost); says.cost != "" && v != nil {
		n, ok := number(v)
		value, fits := amount(n, MeasureMoney)
		if !ok || !fits {
			f.reject(says.cost + " is no amount of money")
			return
		}
		k.measure, k.currency = MeasureMoney, "USD"
		f.add(k, ledger.Reading{ID: id, Value: value})
	}
}

// amount is a number as it is counted: whole tokens, or money in millionths, rounded up.
func amount(n float64, measure string) (int64, bool) {
	const most, slack = 1 << 53, 1e-6
	if measure == MeasureMoney {
		n *= 1_000_000
	}
	if math.IsNaN(n) || n < 0 || n > most {
		return 0, false
	}
	return int64(math.Ceil(n - slack)), true
}

func find(attributes []*commonpb.KeyValue, name string) *commonpb.AnyValue {
	for _, a := range attributes {
		if a.GetKey() == name {
			return a.GetValue()
		}
	}
	return nil
}

func text(attributes []*commonpb.KeyValue, name string) string {
	return find(attributes, name).GetStringValue()
}

// number reads a number, or a text that is one: some write all attributes of a log record as texts.
func number(v *commonpb.AnyValue) (float64, bool) {
	switch n := v.GetValue().(type) {
	case *commonpb.AnyValue_IntValue:
		return float64(n.IntValue), true
	case *commonpb.AnyValue_DoubleValue:
		return n.DoubleValue, true
	case *commonpb.AnyValue_StringValue:
		f, err := strconv.ParseFloat(n.StringValue, 64)
		return f, err == nil
	}
	return 0, false
}

// identity digests attributes in any order.
func identity(of []byte, attributes []*commonpb.KeyValue) [sha256.Size]byte {
	texts := make([]string, 0, len(attributes))
	for _, a := range attributes {
		value, err := proto.MarshalOptions{Deterministic: true}.Marshal(a)
		if err == nil {
			texts = append(texts, string(value))
		}
	}
	slices.Sort(texts)
	h := sha256.New()
	h.Write(of)
	for _, t := range texts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(t)))
		h.Write(size[:])
		h.Write([]byte(t))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func digest(of []byte, numbers ...uint64) uint64 {
	for _, n := range numbers {
		of = binary.BigEndian.AppendUint64(of[:len(of):len(of)], n)
	}
	sum := sha256.Sum256(of)
	return binary.BigEndian.Uint64(sum[:])
}
