package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"interlock"
	"interlock/embedded"
	"interlock/internal/account"
)

// spendHome names, for a child process, the home in which it asks for what there is too little of, and spendCalls which calls it makes.
const (
	spendHome  = "INTERLOCK_TEST_SPEND"
	spendCalls = "INTERLOCK_TEST_SPEND_CALLS"
)

const roomForSeven = `
limits:
  - {id: team.reads, per: agent, measure: records, most: 7, unknown: 1, match: {kind: [read]}}
`

// reading is one call of the agent that reads something.
func reading(call string) interlock.Proposal {
	return interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "cat notes" + call, Dir: "/tmp"},
		Requester: interlock.Requester{Agent: "claude", Principal: account.Name(), Run: "run", Call: "call-" + call}}
}

// spends makes all its calls at once when it is told to, and says what it was answered.
func spends(home string) {
	backend, err := embedded.Open(context.Background(), embedded.Config{Home: home})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return
	}
	var all sync.WaitGroup
	var say sync.Mutex
	for call := range strings.SplitSeq(os.Getenv(spendCalls), ",") {
		all.Go(func() {
			a := backend.Propose(context.Background(), reading(call))
			rule := "-"
			if f := a.Decisive(); f != nil {
				rule = f.Rule
			}
			say.Lock()
			defer say.Unlock()
			fmt.Println(call, a.Answer, rule, a.Event)
		})
	}
	all.Wait()
	fmt.Println("done")
	_, _ = io.Copy(io.Discard, os.Stdin) // it stays until it is ended
}

// A spender is such a process.
type spender struct {
	process *exec.Cmd
	lines   *bufio.Scanner
	stdin   io.WriteCloser
	calls   []string
}

func startSpender(t *testing.T, home string, calls []string) *spender {
	t.Helper()
	s := &spender{process: exec.Command(os.Args[0]), calls: calls}
	s.process.Env = append(os.Environ(), spendHome+"="+home, spendCalls+"="+strings.Join(calls, ","))
	stdout, err := s.process.StdoutPipe()
	if err == nil {
		s.stdin, err = s.process.StdinPipe()
	}
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	s.lines = bufio.NewScanner(stdout)
	if !s.lines.Scan() || s.lines.Text() != "ready" {
		t.Fatalf("it is not ready: %s", s.lines.Text())
	}
	return s
}

func (s *spender) kill() {
	if s.process.ProcessState == nil {
		_ = s.process.Process.Kill() // SIGKILL
		_ = s.process.Wait()
	}
}

// A spent is what one call was answered.
type spent struct{ answer, rule, event string }

// begin lets it make its calls.
func (s *spender) begin(t *testing.T) {
	t.Helper()
	if _, err := s.stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
}

// read collects so many answers, or all of them.
func (s *spender) read(t *testing.T, most int, into map[string]spent) {
	t.Helper()
	for n := 0; n < most && s.lines.Scan() && s.lines.Text() != "done"; n++ {
		word := strings.Fields(s.lines.Text())
		if len(word) != 4 || word[0] == "error" {
			t.Fatalf("it says %q", s.lines.Text())
		}
		into[word[0]] = spent{word[1], word[2], word[3]}
	}
}

// unanswered are the calls whose answers nobody has heard.
func (s *spender) unanswered(have map[string]spent) (rest []string) {
	for _, call := range s.calls {
		if _, answered := have[call]; !answered {
			rest = append(rest, call)
		}
	}
	return rest
}

// TestRoomForSeven: two hundred calls want what there is room for seven of, at once and from two processes on one store, of which one is
// killed in the middle and what it had no answer to is asked again; in between the outcomes of some are told, by those whose word
// counts and by those whose does not, and more than once. Seven are let through, and the others name the limit.
func TestRoomForSeven(t *testing.T) {
	home := t.TempDir()
	for _, err := range []error{os.Chmod(home, 0o700), os.Mkdir(filepath.Join(home, "rules"), 0o700),
		os.WriteFile(filepath.Join(home, "rules", "limits.yaml"), []byte(roomForSeven), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	calls := make([]string, 200)
	for n := range calls {
		calls[n] = strconv.Itoa(n)
	}
	answers := map[string]spent{}
	one, other := startSpender(t, home, calls[:60]), startSpender(t, home, calls[60:120])
	one.begin(t)
	other.begin(t)
	one.read(t, 5, answers)
	one.kill()
	other.read(t, len(calls), answers)
	again := startSpender(t, home, one.unanswered(answers))
	again.begin(t)
	again.read(t, len(calls), answers)

	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	tell := func(call string, o interlock.Outcome, trusted bool, m interlock.Measured) {
		t.Helper()
		who := reading(call).Requester
		o.Event = answers[call].event
		for range 2 {
			err := error(nil)
			if trusted {
				err = backend.Carried(t.Context(), who, o, m)
			} else {
				err = backend.Report(t.Context(), who, o)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var let []string
	for _, call := range calls { // in order
		if answers[call].answer == "allow" {
			let = append(let, call)
		}
	}
	if len(let) != 7 {
		t.Fatalf("before anything was settled %d of %d were let through", len(let), len(answers))
	}
	as := int64(1)
	tell(let[0], interlock.Outcome{Status: interlock.OutcomeSuccess}, true, interlock.Measured{Records: &as})
	tell(let[1], interlock.Outcome{Status: interlock.OutcomeSkipped}, false, interlock.Measured{})
	last := startSpender(t, home, calls[120:])
	last.begin(t)
	tell(let[2], interlock.Outcome{Status: interlock.OutcomeUnknown}, true, interlock.Measured{})
	last.read(t, len(calls), answers)

	counts := map[string]int{}
	for _, a := range answers { // any order: they are counted
		counts[a.answer+" "+a.rule]++
	}
	if counts["allow -"] != 7 || counts["deny limit.team.reads"] != 193 || len(counts) != 2 {
		t.Errorf("%v", counts)
	}
	// What was not carried out is free again, once.
	tell(let[3], interlock.Outcome{Status: interlock.OutcomeSkipped}, true, interlock.Measured{})
	for n, want := range []interlock.Verdict{interlock.Allow, interlock.Deny} {
		if a := backend.Propose(t.Context(), reading(fmt.Sprint("more", n))); a.Answer != want {
			t.Errorf("after one was not carried out: %v, want %v", a.Answer, want)
		}
	}
	verifyLog(t, backend)
}
