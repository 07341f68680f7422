package conform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func stopChecks() []Check {
	return []Check{
		{IDs: []string{"EC-K-1"}, Drives: "a kill command, HTTP API, hook, gateway, log", Do: killed},
		{IDs: []string{"EC-K-2"}, Drives: "control door, HTTP API, clock", Do: graduated},
		{IDs: []string{"EC-ENV-21"}, Drives: "control door, HTTP API, hook", Do: ownPath},
		{IDs: []string{"EC-ENV-22"}, Drives: "control door, HTTP API", Do: signalKills},
	}
}

func signalChecks() []Check {
	return []Check{
		{IDs: []string{"EC-1.9", "EC-T1.11"}, Drives: "control door, log", Do: contextAlerts},
		{IDs: []string{"EC-ENV-16"}, Drives: "control door, HTTP API, log", Do: defences},
	}
}

// number reads a number; what is none counts as -1.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// signal has an observer tell the control door something.
func (h *House) signal(ctx context.Context, observer, kind, agent string, value int) Reply {
	return h.Control(ctx, observer, "POST", "/v1/signals", map[string]any{"kind": kind, "agent": agent, "value": value, "reason": "drill"})
}

func killed(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "kill"})
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "builder"); err != nil {
		return "", err
	}
	_, before := h.Expect(ctx, "builder", Shell("ls"), "allow")
	hookBefore, _ := h.Hook(ctx, "claude", "t1", "ls")
	ran := h.longRun(ctx)
	began := d.env.Now()
	stop := h.CLI(ctx, "", "kill", "--reason", "drill", "--key", h.keys["ada"])
	refused := h.Decide(ctx, "builder", Shell("ls"))
	took := d.env.Now().Sub(began)
	run := ran()
	hookAfter, _ := h.Hook(ctx, "claude", "t2", "ls")
	gateway := h.CLI(ctx, "", "gateway", "--name", "none", "--", "no-such-program")
	freed := h.CLI(ctx, "", "hold", "clear", "kill:everything", "--reason", "x", "--key", h.keys["ada"])
	still := h.Decide(ctx, "builder", Shell("ls"))
	_, released := h.Order(ctx, "ada", "kill", "release", "--reason", "it was a drill")
	_, after := h.Expect(ctx, "builder", Shell("ls"), "allow")
	events := h.Events(ctx, "KILL_SWITCH")
	return fmt.Sprintf("%d ms after the order tokens are refused, hooks denied, and no gateway begins; a sandbox that ran: %s; until an admin's signed "+
			"release", took.Milliseconds(), run), First(before, released, after, Unless(run != runsOn, "a sandbox outlived the stop for 30 s"),
			Unless(hookBefore == "allow" && hookAfter == "deny", "a hook is answered %s before and %s after", hookBefore, hookAfter),
			Unless(stop.Code == 0, "the order failed: %s", stop.Err), Unless(refused.Status == 401 && took < 30*time.Second,
				"after %s a token is answered %d %s", took, refused.Status, refused.Answer),
			Unless(gateway.Code != 0 && strings.Contains(gateway.Err, "everything is stopped"), "a gateway begins: exit %d %s", gateway.Code, gateway.Err),
			Unless(freed.Code != 0 && still.Status == 401, "another order lifts it"),
			Unless(strings.Contains(events, `"kill"`), "the log does not say so: %s", events))
}

// What became of a sandbox.
const (
	runEnded = "ended"
	runsOn   = "runs on"
	noRun    = "none works here"
)

// longRun has a sandbox run for long, and returns what says how it ended within 30 seconds.
func (h *House) longRun(ctx context.Context) (end func() string) {
	ctx, stop := context.WithCancel(ctx)
	done, begun := make(chan struct{}), filepath.Join(h.Work, "begun")
	go func() {
		defer close(done)
		h.CLI(ctx, "", "exec", "--", "sh", "-c", "echo > begun; sleep 100")
	}()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-done:
			stop()
			return func() string { return noRun }
		case <-look.C:
		}
		if _, err := os.Stat(begun); err == nil {
			return ended(done, stop)
		}
	}
}

// ended waits for a run, for 30 seconds at most.
func ended(done <-chan struct{}, stop context.CancelFunc) func() string {
	return func() string {
		defer stop()
		select {
		case <-done:
			return runEnded
		case <-time.After(30 * time.Second):
			return runsOn
		}
	}
}

func graduated(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "drain", Clocked: true})
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "builder"); err != nil {
		return "", err
	}
	order := h.Control(ctx, "", "POST", "/v1/kill", map[string]any{"reason": "drill", "mode": "graduated"})
	_, draining := h.Expect(ctx, "builder", Shell("ls"), "allow")
	_, undiminished := h.Expect(ctx, "builder", Shell("rm -rf /"), "deny")
	h.Pass(31 * time.Second)
	_, frozen := h.Expect(ctx, "builder", Shell("ls"), "halt")
	h.Pass(60 * time.Second)
	over := h.Decide(ctx, "builder", Shell("ls"))
	return "for 30 s calls are judged as always, what is forbidden stays so; then every call is halted; after 90 s tokens are refused", First(
		Unless(order.Status == 200, "the control door answers %d %s", order.Status, order.Text), draining, undiminished, frozen,
		Unless(over.Status == 401, "after 91 s a token is answered %d", over.Status))
}

func ownPath(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "door", Clocked: true})
	if err != nil {
		return "", err
	}
	if err := First(h.Agents(ctx, "builder"), h.Agent(ctx, "meter", "--observer")); err != nil {
		return "", err
	}
	kill := map[string]any{"reason": "drill", "by": "fraud desk"}
	byAgent := h.Control(ctx, "builder", "POST", "/v1/kill", kill)
	byObserver := h.Control(ctx, "meter", "POST", "/v1/kill", kill)
	_, release := h.Expect(ctx, "builder", Shell("interlock kill release --reason x"), "deny", "halt")
	_, unplug := h.Expect(ctx, "builder", Shell("rm "+h.Home+"/killed"), "deny", "halt")
	_, before := h.Expect(ctx, "builder", Shell("ls"), "allow")
	began := d.env.Now()
	fired := h.Control(ctx, "", "POST", "/v1/kill", kill)
	refused := h.Decide(ctx, "builder", Shell("ls"))
	took := d.env.Now().Sub(began)
	return fmt.Sprintf("its own listener and credential stop everything, seen %d ms later; an agent's token does not open it, what an observer asks "+
			"for waits for people, and agents may not release, remove or stop it", took.Milliseconds()), First(release, unplug, before,
			Unless(byAgent.Status == 401 && byObserver.Status == 200 && byObserver.Member("stopped") == "false" && byObserver.Member("proposed") == "true",
				"an agent is answered %d, an observer %d %s", byAgent.Status, byObserver.Status, byObserver.Text),
			Unless(fired.Status == 200 && refused.Status == 401 && took < 30*time.Second, "%d, and after %s %d", fired.Status, took, refused.Status))
}

func signalKills(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "killon", Settings: "kill_on: [dlp, fraud, anomaly]\n", Clocked: true})
	if err != nil {
		return "", err
	}
	if err := First(h.Agents(ctx, "builder"), h.Agent(ctx, "desk", "--observer")); err != nil {
		return "", err
	}
	h.signal(ctx, "desk", "anomaly", "builder", 79)
	h.signal(ctx, "desk", "health", "builder", 0)
	_, below := h.Expect(ctx, "builder", Shell("ls"), "allow")
	for _, kind := range []string{"anomaly", "dlp", "fraud"} {
		if told := h.signal(ctx, "desk", kind, "builder", 90); told.Member("stopped") != "true" {
			return "", fmt.Errorf("%s of 90 is answered %d %s", kind, told.Status, told.Text)
		}
		if got := h.Decide(ctx, "builder", Shell("ls")); got.Status != 401 {
			return "", fmt.Errorf("after %s a token is answered %d", kind, got.Status)
		}
		if _, err := h.Order(ctx, "ada", "kill", "release", "--reason", "it was a drill"); err != nil {
			return "", err
		}
	}
	return "critical signals of the kinds that the settings name stop everything at once; others and lesser ones don't", below
}

func contextAlerts(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "meter", Clocked: true})
	if err != nil {
		return "", err
	}
	if err := First(h.Agents(ctx, "builder"), h.Agent(ctx, "meter", "--observer")); err != nil {
		return "", err
	}
	told := ""
	for _, value := range []int{50, 70, 72, 85, 84, 95, 99, 70} {
		if h.signal(ctx, "meter", "context", "builder", value).Member("told") == "true" {
			told += fmt.Sprint(value, " ")
		}
	}
	_, goesOn := h.Expect(ctx, "builder", Shell("ls"), "allow")
	alerts := strings.Count(h.Events(ctx, "ALERT"), "signal-context")
	return "fed 50, 70, 72, 85, 84, 95, 99 and 70 per cent, people are told at 70, 85 and 95, once each; at tier 1 nothing else follows",
		First(goesOn, Unless(told == "70 85 95 ", "they are told at %s", told), Unless(alerts >= 3, "%d alerts were recorded", alerts))
}

func defences(ctx context.Context, d *Driver) (string, error) {
	h, err := phased(ctx, d, "defences", 1, "builder", "calm")
	if err != nil {
		return "", err
	}
	if err := h.Agent(ctx, "dlp", "--observer"); err != nil {
		return "", err
	}
	agents := h.signal(ctx, "builder", "dlp", "calm", 100)
	told := h.signal(ctx, "dlp", "dlp", "builder", 90)
	got := h.Decide(ctx, "builder", Shell("ls"))
	h.signal(ctx, "dlp", "dlp", "builder", 0)
	still := h.Decide(ctx, "builder", Shell("ls"))
	_, calm := h.Expect(ctx, "calm", Shell("ls"), "allow")
	events := h.Events(ctx, "SIGNAL")
	return "what a defence finds about an agent is recorded and stops it; that all is well again lets nothing happen, and agents tell nothing",
		First(calm, Unless(agents.Status == 401, "an agent's own signal is answered %d", agents.Status),
			Unless(told.Status == 200 && got.Answer != "allow" && still.Answer != "allow", "%d, then %d %s, then %d %s", told.Status, got.Status,
				got.Answer, still.Status, still.Answer),
			Unless(strings.Contains(events, `"dlp"`), "the log does not say so"))
}
