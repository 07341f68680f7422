package main

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/mcpgateway"
	"interlock/internal/upstream"
)

// unloggedFlag makes this program the gateway without its log: every call is decided and forwarded, and nothing is recorded.
// No mode of Interlock does that; it shows what deciding and forwarding take by themselves.
const unloggedFlag = "-unlogged-gateway"

// A forgetful backend decides and records nothing.
type forgetful struct {
	evaluator *admission.Evaluator
	standing  interlock.Standing
}

func (f *forgetful) Propose(_ context.Context, p interlock.Proposal) interlock.Answer {
	return interlock.Answer{Decision: f.evaluator.Evaluate(p, f.standing, time.Now()), Event: "none"}
}

func (*forgetful) Report(context.Context, interlock.Requester, interlock.Outcome) error { return nil }

func (*forgetful) Refuse(_ context.Context, _ interlock.Requester, _ string, cause error) interlock.Answer {
	return interlock.Refusal("bench", cause.Error())
}

func (f *forgetful) Standing(context.Context) (interlock.Standing, error) { return f.standing, nil }

// serveUnlogged stands before the plain echo on standard streams.
func serveUnlogged(ctx context.Context, home string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	settings, err := config.Load(home, "")
	if err != nil {
		return err
	}
	evaluator, err := embedded.NewEvaluator(settings)
	if err != nil {
		return err
	}
	server, err := upstream.New(upstream.Config{Name: "server", Command: self, Args: []string{plainEchoFlag}}, upstream.Options{Getenv: os.Getenv})
	if err != nil {
		return err
	}
	gateway, err := mcpgateway.New(mcpgateway.Config{Backend: &forgetful{evaluator: evaluator}, Servers: []mcpgateway.Server{server}, Now: time.Now, Random: rand.Reader,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), View: embedded.NewViews(settings, time.Now).Gather})
	if err != nil {
		return err
	}
	defer gateway.Close()
	return gateway.RunStdio(ctx, mcpgateway.Caller{Agent: "bench", Principal: "bench", Connection: "stdio:bench", Dir: home}, os.Stdin, os.Stdout)
}
