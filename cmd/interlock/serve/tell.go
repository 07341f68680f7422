package serve

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/notice"
	"interlock/internal/notify"
	"interlock/internal/webpush"
)

// tellEvery is how long a request may wait before channels that take requests are told of it.
const tellEvery = 2 * time.Second

// maxPushed is of how many requests that came at once browsers are told by name.
const maxPushed = 5

// A teller tells channels whose floor is confirm or lower, and browsers of operators who switched that on, of requests that wait for an
// answer. It carries no code, and nothing depends on it.
type teller struct {
	backend  *embedded.Backend
	channels *notify.Notifier // nil where none takes requests
	push     *webpush.Sender
	quiet    config.Hours
	logger   *slog.Logger
	told     map[string]notice.Notice // of requests that waited when they were looked at last
}

// tellRequests tells of requests opened since the server began, for as long as it runs. What arises in quiet hours is told
// when they end.
func tellRequests(ctx context.Context, backend *embedded.Backend, settings config.Config, push *webpush.Sender, began time.Time,
	logger *slog.Logger) error {
	channels, err := embedded.Channels(settings)
	if err != nil {
		return err
	}
	if !channels.Takes(interlock.TierConfirm) {
		channels = nil
	}
	t := &teller{backend: backend, channels: channels, push: push, quiet: settings.QuietHours, logger: logger,
		told: map[string]notice.Notice{}}
	what := ledger.Watch{Kinds: []string{ledger.Request}, Within: tellEvery}
	return core.Follow(ctx, backend, what, func(ctx context.Context) error {
		for t.quiet.Contain(cli.Now()) || !t.tell(ctx, began) {
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
	since, pushed := t.push.Wanted(ctx)
	if t.channels == nil && !pushed {
		t.told = map[string]notice.Notice{}
		return true
	}
	requests, err := t.backend.Requests(ctx, 0)
	if err != nil {
		if ctx.Err() == nil {
			t.logger.Warn("telling of requests", "error", err.Error())
		}
		return false
	}
	waiting, fresh := map[string]notice.Notice{}, []interlock.ApprovalRequest{}
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
		t.asks(ctx, one)
		if pushed && !r.Harness && !r.Created.Before(since) { // what its harness asks its own user waits for nobody who is away
			fresh = append(fresh, r)
		}
	}
	t.pushes(ctx, fresh)
	for id, one := range t.told { // in any order: each is about itself
		if _, waits := waiting[id]; !waits {
			t.answered(ctx, one)
		}
	}
	t.told = waiting
	return true
}

// asks tells the channels of one request.
func (t *teller) asks(ctx context.Context, one notice.Notice) {
	if t.channels == nil {
		return
	}
	t.failed(one.Request, t.channels.Notify(ctx, one).Failed)
}

// pushes tells browsers of what is new: of some by name, of the rest that there are more.
func (t *teller) pushes(ctx context.Context, fresh []interlock.ApprovalRequest) {
	slices.SortFunc(fresh, func(a, b interlock.ApprovalRequest) int { return a.Created.Compare(b.Created) })
	for n, r := range fresh {
		if n == maxPushed {
			newest := fresh[len(fresh)-1]
			t.failed(newest.ID, t.push.Tell(ctx, webpush.Many(len(fresh)-n, newest)))
			return
		}
		t.failed(r.ID, t.push.Tell(ctx, pushed(t.backend, r)))
	}
}

func (t *teller) failed(request string, failed []string) {
	for _, one := range failed {
		t.logger.Warn("telling of a request", "request", request, "channel", one)
	}
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
	var failed []string
	if t.channels != nil {
		failed = t.channels.Answered(ctx, one, state, status == interlock.RequestSettled).Failed
	}
	if !r.Harness {
		failed = append(failed, t.push.Tell(ctx, webpush.Answered(r, state))...)
	}
	for _, why := range failed {
		t.logger.Warn("telling what became of a request", "request", one.Request, "channel", why)
	}
}
