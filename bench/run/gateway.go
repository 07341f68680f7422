package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// plainEchoFlag makes this program the server behind the gateways: it echoes a text and does nothing else, so that what is
// measured is the way to it.
const plainEchoFlag = "-plain-echo"

// inFlight is how many calls wait at once where more than one does.
const inFlight = 16

// gatewayCalls is how many calls the memory is measured after.
const gatewayCalls = 100_000

// plainEchoAnswer answers one message of the protocol; nil where none is due.
func plainEchoAnswer(line []byte) []byte {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Version   string `json:"protocolVersion"`
			Arguments struct {
				Text string `json:"text"`
			} `json:"arguments"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 {
		return nil
	}
	var result any = map[string]any{}
	switch m.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": m.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "echo", "version": "1"}}
	case "tools/list":
		result = map[string]any{"tools": []any{map[string]any{"name": "echo", "description": "Echo a text.", "annotations": map[string]any{"readOnlyHint": true},
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}}}}}
	case "tools/call":
		result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "echo: " + m.Params.Arguments.Text}}}
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	if err != nil {
		return nil
	}
	return append(text, '\n')
}

// servePlainEcho serves on standard streams.
func servePlainEcho(in io.Reader, out io.Writer) error {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return nil // the client is gone
		}
		if answer := plainEchoAnswer(line); answer != nil {
			if _, err := out.Write(answer); err != nil {
				return err
			}
		}
	}
}

// servePlainEchoHTTP serves over streamable HTTP, one JSON answer for each request.
func servePlainEchoHTTP(address string) error {
	http.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		answer := plainEchoAnswer(body)
		if err != nil || answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "bench")
		_, _ = w.Write(answer) // a client that is gone misses nothing
	})
	return http.ListenAndServe(address, nil)
}

// A stdioServer is an MCP server on standard streams that calls are made to. Its answers are matched to calls by id, so that
// many can wait at once.
type stdioServer struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	tool    string
	text    string
	started time.Duration // from its start to its answer to initialize

	writing sync.Mutex // held over a write, which may have to wait until answers are read
	mu      sync.Mutex
	next    int
	waiting map[int]chan []byte
	ended   chan struct{}
}

const initializeCall = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`

// startStdio starts a server and speaks the handshake with it.
func startStdio(cmd *exec.Cmd, tool, text string) (*stdioServer, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s := &stdioServer{cmd: cmd, in: in, tool: tool, text: text, next: 1, waiting: map[int]chan []byte{}, ended: make(chan struct{})}
	first := make(chan []byte, 1)
	s.waiting[0] = first
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go s.read(out)
	if _, err := io.WriteString(in, initializeCall+"\n"); err != nil {
		return nil, err
	}
	select {
	case <-first:
	case <-s.ended:
		return nil, fmt.Errorf("%s ended before it answered", cmd.Path)
	}
	s.started = time.Since(start)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return nil, err
	}
	return s, s.call() // a first call, so that nothing is made ready while others are timed
}

func (s *stdioServer) read(out io.Reader) {
	defer close(s.ended)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID *int `json:"id"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		s.mu.Lock()
		answer := s.waiting[*m.ID]
		delete(s.waiting, *m.ID)
		s.mu.Unlock()
		if answer != nil {
			answer <- line
		}
	}
}

// call calls the tool once and waits for the answer, which must be the echo.
func (s *stdioServer) call() error {
	answer := make(chan []byte, 1)
	s.mu.Lock()
	id := s.next
	s.next++
	s.waiting[id] = answer
	s.mu.Unlock()
	s.writing.Lock()
	_, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":"%s, number %d"}}}`+"\n", id, s.tool, s.text, id)
	s.writing.Unlock()
	if err != nil {
		return err
	}
	select {
	case line := <-answer:
		if !strings.Contains(string(line), "echo: "+s.text[:4]) {
			return fmt.Errorf("no echo came back but %.200s", line)
		}
		return nil
	case <-s.ended:
		return errors.New("the server ended")
	}
}

func (s *stdioServer) close() {
	s.in.Close()
	_ = s.cmd.Wait()
}

// atRate makes calls at fixed times, whether earlier ones are answered or not, and returns how long after its time each was
// answered: a server that falls behind can't hide it.
func (s *stdioServer) atRate(perSecond float64, length time.Duration) ([]time.Duration, error) {
	count := int(perSecond * length.Seconds())
	times, failed := make([]time.Duration, count), make(chan error, 1)
	var wg sync.WaitGroup
	start := time.Now()
	for n := range count {
		due := start.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))
		time.Sleep(time.Until(due))
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := s.call(); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
			times[n] = time.Since(due)
		}()
	}
	wg.Wait()
	select {
	case err := <-failed:
		return nil, err
	default:
		return times, nil
	}
}

// behindGateway measures calls through the gateway on standard streams beside the same calls made directly.
func behindGateway(b *bench) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Calls through the gateway\n\n`interlock gateway` on standard streams before a server that echoes a text, beside the same server without it. A call carries 80 bytes\n"+
		"of arguments unless said otherwise; default rules; the load generator shares the CPUs. Closed loop: so many calls wait at any time. Open\n"+
		"loop: calls at fixed times, at 70 %% of the rate of %d in flight. Budget: deciding without a durable log p50 <= 80 and p99 <= 170 µs more, >= 30,000\n"+
		"calls/s at %d in flight; with it <= 450 µs and 1.2 ms, >= 10,000 calls/s; 10 KB <= 1 ms more.\n\n"+
		"| duty | p50 µs | p99 µs | %d in flight: calls/s | p50 ms | p99 ms | open loop: p50 ms | p99 ms | starts in ms |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n", inFlight, inFlight, inFlight)
	text := strings.Repeat("the quick brown fox ", 3)
	for _, duty := range []struct {
		name string
		args []string // of the gateway; none: no gateway
		text string
	}{
		{"the server alone", nil, text},
		{"monitoring, only objections recorded", []string{"--mode", "monitoring"}, text},
		{"enforcing, durable signed log", []string{"--mode", "enforcing"}, text},
		{"the server alone, 10 KB", nil, strings.Repeat(text, 170)},
		{"enforcing, durable signed log, 10 KB", []string{"--mode", "enforcing"}, strings.Repeat(text, 170)},
	} {
		tool, cmd := "echo", exec.CommandContext(b.ctx, self, plainEchoFlag)
		if duty.args != nil {
			home, err := b.home("gateway-" + fmt.Sprint(b.sequence.Add(1)))
			if err != nil {
				return err
			}
			if duty.args[1] == "monitoring" {
				if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte("gateway: {record: objections}\n"), 0o600); err != nil {
					return err
				}
			}
			tool, cmd = "server.echo", b.command(home, append(duty.args, "gateway", "--name", "server", "--", self, plainEchoFlag)...)
		}
		if err := b.gatewayRow(duty.name, cmd, tool, duty.text); err != nil {
			return fmt.Errorf("%s: %w", duty.name, err)
		}
	}
	return b.gatewayMemory(self, text)
}

func (b *bench) gatewayRow(name string, cmd *exec.Cmd, tool, text string) error {
	s, err := startStdio(cmd, tool, text)
	if err != nil {
		return err
	}
	defer s.close()
	_, one, err := load(1, b.step, func(int) error { return s.call() })
	if err != nil {
		return err
	}
	rate, many, err := load(inFlight, b.step, func(int) error { return s.call() })
	if err != nil {
		return err
	}
	open, err := s.atRate(0.7*rate, b.step)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "| %s | %s | %s | %.0f | %s | %s | %s | %s | %s |\n", name, micros(quantile(one, 0.5)), micros(quantile(one, 0.99)), rate,
		millis(quantile(many, 0.5)), millis(quantile(many, 0.99)), millis(quantile(open, 0.5)), millis(quantile(open, 0.99)), millis(s.started))
	return nil
}

// gatewayMemory says what the gateway's memory does over many calls.
func (b *bench) gatewayMemory(self, text string) error {
	home, err := b.home("gateway-memory")
	if err != nil {
		return err
	}
	s, err := startStdio(b.command(home, "gateway", "--name", "server", "--", self, plainEchoFlag), "server.echo", text)
	if err != nil {
		return err
	}
	defer s.close()
	idle, done := residentMB(s.cmd.Process.Pid), 0
	for done < gatewayCalls {
		_, times, err := load(inFlight, time.Second, func(int) error { return s.call() })
		if err != nil {
			return err
		}
		done += len(times)
	}
	fmt.Fprintf(b.out, "\nGateway memory (resident): %.0f MB idle, %.0f MB after %d calls. Budget: <= 45 MB idle, <= 1.2 times that after 100,000; start <= 30 ms.\n", idle, residentMB(s.cmd.Process.Pid), done)
	return nil
}
