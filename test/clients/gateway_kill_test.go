package clients

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/test/product"
	"interlock/test/wait"
)

// calls is how many calls go through the gateway while it, its server and its client are killed; `make load` makes 100,000.
var calls = flag.Int("calls", 3000, "how many calls TestGatewayUnderKills makes")

// inFlight is how many calls wait at once.
const inFlight = 16

// journalFlag makes this program the server behind the gateway: it writes down each call it receives before it answers.
const journalFlag = "-journal-server"

// serveJournal writes its process id and every note it is given to a file that outlives it, one a line.
func serveJournal(path string) int {
	journal, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	fmt.Fprintf(journal, "pid %d\n", os.Getpid())
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments struct {
					Note string `json:"note"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"journal","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"read_note","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`
		case "tools/call":
			fmt.Fprintf(journal, "call %s %d\n", m.Params.Arguments.Note, os.Getpid())
			result = fmt.Sprintf(`{"content":[{"type":"text","text":"noted %s"}]}`, m.Params.Arguments.Note)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// A through is one life of a gateway and of the client that started it.
type through struct {
	gateway *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser

	mu      sync.Mutex
	waiting map[int]chan string
	ended   chan struct{}
}

// startThrough starts a gateway and speaks the handshake.
func startThrough(t *testing.T, env []string, args ...string) *through {
	t.Helper()
	var err error
	l := &through{waiting: map[int]chan string{}, ended: make(chan struct{})}
	l.gateway = exec.Command(product.Interlock(), append([]string{"gateway"}, args...)...)
	l.gateway.Env = env
	if l.in, err = l.gateway.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if l.out, err = l.gateway.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := l.gateway.Start(); err != nil {
		t.Fatal(err)
	}
	go l.read()
	if _, err := l.ask(0, `"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}`); err != nil {
		t.Fatalf("the gateway did not start: %v", err)
	}
	fmt.Fprintln(l.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return l
}

func (l *through) read() {
	defer close(l.ended)
	for in := bufio.NewReaderSize(l.out, 1<<20); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var m struct {
			ID *int `json:"id"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil {
			continue
		}
		l.mu.Lock()
		answer := l.waiting[*m.ID]
		delete(l.waiting, *m.ID)
		l.mu.Unlock()
		if answer != nil {
			answer <- line
		}
	}
}

var errGone = errors.New("the gateway is gone")

// say writes a line.
func (l *through) say(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.in, line)
}

// ask sends a request and waits for its answer, or for the end of the gateway.
func (l *through) ask(id int, methodAndParams string) (string, error) {
	answer := make(chan string, 1)
	l.mu.Lock()
	l.waiting[id] = answer
	_, err := fmt.Fprintf(l.in, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", id, methodAndParams)
	l.mu.Unlock()
	if err != nil {
		return "", errGone
	}
	select {
	case line := <-answer:
		return line, nil
	case <-l.ended:
		return "", errGone
	case <-time.After(time.Minute):
		return "", errors.New("no answer came in a minute")
	}
}

// note asks for one call, which the journal will have.
func (l *through) note(n int) (string, error) {
	return l.ask(n+1, fmt.Sprintf(`"tools/call","params":{"name":"box.read_note","arguments":{"note":"%s"}}`, noteOf(n)))
}

func noteOf(n int) string { return fmt.Sprintf("note-%d-end", n) }

// TestGatewayUnderKills sends many calls through the gateway and kills it, the server behind it and the client before it in
// turn, without warning. No call may reach the server without its decision in the log, none twice, none may be answered that
// is not in the log, and none may hang.
func TestGatewayUnderKills(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	journal := home + "/journal.txt"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	random := seeded(t)
	var told tally
	next, lives := 0, 0
	for next < *calls {
		life := startThrough(t, env, "--name", "box", "--", self, journalFlag, journal)
		victim := []string{"gateway", "server", "client"}[lives%3]
		lives++
		next = told.round(t, random, next, *calls, life.note, func() { life.kill(t, victim, journal) })
		life.end(t)
	}
	t.Logf("%d lives, %d calls, %d answered, %d of unknown outcome", lives, next, len(told.answered), len(told.unknown))
	checkJournal(t, env, journal, told.answered, told.unknown)
}

// seeded is a source of numbers that a failed run can be told by.
func seeded(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A tally is what the client was told of its calls.
type tally struct {
	mu                sync.Mutex
	answered, unknown []string
}

// round makes calls from the next one on, strikes at some moment while they are under way, and returns the first call that was
// not begun.
func (y *tally) round(t *testing.T, random *rand.Rand, next, all int, call func(n int) (string, error), strike func()) int {
	until := min(next+all/12+random.IntN(all/12+1), all)
	sent := newLot(next, until)
	moment := next + random.IntN(until-next)
	strike = sync.OnceFunc(strike)
	var wg sync.WaitGroup
	for range inFlight {
		wg.Go(func() {
			for n, ok := sent.take(); ok; n, ok = sent.take() {
				if n == moment {
					strike()
				}
				line, err := call(n)
				if errors.Is(err, errGone) {
					return
				}
				y.mu.Lock()
				switch {
				case err != nil:
					t.Errorf("call %d: %v", n, err)
				case strings.Contains(line, "noted "+noteOf(n)):
					y.answered = append(y.answered, noteOf(n))
				case strings.Contains(line, "unknown_outcome"):
					y.unknown = append(y.unknown, noteOf(n))
				}
				y.mu.Unlock()
				if err == nil && strings.Contains(line, "not there now") { // as the answer says: later
					wait.Chance(25 * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	return sent.at()
}

// checkJournal holds the log to what reached the server and what the client was told.
func checkJournal(t *testing.T, env []string, journal string, answered, unknown []string) {
	t.Helper()
	output(t, env, "audit", "verify")
	decided, outcomes := map[string]bool{}, map[string]int{}
	for line := range strings.Lines(output(t, env, "audit", "export")) {
		for _, kind := range []string{`"event_type":"DECISION"`, `"event_type":"OUTCOME"`} {
			if strings.Contains(line, kind) {
				outcomes[kind]++
			}
		}
		if at := strings.Index(line, "note-"); at >= 0 && strings.Contains(line, `"event_type":"DECISION"`) {
			if end := strings.Index(line[at:], "-end"); end >= 0 {
				decided[line[at:at+end+len("-end")]] = true
			}
		}
	}
	reached := map[string]int{}
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "call" {
			reached[fields[1]]++
		}
	}
	t.Logf("%d reached the server, %d were decided; %v", len(reached), len(decided), outcomes)
	for note, times := range reached {
		if !decided[note] {
			t.Errorf("%s reached the server and its decision is not in the log", note)
		}
		if times > 1 {
			t.Errorf("%s reached the server %d times", note, times)
		}
	}
	for _, note := range append(answered, unknown...) {
		if !decided[note] {
			t.Errorf("the client was told of %s, and its decision is not in the log", note)
		}
	}
	for _, note := range answered {
		if reached[note] != 1 {
			t.Errorf("%s was answered and never reached the server", note)
		}
	}
	if len(answered) == 0 { // how many were under way at the moment of a kill, if any, is luck
		t.Error("nothing was shown: no call was answered")
	}
}

// kill ends one of the three without warning.
func (l *through) kill(t *testing.T, victim, journal string) {
	switch victim {
	case "gateway":
		_ = l.gateway.Process.Kill()
	case "client": // its ends of the pipes close, whatever is under way
		l.in.Close()
		l.out.Close()
	case "server":
		killServer(t, journal)
	}
}

// killServer ends the server that was called last, or else the one that began last.
func killServer(t *testing.T, journal string) {
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Error(err)
		return
	}
	pid := 0
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 {
			_, _ = fmt.Sscan(fields[len(fields)-1], &pid)
		}
	}
	server, err := os.FindProcess(pid)
	if err == nil && pid != 0 {
		if err = server.Kill(); errors.Is(err, os.ErrProcessDone) {
			err = nil // its gateway was killed just before, and it went with it
		}
	}
	if pid == 0 || err != nil {
		t.Errorf("the server with process id %d could not be killed: %v", pid, err)
	}
}

// end waits for the gateway to end after its client.
func (l *through) end(t *testing.T) {
	t.Helper()
	l.in.Close()
	ended := make(chan error, 1)
	go func() { ended <- l.gateway.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = l.gateway.Process.Kill()
		t.Error("the gateway did not end within a minute of its client")
	}
}

// A lot hands out numbers, each once.
type lot struct {
	mu         sync.Mutex
	next, last int
}

func newLot(first, last int) *lot { return &lot{next: first, last: last} }

func (l *lot) take() (int, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next >= l.last {
		return 0, false
	}
	l.next++
	return l.next - 1, true
}

// at is the first number that was not handed out.
func (l *lot) at() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}
