package serve

import (
	"context"
	"log/slog"
	"net/http"

	"interlock"
	"interlock/cmd/interlock/answer"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/prove"
	"interlock/cmd/interlock/try"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/console"
	"interlock/internal/httpapi"
	"interlock/internal/identity"
	"interlock/internal/webpush"
)

// newConsole makes the pages that `interlock up` serves beside the API until done; none where there is no TCP listener.
func newConsole(p *cli.Program, settings config.Config, backend *embedded.Backend, tokens *identity.Tokens, l *listeners, logger *slog.Logger,
	past httpapi.Past, push *webpush.Sender, warnings func() []string, latency func() console.Latency, done <-chan struct{}) (http.Handler, error) {
	if l.tcp == nil {
		return nil, nil
	}
	pages, err := console.New(console.Config{Backend: backend, Tokens: tokens, Verify: backend.Proved, Attest: backend.Attest,
		URL: cli.ConsoleURL(settings, l.tcp.Addr().String()), Logger: logger, Now: cli.Now, Log: backend.Store, Done: done,
		Facts: console.Facts{Rules: backend.Rules, Analyser: backend.Analyser(), Key: backend.Key, Version: embedded.Version(),
			Mode: settings.Mode, Profile: settings.Profile, Channels: channelNames(settings)},
		Decision: func(ctx context.Context, request interlock.ApprovalRequest) (*interlock.Decision, error) {
			return answer.DecisionFor(ctx, backend, request)
		},
		Always: answer.StandingYes(p, backend),
		Push:   push,
		WhatIf: past.WhatIf, Shadow: past.Shadow, Warnings: warnings, Latency: latency,
		Disk: func() (console.Space, error) { return cli.RoomOf(settings.Home) },
		DryRun: func(ctx context.Context, request interlock.ApprovalRequest) (*interlock.DryRun, error) {
			return try.DryRunFor(ctx, backend.Store, request)
		},
		Judges: prove.JudgesShown(backend),
		Try:    try.Trial(p, backend)})
	if err != nil {
		return nil, err
	}
	return pages, nil
}

// channelNames says by which channels codes reach people, without addresses that are secrets.
func channelNames(settings config.Config) []string {
	var names []string
	for _, c := range settings.Channels {
		text := c.Name + " (" + c.Kind
		if c.Floor != nil {
			text += ", from " + c.Floor.String()
		}
		names = append(names, text+")")
	}
	return names
}

// latencyOf is how long decisions took that a server made.
func latencyOf(server *httpapi.Server) console.Latency {
	made, median, tail := server.Latency()
	return console.Latency{Decisions: made, Median: median, Tail: tail}
}
