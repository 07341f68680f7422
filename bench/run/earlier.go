package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/config"
)

// Turns of this program and of earlier commits' are interleaved, so that what else the machine does meets them alike. A ratio is
// the median over the turns, each turn's figure over the same turn's figure of the earlier commit.
const (
	startTurns = 30
	loadTurns  = 6
	restAfter  = time.Minute // before a server's memory is looked at again
	mostDrop   = 0.05        // of what the newest earlier commit reached; a drop beyond it, in three turns of four, fails the run
)

// An aim is what a figure is held to, as a ratio to the first of the earlier commits.
type aim struct {
	what string
	unit string
	most float64 // of the earlier figure where less is better; 0 where more is
	less float64 // at least this much of it where more is better
}

// The aims, in the table's order. They are those of docs/decisions/0010-budgets.md.
var aims = []aim{
	{what: "`interlock version`, CPU", unit: "ms", most: 0.6},
	{what: "`interlock-hook`, no server, CPU", unit: "ms", most: 0.8},
	{what: "`interlock-hook`, with a server, CPU", unit: "ms", most: 0.95},
	{what: "`interlock gateway` until it is ready", unit: "ms", most: 1},
	{what: "`interlock gateway` for one call, CPU", unit: "ms", most: 1},
	{what: "`interlock gateway` for one call, peak memory", unit: "MB", most: 0.9},
	{what: "durable decisions, 1 caller", unit: "/s", less: 1.1},
	{what: "durable decisions, 16 callers", unit: "/s", less: 1.3},
	{what: "durable decisions, 128 callers", unit: "/s", less: 1.4},
	{what: "CPU of a decision, 1 caller", unit: "µs", most: 1},
	{what: "CPU of a decision, 16 callers", unit: "µs", most: 1},
	{what: "CPU of a decision, 128 callers", unit: "µs", most: 0.88},
	{what: "server's peak memory", unit: "MB", most: 1},
	{what: "server's memory a minute later", unit: "MB", most: 1},
	{what: "gateway, durable, 1 call at a time", unit: "/s", less: 1.15},
	{what: "gateway, durable, 16 at once", unit: "/s", less: 1.4},
}

// A version is one built program and what was found of it: a figure for each aim and turn.
type version struct {
	name  string
	bench *bench
	found map[string][]float64
}

func (v *version) add(what string, figure float64) { v.found[what] = append(v.found[what], figure) }

// againstEarlier measures this program in turns with those of earlier commits, which it builds out of the repository.
func againstEarlier(b *bench) error {
	if b.earlier == "" {
		fmt.Fprintf(b.out, "\n## Beside earlier commits\n\nNo earlier commit was named (`-earlier`), so this table is missing.\n")
		return nil
	}
	scratch := filepath.Join(b.scratch, "now")
	if err := copied(filepath.Dir(b.binary), scratch); err != nil {
		return err
	}
	versions := []*version{b.version("now", scratch)}
	for _, commit := range strings.Split(b.earlier, ",") {
		v, remove, err := b.built(commit)
		if err != nil {
			return fmt.Errorf("building %s: %w", commit, err)
		}
		defer remove()
		versions = append(versions, v)
	}
	for _, measure := range []func([]*version) error{startsOf, gatewayStartsOf, serversOf, gatewaysOf} {
		if err := measure(versions); err != nil {
			return err
		}
	}
	b.earlierTable(versions)
	return nil
}

// built builds the programs of a commit in a work tree of their own.
func (b *bench) built(commit string) (*version, func(), error) {
	tree := filepath.Join(b.scratch, "tree-"+commit)
	if output, err := exec.CommandContext(b.ctx, "git", "worktree", "add", "--detach", "--force", tree,
		commit).CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("%w: %s", err, output)
	}
	remove := func() { _ = exec.Command("git", "worktree", "remove", "--force", tree).Run() }
	scratch, linked := filepath.Join(b.scratch, commit), filepath.Join(tree, "linked")
	build := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", linked+
		string(os.PathSeparator), "./cmd/...")
	build.Dir = tree
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		remove()
		return nil, nil, fmt.Errorf("%w: %s", err, output)
	}
	if err := copied(linked, scratch); err != nil {
		remove()
		return nil, nil, err
	}
	return b.version(commit, scratch), remove, nil
}

// version is the programs in a folder, which is their scratch space as well.
func (b *bench) version(name, folder string) *version {
	return &version{name: name, found: map[string][]float64{}, bench: &bench{ctx: b.ctx, binary: filepath.Join(folder,
		filepath.Base(b.binary)), scratch: folder, step: b.step, out: io.Discard}}
}

// copied puts copies of a folder's two programs into another, as an installation does. A file that the linker wrote starts up to a
// fifth slower than its copy, so programs are compared only as copies.
func copied(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"interlock", "interlock-hook"} {
		if err := copyOf(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyOf copies one program, a piece at a time: what this process holds in memory is counted as its children's peak.
func copyOf(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(struct{ io.Writer }{target}, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}

// used runs a command to its end and returns the CPU it took, in milliseconds.
func used(c *exec.Cmd) (float64, error) {
	output, err := c.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, output)
	}
	return float64((c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Microseconds()) / 1e3, nil
}

// startsOf measures what commands cost from their start to their end.
func startsOf(versions []*version) error {
	hook := func(v *version, home string, n int) *exec.Cmd {
		c := v.bench.hook(home, n)
		c.Path = filepath.Join(filepath.Dir(v.bench.binary), "interlock-hook")
		return c
	}
	with := map[*version]string{}
	for _, v := range versions {
		home, err := v.bench.home("starts-served")
		if err != nil {
			return err
		}
		stop, err := v.bench.serve(home)
		if err != nil {
			return err
		}
		defer stop()
		with[v] = home
	}
	for n := range startTurns {
		for _, v := range versions {
			alone, err := v.bench.home("starts-alone")
			if err != nil {
				return err
			}
			for k, c := range []*exec.Cmd{v.bench.command(alone, "version"), hook(v, alone, n), hook(v, with[v], n)} {
				cost, err := used(c)
				if err != nil {
					return err
				}
				v.add(aims[k].what, cost)
			}
		}
	}
	return nil
}

// gatewayStartsOf measures a gateway on standard streams from its start to its first answer. Its first start in a home, which
// makes keys and store, is none of the turns.
func gatewayStartsOf(versions []*version) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for n := range startTurns/3 + 1 {
		for _, v := range versions {
			home, err := v.bench.home("gateway-starts")
			if err != nil {
				return err
			}
			s, err := startStdio(v.bench.command(home, "gateway", "--name", "server", "--", self, plainEchoFlag), "server.echo", "quick")
			if err != nil {
				return err
			}
			s.close()
			ended := s.cmd.ProcessState
			if n == 0 {
				continue
			}
			v.add("`interlock gateway` until it is ready", float64(s.started.Microseconds())/1e3)
			v.add("`interlock gateway` for one call, CPU", float64((ended.UserTime()+ended.SystemTime()).Microseconds())/1e3)
			v.add("`interlock gateway` for one call, peak memory", peakMB(ended))
		}
	}
	return nil
}

// serversOf measures durable decisions over the unix socket, all servers up at the same time and loaded in turns.
func serversOf(versions []*version) error {
	var stops []func()
	for _, v := range versions {
		home, err := v.bench.home("durable-served")
		if err != nil {
			return err
		}
		stop, err := v.bench.serve(home)
		if err != nil {
			return err
		}
		stops = append(stops, stop)
		defer stop()
	}
	for turn := range loadTurns + 1 {
		for _, callers := range callerCounts {
			for _, v := range versions {
				socket := config.Socket(filepath.Join(v.bench.scratch, "durable-served"))
				cpu := processCPU(v.bench.pid)
				rate, times, err := v.bench.over(door{network: "unix", address: socket, host: "interlock"}, callers, v.bench.step/2,
					(*client).decide)
				if err != nil {
					return fmt.Errorf("%s: %w", v.name, err)
				}
				cpu = processCPU(v.bench.pid) - cpu
				if turn == 0 { // what a server makes ready at its first requests
					continue
				}
				several := "s"
				if callers == 1 {
					several = ""
				}
				v.add(fmt.Sprintf("durable decisions, %d caller%s", callers, several), rate)
				v.add(fmt.Sprintf("CPU of a decision, %d caller%s", callers, several), float64(cpu.Microseconds())/float64(len(times)))
			}
		}
	}
	for _, v := range versions {
		v.add("server's peak memory", peakResidentMB(v.bench.pid))
	}
	time.Sleep(restAfter)
	for n, v := range versions {
		v.add("server's memory a minute later", residentMB(v.bench.pid))
		stops[n]()
	}
	return nil
}

// gatewaysOf measures calls through gateways on standard streams, durable, in turns.
func gatewaysOf(versions []*version) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, at := range []struct {
		what    string
		callers int
	}{{"gateway, durable, 1 call at a time", 1}, {"gateway, durable, 16 at once", inFlight}} {
		var calls []func(int) error
		var ends []func()
		for _, v := range versions {
			call, end, err := v.bench.stdioCrowd(self, "the quick brown fox", crowd{clients: 1, each: at.callers}, dutyDurable)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			calls, ends = append(calls, call), append(ends, end)
		}
		for turn := range loadTurns + 1 {
			for n, v := range versions {
				rate, _, err := load(at.callers, v.bench.step/2, calls[n])
				if err != nil {
					return fmt.Errorf("%s: %w", v.name, err)
				}
				if turn > 0 {
					v.add(at.what, rate)
				}
			}
		}
		for _, end := range ends {
			end()
		}
	}
	return nil
}

// median returns the middle of figures, or another quantile of them.
func median(figures []float64, q float64) float64 {
	if len(figures) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// ratios are a version's figures over an earlier one's, turn by turn.
func ratios(now, then []float64) []float64 {
	var all []float64
	for n := range min(len(now), len(then)) {
		if then[n] > 0 {
			all = append(all, now[n]/then[n])
		}
	}
	return all
}

// earlierTable writes what was found, and keeps which figures have dropped against the newest of the earlier commits.
func (b *bench) earlierTable(versions []*version) {
	now, first, last := versions[0], versions[1], versions[len(versions)-1]
	fmt.Fprintf(b.out, "\n## Beside earlier commits\n\nThe programs of earlier commits, built out of the repository, in turns "+
		"with this one: %d turns of "+
		"starts, %d of load. Figures are\nmedians; a ratio is the median over the turns. What misses its aim, a ratio to `%s`, is "+
		"bold. `make bench` "+
		"fails where a figure\nis more than %.0f %% worse than `%s` in three turns of four.\n\n| what |", startTurns, loadTurns,
		first.name, mostDrop*100, last.name)
	for _, v := range versions[1:] {
		fmt.Fprintf(b.out, " `%s` |", v.name)
	}
	fmt.Fprintf(b.out, " now | times `%s` | aim | times `%s` |\n|---|%s---:|---:|---|---:|\n", first.name, last.name,
		strings.Repeat("---:|", len(versions)))
	for _, a := range aims {
		fmt.Fprintf(b.out, "| %s, %s |", a.what, a.unit)
		for _, v := range append(slices.Clone(versions[1:]), now) {
			fmt.Fprintf(b.out, " %.4g |", median(v.found[a.what], 0.5))
		}
		toFirst, toLast := ratios(now.found[a.what], first.found[a.what]), ratios(now.found[a.what], last.found[a.what])
		ratio, bound, met := median(toFirst, 0.5), "<= %.2f", median(toFirst, 0.5) <= a.most
		dropped := median(toLast, 0.25) > 1+mostDrop
		value := a.most
		if a.less > 0 {
			bound, met, value = ">= %.2f", ratio >= a.less, a.less
			dropped = median(toLast, 0.75) < 1-mostDrop
		}
		shown := fmt.Sprintf("%.2f", ratio)
		if !met {
			shown = "**" + shown + "**"
		}
		fmt.Fprintf(b.out, " %s | "+bound+" | %.2f |\n", shown, value, median(toLast, 0.5))
		if dropped {
			b.dropped = append(b.dropped, fmt.Sprintf("%s (%.2f times %s)", a.what, median(toLast, 0.5), last.name))
		}
	}
}
