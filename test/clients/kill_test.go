package clients

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/spec"
)

// TestKillAtAnyMoment has several agents report steps, ask for approvals and get themselves stopped, all at once, over HTTP, and
// kills the server without warning: some answers after an agent was stopped, after an approval was given, and after one was used.
// Then everything an agent or an operator was told has to be true of the restarted server: every step that was answered is in
// the log, who was stopped is stopped, what was approved and not used passes once, and what was used does not pass again.
func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	spec.Covers(t, "AQL-8.8.3a")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	told := map[string]int{}
	for _, moment := range []string{"stopped", "approved", "used"} {
		killOnce(t, &trigger{moment: moment, more: random.IntN(10)}, told)
	}
	t.Logf("told before a kill: %v", told)
	if told["steps"] == 0 || told["stops"] == 0 || told["approvals used"] == 0 || told["approvals kept"] == 0 {
		t.Errorf("nobody was told anything to hold the server to: %v", told)
	}
}

// A trigger kills the server some answers after the first time that something happened.
type trigger struct {
	moment string
	more   int
	kill   func()

	mu    sync.Mutex
	armed bool
}

func (g *trigger) happened(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case what == g.moment:
		g.armed = true
	case g.armed:
		g.more--
	}
	if g.armed && g.more <= 0 {
		g.kill()
	}
}

// A worker is one agent with what it was told before the kill.
type worker struct {
	*agent
	trigger  *trigger
	steps    []string // hints that were answered
	stopped  bool
	approved string // a hint an operator approved, and which was not reported since
	used     string // a hint that went on by approval
}

func killOnce(t *testing.T, g *trigger, told map[string]int) {
	t.Helper()
	o := newOffice(t, "")
	host := newAgent(t, o, overHTTP)
	g.kill = func() { _ = host.server.Process.Kill() }
	var workers []*worker
	for n := range 6 {
		w := &worker{trigger: g, agent: &agent{t: t, office: o, door: overHTTP, served: true, endpoint: host.endpoint, clients: 100 * n,
			token: addAgent(t, o.env, fmt.Sprintf("worker-%d", n))}}
		w.connect()
		workers = append(workers, w)
	}
	var wg sync.WaitGroup
	for n, w := range workers {
		wg.Go(func() { w.work(n) })
	}
	wg.Wait()
	host.kill()
	host.connect()
	_, export := o.events(t)
	for n, w := range workers {
		w.leave()
		w.endpoint = host.endpoint
		w.connect()
		w.check(n, export, told)
		w.leave()
	}
}

// work does what a worker of its number does until the server is gone.
func (w *worker) work(n int) {
	element := fmt.Sprintf("task-%d", n)
	started, err := w.ask("execute_agent", map[string]any{"element_name": element})
	if err != nil {
		return
	}
	report := func(hint string) (envelope, bool) {
		answer, err := w.ask("record_execution_step",
			map[string]any{"execution_id": started.Data["execution_id"], "element_name": element, "next_action_hint": hint})
		if err == nil && answer.Success {
			w.steps = append(w.steps, hint)
			w.trigger.happened("a step")
		}
		return answer, err == nil && answer.Success
	}
	for i := 0; ; i++ {
		if _, ok := report(fmt.Sprintf("cat notes-%d-%d.txt", n, i)); !ok {
			return
		}
		switch {
		case n < 2 && i == 3+5*n:
			answer, ok := report("rm -rf /")
			if w.stopped = ok && answer.Data["stopped"] == true; w.stopped {
				w.trigger.happened("stopped")
			}
		case n >= 4 && i%3 == 2:
			if !w.askFor(fmt.Sprintf("git push --force origin branch-%d-%d", n, i), n == 5, report) {
				return
			}
		}
	}
}

// askFor asks for one approval, gets it, and uses it or keeps it for later.
func (w *worker) askFor(hint string, keep bool, report func(string) (envelope, bool)) bool {
	asked, ok := report(hint)
	if !ok || asked.request() == "" {
		return false
	}
	if !w.office.approve(w.t, asked.request()) {
		return false
	}
	w.approved = hint
	w.trigger.happened("approved")
	if keep {
		return false
	}
	answer, answered := report(hint)
	if !answered {
		w.approved = "" // nobody was told whether it was used
		return false
	}
	if answer.goesOn() {
		w.approved, w.used = "", hint
		w.trigger.happened("used")
	}
	return true
}

// check holds the restarted server to what this worker was told.
func (w *worker) check(n int, export string, told map[string]int) {
	w.t.Helper()
	told["steps"] += len(w.steps)
	for _, hint := range w.steps {
		if !strings.Contains(export, hint) {
			w.t.Errorf("the step %q was answered and is not in the log", hint)
		}
	}
	element := fmt.Sprintf("again-%d", n)
	started := w.try("execute_agent", map[string]any{"element_name": element})
	if w.stopped {
		told["stops"]++
		if started.Error.Code != "PERMISSION_DENIED" {
			w.t.Errorf("worker %d was stopped and starts again: %+v", n, started)
		}
		return
	}
	handle, _ := started.Data["execution_id"].(string)
	if w.used != "" {
		told["approvals used"]++
		if w.step(handle, element, w.used).goesOn() {
			w.t.Errorf("the approval of %q was used before the kill and passes again", w.used)
		}
	}
	if w.approved != "" {
		told["approvals kept"]++
		another, _ := w.begin(element + "-approved")
		if answer := w.step(another, element+"-approved", w.approved); !answer.goesOn() {
			w.t.Errorf("the approval of %q is lost: %+v", w.approved, answer)
		}
	}
}
