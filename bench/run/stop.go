package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

// How the stop of everything is measured.
const (
	stopAgents  = 60_000 // registered, each with a run that was delegated to it
	stopCallers = 64
	openRate    = 1000             // actions a second, at fixed times
	burstTimes  = 5                // as many, for a second in every ten
	stopLooks   = 3 * time.Second  // how long callers go on after the switch was thrown
	openLoop    = 30 * time.Second // where nobody asks for longer
)

// stopping measures an open load on a home with many runs, and then how soon a stop of everything is seen by everybody in it.
func stopping(b *bench) error {
	home, err := b.home("stop")
	if err != nil {
		return err
	}
	if err := fillHome(b, home); err != nil {
		return err
	}
	began := time.Now()
	addresses, stop, err := b.serverWith(home, "--control", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	came := time.Since(began)
	length := max(b.open, openLoop)
	fmt.Fprintf(b.out, "\n## An open load, and a stop of everything\n\n%d registered agents with a run each, delegated by one orchestrator; "+
		"actions of all of them by turns over the unix socket, %d a second at\nfixed times for %v, %d times as many for a second in "+
		"every ten; what is late counts from when it was due. Then everything is stopped at the control\ndoor in the middle of that "+
		"load, and each run is asked once more. Budget: p99 <= 20 ms; seen by every caller within 1 s; all runs within 30 s.\n\n",
		stopAgents, openRate, length, burstTimes)
	callers, err := newCallers(home)
	if err != nil {
		return err
	}
	defer callers.close()
	used := processCPU(b.pid)
	times, _, err := callers.load(schedule(length), nil)
	if err != nil {
		return err
	}
	used = processCPU(b.pid) - used
	missed := 0
	for _, took := range times {
		if took > 20*time.Millisecond {
			missed++
		}
	}
	fmt.Fprintf(b.out, "| actions | p50 ms | p99 ms | over 20 ms | server CPU µs/action | comes up in ms | resident MB |\n"+
		"|---:|---:|---:|---:|---:|---:|---:|\n| %d | %s | %s | %d | %.0f | %d | %.0f |\n\n",
		len(times), millis(quantile(times, 0.5)), millis(quantile(times, 0.99)), missed,
		float64(used.Microseconds())/float64(len(times)), came.Milliseconds(), residentMB(b.pid))
	return b.thrown(home, addresses, callers)
}

// thrown stops everything in the middle of a load, and says when the last action was let through after that.
func (b *bench) thrown(home string, addresses []string, callers *callers) error {
	door := ""
	for _, line := range addresses {
		if address, found := strings.CutPrefix(line, "control "); found {
			door = address
		}
	}
	token, err := os.ReadFile(filepath.Join(home, "control.token"))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(b.ctx, http.MethodPost, door+"/v1/kill", strings.NewReader(`{"reason":"a measurement"}`))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	var sent time.Time
	var answered time.Duration
	failed := make(chan error, 1)
	time.AfterFunc(time.Second, func() {
		sent = time.Now()
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			err = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				err = fmt.Errorf("the control door answers %s", response.Status)
			}
		}
		answered = time.Since(sent)
		failed <- err
	})
	var last atomic.Int64 // when an action was let through last
	_, _, err = callers.load(schedule(time.Second+stopLooks), func(halted bool) {
		if !halted {
			last.Store(time.Now().UnixNano())
		}
	})
	if err != nil {
		return err
	}
	if err := <-failed; err != nil {
		return err
	}
	seen := time.Unix(0, last.Load()).Sub(sent)
	began := time.Now()
	var halted atomic.Int64
	if _, _, err := callers.load(make([]time.Duration, stopAgents), func(is bool) {
		if is {
			halted.Add(1)
		}
	}); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "The control door answered after %s ms. The last action was let through %s ms after the request was sent. "+
		"Of %d runs %d were halted, asked one after the other in %.1f s.\n",
		millis(answered), millis(max(seen, 0)), stopAgents, halted.Load(), time.Since(began).Seconds())
	return nil
}

// schedule says when each action of an open load is due.
func schedule(length time.Duration) (due []time.Duration) {
	for second := range int(length / time.Second) {
		rate := openRate
		if second%10 == 5 {
			rate *= burstTimes
		}
		for n := range rate {
			due = append(due, time.Duration(second)*time.Second+time.Duration(n)*time.Second/time.Duration(rate))
		}
	}
	return due
}

// callers are connections to a server's socket.
type callers struct{ clients []*client }

func newCallers(home string) (*callers, error) {
	c := new(callers)
	for range stopCallers {
		connection, err := net.Dial("unix", config.Socket(home))
		if err != nil {
			c.close()
			return nil, err
		}
		c.clients = append(c.clients, &client{connection: connection, reader: bufio.NewReader(connection),
			post: "POST /v1/decide HTTP/1.1\r\nHost: interlock\r\nContent-Type: application/json\r\nContent-Length: "})
	}
	return c, nil
}

func (c *callers) close() {
	for _, one := range c.clients {
		one.connection.Close()
	}
}

// load proposes an action of one agent after another, each when it is due or as soon after as a connection is free, and tells of each
// whether everything was stopped. It returns how long each took from when it was due.
func (c *callers) load(due []time.Duration, told func(halted bool)) (times []time.Duration, rate float64, err error) {
	var next atomic.Int64
	var wait sync.WaitGroup
	times = make([]time.Duration, len(due))
	failed := make(chan error, len(c.clients))
	began := time.Now()
	for _, one := range c.clients {
		wait.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(due) {
					return
				}
				time.Sleep(due[n] - time.Since(began))
				if err := one.act(n); err != nil {
					failed <- err
					return
				}
				times[n] = time.Since(began) - due[n]
				if told != nil {
					told(bytes.Contains(one.answer, []byte(`"answer":"halt"`)))
				}
			}
		})
	}
	wait.Wait()
	select {
	case err = <-failed:
	default:
	}
	return times, float64(len(due)) / time.Since(began).Seconds(), err
}

// act proposes one action of an agent in its run.
func (c *client) act(n int) error {
	agent := strconv.Itoa(n % stopAgents)
	c.body = append(append(append(c.body[:0], `{"requester":{"principal":"olga","agent":"agent-`...), agent...), `","run":"`...)
	c.body = append(append(c.body, stopRun(n%stopAgents)...), `"},"action":{"kind":"shell","input":"git diff HEAD~`...)
	c.body = append(strconv.AppendInt(c.body, int64(n), 10), ` | head -50","dir":"/repo"},"view":{"home":"/home/dev","workspace":"/repo"}}`...)
	c.request = strconv.AppendInt(append(c.request[:0], c.post...), int64(len(c.body)), 10)
	c.request = append(append(c.request, "\r\n\r\n"...), c.body...)
	return c.exchange(`"answer":"`)
}

func stopRun(n int) string { return fmt.Sprintf("run_%024x", n) }

// fillHome registers the agents and their runs, as rows, many to a commit.
func fillHome(b *bench, home string) error {
	backend, err := embedded.Open(b.ctx, embedded.Config{Home: home})
	if err != nil {
		return err
	}
	defer backend.Close()
	now := time.Now().UTC().Truncate(time.Microsecond)
	root := interlock.Run{ID: stopRun(1 << 40), Agent: "planner", Created: now, Status: interlock.RunOpen}
	root.Orchestration = root.ID
	writes := ledger.Rows(interlock.AgentRecord{ID: "planner", Principal: "olga", Created: now}, root)
	for n := range stopAgents {
		agent := "agent-" + strconv.Itoa(n)
		writes = append(writes, ledger.Rows(interlock.AgentRecord{ID: agent, Principal: "olga", Created: now, Trust: interlock.TrustCommunityReviewed},
			interlock.Run{ID: stopRun(n), Agent: agent, Orchestration: root.ID, Parent: root.ID, Created: now, Status: interlock.RunOpen,
				Chain: []interlock.RunLink{{Run: root.ID, Agent: "planner"}}},
			ledger.RunCountBody{Name: ledger.AgentTally(agent), Seq: 1, Open: 1, Delegated: 1})...)
		if len(writes) < 2000 && n < stopAgents-1 {
			continue
		}
		change := ledger.Change{Writes: writes, Events: []ledger.Draft{{Type: interlock.EventAlert, Run: "fill", Seed: "fill",
			Actor: "bench", Role: "system",
			Recorded: now, Payload: []byte(`{"code":"fill","message":"rows"}`)}}}
		if _, err := backend.Store.Commit(b.ctx, change); err != nil {
			return err
		}
		writes = nil
	}
	return nil
}
