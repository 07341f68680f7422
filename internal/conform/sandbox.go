package conform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/fileio"
)

func sandboxChecks() []Check {
	return []Check{{IDs: []string{"EC-2.2", "EC-T2.2", "EC-I-3"}, Drives: "interlock exec, from inside the sandbox", Do: sandboxed}}
}

func sandboxed(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "box"})
	if err != nil {
		return "", err
	}
	if report := h.CLI(ctx, "", "exec", "--", "true"); report.Code == 1 {
		return "", NotHere("the sandbox can't run on this machine: %s", report.Err)
	}
	outside := filepath.Join(filepath.Dir(h.Home), "user", "notes.txt")
	if err := os.WriteFile(outside, []byte("of the host\n"), 0o600); err != nil {
		return "", fmt.Errorf("writing a file: %w", err)
	}
	const marker = "299.0417"
	inside := func(script string) Said { return h.CLI(ctx, "", "exec", "--", "sh", "-c", script) }
	works := inside("echo hello; echo made > made.txt")
	file := inside("cat " + outside)
	network := inside("cat /proc/net/dev")
	processes := inside("ls /proc; test -d /proc/" + fmt.Sprint(os.Getpid()) + " && echo seen")
	left := inside("echo x > /tmp/left; sleep " + marker + " & echo begun")
	after := inside("ls /tmp")
	links := 0
	for _, line := range strings.Split(network.Out, "\n") {
		if strings.Contains(line, ":") && !strings.HasPrefix(strings.TrimSpace(line), "lo:") {
			links++
		}
	}
	running, _ := filepath.Glob("/proc/[0-9]*/cmdline") // a fixed pattern
	survivors := 0
	for _, one := range running {
		if text, err := fileio.Plain(one, maxFile); err == nil && strings.Contains(string(text), "sleep\x00"+marker) {
			survivors++
		}
	}
	return "code runs, and reaches no file beside its workspace, no network link, none of the host's processes; what it left in /tmp and in the " +
			"background is gone with it", First(
			Unless(works.Code == 0 && works.Out == "hello\n", "harmless code is answered %d %s", works.Code, works.Err),
			Unless(!strings.Contains(file.Out, "of the host"), "a file of the host can be read"),
			Unless(network.Code == 0 && links == 0, "%d links to a network are there: %s", links, network.Out),
			Unless(processes.Code != 0 && !strings.Contains(processes.Out, "seen"), "processes of the host are seen"),
			Unless(strings.Contains(left.Out, "begun") && !strings.Contains(after.Out, "left"), "the next run finds what was left: %s", after.Out),
			Unless(survivors == 0, "%d processes outlived their sandbox", survivors))
}
