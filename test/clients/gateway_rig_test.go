package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"interlock/test/product"
	"interlock/test/wait"
)

// conformanceServer is the protocol's own server for its suite, as the Go SDK has it.
const conformanceServer = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"

// buildServer builds it from the module's source.
func buildServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "everything-server")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, conformanceServer).CombinedOutput(); err != nil {
		t.Fatalf("building the suite's server: %v\n%s", err, out)
	}
	return path
}

// gatewayBefore starts `interlock gateway` over HTTP before a server on standard streams, and returns its address and an agent's
// token.
func gatewayBefore(t *testing.T, env []string, name string, flags []string, command ...string) (endpoint, token string) {
	t.Helper()
	token = addAgent(t, env, "client")
	if len(flags) > 0 {
		adopted(t, env, flags...)
	}
	args := append([]string{"gateway", "--listen", "127.0.0.1:0", "--name", name}, flags...)
	return started(t, env, "mcp     ", append(append(args, "--"), command...)...), token
}

// started starts the program and returns what follows a mark in what it prints once it serves.
func started(t *testing.T, env []string, mark string, args ...string) string {
	t.Helper()
	server := exec.Command(product.Interlock(), args...)
	var stderr bytes.Buffer
	server.Env, server.Stderr = env, &stderr
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		if err := server.Wait(); err != nil {
			t.Errorf("the gateway's end: %v\n%s", err, stderr.String())
		}
	})
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the server did not start: %s", stderr.String())
		}
		if _, address, found := strings.Cut(line, mark); found {
			go io.Copy(io.Discard, lines)
			return strings.TrimSpace(address)
		}
	}
}

// serverOverHTTP starts the suite's server by itself and returns its address.
func serverOverHTTP(t *testing.T, path string, stateless bool) string {
	t.Helper()
	probe := httptest.NewServer(http.NotFoundHandler()) // for a port that is free
	address := strings.TrimPrefix(probe.URL, "http://")
	probe.Close()
	server := exec.Command(path, "-http", address, "-stateless="+map[bool]string{true: "true", false: "false"}[stateless])
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	answers(t, address)
	return "http://" + address
}

// answers waits until an HTTP server does.
func answers(t *testing.T, address string) {
	t.Helper()
	wait.Until(t, "the server answers", func() bool {
		answer, err := http.Get("http://" + address)
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
}

// plainNames stands before a gateway, adds a token to what passes, and hides that names there begin with the server's: the suite
// asks for tools and prompts by the names its server gives them.
func plainNames(t *testing.T, endpoint, token, name string) string {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	prefix := name + "."
	door := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL = target
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
			body, err := io.ReadAll(r.In.Body)
			if err != nil {
				return
			}
			body = prefixed(body, prefix)
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			if method := r.In.Header.Get("Mcp-Method"); method == "tools/call" || method == "prompts/get" {
				for i, value := range r.Out.Header["Mcp-Name"] {
					r.Out.Header["Mcp-Name"][i] = strings.Replace(value, strings.TrimSpace(value), prefix+strings.TrimSpace(value), 1)
				}
			}
		},
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del("Content-Length")
			r.ContentLength = -1
			r.Body = &unprefixed{lines: bufio.NewReader(r.Body), close: r.Body.Close, prefix: []byte(`"name":"` + prefix)}
			return nil
		},
	})
	t.Cleanup(door.Close)
	return door.URL
}

// prefixed writes a request for a tool or prompt under the gateway's name for it; anything else stays as it is.
func prefixed(body []byte, prefix string) []byte {
	var message, params map[string]json.RawMessage
	if json.Unmarshal(body, &message) != nil || json.Unmarshal(message["params"], &params) != nil {
		return body
	}
	var method string
	if json.Unmarshal(message["method"], &method) != nil {
		return body
	}
	within, at := params, "name"
	switch method {
	case "tools/call", "prompts/get":
	case "completion/complete":
		within = map[string]json.RawMessage{}
		if json.Unmarshal(params["ref"], &within) != nil {
			return body
		}
	default:
		return body
	}
	var name string
	if json.Unmarshal(within[at], &name) != nil {
		return body
	}
	write := func(v any) json.RawMessage {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // what was read can be written
		}
		return text
	}
	within[at] = write(prefix + name)
	if method == "completion/complete" {
		params["ref"] = write(within)
	}
	message["params"] = write(params)
	return write(message)
}

// unprefixed hides the prefix in what comes back, line by line, so that streams stay streams.
type unprefixed struct {
	lines  *bufio.Reader
	close  func() error
	prefix []byte
	left   []byte
}

func (u *unprefixed) Read(p []byte) (int, error) {
	if len(u.left) == 0 {
		line, err := u.lines.ReadBytes('\n')
		if u.left = bytes.ReplaceAll(line, u.prefix, []byte(`"name":"`)); len(u.left) == 0 {
			return 0, err
		}
	}
	n := copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}

func (u *unprefixed) Close() error { return u.close() }
