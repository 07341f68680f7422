package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"interlock/embedded"
	"interlock/internal/hook"
)

// configChange answers a harness that says its settings were changed under a session: settings under which the hook is not called as
// it was installed do not count there. What can't be told is refused as well; the session goes on under the settings it had.
func (p *program) configChange(c hookCommand) int {
	ctx, cancel := context.WithTimeout(p.ctx, c.Deadline)
	defer cancel()
	answered := make(chan string, 1)
	go func() {
		defer func() {
			if recover() != nil {
				answered <- "the hook failed on a defect; `interlock doctor` may say more"
			}
		}()
		answered <- p.settingsRefused(ctx)
	}()
	refused := ""
	select {
	case refused = <-answered:
	case <-ctx.Done():
		refused = "no decision was made within " + c.Deadline.String()
	}
	if refused == "" {
		return 0
	}
	text := redacted("[hook.settings] " + refused)
	line, err := json.Marshal(struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"block", text})
	if err == nil {
		_, _ = p.stdout.Write(append(line, '\n')) // the exit status says it as well
	}
	fmt.Fprintln(p.stderr, text)
	return 2
}

// settingsRefused says why settings that were changed must not count; empty if they may.
func (p *program) settingsRefused(ctx context.Context) string {
	payload, err := io.ReadAll(io.LimitReader(p.stdin, hook.MaxPayload))
	if err != nil {
		return "the hook payload could not be read from standard input"
	}
	var change struct {
		Dir string `json:"cwd"`
	}
	if err := json.Unmarshal(payload, &change); err != nil {
		return "the hook payload can't be read"
	}
	settings, err := p.settings()
	if err != nil {
		return "the settings can't be used: " + shown(err)
	}
	backend, err := embedded.OpenBrief(ctx, settings)
	if err != nil {
		return "the store can't be used: " + shown(err)
	}
	defer backend.Close()
	var dirs []string
	if change.Dir != "" {
		dirs = append(dirs, change.Dir)
	}
	wrong, err := p.lookAtInstalled(ctx, backend, dirs, false)
	if err != nil {
		return "it can't be told whether the hook is registered still: " + shown(err)
	}
	if len(wrong) == 0 {
		return ""
	}
	return "with these settings Interlock would not be called as it was installed: " + strings.Join(wrong, "; ") +
		". This session goes on with those it had. `interlock uninstall` takes the hook out, `interlock install` registers it again"
}
