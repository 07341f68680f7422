package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"interlock/internal/config"
)

// overHTTP measures durable decisions through `interlock up` over its unix socket, with the load generator on the same
// machine, and what the server's memory does meanwhile.
func overHTTP(b *bench) error {
	home, err := b.home("http")
	if err != nil {
		return err
	}
	_, stop, err := b.server(home)
	if err != nil {
		return err
	}
	defer stop()
	idle := residentMB(b.pid)
	fmt.Fprintf(b.out, "\n## Durable decisions over HTTP\n\n`POST /v1/decide` on the unix socket of `interlock up`, keep-alive, load generator on the same CPUs. Budget: p50 <= 0.35 ms at 1 caller; >= 20,000/s at 16 and >= 40,000/s at 128 callers.\n\n| callers | decisions /s | p50 ms | p99 ms |\n|---:|---:|---:|---:|\n")
	total := 0
	for _, callers := range callerCounts {
		client := socketClient(config.Socket(home))
		rate, times, err := load(callers, b.step, func(caller int) error {
			return post(client, fmt.Sprintf(`{"kind":"shell","input":"git diff HEAD~%d -- src/main.go | head -50","dir":"/repo"}`, b.sequence.Add(1)))
		})
		if err != nil {
			return err
		}
		total += len(times)
		fmt.Fprintf(b.out, "| %d | %.0f | %s | %s |\n", callers, rate, millis(quantile(times, 0.5)), millis(quantile(times, 0.99)))
	}
	client := socketClient(config.Socket(home))
	for total < 100_000 {
		_, times, err := load(16, time.Second, func(int) error {
			return post(client, fmt.Sprintf(`{"kind":"shell","input":"git log -n %d --oneline"}`, b.sequence.Add(1)))
		})
		if err != nil {
			return err
		}
		total += len(times)
	}
	time.Sleep(time.Second)
	fmt.Fprintf(b.out, "\nServer memory (resident): %.0f MB idle, %.0f MB after %d decisions. Budget: <= 60 MB idle, <= 1.2 times that after 100,000.\n", idle, residentMB(b.pid), total)
	return nil
}

func socketClient(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}}
}

func post(client *http.Client, body string) error {
	response, err := client.Post("http://interlock/v1/decide", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"answer":"allow"`)) {
		return fmt.Errorf("status %d: %.200s", response.StatusCode, answer)
	}
	return nil
}

// residentMB is a process's resident memory, where the system tells it.
func residentMB(pid int) float64 {
	text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "status"))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}
