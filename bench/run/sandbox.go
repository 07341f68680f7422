package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// sandboxStarts is how often each kind is started.
const sandboxStarts = "100x"

// sandboxes measures what it takes to start and end a program in a sandbox beside starting it without one. The measurement
// is internal/sandbox's own benchmark, which can make sandboxes as `interlock exec` does.
func sandboxes(b *bench) error {
	if runtime.GOOS != "linux" {
		fmt.Fprintf(b.out, "\n## A sandbox\n\nThere is none on %s.\n", runtime.GOOS)
		return nil
	}
	out, err := exec.CommandContext(b.ctx, "go", "test", "interlock/internal/sandbox", "-run", "^$", "-bench", "^BenchmarkStart$",
		"-benchtime", sandboxStarts).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %.500s", err, out)
	}
	figures := map[string]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "BenchmarkStart") {
			continue
		}
		for n := 2; n+1 < len(fields); n += 2 {
			figures[fields[n+1]] = fields[n]
		}
	}
	if figures["sandbox-p50-ms"] == "" {
		return fmt.Errorf("the benchmark printed no figures: %.500s", out)
	}
	fmt.Fprintf(b.out, "\n## A sandbox\n\n`true`, from start to end, %s each, interleaved. Budget: the sandbox p50 <= 15 ms over plain exec.\n\n| | p50 ms | p99 ms |\n|---|---:|---:|\n", sandboxStarts)
	for _, row := range [][2]string{{"plain exec", "plain"}, {"bubblewrap alone", "bubblewrap"},
		{"`interlock exec`'s sandbox", "sandbox"}, {"with a throw-away copy of the workspace", "overlay"}} {
		fmt.Fprintf(b.out, "| %s | %s | %s |\n", row[0], figures[row[1]+"-p50-ms"], figures[row[1]+"-p99-ms"])
	}
	return nil
}
