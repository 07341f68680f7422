// Package otlp is what Interlock speaks of OTLP/HTTP: it finds in what others send how many tokens and how much money their agents
// used, and writes what Interlock itself has to tell as traces and metrics.
//
// Of what arrives nothing is kept but numbers, the names of the service and of its session, and digests by which a number that is told
// again is recognised. Prompts, names of people and everything else in a report go no further than this package.
//
// Start with receive.go; usage.go says which names are known, send.go writes.
package otlp

import (
	"errors"
	"fmt"

	logs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"interlock/internal/ledger"
)

// A Signal is one of the three that OTLP carries.
type Signal string

// The signals, as paths name them.
const (
	Metrics Signal = "metrics"
	Traces  Signal = "traces"
	Logs    Signal = "logs"
)

// maxItems bounds the points, spans and log records of one request.
const maxItems = 20_000

// A Use is what one source says that one session has used.
type Use struct {
	Session  string
	Service  string
	Measure  string // MeasureTokens or MeasureMoney
	Currency string
	Source   string
	Readings []ledger.Reading
}

// What is measured.
const (
	MeasureTokens = "tokens"
	MeasureMoney  = "money" // in millionths
)

// A Received is what was found in a request.
type Received struct {
	Uses     []Use
	Models   []string // that the sender says it reasons with, each once
	Rejected int64    // numbers that say they are usage and can't be
	Why      string
}

// Receive finds the usage in the body of a request.
func Receive(signal Signal, body []byte, json bool) (Received, error) {
	f := finder{uses: map[useKey]int{}}
	var request proto.Message
	switch signal {
	case Metrics:
		request = &metrics.ExportMetricsServiceRequest{}
	case Traces:
		request = &trace.ExportTraceServiceRequest{}
	case Logs:
		request = &logs.ExportLogsServiceRequest{}
	default:
		return f.found, fmt.Errorf("no signal of OTLP: %.20q", string(signal))
	}
	if err := read(body, json, request); err != nil {
		return f.found, err
	}
	switch r := request.(type) {
	case *metrics.ExportMetricsServiceRequest:
		f.metrics(r.ResourceMetrics)
	case *trace.ExportTraceServiceRequest:
		f.spans(r.ResourceSpans)
	case *logs.ExportLogsServiceRequest:
		f.logs(r.ResourceLogs)
	}
	if f.items > maxItems {
		return Received{}, fmt.Errorf("more than %d numbers, spans and records at once", maxItems)
	}
	return f.found, nil
}

var errRead = errors.New("the body is no such request of OTLP")

// read decodes a request. What is wrong with it is not said in the decoder's words, which may quote it.
func read(body []byte, json bool, into proto.Message) error {
	var err error
	if json {
		// the ids of spans, which OTLP writes as hexadecimal digits, are read as something else here: they only tell spans apart
		err = protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: 100}.Unmarshal(body, into)
	} else {
		err = proto.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: 100}.Unmarshal(body, into)
	}
	if err != nil {
		return errRead
	}
	return nil
}

// Answer is the answer to a request that was taken in: all of it, or all but what was rejected.
func Answer(signal Signal, got Received, json bool) ([]byte, error) {
	var answer proto.Message
	switch signal {
	case Traces:
		r := &trace.ExportTraceServiceResponse{}
		if got.Rejected > 0 {
			r.PartialSuccess = &trace.ExportTracePartialSuccess{RejectedSpans: got.Rejected, ErrorMessage: got.Why}
		}
		answer = r
	case Logs:
		r := &logs.ExportLogsServiceResponse{}
		if got.Rejected > 0 {
			r.PartialSuccess = &logs.ExportLogsPartialSuccess{RejectedLogRecords: got.Rejected, ErrorMessage: got.Why}
		}
		answer = r
	default:
		r := &metrics.ExportMetricsServiceResponse{}
		if got.Rejected > 0 {
			r.PartialSuccess = &metrics.ExportMetricsPartialSuccess{RejectedDataPoints: got.Rejected, ErrorMessage: got.Why}
		}
		answer = r
	}
	if json {
		return protojson.Marshal(answer)
	}
	return proto.Marshal(answer)
}

// Status is the body of a refusal: google.rpc.Status, whose message OTLP's clients read.
func Status(message string, json bool, quote func([]byte, string) []byte) []byte {
	const fieldMessage = 2
	if json {
		return append(quote([]byte(`{"message":`), message), '}')
	}
	return protowire.AppendString(protowire.AppendTag(nil, fieldMessage, protowire.BytesType), message)
}
