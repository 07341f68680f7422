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

	"interlock/embedded"
	"interlock/internal/config"
)

// plainEchoFlag makes this program the server behind the gateways: it echoes a text and does nothing else, so that what is
// measured is the way to it.
const plainEchoFlag = "-plain-echo"

// inFlight is how many calls wait at once where more than one does.
const inFlight = 16

// gatewayCalls is how many calls the memory is measured after.
const gatewayCalls = 100_000

// restTime is how long after the load the memory is measured again.
const restTime = 5 * time.Second

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
		result = map[string]any{"tools": []any{map[string]any{"name": "echo", "description": "Echo a text.",
			"annotations": map[string]any{"readOnlyHint": true},
			"inputSchema": map[string]any{"type": "object",
				"properties": map[string]any{"text": map[string]any{"type": "string"}}}}}}
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
	out     *bufio.Reader
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
	s := &stdioServer{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20), tool: tool, text: text, next: 1,
		waiting: map[int]chan []byte{}, ended: make(chan struct{})}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(in, initializeCall+"\n"); err != nil {
		return nil, err
	}
	if _, _, err := s.answer(); err != nil {
		return nil, fmt.Errorf("%s ended before it answered", cmd.Path)
	}
	s.started = time.Since(start)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return nil, err
	}
	return s, s.callAlone() // a first call, so that nothing is made ready while others are timed
}

// answer reads the next answer and whose it is.
func (s *stdioServer) answer() (id int, line []byte, err error) {
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return 0, nil, err
		}
		var m struct {
			ID *int `json:"id"`
		}
		if json.Unmarshal(line, &m) == nil && m.ID != nil {
			return *m.ID, line, nil
		}
	}
}

// callAlone calls the tool once and reads its answer itself, so that nothing of what is timed is this program's own handing
// over from one thread to another. It can't be used any more once many call.
func (s *stdioServer) callAlone() error {
	id := s.next
	s.next++
	if err := s.write(id); err != nil {
		return err
	}
	have, line, err := s.answer()
	if err != nil || have != id {
		return errors.New("the server ended, or answered what it was not asked")
	}
	return s.echoed(line)
}

// share lets many call at once from now on.
func (s *stdioServer) share() { go s.read() }

func (s *stdioServer) read() {
	defer close(s.ended)
	for {
		id, line, err := s.answer()
		if err != nil {
			return
		}
		s.mu.Lock()
		answer := s.waiting[id]
		delete(s.waiting, id)
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
	if err := s.write(id); err != nil {
		return err
	}
	select {
	case line := <-answer:
		return s.echoed(line)
	case <-s.ended:
		return errors.New("the server ended")
	}
}

func (s *stdioServer) write(id int) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":"%s, number %d"}}}`+"\n", id, s.tool, s.text, id)
	return err
}

// echoed checks that an answer is the echo.
func (s *stdioServer) echoed(line []byte) error {
	if !strings.Contains(string(line), "echo: "+s.text[:4]) {
		return fmt.Errorf("no echo came back but %.200s", line)
	}
	return nil
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
	evaluator, err := embedded.NewEvaluator(config.Defaults())
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Calls through the gateway\n\n`interlock gateway` on standard streams before a server that echoes a text, beside the same server without it. A call carries 80 bytes\n"+
		"of arguments unless said otherwise; %d rules; the load generator shares the CPUs. The relays are the floor: they decide\n"+
		"nothing, and but for one they don't read what they pass on. Closed loop: so many calls wait at any time. Open\n"+
		"loop: calls at fixed times, at 70 %% of the rate of %d in flight. Budget: deciding without a durable log p50 "+
		"<= 80 and p99 <= 170 µs more, >= 30,000\n"+
		"calls/s at %d in flight; with it <= 450 µs and 1.2 ms, >= 10,000 calls/s; 10 KB <= 1 ms more.\n\n"+
		"| duty | p50 µs | p99 µs | %d in flight: calls/s | p50 ms | p99 ms | open loop: p50 ms | p99 ms | starts in "+
		"ms |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n", len(evaluator.Rules.Rules()), inFlight, inFlight, inFlight)
	text := strings.Repeat("the quick brown fox ", 3)
	for _, duty := range []struct {
		name string
		args []string // of the gateway; none: no gateway
		text string
	}{
		{"the server alone", nil, text},
		{"behind a relay that copies bytes", []string{relayFlag, ""}, text},
		{"behind one that reads JSON and matches a pattern", []string{relayFlag, relayReads}, text},
		{"behind one that writes 8 KB with sync first", []string{relayFlag, filepath.Join(b.scratch, "relay.log")}, text},
		{"monitoring, only objections recorded", []string{"--mode", "monitoring"}, text},
		{"enforcing, durable signed log", []string{"--mode", "enforcing"}, text},
		{"the server alone, 10 KB", nil, strings.Repeat(text, 170)},
		{"enforcing, durable signed log, 10 KB", []string{"--mode", "enforcing"}, strings.Repeat(text, 170)},
	} {
		tool, cmd := "echo", exec.CommandContext(b.ctx, self, plainEchoFlag)
		switch {
		case duty.args == nil:
		case duty.args[0] == relayFlag:
			cmd = exec.CommandContext(b.ctx, self, append(duty.args, self, plainEchoFlag)...)
		default:
			home, err := b.home("gateway-" + fmt.Sprint(b.sequence.Add(1)))
			if err != nil {
				return err
			}
			if duty.args[1] == "monitoring" {
				if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte("gateway: {record: objections}\n"),
					0o600); err != nil {
					return err
				}
			}
			tool, cmd = "server.echo", b.command(home,
				append(duty.args, "gateway", "--name", "server", "--", self, plainEchoFlag)...)
		}
		if err := b.gatewayRow(duty.name, cmd, tool, duty.text); err != nil {
			return fmt.Errorf("%s: %w", duty.name, err)
		}
	}
	if err := b.severalCallers(self, text); err != nil {
		return err
	}
	return b.gatewayMemory(self, text)
}

func (b *bench) gatewayRow(name string, cmd *exec.Cmd, tool, text string) error {
	s, err := startStdio(cmd, tool, text)
	if err != nil {
		return err
	}
	defer s.close()
	_, one, err := load(1, b.step, func(int) error { return s.callAlone() })
	if err != nil {
		return err
	}
	s.share()
	rate, many, err := load(inFlight, b.step, func(int) error { return s.call() })
	if err != nil {
		return err
	}
	open, err := s.atRate(0.7*rate, b.step)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "| %s | %s | %s | %.0f | %s | %s | %s | %s | %s |\n", name, micros(quantile(one, 0.5)),
		micros(quantile(one, 0.99)), rate,
		millis(quantile(many, 0.5)), millis(quantile(many, 0.99)), millis(quantile(open, 0.5)), millis(quantile(open, 0.99)),
		millis(s.started))
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
	s.share()
	idle, done := residentMB(s.cmd.Process.Pid), 0
	for done < gatewayCalls {
		_, times, err := load(inFlight, time.Second, func(int) error { return s.call() })
		if err != nil {
			return err
		}
		done += len(times)
	}
	busy := residentMB(s.cmd.Process.Pid)
	time.Sleep(restTime)
	fmt.Fprintf(b.out, "\nGateway memory (resident): %.0f MB idle, %.0f MB at the end of %d calls, %.0f MB %s later. "+
		"Budget: <= 45 MB idle, <= 1.2 times that after 100,000; start <= 30 ms.\n",
		idle, busy, done, residentMB(s.cmd.Process.Pid), restTime)
	return nil
}
