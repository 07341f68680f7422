package main

import (
	"fmt"
	"net"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/harness"
)

const telemetryNote = "It reports what it uses of models while interlock up runs; interlock budgets shows it. Its prompts are not sent."

// telemetryOf is where a harness reports to, and by which token. The token is made of the log's key, so that none is kept.
func (p *program) telemetryOf(name string) (t harness.Telemetry, err error) {
	settings, err := p.settings()
	if err != nil {
		return t, err
	}
	base, err := telemetryBase(settings)
	if err != nil {
		return t, err
	}
	backend, err := p.openForRecord() // makes the home, where there is none yet
	if err != nil {
		return t, err
	}
	defer backend.Close()
	sealer, err := embedded.LogSealer(settings.Home)
	if err != nil {
		return t, err
	}
	return harness.Telemetry{Base: base, Token: sealer.Answers().UsageToken(name)}, nil
}

// telemetryBase is the address that telemetry goes to.
func telemetryBase(settings config.Config) (string, error) {
	_, port, err := net.SplitHostPort(settings.Listen)
	if err != nil || port == "0" {
		return "", interlock.Errorf(interlock.CodeInvalid, "listen",
			"telemetry goes to the HTTP API, which has no fixed address here: set listen in interlock.yaml")
	}
	return "http://" + net.JoinHostPort("127.0.0.1", port) + "/otlp", nil
}

func (c *installCommand) printTelemetry(p *program) error {
	t, err := p.telemetryOf(c.Harness)
	if err != nil {
		return err
	}
	text, known := harness.TelemetryLines(c.Harness, t)
	if !known {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--telemetry",
			"how %.40q reports what it uses is not known; claude, codex, gemini and qwen are", c.Harness))
	}
	_, err = fmt.Fprint(p.stdout, text)
	return err
}

// withTelemetry adds to a plan that the harness reports what it uses.
func (c *installCommand) withTelemetry(p *program, h harness.Harness, plan harness.Plan) (harness.Plan, error) {
	if !h.Reports() {
		return plan, usage(interlock.Errorf(interlock.CodeInvalid, "--telemetry",
			"%s is set up for that by hand: interlock install %s --telemetry --print says how", h.Title, h.Name))
	}
	if c.Project != "" {
		return plan, usage(interlock.Errorf(interlock.CodeInvalid, "--telemetry",
			"goes into the user's settings: %s ignores where a project would send its telemetry", h.Title))
	}
	t, err := p.telemetryOf(h.Name)
	if err != nil {
		return plan, err
	}
	return h.WithTelemetry(plan, t)
}

// telemetry has a harness report no more.
func (c *uninstallCommand) telemetry(p *program, h harness.Harness) error {
	plan, err := h.Untouched(p.place(c.Project))
	if err != nil {
		return refusedFile(err)
	}
	plan, reported, err := h.WithoutTelemetry(plan)
	if err != nil {
		return refusedFile(err)
	}
	if !reported {
		fmt.Fprintf(p.stdout, "%s reports nothing to Interlock by %s\n", h.Title, plan.Path)
		return nil
	}
	if err := c.apply(p, plan); err != nil || c.DryRun {
		return err
	}
	if status, err := h.Status(p.place(c.Project), ""); err == nil && len(status.Registrations) > 0 { // the file is another than was recorded
		backend, err := p.openForRecord()
		if err != nil {
			return err
		}
		defer backend.Close()
		if err := p.recordInstalled(backend, h, c.Project, false); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.stdout, "%s reports no more what it uses. Budgets count nothing of it from now on.\n", h.Title)
	return nil
}
