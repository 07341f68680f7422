package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/otlp"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// Telemetry takes in what harnesses and services report as used.
type Telemetry interface {
	ReportUsage(ctx context.Context, by interlock.Requester, reports []admission.Report) error
	// ReportModels takes in which models an agent was reported to reason with.
	ReportModels(ctx context.Context, by interlock.Requester, models []string) error
}

// telemetryPath begins the paths that take OTLP, so that OTEL_EXPORTER_OTLP_ENDPOINT can name it.
const telemetryPath = "/otlp/v1/"

func telemetrySignal(path string) (otlp.Signal, bool) {
	rest, under := strings.CutPrefix(path, telemetryPath)
	switch s := otlp.Signal(rest); s {
	case otlp.Metrics, otlp.Traces, otlp.Logs:
		return s, under
	}
	return "", false
}

// The bounds of what is reported.
const (
	maxUnpacked   = 8 << 20         // bytes of a body that came compressed
	reportsBurst  = 60              // reports of one agent at once
	reportsEach   = time.Second / 5 // and then one after each
	maxPacedNames = 1000
)

// typeProtobuf is the type of OTLP's bodies that are not JSON.
var typeProtobuf = []string{"application/x-protobuf"}

// A reportPace bounds how often an agent reports: each report that says something new is an event of the log.
type reportPace struct {
	sync.Mutex
	next map[string]time.Time // when an agent has its whole burst again
}

// wait is how long an agent is to wait before it reports again.
func (p *reportPace) wait(agent string, now time.Time) time.Duration {
	p.Lock()
	defer p.Unlock()
	if p.next == nil || len(p.next) >= maxPacedNames && p.next[agent].IsZero() {
		p.next = map[string]time.Time{}
	}
	at := p.next[agent]
	if at.Before(now) {
		at = now
	}
	if over := at.Add(reportsEach).Sub(now) - reportsBurst*reportsEach; over > 0 {
		return over
	}
	p.next[agent] = at.Add(reportsEach)
	return 0
}

// reporter finds out who reports: a harness with its token for that, or an agent.
func (x *exchange) reporter() error {
	values, known := x.r.Header["Authorization"], x.server.config.UsageAgent
	if len(values) != 1 || known == nil {
		return x.authenticate()
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return x.authenticate()
	}
	agent, ok := known(strings.TrimSpace(token))
	if !ok {
		return x.authenticate()
	}
	x.agent, x.token, x.who, x.harness = interlock.AgentRecord{ID: agent, Principal: x.server.config.User}, true, agent, true
	return nil
}

// telemetry answers POST /otlp/v1/metrics, traces and logs as OTLP/HTTP has it.
func (x *exchange) telemetry() {
	signal, _ := telemetrySignal(x.r.URL.Path)
	json, err := x.telemetryType()
	if err != nil {
		x.refuseTelemetry(json, err)
		return
	}
	if x.server.config.Telemetry == nil {
		x.refuseTelemetry(json, interlock.Errorf(interlock.CodeUnavailable, "", "telemetry is not taken here"))
		return
	}
	by, err := x.requester(interlock.Requester{})
	if err != nil {
		x.refuseTelemetry(json, err)
		return
	}
	if wait := x.server.reports.wait(by.Agent, x.server.config.Now()); wait > 0 {
		x.w.Header()["Retry-After"] = []string{fmt.Sprint(int(wait/time.Second) + 1)}
		x.refuseTelemetry(json, &statusError{status: http.StatusTooManyRequests,
			err: interlock.Errorf(interlock.CodeLimited, "", "this agent reports too often; send larger reports")})
		return
	}
	body, err := x.telemetryBody()
	if err != nil {
		x.refuseTelemetry(json, err)
		return
	}
	got, err := otlp.Receive(signal, body, json)
	if err != nil {
		x.refuseTelemetry(json, interlock.Errorf(interlock.CodeInvalid, "", "%s", err.Error()))
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	if err := x.server.config.Telemetry.ReportUsage(ctx, by, reported(got.Uses, x.harness)); err != nil {
		x.refuseTelemetry(json, err)
		return
	}
	if len(got.Models) > 0 {
		if err := x.server.config.Telemetry.ReportModels(ctx, by, got.Models); err != nil {
			x.refuseTelemetry(json, err)
			return
		}
	}
	answer, err := otlp.Answer(signal, got, json)
	if err != nil {
		x.refuseTelemetry(json, err)
		return
	}
	x.answer(http.StatusOK, telemetryTypes(json), answer)
}

func reported(uses []otlp.Use, harness bool) []admission.Report {
	reports := make([]admission.Report, len(uses))
	for n, u := range uses {
		reports[n] = admission.Report{Run: u.Session, Service: u.Service, Measure: ruleset.Measure(u.Measure), Currency: u.Currency,
			Source: u.Source, Readings: u.Readings, Harness: harness}
	}
	return reports
}

func telemetryTypes(json bool) []string {
	if json {
		return typeJSON
	}
	return typeProtobuf
}

// telemetryType reports whether a body is JSON, and refuses one that is neither that nor protobuf.
func (x *exchange) telemetryType() (json bool, err error) {
	kind, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/json":
		return true, nil
	case err == nil && kind == "application/x-protobuf":
		return false, nil
	}
	return false, &statusError{status: http.StatusUnsupportedMediaType,
		err: interlock.Errorf(interlock.CodeInvalid, "Content-Type", "send application/x-protobuf or application/json")}
}

// telemetryBody reads a body, and unpacks one that came compressed as far as the bound.
func (x *exchange) telemetryBody() ([]byte, error) {
	packed := strings.ToLower(x.r.Header.Get("Content-Encoding"))
	if packed != "" && packed != "identity" && packed != "gzip" {
		return nil, &statusError{status: http.StatusUnsupportedMediaType,
			err: interlock.Errorf(interlock.CodeInvalid, "Content-Encoding", "send gzip, or nothing compressed")}
	}
	buffer, err := x.readBody()
	if err != nil {
		return nil, err
	}
	defer release(buffer)
	if packed != "gzip" {
		return bytes.Clone(*buffer), nil
	}
	unpack, err := gzip.NewReader(bytes.NewReader(*buffer))
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the body says that it is gzip and is not")
	}
	body, err := io.ReadAll(io.LimitReader(unpack, maxUnpacked+1))
	switch {
	case err != nil:
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the body can't be unpacked to its end")
	case len(body) > maxUnpacked:
		return nil, x.tooLarge(maxUnpacked)
	}
	return body, nil
}

// refuseTelemetry answers with a refusal as OTLP has it. It leaves no event: a report that can't be read says nothing of its agent, and
// a sender that repeats one again and again may not fill the log.
func (x *exchange) refuseTelemetry(json bool, err error) {
	status, message := http.StatusServiceUnavailable, "the report could not be recorded"
	var stated *statusError
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		x.code, message = refusal.Code, refusal.Error()
		if status = statuses[refusal.Code]; status == 0 {
			status = http.StatusInternalServerError
		}
	} else {
		x.code, x.cause = interlock.CodeUnavailable, err
	}
	if errors.As(err, &stated) {
		status = stated.status
	}
	x.answer(status, telemetryTypes(json), otlp.Status(message, json, strictjson.AppendString))
}
