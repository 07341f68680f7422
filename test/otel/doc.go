// Package otel tries the telemetry of the built binary with OpenTelemetry's own libraries: what an SDK reports is charged to a budget
// once, and what Interlock tells a collector can be read. The program that links those libraries is a module of its own, _sdk, because
// they bring more than all of Interlock's.
package otel
