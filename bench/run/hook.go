package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const hookPayload = `{"session_id":"bench","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"},"tool_use_id":"toolu_%d"}`

// hookRuns is how often each program is started; starts are interleaved so that noise hits all alike.
const hookRuns = 100

// hookLatency measures the whole hook process, fork to exit, beside the smallest possible process and a peer.
func hookLatency(b *bench) error {
	without, err := b.home("hook-alone")
	if err != nil {
		return err
	}
	with, err := b.home("hook-server")
	if err != nil {
		return err
	}
	stop, err := b.serve(with)
	if err != nil {
		return err
	}
	defer stop()
	contestants := b.contestants(with, without)
	synced, times, err := b.race(contestants)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## A hook call, whole process\n\n%d interleaved runs of one allowed call, fork to exit, milliseconds. `interlock install` registers `interlock-hook`, which asks a running server and becomes `interlock` where there is none. Budget: p50 <= 4 ms with the server, <= 12 ms without.\n\n| program | min | p50 | p95 |\n|---|---:|---:|---:|\n", hookRuns)
	fmt.Fprintf(b.out, "| no process: append 8 KB and fsync, the disk's share | %s | %s | %s |\n", millis(quantile(synced, 0)),
		millis(quantile(synced, 0.5)), millis(quantile(synced, 0.95)))
	for k, c := range contestants {
		fmt.Fprintf(b.out, "| %s | %s | %s | %s |\n", c.name, millis(quantile(times[k], 0)), millis(quantile(times[k], 0.5)),
			millis(quantile(times[k], 0.95)))
	}
	if b.peer == "" {
		fmt.Fprintf(b.out, "\nThe peer could not be installed here, so it is missing from this table.\n")
	}
	return nil
}

// A contestant is one program whose whole process is timed.
type contestant struct {
	name  string
	start func(n int) *exec.Cmd
}

func (b *bench) contestants(with, without string) []contestant {
	contestants := []contestant{
		{"`/bin/true`, the floor", func(int) *exec.Cmd { return exec.CommandContext(b.ctx, "/bin/true") }},
		{"`interlock-hook hook`, server running", func(n int) *exec.Cmd {
			c := b.hook(with, n)
			c.Path = filepath.Join(filepath.Dir(b.binary), "interlock-hook") // `make build` puts it there
			return c
		}},
		{"`interlock hook`, server running", func(n int) *exec.Cmd { return b.hook(with, n) }},
		{"`interlock hook`, no server: opens the store, decides, signs, syncs",
			func(n int) *exec.Cmd { return b.hook(without, n) }},
	}
	if b.peer != "" {
		contestants = append(contestants,
			contestant{"npm `cc-safety-net` hook (node; records nothing durable)", func(n int) *exec.Cmd {
				c := exec.CommandContext(b.ctx, "node", b.peer, "hook", "--claude-code")
				c.Stdin = strings.NewReader(fmt.Sprintf(hookPayload, "git status", n))
				c.Env = append(os.Environ(), "HOME="+filepath.Join(b.scratch, "user"))
				return c
			}})
	}
	return contestants
}

// race starts the contestants in turn and returns how long the disk alone took, and each of them.
func (b *bench) race(contestants []contestant) (synced []time.Duration, times [][]time.Duration, err error) {
	raw, err := os.Create(filepath.Join(b.scratch, "hook.log"))
	if err != nil {
		return nil, nil, err
	}
	defer raw.Close()
	times = make([][]time.Duration, len(contestants))
	for n := range hookRuns + 5 {
		// A disk that was left alone for a moment answers later than one under load, and a hook meets it like that.
		start := time.Now()
		if _, err := raw.Write(make([]byte, 8192)); err != nil {
			return nil, nil, err
		}
		if err := raw.Sync(); err != nil {
			return nil, nil, err
		}
		synced = append(synced, time.Since(start))
		for k := range contestants {
			if n%2 == 1 { // forwards and backwards: the one after a pause meets a server that slept, and pays for it
				k = len(contestants) - 1 - k
			}
			c := contestants[k]
			cmd := c.start(n)
			start := time.Now()
			output, err := cmd.CombinedOutput()
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w: %s", c.name, err, output)
			}
			if n >= 5 {
				times[k] = append(times[k], time.Since(start))
			}
		}
	}
	return synced, times, nil
}

func (b *bench) hook(home string, n int) *exec.Cmd {
	c := b.command(home, "hook", "--agent", "claude")
	c.Stdin = strings.NewReader(fmt.Sprintf(hookPayload, "git status", n))
	return c
}

// serve starts `interlock up` on a home and returns how to stop it.
func (b *bench) serve(home string) (stop func(), err error) {
	_, stop, err = b.server(home)
	return stop, err
}

// server starts `interlock up` with both doors and returns the process and its TCP address by file.
func (b *bench) server(home string) (address string, stop func(), err error) {
	addresses, stop, err := b.serverWith(home)
	if err != nil {
		return "", nil, err
	}
	return addresses[0], stop, nil
}

// serverWith starts a server with further flags, and returns what it says of where it listens.
func (b *bench) serverWith(home string, flags ...string) (addresses []string, stop func(), err error) {
	if err := os.MkdirAll(filepath.Join(b.scratch, "user"), 0o700); err != nil {
		return nil, nil, err
	}
	ready := home + ".ready"
	c := b.command(home, append([]string{"up", "--listen", "127.0.0.1:0", "--ready", ready}, flags...)...)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	b.pid = c.Process.Pid
	stop = func() { _ = c.Process.Signal(os.Interrupt); _ = c.Wait() }
	for range 200 {
		if text, err := os.ReadFile(ready); err == nil {
			return strings.Split(strings.TrimSpace(string(text)), "\n"), stop, nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	stop()
	return nil, nil, fmt.Errorf("the server did not come up")
}
