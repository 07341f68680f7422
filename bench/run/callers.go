package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// The duties that several callers are measured on: each gateway beside the relay that is its floor.
const (
	dutyReading = iota // a relay that reads JSON and matches a pattern
	dutyPolicy         // the gateway, monitoring, only objections recorded
	dutySyncing        // a relay that writes 8 KB with sync first
	dutyDurable        // the gateway, enforcing, durable signed log
	countDuties
)

// What the gateway is to reach beside its floor.
const (
	mostPolicyTime  = 1.25 // of the reading relay's p50
	leastPolicyRate = 0.9  // of its rate
	mostDurableTime = 2.5  // of the syncing relay's p50
)

// turns is how often the duties take turns, so that what else the machine does meets them alike.
const turns = 8

// A crowd is how many clients call at once, and how.
type crowd struct {
	name    string
	clients int
	each    int // calls of one client that wait at once
	http    bool
}

var crowds = []crowd{
	{"one client, a call at a time", 1, 1, false},
	{"one client, 4 calls at once", 1, 4, false},
	{"one client, 16 calls at once", 1, 16, false},
	{"4 clients, a call each", 4, 1, false},
	{"2 clients over HTTP, a call each", 2, 1, true},
	{"2 clients over HTTP, 8 calls each", 2, 8, true},
}

// A measured is what a crowd met with one duty.
type measured struct {
	times []time.Duration
	rate  float64
}

// severalCallers measures the gateway beside the relays in turns, for one and for several callers.
func (b *bench) severalCallers(self, text string) error {
	fmt.Fprintf(b.out, "\n### Several callers\n\nThe gateway and the relays it is held against, all up at the same time "+
		"and called in turns, %d each, so that the\n"+
		"ratios count and not the numbers. A client on standard streams has a gateway of its own; those of one duty share a home. Over\n"+
		"HTTP all clients come to one gateway, and to relays that carry HTTP. Aims: policy only (monitoring, only objections recorded)\n"+
		"p50 <= %.2f times and rate >= %.1f of the relay that reads JSON and matches a pattern; durable p50 <= %.1f times the relay\n"+
		"that writes 8 KB with sync first. What misses is bold.\n\n"+
		"| callers | reads: p50 µs | calls/s | policy only: p50 µs | calls/s | times the p50 | of the rate "+
		"| syncs: p50 µs | calls/s | durable: p50 µs | calls/s | times the p50 |\n"+
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n", turns, mostPolicyTime, leastPolicyRate, mostDurableTime)
	for _, c := range crowds {
		if err := b.crowdRow(self, text, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (b *bench) crowdRow(self, text string, c crowd) error {
	var calls [countDuties]func(caller int) error
	for duty := range countDuties {
		start := b.stdioCrowd
		if c.http {
			start = b.httpCrowd
		}
		call, end, err := start(self, text, c, duty)
		if err != nil {
			return err
		}
		defer end()
		calls[duty] = call
	}
	time.Sleep(1100 * time.Millisecond) // a gateway that only watches settles within a second of its start
	var found [countDuties]measured
	for range turns {
		for duty, call := range calls {
			rate, times, err := load(c.clients*c.each, b.step/turns/2, call)
			if err != nil {
				return err
			}
			found[duty].rate += rate / turns
			found[duty].times = append(found[duty].times, times...)
		}
	}
	reads, policy, syncs, durable := found[dutyReading], found[dutyPolicy], found[dutySyncing], found[dutyDurable]
	p50 := func(m measured) float64 { return float64(quantile(m.times, 0.5)) }
	cells := func(m measured) string { return fmt.Sprintf("%s | %.0f", micros(quantile(m.times, 0.5)), m.rate) }
	marked := func(ratio float64, met bool) string {
		if met {
			return fmt.Sprintf("%.2f", ratio)
		}
		return fmt.Sprintf("**%.2f**", ratio)
	}
	slower, part, later := p50(policy)/p50(reads), policy.rate/reads.rate, p50(durable)/p50(syncs)
	fmt.Fprintf(b.out, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", c.name, cells(reads), cells(policy), marked(slower, slower <= mostPolicyTime),
		marked(part, part >= leastPolicyRate), cells(syncs), cells(durable), marked(later, later <= mostDurableTime))
	return nil
}

// relayOf is what a relay of a duty is told of its file.
func (b *bench) relayOf(duty int) string {
	if duty == dutyReading {
		return relayReads
	}
	return filepath.Join(b.scratch, fmt.Sprintf("relay-%d.log", b.sequence.Add(1)))
}

// gatewayHome is a home for the gateway of a duty, and the mode it runs in.
func (b *bench) gatewayHome(duty int) (home, mode string, err error) {
	home, err = b.home("gateway-" + fmt.Sprint(b.sequence.Add(1)))
	if err != nil || duty == dutyDurable {
		return home, "enforcing", err
	}
	// as settings, and not as a flag alone: those who govern the home from then on are shown these, and they stay in force
	const settings = "mode: monitoring\ngateway: {record: objections}\n"
	return home, "monitoring", os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600)
}

// stdioCrowd starts clients on standard streams, each with a relay or a gateway of its own.
func (b *bench) stdioCrowd(self, text string, c crowd, duty int) (call func(int) error, end func(), err error) {
	var servers []*stdioServer
	end = func() {
		for _, s := range servers {
			s.close()
		}
	}
	home, mode, err := b.gatewayHome(duty)
	if err != nil {
		return nil, nil, err
	}
	for range c.clients {
		tool, cmd := "echo", exec.CommandContext(b.ctx, self, relayFlag, b.relayOf(duty), self, plainEchoFlag)
		if duty == dutyPolicy || duty == dutyDurable {
			tool, cmd = "server.echo", b.command(home, "--mode", mode, "gateway", "--name", "server", "--", self, plainEchoFlag)
		}
		s, err := startStdio(cmd, tool, text)
		if err != nil {
			end()
			return nil, nil, err
		}
		servers = append(servers, s)
	}
	if c.each == 1 {
		return func(caller int) error { return servers[caller].callAlone() }, end, nil
	}
	for _, s := range servers {
		s.share()
	}
	return func(caller int) error { return servers[caller%c.clients].call() }, end, nil
}

// httpCrowd starts one relay or gateway and clients that come to it over HTTP.
func (b *bench) httpCrowd(self, text string, c crowd, duty int) (call func(int) error, end func(), err error) {
	first := httpServer{tool: "echo", text: text, bench: b}
	var cmd *exec.Cmd
	ready := ""
	if duty == dutyPolicy || duty == dutyDurable {
		home, mode, err := b.gatewayHome(duty)
		if err != nil {
			return nil, nil, err
		}
		token, err := b.agent(home, "bench")
		if err != nil {
			return nil, nil, err
		}
		ready = home + ".ready"
		first.tool, first.token = "server.echo", token
		cmd = b.command(home, "--mode", mode, "gateway", "--listen", "127.0.0.1:0", "--ready", ready, "--name", "server", "--",
			self, plainEchoFlag)
	} else {
		port, err := freePort()
		if err != nil {
			return nil, nil, err
		}
		first.url = "http://127.0.0.1:" + port + "/mcp"
		cmd = exec.CommandContext(b.ctx, self, relayHTTPFlag, "127.0.0.1:"+port, b.relayOf(duty), self, plainEchoFlag)
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }
	if ready != "" {
		if first.url, err = waitFor(ready); err != nil {
			stop()
			return nil, nil, err
		}
	}
	clients := make([]*httpServer, c.clients)
	for n := range clients {
		client := first
		client.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}, Timeout: 30 * time.Second}
		if err := client.connect(b.ctx); err != nil {
			stop()
			return nil, nil, errors.Join(errors.New("no connection"), err)
		}
		clients[n] = &client
	}
	return func(caller int) error { return clients[caller%c.clients].call(b.ctx) }, func() {
		for _, client := range clients {
			client.client.CloseIdleConnections()
		}
		stop()
	}, nil
}
