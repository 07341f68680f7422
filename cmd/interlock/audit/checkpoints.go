package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// A checkpointTarget is somewhere outside the store that keeps the newest signed head, so that a log cut later contradicts
// it. Sending never holds up a decision; a target that fails is tried again with the next head and said in the log.
type checkpointTarget struct {
	name string // as configured; holds no secret, because user information in a URL is refused
	send func(ctx context.Context, checkpoint []byte) error
}

// CheckpointTargets reads --checkpoint-to values: file paths and HTTPS URLs. Plain HTTP is accepted for loopback only.
func CheckpointTargets(values []string) ([]checkpointTarget, error) {
	var targets []checkpointTarget
	for _, value := range values {
		u, err := url.Parse(value)
		if err != nil || u.Scheme == "" || len(u.Scheme) == 1 { // one letter is a Windows drive
			targets = append(targets, checkpointTarget{value,
				func(_ context.Context, c []byte) error { return cli.ReplaceFile(value, c) }})
			continue
		}
		switch {
		case u.User != nil:
			return nil, interlock.Errorf(interlock.CodeInvalid, "--checkpoint-to", "a URL must not carry user information")
		case u.Scheme == "https", u.Scheme == "http" && cli.IsLoopback(u.Hostname()):
			targets = append(targets, checkpointTarget{value,
				func(ctx context.Context, c []byte) error { return post(ctx, value, c) }})
		default:
			return nil, interlock.Errorf(interlock.CodeInvalid, "--checkpoint-to",
				"%.60q is neither a file nor an HTTPS URL", value)
		}
	}
	return targets, nil
}

// A headedLog is a log whose head is forwarded, and that tells when it may have moved.
type headedLog interface {
	Head(ctx context.Context) (ledger.Head, error)
	core.Watcher
}

// ForwardCheckpoints sends each new head to every target until ctx ends, and the last one on the way out.
func ForwardCheckpoints(ctx context.Context, log headedLog, targets []checkpointTarget, every time.Duration, logger *slog.Logger) {
	if len(targets) == 0 {
		return
	}
	f := forwarder{log: log, targets: targets, sent: make([]int64, len(targets)), logger: logger}
	for n := range f.sent {
		f.sent[n] = -1
	}
	err := core.Follow(ctx, log, ledger.Watch{Within: every}, func(ctx context.Context) error {
		for !f.forward(ctx) { // a target that failed is tried again, with whatever is newest then
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(every):
			}
		}
		return nil
	})
	if err != nil {
		logger.Warn("watching for new checkpoints", "error", err.Error())
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	f.forward(last)
}

// A forwarder knows how far each target is.
type forwarder struct {
	log     headedLog
	targets []checkpointTarget
	sent    []int64
	logger  *slog.Logger
}

// forward sends the head to every target that does not have it, and reports whether all have it then.
func (f *forwarder) forward(ctx context.Context) (all bool) {
	h, err := f.log.Head(ctx)
	if err != nil {
		return false
	}
	if len(h.Checkpoint) == 0 {
		return true // there is no entry yet
	}
	all = true
	for n, t := range f.targets {
		if f.sent[n] == h.Size {
			continue
		}
		if err := t.send(ctx, h.Checkpoint); err != nil {
			f.logger.Warn("a checkpoint target failed; the next checkpoint is tried again", "target", t.name,
				"error", err.Error())
			all = false
			continue
		}
		f.sent[n] = h.Size
	}
	return all
}

func post(ctx context.Context, target string, checkpoint []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(checkpoint))
	if err != nil {
		return errors.New("the URL can't be requested")
	}
	request.Header.Set("Content-Type", "text/plain; charset=utf-8")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return errors.New("the server does not answer")
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 4096)) // so that the connection can be kept
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the server answered with status %d", response.StatusCode)
	}
	return nil
}
