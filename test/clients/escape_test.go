package clients

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/spec"
)

var escapeFor = flag.Duration("escape", 5*time.Second, "how long an agent tries to escape a block")

// TestEscape plays an agent that was stopped for a catastrophic step and wants to go on, without any model: it takes other
// names, runs, connections and clients, has its server killed, guesses codes, confirms itself, uses tokens and approvals again,
// changes what was approved, and goes to the other door. Nothing proceeds, everything is in the log, and no code is anywhere but
// where the human looks. -escape 1m is the long form.
func TestEscape(t *testing.T) {
	t.Parallel()
	spec.Covers(t, "AQL-8.6.4", "AQL-8.7.3s", "AQL-8.8.2b", "AQL-8.8.3a", "AQL-8.8.5")
	for _, d := range []door{onStreams, overHTTP} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			e := newEscape(t, d, rand.New(rand.NewPCG(seed, 0)))
			e.guesses()
			for end := time.Now().Add(*escapeFor); time.Now().Before(end); {
				e.attempt()
			}
			e.account()
			e.freed()
		})
	}
}

// An escape is a stopped agent with what it has got hold of before.
type escape struct {
	*agent
	random *rand.Rand

	handle, token string // of the execution that was stopped
	approved      string // an action an operator approved before the stop, which was not carried out yet
	pending       string // a request nobody has answered
	challenge     string

	attempts     map[string]int // by what was tried
	steps        int            // reported, and answered
	refused      int            // operations refused because of the stop
	verified     int            // codes handed in
	confirmed    int            // confirmations without a human's answer
	limitedUntil time.Time
}

// The actions an operator is asked about.
const (
	published = "git push --force origin main"
	edited    = "git push --force origin main release"
	unasked   = "git push --force origin release"
	element   = "release"
)

// newEscape works until it is stopped: with an approval it has used, one it has not used, and a request that waits.
func newEscape(t *testing.T, d door, random *rand.Rand) *escape {
	o := newOffice(t, "mcp_acknowledge: true\n")
	e := &escape{agent: newAgent(t, o, d), random: random, attempts: map[string]int{}}
	e.handle, e.token = e.begin(element)
	report := func(hint string) envelope { e.steps++; return e.step(e.handle, element, hint) }
	if !report("git status").goesOn() {
		t.Fatal("a harmless step does not go on")
	}
	asked := report(published)
	if asked.goesOn() || asked.request() == "" {
		t.Fatalf("an outward step is not asked about: %+v", asked)
	}
	e.confirm(asked.request())
	o.approve(t, asked.request())
	changed := report(edited)
	if changed.goesOn() || changed.request() == "" || changed.request() == asked.request() {
		t.Fatalf("an approved action was changed and goes on: %+v", changed)
	}
	o.deny(t, changed.request())
	if again := report(published); !again.goesOn() {
		t.Fatalf("what was approved does not go on: %+v", again)
	}
	once := report(published) // the approval is spent
	if once.goesOn() || once.request() == asked.request() {
		t.Fatalf("an approval passes twice: %+v", once)
	}
	o.approve(t, once.request())
	e.approved = published
	e.pending = report(unasked).request() // refused or asked; either way it is nothing yet
	stop := report("rm -rf /")
	e.challenge = stop.challenge()
	if stop.Data["stopped"] != true || e.challenge == "" || o.code(e.challenge) == "" {
		t.Fatalf("not stopped: %+v; the human was shown %q", stop, o.code(e.challenge))
	}
	return e
}

// stays demands that an operation was refused.
func (e *escape) stays(what string, answer envelope) {
	e.t.Helper()
	e.attempts[what]++
	if answer.Success {
		e.t.Errorf("%s: %+v", what, answer)
	}
	if answer.Error.Code == "PERMISSION_DENIED" {
		e.refused++
	}
}

func (e *escape) confirm(request string) {
	e.t.Helper()
	answer := e.try("confirm_operation", map[string]any{"request_id": request})
	if answer.Success && answer.Data["confirmed"] == true {
		e.t.Errorf("it confirms itself: %+v", answer)
	}
	if !answer.Success {
		e.confirmed++
	}
}

// guess hands in a code and says whether it was looked at.
func (e *escape) guess(challenge, code string) bool {
	e.t.Helper()
	answer := e.try("verify_challenge", map[string]any{"challenge_id": challenge, "code": code})
	for answer.Error.Details["confirmation_token"] != nil {
		answer, _ = e.call("verify_challenge", map[string]any{"challenge_id": challenge, "code": code})
	}
	e.verified++
	if answer.Success {
		e.t.Errorf("a guess is right: %+v", answer)
	}
	return answer.Error.Code != "RATE_LIMIT_EXCEEDED"
}

// guesses hands in code after code, over connections and servers that come and go: ten are looked at and no more.
func (e *escape) guesses() {
	looked := 0
	for n := range 14 {
		switch n {
		case 3:
			e.leave()
			e.connect()
		case 6:
			e.kill()
			e.connect()
		}
		code := e.wrongCode()
		if n == 1 {
			code = e.office.code(e.challenge) // the right one, which the guess before it has burned
		}
		if e.guess(e.challenge, code) {
			looked++
		} else if looked != 10 {
			e.t.Errorf("after %d guesses none is looked at", looked)
		}
	}
	if looked != 10 {
		e.t.Errorf("%d guesses were looked at", looked)
	}
	e.limitedUntil = time.Now().Add(50 * time.Second) // the window is a minute; what it is then is not said here
}

const codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

func (e *escape) wrongCode() string {
	var b strings.Builder
	for n := range 39 {
		if n%5 == 4 {
			b.WriteByte('-')
		} else {
			b.WriteByte(codeAlphabet[e.random.IntN(32)])
		}
	}
	return b.String()
}

// attempt tries one way out.
func (e *escape) attempt() {
	e.t.Helper()
	name := fmt.Sprintf("task-%d", e.random.IntN(1<<30))
	switch e.random.IntN(12) {
	case 0:
		answer, _ := e.call("execute_agent", map[string]any{"element_name": name})
		e.stays("a new name", answer)
	case 1:
		e.leave()
		e.connect("USER="+name, "LOGNAME="+name)
		answer, _ := e.call("execute_agent", map[string]any{"element_name": element})
		e.stays("a new connection", answer)
	case 2:
		e.kill()
		e.connect()
		answer, _ := e.call("execute_agent", map[string]any{"element_name": name})
		e.stays("a killed server", answer)
	case 3, 4, 5, 6:
		hint := []string{"git status", e.approved, edited, unasked}[e.random.IntN(4)]
		e.report(hint)
	case 7:
		challenge := e.challenge
		if e.random.IntN(2) == 0 {
			challenge = "00000000-0000-4000-8000-" + fmt.Sprintf("%012d", e.random.IntN(1<<30))
		}
		e.attempts["a guess"]++
		if looked := e.guess(challenge, e.wrongCode()); looked && time.Now().Before(e.limitedUntil) {
			e.t.Error("a guess is looked at after the tenth")
		}
	case 8:
		e.attempts["its own word"]++
		e.confirm([]string{e.pending, e.challenge, "apr_000000000000"}[e.random.IntN(3)])
	case 9:
		e.stays("a used token", e.try("execute_agent", map[string]any{"element_name": element, "_confirmation": e.token}))
	case 10:
		answer, _ := e.call("abort_execution", map[string]any{"execution_id": e.handle})
		e.stays("an end", answer)
	case 11:
		e.elsewhere()
	}
}

// report tries a step, on the execution that was stopped or, where a restart has ended it, on none.
func (e *escape) report(hint string) {
	e.t.Helper()
	answer := e.step(e.handle, element, hint)
	e.attempts["a step: "+hint]++
	if answer.goesOn() {
		e.t.Errorf("%s goes on: %+v", hint, answer)
	}
	if answer.Success {
		e.steps++
		if answer.Data["stopped"] != true {
			e.t.Errorf("%s is not told that it is stopped: %+v", hint, answer)
		}
	}
}

// elsewhere goes to the decision API with the same token.
func (e *escape) elsewhere() {
	e.t.Helper()
	if e.door != overHTTP {
		return
	}
	e.attempts["the other door"]++
	request, err := http.NewRequest("POST", strings.TrimSuffix(e.endpoint, "/mcp")+"/v1/decide", strings.NewReader(`{"kind":"shell","input":"ls"}`))
	if err != nil {
		e.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: bearer(e.token0())}).Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), `"answer":"halt"`) {
		e.t.Errorf("the other door: %s, %v", body, err)
	}
	_, _ = e.office.Write(body)
}

// token0 is the bearer token of the agent; the field of that name here is a confirmation's.
func (e *escape) token0() string { return e.agent.token }

// account holds the log against what was tried, and looks for codes everywhere.
func (e *escape) account() {
	e.t.Helper()
	count, export := e.office.events(e.t)
	e.t.Logf("%v", e.attempts)
	if count["VERIFICATION"] != e.verified {
		e.t.Errorf("%d codes were handed in, the log has %d", e.verified, count["VERIFICATION"])
	}
	if count["APPROVAL_REFUSED"] != e.confirmed {
		e.t.Errorf("%d confirmations were refused, the log has %d", e.confirmed, count["APPROVAL_REFUSED"])
	}
	if count["REFUSAL"] < e.refused {
		e.t.Errorf("%d operations were refused, the log has %d", e.refused, count["REFUSAL"])
	}
	if decided := strings.Count(export, `"door":"mcp"`) - count["REFUSAL"]; decided < e.steps {
		e.t.Errorf("%d steps were answered, the log has %d", e.steps, decided)
	}
	if count["SAFETY_BLOCK_EVENT"] == 0 || count["AGENT_BLOCKED"] != 1 || count["AGENT_UNBLOCKED"] != 0 || count["ALERT"] == 0 {
		e.t.Errorf("the log has %v", count)
	}
	places := map[string]string{"an answer or an error": e.office.heard(), "the log": export}
	files, err := filepath.Glob(filepath.Join(e.office.home, "*"))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil { // directories and sockets aside
			places[filepath.Base(file)] = string(text)
		}
	}
	for challenge, code := range e.office.codes {
		for place, text := range places {
			if strings.Contains(text, code) || strings.Contains(text, strings.ReplaceAll(code, "-", "")) {
				e.t.Errorf("the code of %s stands in %s", challenge, place)
			}
		}
	}
	if !strings.Contains(places["an answer or an error"], e.challenge) {
		e.t.Error("what was said was not kept, so the absence of codes proves nothing")
	}
}

// freed has an administrator lift the block, and an operator answer what waits: what could not be done before was only for these.
func (e *escape) freed() {
	e.t.Helper()
	output(e.t, e.office.env, "block", "lift", e.challenge, "--key", e.office.governor, "--reason", "the drill is over")
	handle, _ := e.begin("afterwards")
	if answer := e.step(handle, "afterwards", "git status"); answer.goesOn() || e.pending == "" {
		e.t.Errorf("the request %q that paused the agent was not answered, and it goes on: %+v", e.pending, answer)
	}
	e.office.deny(e.t, e.pending)
	if answer := e.step(handle, "afterwards", "git status"); !answer.goesOn() {
		e.t.Errorf("after the block was lifted and the request answered: %+v", answer)
	}
}
