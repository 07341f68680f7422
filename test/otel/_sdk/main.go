// This program speaks OTLP with OpenTelemetry's own libraries, so that Interlock's is tried against what others use.
//
//	sdk send ENDPOINT TOKEN    reports usage with the SDK: metrics, cumulative and delta, and spans
//	sdk receive FILE           listens as a collector and prints what it is told; FILE gets its address
package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "send":
		err = send(context.Background(), os.Args[2], os.Args[3])
	case len(os.Args) == 3 && os.Args[1] == "receive":
		err = receive(os.Args[2])
	default:
		err = fmt.Errorf("usage: sdk send ENDPOINT TOKEN, or sdk receive FILE")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// send reports 100 tokens twice, of two sessions, cumulatively: 400 in all, however often it is exported; 50 as deltas; and a span of
// 30, of another service.
func send(ctx context.Context, endpoint, token string) error {
	headers := map[string]string{"Authorization": "Bearer " + token}
	for _, delta := range []bool{false, true} {
		choose := sdkmetric.DefaultTemporalitySelector
		if delta {
			choose = func(sdkmetric.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }
		}
		exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(endpoint+"/v1/metrics"), otlpmetrichttp.WithHeaders(headers),
			otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression), otlpmetrichttp.WithTemporalitySelector(choose))
		if err != nil {
			return err
		}
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)), sdkmetric.WithResource(named("metered")))
		if err := count(ctx, provider, delta); err != nil {
			return err
		}
		if err := provider.Shutdown(ctx); err != nil {
			return err
		}
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint+"/v1/traces"), otlptracehttp.WithHeaders(headers))
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(named("traced")))
	_, span := provider.Tracer("test").Start(ctx, "chat model")
	span.SetAttributes(attribute.String("gen_ai.operation.name", "chat"), attribute.Int("gen_ai.usage.input_tokens", 20),
		attribute.Int("gen_ai.usage.output_tokens", 10), attribute.String("gen_ai.prompt", "do not keep this"))
	span.End()
	return provider.Shutdown(ctx)
}

func named(service string) *resource.Resource {
	return resource.NewSchemaless(attribute.String("service.name", service), attribute.String("user.email", "dana@example.com"))
}

func count(ctx context.Context, provider *sdkmetric.MeterProvider, delta bool) error {
	usage, err := provider.Meter("test").Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"))
	if err != nil {
		return err
	}
	add := func(n int64, session string) {
		for _, kind := range []string{"input", "output"} {
			usage.Record(ctx, n/2, metric.WithAttributes(attribute.String("gen_ai.token.type", kind), attribute.String("session.id", session)))
		}
	}
	if delta {
		add(20, "third")
		if err := provider.ForceFlush(ctx); err != nil {
			return err
		}
		add(30, "third")
		return provider.ForceFlush(ctx)
	}
	for range 2 {
		add(100, "first")
		add(100, "second")
		for range 2 {
			if err := provider.ForceFlush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// receive prints a line for each span and number that it is told.
func receive(file string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(listener.Addr().String()), 0o600); err != nil {
		return err
	}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := read(r)
		if err == nil {
			err = tell(r.URL.Path, body)
		}
		if err != nil {
			fmt.Println("bad", err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
}

func read(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func tell(path string, body []byte) error {
	switch path {
	case "/v1/traces":
		var request tracepb.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &request); err != nil {
			return err
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					var pairs []string
					for _, a := range s.Attributes {
						pairs = append(pairs, a.Key+"="+a.Value.GetStringValue())
					}
					slices.Sort(pairs)
					fmt.Printf("span %s %d %d %s\n", s.Name, len(s.TraceId), len(s.SpanId), strings.Join(pairs, " "))
				}
			}
		}
		return nil
	case "/v1/metrics":
		var request metricspb.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &request); err != nil {
			return err
		}
		for _, resource := range request.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, m := range scope.Metrics {
					for _, p := range m.GetSum().GetDataPoints() {
						fmt.Printf("sum %s %d\n", m.Name, p.GetAsInt())
					}
					for _, p := range m.GetGauge().GetDataPoints() {
						fmt.Printf("gauge %s %g\n", m.Name, p.GetAsDouble())
					}
					for _, p := range m.GetHistogram().GetDataPoints() {
						fmt.Printf("histogram %s %d\n", m.Name, p.GetCount())
					}
				}
			}
		}
		return nil
	}
	return fmt.Errorf("no such path: %s", path)
}
