package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/test/product"
	"interlock/test/wait"
)

// A way is one from a client to a server through the gateway: how the client reaches the gateway, how the gateway reaches the
// server, and the revision the client speaks.
type way struct{ front, back, revision string }

func (w way) String() string {
	return "client over " + w.front + ", server over " + w.back + ", " + w.revision
}

// spokenBefore is the way's revision, or the one before it for servers that don't know the newest.
func (w way) spokenBefore() string {
	if w.revision == stateless {
		return "2025-11-25"
	}
	return w.revision
}

// A pair is one server, reached directly and through the gateway. The two are processes of their own, in directories of their own.
type pair struct {
	t               *testing.T
	direct, through *plain
	name            string
	dirs            [2]string
	called          map[string]bool // what was asked for by name
	began           int             // how much had come directly when the asking began
}

// steady makes the servers tell no time and draw no lots: two processes then say the same.
const steady = `Date.prototype.toLocaleTimeString = () => "12:00:00 PM"; Date.prototype.toString = () => "a date"; Math.random = () => 0.4;`

// steadily is the command line of a server that is an installed package's script.
func steadily(t *testing.T, path string, arguments ...string) []string {
	t.Helper()
	runtime, path := script(t, path)
	preload := filepath.Join(t.TempDir(), "steady.cjs")
	if err := os.WriteFile(preload, []byte(steady), 0o600); err != nil {
		t.Fatal(err)
	}
	return append([]string{runtime, "-r", preload, path}, arguments...)
}

// newPair starts both sides. In the server's command line, DIR stands for its directory. direct is the revision it is spoken to
// under directly, where it knows no newer one.
func newPair(t *testing.T, w way, name, mode, direct string, server []string) *pair {
	t.Helper()
	p := &pair{t: t, name: name, dirs: [2]string{workspace(t), workspace(t)}, called: map[string]bool{}}
	line := func(dir string) []string {
		var all []string
		for _, word := range server {
			all = append(all, strings.ReplaceAll(word, "DIR", dir))
		}
		return all
	}
	home, env := newHome(t)
	gateway := []string{"--mode", mode}
	if w.back == "http" {
		p.direct = reachPlain(t, startOverHTTP(t, env, line(p.dirs[0])), "", p.dirs[0], direct, takesAll)
		settings := "gateway:\n  trust_on_first_use: true\n  servers:\n  - name: " + name + "\n    url: " + startOverHTTP(t, env, line(p.dirs[1])) + "\n"
		if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
	} else {
		words := line(p.dirs[0])
		command := exec.Command(words[0], words[1:]...)
		command.Env, command.Dir = few(env), p.dirs[0]
		p.direct = startPlain(t, command, direct, takesAll)
		gateway = append(append(gateway, "--name", name, "--"), line(p.dirs[1])...)
	}
	if w.front == "http" {
		token := addAgent(t, env, "client")
		adopted(t, env, "--mode", mode)
		address := started(t, env, "mcp     ", append([]string{"gateway", "--listen", "127.0.0.1:0"}, gateway...)...)
		p.through = reachPlain(t, address, token, p.dirs[1], w.revision, takesAll)
	} else {
		command := exec.Command(product.Interlock(), append([]string{"gateway"}, gateway...)...)
		command.Env, command.Dir = env, p.dirs[1]
		p.through = startPlain(t, command, w.revision, takesAll)
	}
	return p
}

// few are the variables that the gateway hands on to a server, in its order.
func few(env []string) []string {
	var out []string
	for _, name := range []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"} {
		for _, variable := range env {
			if strings.HasPrefix(variable, name+"=") {
				out = append(out, variable)
			}
		}
	}
	return out
}

// workspace is a directory with a few files.
func workspace(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.txt": "alpha\nbeta\n", "sub/deep.txt": "deep", "dot.png": "\x89PNG\r\n\x1a\n", "tone.mp3": "ID3"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// startOverHTTP starts a server that takes its port from the environment, and returns its address.
func startOverHTTP(t *testing.T, env, line []string) string {
	t.Helper()
	probe := httptest.NewServer(http.NotFoundHandler()) // for a port that is free
	address := strings.TrimPrefix(probe.URL, "http://")
	probe.Close()
	server := exec.Command(line[0], line[1:]...)
	server.Env = append(few(env), "PORT="+address[strings.LastIndex(address, ":")+1:])
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	answers(t, address)
	return "http://" + address + "/mcp"
}

// drawn is what no two processes say alike, and the token that one tool repeats: the gateway has its own.
var drawn = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"PORT\\": \\"\d+|"text":"(the-token|\d+)"`)

// added is what 2026-07-28 has in every result: who answers, that it is complete, and for how long and whom it may be kept. Behind
// the gateway a list is the gateway's, and what one agent may read is no other's.
var added = regexp.MustCompile(`,?"resultType":"complete"|,?"_meta":\{"io.modelcontextprotocol/serverInfo":\{[^{}]*\}\}|,?"ttlMs":0,"cacheScope":"(public|private)"`)

// seen is a text as it came directly (0) or through the gateway (1), without what must differ: directories, what is drawn, and
// names, which begin with the server's behind the gateway.
func (p *pair) seen(side int, text json.RawMessage) string {
	s := strings.ReplaceAll(drawn.ReplaceAllString(string(text), "DRAWN"), p.dirs[side], "DIR")
	if side == 1 {
		s = strings.ReplaceAll(s, `"name":"`+p.name+".", `"name":"`)
	}
	if p.through.revision == stateless {
		s = strings.Replace(added.ReplaceAllString(s, ""), "{,", "{", 1)
	}
	return asking(s)
}

// asking is a result in which a server asks for input, read rather than as it came: the gateway shows the client what was judged,
// which is the canonical form, and leaves out the empty result that some servers put beside it.
func asking(s string) string {
	if !strings.Contains(s, `"resultType":"input_required"`) {
		return s
	}
	result, _ := value(json.RawMessage(s)).(map[string]any)
	for _, empty := range []string{"content", "messages"} {
		if result[empty] == nil {
			delete(result, empty)
		}
	}
	return fmt.Sprint(result)
}

// asked is a request's params on one side.
func (p *pair) asked(side int, params string) string {
	params = strings.ReplaceAll(params, "DIR", p.dirs[side])
	return strings.ReplaceAll(params, "NAME.", []string{"", p.name + "."}[side])
}

// same makes a request both ways and holds what comes until it is answered against each other, byte for byte.
func (p *pair) same(method, params string) {
	p.t.Helper()
	var named struct {
		Name, URI string
		Ref       struct{ Name, URI string }
	}
	if err := json.Unmarshal([]byte(params), &named); err != nil {
		p.t.Fatalf("%s: %v", params, err)
	}
	p.called[method+" "+strings.TrimPrefix(named.Name, "NAME.")+named.URI+strings.TrimPrefix(named.Ref.Name, "NAME.")+named.Ref.URI] = true
	var got [2]string
	for side, c := range []*plain{p.direct, p.through} {
		_, from := c.since(0)
		answer := c.call(method, p.asked(side, params))
		if p.direct.revision != p.through.revision {
			answer = c.answered(method, p.asked(side, params), answer)
		}
		lines := []string{"result " + p.seen(side, answer.Result), "error " + p.seen(side, answer.Error)}
		before, _ := c.since(from)
		for _, e := range before {
			if string(e.ID) == string(answer.ID) && e.Method == "" {
				break
			}
			if e.Method == "notifications/progress" {
				lines = append(lines, "before it "+e.Method+fmt.Sprint(value(e.Params)))
			}
		}
		got[side] = strings.Join(lines, "\n")
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		p.t.Errorf("%s %s (-direct +through):\n%s", method, params, diff)
	}
}

// unasked holds everything else that came against each other: what the servers asked of the client and what they told it. Both
// sides are waited for.
func (p *pair) unasked() {
	p.t.Helper()
	diff := ""
	if !wait.Holds(func() bool {
		diff = cmp.Diff(p.told(0, p.direct), p.told(1, p.through)) + p.changes()
		return diff == ""
	}) {
		p.t.Errorf("what came unasked (-direct +through):\n%s", diff)
	}
}

// told lists what one side asked of its client and told it, but for progress, which belongs to answers, and changes of lists.
func (p *pair) told(side int, c *plain) []string {
	var all []string
	came, _ := c.since(0)
	for _, e := range came {
		params, _ := value(json.RawMessage(p.seen(side, e.Params))).(map[string]any)
		delete(params, "_meta")
		if p.direct.revision != p.through.revision {
			delete(params, "elicitationId") // 2026-07-28 has none
			if e.Method == "roots/list" {
				continue // asked at once, by a server of the older revision; the newer has no place for it outside of calls
			}
		}
		switch {
		case e.Method == "" || e.Method == "notifications/progress" || e.Method == "notifications/subscriptions/acknowledged" ||
			strings.HasSuffix(e.Method, "list_changed"):
			continue
		case e.Method == "notifications/message":
			if p.through.revision == stateless && params["level"] == "info" {
				continue // it belongs to no request that asked for log messages, so that revision has no place for it
			}
			if logger, _ := params["logger"].(string); side == 1 && logger == p.name { // names of loggers begin with the server's, too
				delete(params, "logger")
			} else if side == 1 {
				params["logger"] = strings.TrimPrefix(logger, p.name+".")
			}
		}
		text, err := json.Marshal(params)
		if err != nil {
			p.t.Fatal(err)
		}
		all = append(all, e.Method+" "+strings.ReplaceAll(string(text), "null", "{}"))
	}
	slices.Sort(all)
	return all
}

// changes says which list was said to have changed on one side only. Before the client has asked for a list, the gateway need not
// say so; how often it is said is not counted.
func (p *pair) changes() (wrong string) {
	kinds := func(came []rpcMessage) map[string]bool {
		all := map[string]bool{}
		for _, e := range came {
			if strings.HasSuffix(e.Method, "list_changed") {
				all[e.Method] = true
			}
		}
		return all
	}
	came, _ := p.direct.since(0)
	ever, after := kinds(came), kinds(came[p.began:])
	came, _ = p.through.since(0)
	through := kinds(came)
	for method := range after {
		if !through[method] {
			wrong += "-" + method + "\n"
		}
	}
	for method := range through {
		if !ever[method] {
			wrong += "+" + method + "\n"
		}
	}
	return wrong
}

// complete reports what a server lists and nobody asked for.
func (p *pair) complete() {
	p.t.Helper()
	for _, kind := range []struct{ list, member, name, use string }{
		{"tools/list", "tools", "name", "tools/call "}, {"prompts/list", "prompts", "name", "prompts/get "},
		{"resources/list", "resources", "uri", "resources/read "}, {"resources/templates/list", "resourceTemplates", "uriTemplate", "completion/complete "},
	} {
		result, _ := value(p.direct.call(kind.list, "{}").Result).(map[string]any)
		items, _ := result[kind.member].([]any)
		for _, item := range items {
			name, _ := item.(map[string]any)[kind.name].(string)
			if !p.called[kind.use+name] {
				p.t.Errorf("%s lists %q, which nothing here uses", kind.list, name)
			}
		}
	}
}
