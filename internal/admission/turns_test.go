package admission_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
)

// TestOneAgentsCostlyInputsWait: of an agent that sends many long inputs at once some are analysed, some wait, and the rest is
// denied with an event that says why; another agent is answered meanwhile.
func TestOneAgentsCostlyInputsWait(t *testing.T) {
	h := newHouse(t)
	const waiting = 64
	share := max(1, runtime.GOMAXPROCS(0)/2)
	command := "bash work.sh # " + strings.Repeat("x", 8<<10)
	gate, reached := make(chan struct{}), make(chan struct{}, share)
	held := func(p *admission.Case) {
		p.Read = func(interlock.View, []string) map[string]string {
			reached <- struct{}{}
			<-gate
			return nil
		}
	}
	var all sync.WaitGroup
	answers := make(chan interlock.Answer, share+2*waiting)
	for range share {
		all.Go(func() { answers <- h.propose(command, held) })
	}
	for range share {
		<-reached
	}
	refused := make(chan interlock.Answer, 2*waiting)
	for range 2 * waiting {
		all.Go(func() {
			answer := h.propose(command)
			if found := answer.Decision.Findings; len(found) > 0 && strings.Contains(found[0].Reason, "waiting already") {
				refused <- answer
			}
			answers <- answer
		})
	}
	for range waiting { // as many as are over the bound; the others wait behind what is held
		var answer interlock.Answer
		select {
		case answer = <-refused:
		case <-time.After(time.Minute):
			close(gate)
			t.Fatal("nothing is refused, however much waits")
		}
		if answer.Decision.Answer != interlock.Deny || answer.Event == "" {
			t.Errorf("%+v", answer)
		}
	}
	if answer := h.propose("ls", func(p *admission.Case) {
		p.Requester.Agent = "other"
	}); answer.Decision.Answer != interlock.Allow {
		t.Errorf("another agent: %+v", answer.Decision)
	}
	close(gate)
	all.Wait()
	close(answers)
	denied := 0
	for answer := range answers {
		if answer.Decision.Answer == interlock.Deny {
			denied++
		}
	}
	refusals := 0
	for _, kind := range h.entries() {
		if kind == interlock.EventRefusal {
			refusals++
		}
	}
	if denied != waiting || refusals != waiting {
		t.Errorf("%d denied, %d refusals; want %d", denied, refusals, waiting)
	}
}
