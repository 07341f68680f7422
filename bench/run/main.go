// Command run measures Interlock's speed beside a physical limit or a peer in the same run, and writes bench/README.md.
//
// Everything runs on this machine, load generator included, for a bounded time, against loopback and a scratch directory.
// Absolute numbers depend on the machine; the ratios are what to compare. Start with main.go; each measurement has a file.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

//go:embed method.md
var method string

// A bench is one run: where the binary under test is, where scratch space is, how long each step may take.
type bench struct {
	ctx            context.Context
	binary         string
	scratch        string
	step           time.Duration
	open           time.Duration // how long an open load is kept up
	recorded       int           // how many decisions the part recorded makes
	peer           string        // cc-safety-net's hook script, empty if npm could not install it
	pid            int           // of the newest server
	earlier        string        // commits to measure beside, the first for the aims, the last for drops
	dropped        []string      // what is worse than the last of them
	vmcp           string        // toolhive's vmcp; empty if it could not be built
	carrierModules string        // node_modules with the programs that carry MCP calls; empty if npm could not install them
	out            io.Writer

	sequence atomic.Int64 // numbers the actions, so that no two are the same
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == echoFlag {
		if err := serveEcho(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 4 && (os.Args[1] == relayFlag || os.Args[1] == relayHTTPFlag) {
		serve := func() error { return relay(os.Args[2], os.Args[3:]) }
		if os.Args[1] == relayHTTPFlag {
			serve = func() error { return relayHTTP(os.Args[2], os.Args[3], os.Args[4:]) }
		}
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == plainEchoFlag {
		serve := func() error { return servePlainEcho(os.Stdin, os.Stdout) }
		if len(os.Args) > 2 {
			serve = func() error { return servePlainEchoHTTP(os.Args[2]) }
		}
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	binary := flag.String("binary", "bin/interlock", "the built binary")
	out := flag.String("out", "", "write the page here instead of standard output")
	step := flag.Duration("step", 3*time.Second, "how long each throughput step runs")
	earlier := flag.String("earlier", "", "commits to build and measure beside, with commas: the first for the aims, the "+
		"last for drops")
	only := flag.String("only", "", "measure this part only: earlier, decide, hook, durable, limits, judge, http, fair, costly, stop, mcp, "+
		"gateway, gateway-http, sandbox, "+
		"waiting, recorded or verify")
	recorded := flag.Int("recorded", recordedDecisions, "how many decisions the part recorded makes and tries rules on")
	open := flag.Duration("open", 0, "how long the part stop keeps up its open load; half a minute if it is not given")
	peer := flag.String("peer", "", "path of cc-safety-net's command, for the side-by-side hook latency")
	carriers := flag.String("carriers", "", "node_modules with mcp-proxy and supergateway, for the side-by-side gateway latency")
	vmcp := flag.String("vmcp", "", "path of toolhive's vmcp, for the side-by-side gateway latency")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := (&bench{ctx: ctx, step: *step, open: *open, recorded: *recorded, peer: *peer, carrierModules: *carriers, vmcp: *vmcp,
		earlier: *earlier}).run(*binary, *out,
		*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// The parts, in the page's order. Those that are measured alone have a process of their own: what the others leave behind in
// this one slows the load generator down, and with it what is measured. The last reads the log that http has made.
var parts = []struct {
	name    string
	measure func(*bench) error
	alone   bool
}{
	{"earlier", againstEarlier, false},
	{"decide", decide, false}, {"hook", hookLatency, true}, {"durable", durable, true}, {"limits", limited, true}, {"http", overHTTP, false},
	{"judge", judged, true}, {"fair", fairShares, true},
	{"costly", costlyShares, true}, {"stop", stopping, true}, {"mcp", overMCP, true},
	{"gateway", behindGateway, true}, {"gateway-http", overGatewayHTTP, true}, {"sandbox", sandboxes, true},
	{"waiting", waiting, true}, {"recorded", recordings, true}, {"verify", verify, false},
}

// apart measures one part in a process of its own and adds its section to the page.
func (b *bench) apart(part string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(b.ctx, self, "-only", part, "-binary", b.binary, "-step", b.step.String(),
		"-recorded", strconv.Itoa(b.recorded), "-peer", b.peer,
		"-carriers", b.carrierModules, "-vmcp", b.vmcp)
	cmd.Stderr = os.Stderr
	page, err := cmd.Output()
	if err != nil {
		return err
	}
	_, section, found := strings.Cut(string(page), "\n## ")
	if !found {
		return fmt.Errorf("no section was printed")
	}
	_, err = io.WriteString(b.out, "\n## "+section)
	return err
}

func (b *bench) run(binary, out, only string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("the binary is missing; run `make build` first")
	}
	scratch, err := os.MkdirTemp("", "interlock-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	var page strings.Builder
	b.binary, b.scratch, b.out = binary, scratch, &page
	page.WriteString(method)
	fmt.Fprintf(&page, "\nMeasured on %s/%s, %d CPUs, %s%s.\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		runtime.Version(), cpuName())
	var failed []string
	for _, part := range parts {
		if only != "" && part.name != only {
			continue
		}
		measure := part.measure
		if only == "" && part.alone {
			measure = func(b *bench) error { return b.apart(part.name) }
		} else {
			fmt.Fprintln(os.Stderr, "bench: measuring", part.name)
		}
		if err := measure(b); err != nil { // the others' figures aren't lost with it
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", part.name, err)
			failed = append(failed, part.name)
		}
	}
	if out == "" {
		_, err = io.WriteString(os.Stdout, page.String())
	} else {
		err = os.WriteFile(out, []byte(page.String()), 0o644)
	}
	if err == nil && len(failed) > 0 {
		return fmt.Errorf("not measured: %s", strings.Join(failed, ", "))
	}
	if err == nil && len(b.dropped) > 0 {
		err = fmt.Errorf("more than %.0f %% worse than before: %s", mostDrop*100, strings.Join(b.dropped, "; "))
	}
	return err
}

// cpuName names the processor where the system tells it.
func cpuName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(data), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return ", " + strings.TrimSpace(value)
		}
	}
	return ""
}

// quantile returns the q-quantile of durations, which it sorts.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sort.Slice(d, func(i, j int) bool { return d[i] < d[j] })
	return d[min(len(d)-1, int(q*float64(len(d))))]
}

func micros(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Nanoseconds())/1e3) }
func millis(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d.Nanoseconds())/1e6) }

// command returns a command of the binary under test on a home of its own.
func (b *bench) command(home string, args ...string) *exec.Cmd {
	c := exec.CommandContext(b.ctx, b.binary, args...)
	c.Env = append(os.Environ(), "INTERLOCK_HOME="+home, "HOME="+filepath.Join(b.scratch, "user"))
	return c
}

// home makes a fresh home directory.
func (b *bench) home(name string) (string, error) {
	home := filepath.Join(b.scratch, name)
	return home, os.MkdirAll(home, 0o700)
}
