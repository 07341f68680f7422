package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func asaLogChecks() []Check {
	return []Check{
		{IDs: []string{"ASA-14.1-8"}, Drives: "HTTP API, log", Do: outcomes},
		{IDs: []string{"ASA-14.3-1"}, Drives: "HTTP API, the agent's user", Do: logApart},
		{IDs: []string{"ASA-14.3-2"}, Drives: "HTTP API, interlock audit verify over a log and over copies that were changed", Do: appendOnly},
		{IDs: []string{"ASA-14.3-3"}, Drives: "a collector of the check's own, HTTP API", Do: shipped},
	}
}

func outcomes(ctx context.Context, d *Driver) (string, error) {
	h, _, err := asaHouse(ctx, d, "asa")
	if err != nil {
		return "", err
	}
	passed, err := h.Expect(ctx, "worker", Shell("cat outcome-of-this"), "allow")
	if err != nil {
		return "", err
	}
	told := h.Call(ctx, "worker", http.MethodPost, "/v1/outcome", map[string]any{"event_id": passed.Event, "outcome": "failure",
		"detail": "exit status 3", "duration_ns": 1_250_000_000})
	event := h.Events(ctx, "OUTCOME")
	foreign := h.Call(ctx, "worker", http.MethodPost, "/v1/outcome", map[string]any{"event_id": strings.Repeat("0", 64), "outcome": "success"})
	return "what running it came to stands in the log beside the decision: outcome, status and duration; one that nobody decided " +
			"on is an alert", First(
			Unless(told.Status == http.StatusOK, "an outcome is answered %d %s", told.Status, told.Text),
			Unless(strings.Contains(event, passed.Event) && strings.Contains(event, `"failure"`) && strings.Contains(event, "exit status 3") &&
				strings.Contains(event, "1250000000"), "the log says of it: %s", event),
			Unless(strings.Contains(h.Events(ctx, "ALERT"), strings.Repeat("0", 64)), "an outcome that nobody decided on (%d) is no alert", foreign.Status))
}

func logApart(ctx context.Context, d *Driver) (string, error) {
	h, judge, err := asaHouse(ctx, d, "asa")
	if err != nil {
		return "", err
	}
	for _, command := range []string{"interlock audit list", "cat " + h.Home + "/interlock.db", "sqlite3 " + h.Home + "/interlock.db .dump",
		"rm " + h.Home + "/interlock.db-wal", "cp -r " + h.Home + " elsewhere", "python3 -c \"open('" + h.Home + "/interlock.db').read()\""} {
		if got, err := h.Expect(ctx, "worker", Shell(command), "deny", "halt"); err != nil || strings.HasPrefix(got.Rule, "judge.") {
			return "", fmt.Errorf("an agent reaches the log: %s by %s: %w", got.Verdict, got.Rule, err)
		}
	}
	list, local := h.Call(ctx, "worker", http.MethodGet, "/v1/events", nil), h.CLI(ctx, "", "audit", "list", "--json")
	seen := "agents reach the log by no command, file or request of theirs"
	if err := First(Unless(list.Status == http.StatusForbidden, "an agent's request for events is answered %d", list.Status),
		Unless(strings.Contains(local.Out, "DECISION"), "nor does the operator see it: %s", local.Err),
		Unless(len(judge.sent("interlock.db")) == 0, "the judge was shown it")); err != nil {
		return "", err
	}
	m, why, err := twoUsers(ctx, d)
	switch {
	case err != nil:
		return "", err
	case m == nil:
		return seen + "; tried with no second user of the system: " + why, nil
	}
	return seen + "; and the agent's user of the system neither reads nor writes its files", m.shut(ctx)
}

func appendOnly(ctx context.Context, d *Driver) (string, error) {
	h, _, err := asaRules(ctx, d, "asa-append", "", "")
	if err != nil {
		return "", err
	}
	first, err := h.Expect(ctx, "worker", Shell("cat first-page"), "allow")
	if err != nil {
		return "", err
	}
	for _, method := range []string{http.MethodDelete, http.MethodPut, http.MethodPatch, http.MethodPost} {
		if got := h.Call(ctx, "worker", method, "/v1/events", map[string]any{"event_id": first.Event}); got.Status < 400 {
			return "", fmt.Errorf("%s of events is answered %d", method, got.Status)
		}
	}
	kept := filepath.Join(filepath.Dir(h.Home), "checkpoint")
	changed, cut := filepath.Join(filepath.Dir(h.Home), "changed"), filepath.Join(filepath.Dir(h.Home), "cut")
	h.Down()
	if err := errors.Join(copyDir(cut, h.Home), h.Up(ctx)); err != nil {
		return "", err
	}
	_, more := h.Expect(ctx, "worker", Shell("cat second-page"), "allow")
	head := h.Call(ctx, "worker", http.MethodGet, "/v1/checkpoint", nil)
	h.Down()
	if err := errors.Join(more, os.WriteFile(kept, []byte(head.Text), 0o600), copyDir(changed, h.Home), spoil(changed)); err != nil {
		return "", err
	}
	sound := h.CLI(ctx, "", "audit", "verify", "--checkpoint", kept)
	shorter, other := h.CLI(ctx, "", "--home", cut, "audit", "verify", "--checkpoint", kept), h.CLI(ctx, "", "--home", changed, "audit", "verify")
	return "no request takes anything from the log; it verifies, a copy that was cut back does not against a signed head kept " +
			"elsewhere, nor one with " +
			"changed bytes", First(
			Unless(sound.Code == 0, "the log itself does not verify: %s", sound.Out+sound.Err),
			Unless(shorter.Code != 0, "a log that was cut back verifies: %s", shorter.Out),
			Unless(other.Code != 0, "a log with changed bytes verifies: %s", other.Out))
}

// A collector takes in what a log is shipped to, over TCP.
type collector struct {
	listener net.Listener
	mu       sync.Mutex
	text     strings.Builder
}

func collect() (*collector, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	c := &collector{listener: listener}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // it was closed
			}
			go func() { _, _ = io.Copy(c, conn) }() // until either side closes it
		}
	}()
	return c, nil
}

func (c *collector) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(text)
}

// got waits until it was sent a text.
func (c *collector) got(ctx context.Context, text string) bool {
	for ctx.Err() == nil {
		c.mu.Lock()
		is := strings.Contains(c.text.String(), text)
		c.mu.Unlock()
		if is {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

func shipped(ctx context.Context, d *Driver) (string, error) {
	c, err := collect()
	if err != nil {
		return "", err
	}
	defer c.listener.Close()
	h, _, err := asaRules(ctx, d, "asa-shipped", "", "ship_to: [{to: \"syslog+tcp://"+c.listener.Addr().String()+"\", format: jsonl}]\n")
	if err != nil {
		return "", err
	}
	passed, err := h.Expect(ctx, "worker", Shell("cat shipped-away"), "allow")
	if err != nil {
		return "", err
	}
	denied, err := h.Expect(ctx, "worker", Shell("rm -rf / # shipped"), "deny", "halt")
	if err != nil {
		return "", err
	}
	waits, stop := context.WithTimeout(ctx, upTime/2)
	defer stop()
	return "each event is sent to a syslog server as it is recorded, whether it allows or denies", First(
		Unless(c.got(waits, passed.Event), "what was allowed does not arrive"), Unless(c.got(waits, denied.Event), "what was denied does not arrive"))
}
