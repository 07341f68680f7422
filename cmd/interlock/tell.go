package main

import (
	"context"
	"log/slog"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/notice"
	"interlock/internal/notify"
)

// tellEvery is how long a request may wait before channels that take requests are told of it.
const tellEvery = 2 * time.Second

// A teller tells channels whose floor is confirm or lower of requests that wait for an answer. It carries no code, and nothing
// depends on it.
type teller struct {
	backend  *embedded.Backend
	channels *notify.Notifier
	quiet    config.Hours
	logger   *slog.Logger
	told     map[string]notice.Notice // of requests that waited when they were looked at last
}

// tellRequests tells of requests opened since the server began, for as long as it runs. What arises in quiet hours is told
// when they end.
func tellRequests(ctx context.Context, backend *embedded.Backend, settings config.Config, began time.Time,
	logger *slog.Logger) error {
	channels, err := embedded.Channels(settings)
	if err != nil || !channels.Takes(interlock.TierConfirm) {
		return err
	}
	t := &teller{backend: backend, channels: channels, quiet: settings.QuietHours, logger: logger, told: map[string]notice.Notice{}}
	what := ledger.Watch{Kinds: []string{ledger.Request}, Within: tellEvery}
	return admission.Follow(ctx, backend, what, func(ctx context.Context) error {
		for t.quiet.Contain(now()) || !t.tell(ctx, began) {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(tellEvery): // what failed is tried again; and clocks are set, and machines sleep
			}
		}
		return nil
	})
}

// tell tells of what is new, and forgets what waits no more. It is false if that can't be read now.
func (t *teller) tell(ctx context.Context, began time.Time) bool {
	requests, err := t.backend.Requests(ctx, 0)
	if err != nil {
		if ctx.Err() == nil {
			t.logger.Warn("telling of requests", "error", err.Error())
		}
		return false
	}
	waiting := map[string]notice.Notice{}
	for _, r := range requests.Rows {
		if r.Status != interlock.RequestPending || r.Created.Before(began) {
			continue
		}
		if told, known := t.told[r.ID]; known {
			waiting[r.ID] = told
			continue
		}
		one := notice.Notice{Severity: interlock.TierConfirm, Kind: "request", Request: r.ID, Requester: r.Requester,
			Rule: r.Rule, Reason: r.Reason, Display: r.Display, Harness: r.Harness}
		waiting[r.ID] = one
		delivery := t.channels.Notify(ctx, one)
		for _, failed := range delivery.Failed {
			t.logger.Warn("telling of a request", "request", r.ID, "channel", failed)
		}
	}
	for id, one := range t.told { // in any order: each is about itself
		if _, waits := waiting[id]; !waits {
			t.answered(ctx, one)
		}
	}
	t.told = waiting
	return true
}

// answered tells those who were told of a request what became of it.
func (t *teller) answered(ctx context.Context, one notice.Notice) {
	r, found, err := t.backend.Request(ctx, one.Request)
	if err != nil || !found {
		return // it is told in the console, and nothing depends on it
	}
	status, state := r.Status, r.State()
	if status == interlock.RequestPending {
		status, state = interlock.RequestExpired, string(interlock.RequestExpired)
	}
	one.Kind, one.Status, one.Display = "answered", string(status), ""
	for _, failed := range t.channels.Answered(ctx, one, state, status == interlock.RequestSettled).Failed {
		t.logger.Warn("telling what became of a request", "request", one.Request, "channel", failed)
	}
}
