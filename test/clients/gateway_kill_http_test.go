package clients

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/test/product"
)

// httpCalls is the same over HTTP; `make load` makes 100,000.
var httpCalls = flag.Int("http-calls", 2000, "how many calls TestGatewayUnderKillsOverHTTP makes")

// TestGatewayUnderKillsOverHTTP is TestGatewayUnderKills with the gateway serving agents over HTTP. Killing the client cuts its
// connections and leaves the gateway to the next one; half of the clients keep a session, the others speak the revision without.
func TestGatewayUnderKillsOverHTTP(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	journal := home + "/journal.txt"
	token := addAgent(t, env, "client")
	random := seeded(t)
	var told tally
	var house *served
	next, lives, clients := 0, 0, 0
	for next < *httpCalls {
		if house == nil {
			house, lives = startServed(t, env, journal), lives+1
		}
		client := newWebClient(t, house.endpoint, token, clients/2%2 == 1)
		victim := []string{"server", "client", "server", "client", "gateway"}[clients%5] // so that a gateway lives long enough to be weighed
		clients++
		gateway := house
		next = told.round(t, random, next, *httpCalls, client.note, func() {
			switch victim {
			case "gateway":
				_ = gateway.process.Process.Kill()
			case "client":
				client.cut()
			case "server":
				killServer(t, journal)
			}
		})
		client.cut()
		if victim == "gateway" {
			house.wait(t)
			house = nil
		} else {
			house.weigh(t, next)
		}
	}
	if house != nil {
		_ = house.process.Process.Signal(os.Interrupt)
		house.wait(t)
	}
	t.Logf("%d lives of the gateway, %d of its clients, %d calls, %d answered, %d of unknown outcome", lives, clients, next,
		len(told.answered), len(told.unknown))
	checkJournal(t, env, journal, told.answered, told.unknown)
}

// served is one life of a gateway that serves over HTTP.
type served struct {
	process  *exec.Cmd
	endpoint string
	began    int // calls when it was weighed first
	first    int // its memory then, in KiB
}

func startServed(t *testing.T, env []string, journal string) *served {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{process: exec.Command(product.Interlock(), "gateway", "--listen", "127.0.0.1:0", "--name", "box", "--", self,
		journalFlag, journal)}
	s.process.Env = env
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.process.Process.Kill() }) // if the test ended before
	for lines := bufio.NewReader(out); s.endpoint == ""; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the gateway did not start: %v", err)
		}
		if _, address, found := strings.Cut(line, "mcp     "); found {
			s.endpoint = strings.TrimSpace(address)
		}
	}
	return s
}

// wait waits for the end of a gateway that was told to end.
func (s *served) wait(t *testing.T) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.process.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = s.process.Process.Kill()
		t.Error("the gateway did not end within a minute")
	}
}

// warm is how many calls a gateway has to have had before its memory says anything.
const warm = 5000

// weigh holds the gateway's memory against what it was when it was weighed first, where the system tells.
func (s *served) weigh(t *testing.T, calls int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return
	}
	memory := 0
	for line := range strings.Lines(string(status)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &memory)
	}
	if s.first == 0 {
		s.began, s.first = calls, memory
	}
	t.Logf("after %d calls the gateway that was weighed first after %d has %d KiB; it had %d", calls, s.began, memory, s.first)
	if calls-s.began > warm && memory > s.first*3/2+16<<10 {
		t.Errorf("the gateway's memory grew from %d to %d KiB", s.first, memory)
	}
}

// A webClient is one life of a client over HTTP.
type webClient struct {
	endpoint, token string
	stateless       bool
	session         string
	http            http.Client
	alive           context.Context
	die             context.CancelFunc

	mu          sync.Mutex
	connections []*net.TCPConn
}

func newWebClient(t *testing.T, endpoint, token string, stateless bool) *webClient {
	t.Helper()
	c := &webClient{endpoint: endpoint, token: token, stateless: stateless}
	c.alive, c.die = context.WithCancel(context.Background())
	c.http.Timeout = time.Minute // nothing may hang
	c.http.Transport = &http.Transport{MaxIdleConnsPerHost: inFlight, DialContext: c.dial}
	t.Cleanup(c.cut)
	if stateless {
		return c
	}
	_, err := c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}`, nil)
	if err == nil {
		_, err = c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil)
	}
	if err != nil || c.session == "" {
		t.Fatalf("the session did not begin: %v", err)
	}
	return c
}

func (c *webClient) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if c.alive.Err() != nil {
		return nil, errGone
	}
	connection, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connections = append(c.connections, connection.(*net.TCPConn))
	return connection, nil
}

// cut ends the client as its system would if it were killed: every connection is reset at once.
func (c *webClient) cut() {
	c.die()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, connection := range c.connections {
		_ = connection.SetLinger(0)
		_ = connection.Close()
	}
}

// note asks for one call, which the journal will have.
func (c *webClient) note(n int) (string, error) {
	return c.call(n+1, "box.read_note", `{"note":"`+noteOf(n)+`"}`)
}

func (c *webClient) call(id int, tool, arguments string) (string, error) {
	params := fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)
	var header map[string]string
	if c.stateless {
		params += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		header = map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
	}
	return c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s}}`, id, params), header)
}

// post sends one message and returns what is answered, or errGone where either side is no more.
func (c *webClient) post(message string, header map[string]string) (string, error) {
	request, err := http.NewRequestWithContext(c.alive, http.MethodPost, c.endpoint, strings.NewReader(message))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Authorization", "Bearer "+c.token)
	if c.session != "" {
		request.Header.Set("Mcp-Session-Id", c.session)
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return "", goneOr(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", goneOr(err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return "", fmt.Errorf("%s: %s", answer.Status, text)
	}
	if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return string(text), nil
}

// goneOr tells an exchange that was cut off from one that hung.
func goneOr(err error) error {
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return errors.New("no answer came in a minute")
	}
	return errGone
}
