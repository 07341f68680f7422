package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// An httpServer is an MCP server over streamable HTTP that calls are made to.
type httpServer struct {
	client  *http.Client
	url     string
	token   string
	session string
	tool    string
	text    string
	bench   *bench
}

// connect speaks the handshake, as often as it takes the server to come up.
func (s *httpServer) connect(ctx context.Context) error {
	var last error
	for range 200 {
		if last = s.handshake(ctx); last == nil {
			return s.call(ctx)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return last
}

func (s *httpServer) handshake(ctx context.Context) error {
	response, _, err := s.post(ctx, initializeCall)
	if err != nil {
		return err
	}
	s.session = response.Header.Get("Mcp-Session-Id")
	_, _, err = s.post(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return err
}

// call calls the tool once; the echo must come back, whether as JSON or in a stream.
func (s *httpServer) call(ctx context.Context) error {
	id := s.bench.sequence.Add(1)
	_, body, err := s.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":"%s, number %d"}}}`, id, s.tool, s.text, id))
	if err == nil && !bytes.Contains(body, []byte("echo: "+s.text[:4])) {
		err = fmt.Errorf("no echo came back but %.200s", body)
	}
	return err
}

func (s *httpServer) post(ctx context.Context, body string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if s.session != "" {
		request.Header.Set("Mcp-Session-Id", s.session)
		request.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %.200s", response.Status, text)
	}
	return response, text, err
}

// overGatewayHTTP measures calls over streamable HTTP before a server on standard streams: through the gateway, decided and
// durable, and through programs of others that only carry them.
func overGatewayHTTP(b *bench) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Calls over HTTP\n\nStreamable HTTP before the same server on standard streams, one "+
		"client's session, keep-alive. The others carry calls from HTTP to the server and do\n"+
		"nothing else: they neither decide nor record. Budget: durable p50 <= 600 µs, >= 6,000 calls/s at %d in flight.\n\n"+
		"| | p50 µs | p99 µs | %d in flight: calls/s | p50 ms | p99 ms | memory after, MB |\n|---|---:|---:|---:|---:|---:|---:|\n", inFlight, inFlight)
	home, err := b.home("gateway-http")
	if err != nil {
		return err
	}
	token, err := b.agent(home, "bench")
	if err != nil {
		return err
	}
	ready := home + ".ready"
	gateway := b.command(home, "gateway", "--listen", "127.0.0.1:0", "--ready", ready, "--name", "server", "--",
		self, plainEchoFlag)
	if err := b.gatewayHTTPRow("`interlock gateway`, durable signed log", gateway, func() (*httpServer, error) {
		address, err := waitFor(ready)
		return &httpServer{url: address, token: token, tool: "server.echo"}, err
	}); err != nil {
		return err
	}
	if err := b.carriers(self); err != nil {
		return err
	}
	return b.beforeHTTP(self)
}

// beforeHTTP measures calls before a server over HTTP: the server alone, through the gateway, and through toolhive's gateway.
func (b *bench) beforeHTTP(self string) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	url := "http://127.0.0.1:" + port + "/mcp"
	server := exec.CommandContext(b.ctx, self, plainEchoFlag, "127.0.0.1:"+port)
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	fmt.Fprintf(b.out, "\nBefore a server over HTTP, which answers each call with JSON. toolhive's `vmcp` (v0.44.0) aggregates servers as the gateway does; it decides by\n"+
		"nothing here, and writes its audit log without waiting for the disk.\n\n"+
		"| | p50 µs | p99 µs | %d in flight: calls/s | p50 ms | p99 ms | memory after, MB |\n|---|---:|---:|---:|---:|---:|---:|\n", inFlight)
	alone := exec.CommandContext(b.ctx, "sleep", "600")
	if err := b.gatewayHTTPRow("the server alone", alone,
		func() (*httpServer, error) { return &httpServer{url: url, tool: "echo"}, nil }); err != nil {
		return err
	}
	home, err := b.home("gateway-http-http")
	if err != nil {
		return err
	}
	settings := "gateway:\n  trust_on_first_use: true\n  servers:\n    - {name: server, url: " + url + "}\n"
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
		return err
	}
	token, err := b.agent(home, "bench")
	if err != nil {
		return err
	}
	ready := home + ".ready"
	gateway := b.command(home, "gateway", "--listen", "127.0.0.1:0", "--ready", ready)
	if err := b.gatewayHTTPRow("`interlock gateway`, durable signed log", gateway, func() (*httpServer, error) {
		address, err := waitFor(ready)
		return &httpServer{url: address, token: token, tool: "server.echo"}, err
	}); err != nil {
		return err
	}
	return b.toolhive(url)
}

// toolhiveSettings put one server behind vmcp, for anybody.
const toolhiveSettings = `name: bench
groupRef: bench
backends: [{name: server, url: %s, transport: streamable-http}]
incomingAuth: {type: anonymous}
outgoingAuth: {source: inline, default: {type: unauthenticated}}
aggregation: {conflictResolution: prefix, conflictResolutionConfig: {prefixFormat: "{workload}_"}}
`

func (b *bench) toolhive(url string) error {
	if b.vmcp == "" {
		fmt.Fprintln(b.out, "| toolhive `vmcp` | not installed | | | | | |")
		return nil
	}
	settings := filepath.Join(b.scratch, "vmcp.yaml")
	if err := os.WriteFile(settings, fmt.Appendf(nil, toolhiveSettings, url), 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(b.ctx, b.vmcp, "serve", "--config", settings, "--port", port, "--enable-audit")
	cmd.Env = append(os.Environ(), "HOME="+b.scratch)
	return b.gatewayHTTPRow("toolhive `vmcp`, with audit", cmd, func() (*httpServer, error) {
		return &httpServer{url: "http://127.0.0.1:" + port + "/mcp", tool: "server_echo"}, nil
	})
}

// carriers measures the programs of others that could be installed.
func (b *bench) carriers(self string) error {
	for _, carrier := range []struct {
		name, script string
		args         func(port string) []string
		path         string
	}{
		{"npm `mcp-proxy`", "mcp-proxy/dist/bin/mcp-proxy.mjs", func(port string) []string {
			return []string{"--host", "127.0.0.1", "--port", port, "--server", "stream", "--", self, plainEchoFlag}
		}, "/mcp"},
		{"npm `supergateway`", "supergateway/dist/index.js", func(port string) []string {
			return []string{"--stdio", self + " " + plainEchoFlag, "--outputTransport", "streamableHttp", "--stateful", "--port",
				port, "--logLevel", "none"}
		}, "/mcp"},
	} {
		script := filepath.Join(b.carrierModules, carrier.script)
		if _, err := os.Stat(script); b.carrierModules == "" || err != nil {
			fmt.Fprintf(b.out, "| %s | not installed | | | | | |\n", carrier.name)
			continue
		}
		port, err := freePort()
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(b.ctx, "node", append([]string{script}, carrier.args(port)...)...)
		if err := b.gatewayHTTPRow(carrier.name, cmd, func() (*httpServer, error) {
			return &httpServer{url: "http://127.0.0.1:" + port + carrier.path, tool: "echo"}, nil
		}); err != nil {
			return fmt.Errorf("%s: %w", carrier.name, err)
		}
	}
	return nil
}

func (b *bench) gatewayHTTPRow(name string, cmd *exec.Cmd, reach func() (*httpServer, error)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	s, err := reach()
	if err != nil {
		return err
	}
	s.bench, s.text = b, strings.Repeat("the quick brown fox ", 3)
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}, Timeout: 30 * time.Second}
	defer s.client.CloseIdleConnections()
	if err := s.connect(b.ctx); err != nil {
		return err
	}
	call := func(int) error { return s.call(b.ctx) }
	_, one, err := load(1, b.step, call)
	if err != nil {
		return err
	}
	rate, many, err := load(inFlight, b.step, call)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "| %s | %s | %s | %.0f | %s | %s | %.0f |\n", name, micros(quantile(one, 0.5)),
		micros(quantile(one, 0.99)), rate,
		millis(quantile(many, 0.5)), millis(quantile(many, 0.99)), residentMB(cmd.Process.Pid))
	return nil
}

// waitFor reads the first line of the file a server writes when it is up.
func waitFor(ready string) (string, error) {
	for range 400 {
		if text, err := os.ReadFile(ready); err == nil {
			first, _, _ := strings.Cut(string(text), "\n")
			return first, nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	return "", fmt.Errorf("the gateway did not come up")
}

// freePort is one that nobody listens on at the moment, for programs that can't be asked which they took.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
