package main

import (
	"strings"
	"time"

	"interlock/internal/harness"
)

// staleReport is how long after a report whoever still works would have reported again: Claude Code does each minute.
const staleReport = 24 * time.Hour

// telemetry says of a registered harness whether it reports what it uses, and whether that arrives.
func (d *diagnosis) telemetry(h harness.Harness, place harness.Place) {
	if place.Project != "" {
		return
	}
	heard := d.reportedBy(h.Name)
	endpoint, set := h.TelemetryOf(place)
	switch base, err := telemetryBase(d.settings); {
	case set && err != nil:
		d.note("telemetry", h.Name, statusWarn, "it reports what it uses to %s, and nothing takes it there: %s", endpoint, err)
	case set && !strings.HasPrefix(endpoint, base+"/"):
		d.note("telemetry", h.Name, statusWarn, "it reports what it uses to %s, and Interlock takes it at %s; run: interlock install %s --telemetry",
			endpoint, base, h.Name)
	case heard.IsZero() && set:
		d.note("telemetry", h.Name, statusWarn, "it is set to report what it uses, and nothing has arrived in eight days; it does while interlock up runs")
	case heard.IsZero() && h.Reports() && d.budgeted():
		d.note("telemetry", h.Name, statusWarn, "budgets hold, and nothing reports what it uses; run: interlock install %s --telemetry", h.Name)
	case heard.IsZero():
	case set && now().Sub(heard) > staleReport:
		d.note("telemetry", h.Name, statusInfo, "it reported what it uses %s ago", span(now().Sub(heard)))
	default:
		d.note("telemetry", h.Name, statusOK, "it reports what it uses, %s ago at last", span(now().Sub(heard)))
	}
}

// reportedBy is when an agent's usage was reported last.
func (d *diagnosis) reportedBy(agent string) (last time.Time) {
	_, heard, err := (&budgetsCommand{Agent: agent}).read(d.program)
	if err != nil {
		return last // which is told where the store is looked at
	}
	for _, m := range heard {
		if m.Last.After(last) {
			last = m.Last
		}
	}
	return last
}

// budgeted reports whether the rules hold budgets.
func (d *diagnosis) budgeted() bool {
	evaluator, _, err := d.program.evaluator()
	return err == nil && len(evaluator.Rules.AllBudgets()) > 0
}
