package otlp_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	logspb "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"interlock/internal/ledger"
	"interlock/internal/otlp"
)

// point is a data point of a sum.
func point(start, at int, value string, attributes ...string) string {
	var list []string
	for n := 0; n+1 < len(attributes); n += 2 {
		list = append(list, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, attributes[n], attributes[n+1]))
	}
	return fmt.Sprintf(`{"startTimeUnixNano":"%d","timeUnixNano":"%d",%s,"attributes":[%s]}`, start, at, value, strings.Join(list, ","))
}

func sum(name string, temporality int, points ...string) string {
	return fmt.Sprintf(`{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name",`+
		`"value":{"stringValue":"agent"}}]},"scopeMetrics":[{"metrics":[
		{"name":%q,"sum":{"aggregationTemporality":%d,"isMonotonic":true,"dataPoints":[%s]}}]}]}]}`, name, temporality, strings.Join(points, ","))
}

// total is what is charged for bodies that come one after the other.
func total(t *testing.T, bodies ...string) (tokens, money int64) {
	t.Helper()
	meters := map[string]ledger.MeterBody{}
	for _, body := range bodies {
		signal, text, _ := strings.Cut(body, " ")
		got, err := otlp.Receive(otlp.Signal(signal), []byte(text), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range got.Uses {
			key := u.Session + "/" + u.Service + "/" + u.Measure
			after, add, err := meters[key].With(u.Source, u.Readings, meters[key].At)
			if err != nil {
				t.Fatal(err)
			}
			if meters[key] = after; u.Measure == otlp.MeasureMoney {
				money += add
			} else {
				tokens += add
			}
		}
	}
	return tokens, money
}

// TestUsage: each name that is known says what it says, once, whichever way and however often it is told.
func TestUsage(t *testing.T) {
	claude := func(temporality, start, at int, value string) string {
		return "metrics " + sum("claude_code.token.usage", temporality, point(start, at, value, "type", "input", "session.id", "s"))
	}
	span := func(id, attributes string) string {
		return `traces {"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"` + id + `","attributes":[` +
			attributes + `]}]}]}]}`
	}
	number := func(name string, n int) string { return fmt.Sprintf(`{"key":%q,"value":{"intValue":"%d"}}`, name, n) }
	text := func(name, value string) string {
		return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, name, value)
	}
	event := func(name string, attributes ...string) string {
		return `logs {"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"5","attributes":[` +
			strings.Join(append(attributes, text("event.name", name)), ",") + `]}]}]}]}`
	}
	for name, test := range map[string]struct {
		bodies        []string
		tokens, money int64
	}{
		"a delta":                   {[]string{claude(1, 1, 2, `"asInt":"7"`)}, 7, 0},
		"a delta again":             {[]string{claude(1, 1, 2, `"asInt":"7"`), claude(1, 1, 2, `"asInt":"7"`)}, 7, 0},
		"two deltas":                {[]string{claude(1, 1, 2, `"asInt":"7"`), claude(1, 2, 3, `"asDouble":7.2`)}, 15, 0},
		"cumulative":                {[]string{claude(2, 1, 2, `"asInt":"7"`), claude(2, 1, 3, `"asInt":"9"`), claude(2, 1, 3, `"asInt":"9"`)}, 9, 0},
		"cumulative, begun anew":    {[]string{claude(2, 1, 2, `"asInt":"7"`), claude(2, 5, 6, `"asInt":"2"`)}, 9, 0},
		"cumulative, without start": {[]string{claude(2, 0, 2, `"asInt":"7"`), claude(2, 0, 3, `"asInt":"2"`), claude(2, 0, 2, `"asInt":"7"`)}, 14, 0},
		"kinds of tokens": {[]string{"metrics " + sum("claude_code.token.usage", 1, point(1, 2, `"asInt":"1"`, "type", "input"),
			point(1, 2, `"asInt":"2"`, "type", "cacheRead"), point(1, 2, `"asInt":"4"`, "type", "cacheCreation"))}, 7, 0},
		"parts of them": {[]string{"metrics " + sum("gemini_cli.token.usage", 1, point(1, 2, `"asInt":"1"`, "type", "input"),
			point(1, 2, `"asInt":"2"`, "type", "cache"), point(1, 2, `"asInt":"4"`, "type", "output"))}, 5, 0},
		"money": {[]string{"metrics " + sum("claude_code.cost.usage", 1, point(1, 2, `"asDouble":0.0123`), point(1, 3,
			`"asDouble":1`))}, 0, 1_012_300},
		"another metric":    {[]string{"metrics " + sum("claude_code.session.count", 1, point(1, 2, `"asInt":"1"`))}, 0, 0},
		"a span":            {[]string{span("01", number("gen_ai.usage.input_tokens", 3)+","+number("gen_ai.usage.output_tokens", 4))}, 7, 0},
		"a span again":      {[]string{span("0101", number("gen_ai.usage.input_tokens", 3)), span("0101", number("gen_ai.usage.input_tokens", 3))}, 3, 0},
		"older names":       {[]string{span("0102", number("gen_ai.usage.prompt_tokens", 3))}, 3, 0},
		"a span of a whole": {[]string{span("0103", number("gen_ai.usage.input_tokens", 3)+","+text("gen_ai.operation.name", "invoke_agent"))}, 0, 0},
		"an event": {[]string{event("codex.sse_event", number("input_token_count", 5), number("cached_token_count", 4),
			text("output_token_count", "2"))}, 7, 0},
		"an event with money": {[]string{event("api_request", text("cost_usd", "0.25"), number("input_tokens", 1))}, 1, 250_000},
		"another event":       {[]string{event("user_prompt", number("input_tokens", 1))}, 0, 0},
		"metric and events of the same": {[]string{
			"metrics " + strings.ReplaceAll(sum("claude_code.token.usage", 1, point(1, 2, `"asInt":"5"`)), `"agent"`, `"unknown_service"`),
			event("api_request", number("input_tokens", 6))}, 6, 0},
	} {
		if tokens, money := total(t, test.bodies...); tokens != test.tokens || money != test.money {
			t.Errorf("%s: %d tokens, %d of money; want %d, %d", name, tokens, money, test.tokens, test.money)
		}
	}
}

// TestRejected: numbers that can't be usage are counted and said, and the others beside them are taken.
func TestRejected(t *testing.T) {
	for name, value := range map[string]string{"negative": `"asDouble":-1`, "no number": `"asDouble":"NaN"`, "beyond all": `"asDouble":1e300`} {
		got, err := otlp.Receive(otlp.Metrics, []byte(sum("claude_code.token.usage", 1, point(1, 2, value), point(2, 3, `"asInt":"4"`))), true)
		if err != nil || got.Rejected != 1 || got.Why == "" || len(got.Uses) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	got, err := otlp.Receive(otlp.Metrics, []byte(sum("claude_code.token.usage", 0, point(1, 2, `"asInt":"4"`))), true)
	if err != nil || got.Rejected != 1 {
		t.Errorf("neither delta nor cumulative: %+v, %v", got, err)
	}
	for _, json := range []bool{true, false} {
		answer, err := otlp.Answer(otlp.Metrics, got, json)
		var read metricspb.ExportMetricsServiceResponse
		if decode := map[bool]func([]byte, proto.Message) error{true: protojson.Unmarshal, false: proto.Unmarshal}[json]; err != nil ||
			decode(answer, &read) != nil || read.PartialSuccess.RejectedDataPoints != 1 {
			t.Errorf("json %v: %q, %v", json, answer, err)
		}
	}
	answer, err := otlp.Answer(otlp.Logs, otlp.Received{Rejected: 2}, false)
	if read := (logspb.ExportLogsServiceResponse{}); err != nil || proto.Unmarshal(answer, &read) != nil ||
		read.PartialSuccess.RejectedLogRecords != 2 {
		t.Errorf("%q, %v", answer, err)
	}
	if _, err := otlp.Receive(otlp.Metrics, []byte(`{"resourceMetrics": "hunter2"}`), true); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("what is no request: %v", err)
	}
	if _, err := otlp.Receive(otlp.Traces, []byte{0xff}, false); err == nil {
		t.Error("garbage is taken")
	}
}

// FuzzReceive: whatever comes, what is found is usage that can be counted, with short names, and nothing of an attribute that is not
// a name of a session or a service.
func FuzzReceive(f *testing.F) {
	f.Add("metrics", []byte(sum("claude_code.cost.usage", 1, point(1, 2, `"asDouble":0.5`, "user.email", "dana@example.com"))), true)
	f.Add("logs", []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"api_request",`+
		`"attributes":[{"key":"cost_usd","value":{"stringValue":"1"}}]}]}]}]}`), true)
	f.Add("traces", []byte{10, 2, 18, 0}, false)
	f.Fuzz(func(t *testing.T, signal string, body []byte, json bool) {
		got, err := otlp.Receive(otlp.Signal(signal), body, json)
		if err != nil {
			if len(got.Uses) > 0 {
				t.Fatalf("%d uses and %v", len(got.Uses), err)
			}
			return
		}
		for _, u := range got.Uses {
			if len(u.Session) > 131 || len(u.Service) > 131 || u.Service == "" || u.Source == "" || (u.Measure != "tokens") == (u.Currency == "") {
				t.Fatalf("%+v", u)
			}
			for _, r := range u.Readings {
				if r.Value < 0 || r.Value > math.MaxInt64/1024 || r.At < 0 {
					t.Fatalf("%+v", r)
				}
			}
		}
		if _, err := otlp.Answer(otlp.Metrics, got, json); err != nil {
			t.Fatal(err)
		}
	})
}
