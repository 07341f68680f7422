package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metricspb "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/httpapi"
)

// ReportUsage notes what was reported; what a service called "down" reports can't be recorded.
func (b *fakeBackend) ReportUsage(_ context.Context, by interlock.Requester, reports []admission.Report) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range reports {
		if r.Service == "down" {
			return fmt.Errorf("the disk is gone")
		}
		for _, one := range r.Readings {
			by := fmt.Sprintf("USAGE %s/%s: %s %s %d", by.Principal, by.Agent, r.Run, r.Measure, one.Value)
			if r.Harness {
				by += " by its harness"
			}
			b.events = append(b.events, by)
		}
	}
	return nil
}

// ReportModels notes which models were reported.
func (b *fakeBackend) ReportModels(_ context.Context, by interlock.Requester, models []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, fmt.Sprintf("MODELS %s/%s: %v", by.Principal, by.Agent, models))
	return nil
}

const usage = `{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"SERVICE"}}]},"scopeMetrics":[{"metrics":[
	{"name":"claude_code.token.usage","sum":{"aggregationTemporality":1,"isMonotonic":true,"dataPoints":[{"startTimeUnixNano":"1","timeUnixNano":"2",
	"asInt":"7","attributes":[{"key":"session.id","value":{"stringValue":"s1"}}]}]}}]}]}]}`

func packed(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// report sends a body to the receiver.
func (h *house) report(path, token, kind, encoding, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	request.Host = "127.0.0.1:7433"
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", kind)
	if encoding != "" {
		request.Header.Set("Content-Encoding", encoding)
	}
	recorder := httptest.NewRecorder()
	h.server.Handler().ServeHTTP(recorder, request)
	return recorder
}

// TestTelemetry: usage is taken as JSON and as protobuf, packed or not, for whom the token says, and every refusal is one that OTLP's
// clients read, charges nothing and leaves no event.
func TestTelemetry(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Body: 16 << 10})
	var request metricspb.ExportMetricsServiceRequest
	if err := protojson.Unmarshal([]byte(usage), &request); err != nil {
		t.Fatal(err)
	}
	binary, err := proto.Marshal(&request)
	if err != nil {
		t.Fatal(err)
	}
	const metrics, json, protobuf = "/otlp/v1/metrics", "application/json", "application/x-protobuf"
	for name, test := range map[string]struct {
		path, token, kind, encoding, body string
		status                            int
		event                             string
	}{
		"an agent":              {metrics, liveToken, json, "", usage, 200, "USAGE dana/builder: s1 tokens 7"},
		"a harness":             {metrics, "ilu_claude", json, "", usage, 200, "USAGE dana/claude: s1 tokens 7 by its harness"},
		"protobuf":              {metrics, liveToken, protobuf, "", string(binary), 200, "USAGE dana/builder: s1 tokens 7"},
		"packed":                {metrics, liveToken, protobuf, "gzip", packed(t, binary), 200, "USAGE dana/builder: s1 tokens 7"},
		"nothing that is usage": {"/otlp/v1/logs", liveToken, json, "", `{"resourceLogs":[]}`, 200, ""},
		"traces":                {"/otlp/v1/traces", liveToken, json, "", `{}`, 200, ""},
		"another type":          {metrics, liveToken, "text/plain", "", usage, 415, ""},
		"another packing":       {metrics, liveToken, json, "br", usage, 415, ""},
		"not packed":            {metrics, liveToken, json, "gzip", usage, 400, ""},
		"cut short":             {metrics, liveToken, json, "gzip", packed(t, binary)[:20], 400, ""},
		"no request":            {metrics, liveToken, json, "", `[]`, 400, ""},
		"too large":             {metrics, liveToken, json, "", strings.Repeat(" ", 20<<10), 413, ""},
		"too large unpacked":    {metrics, liveToken, json, "gzip", packed(t, make([]byte, 3<<20)), 400, ""},
		"far too large":         {metrics, liveToken, json, "gzip", packed(t, make([]byte, 9<<20)), 413, ""},
		"a store that fails":    {metrics, liveToken, json, "", strings.Replace(usage, "SERVICE", "down", 1), 503, ""},
	} {
		h.backend.events = nil
		answer := h.report(test.path, test.token, test.kind, test.encoding, test.body)
		if answer.Code != test.status || strings.Join(h.backend.events, "\n") != test.event {
			t.Errorf("%s: %d %q, events %q", name, answer.Code, answer.Body, h.backend.events)
		}
		if want := test.kind; (want == json || want == protobuf) && answer.Header().Get("Content-Type") != want {
			t.Errorf("%s: the answer is %s", name, answer.Header().Get("Content-Type"))
		}
		if test.status >= 400 && test.kind == json && !strings.Contains(answer.Body.String(), `{"message":`) {
			t.Errorf("%s: %q", name, answer.Body)
		}
	}
	for _, token := range []string{"ilu_forged", revokedToken} {
		if answer := h.report(metrics, token, json, "", usage); answer.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", token, answer.Code)
		}
	}
	if answer := h.do(h.server.Handler(), "POST", "/v1/decide", "ilu_claude", `{"kind":"shell","input":"ls"}`); answer.Code != http.StatusUnauthorized {
		t.Errorf("a token for reports decides: %d", answer.Code)
	}
	if strings.Contains(h.logged.String(), "SERVICE") {
		t.Errorf("the server's log quotes a report: %s", h.logged.String())
	}
}

// TestTelemetryIsPaced: an agent that reports on and on is told to wait, and others are not.
func TestTelemetryIsPaced(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	last := 0
	for n := range 100 {
		answer := h.report("/otlp/v1/metrics", liveToken, "application/json", "", `{}`)
		if answer.Code == http.StatusTooManyRequests && answer.Header().Get("Retry-After") == "" {
			t.Error("it is not said for how long")
		}
		if last = answer.Code; last == http.StatusTooManyRequests && n < 50 {
			t.Fatalf("report %d is one too many", n)
		}
	}
	if other := h.report("/otlp/v1/metrics", otherToken, "application/json", "", `{}`); last != http.StatusTooManyRequests || other.Code != 200 {
		t.Errorf("the hundredth at once: %d; another agent's first: %d", last, other.Code)
	}
}
