package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"interlock/internal/config"
)

// The attack: so many requests of one token at once; each sends its header, one byte of its body and then nothing.
// Whichever is answered or cut begins again a second later.
const (
	slowRequests = 1200
	slowPause    = time.Second
	fairAgents   = 4
	fairRounds   = 3
)

// fairShares measures what other callers of a server notice of one that attacks it: quiet and attacked by turns, in one run.
func fairShares(b *bench) error {
	home, err := b.home("fair")
	if err != nil {
		return err
	}
	address, stop, err := b.server(home)
	if err != nil {
		return err
	}
	defer stop()
	host := strings.TrimPrefix(address, "http://")
	tokens, err := b.tokens(home, fairAgents+1)
	if err != nil {
		return err
	}
	attacker := tokens[fairAgents]
	doors := []fairDoor{{name: fmt.Sprintf("%d other agents, `POST /v1/decide`", fairAgents)},
		{name: "the hook's socket, `POST /v1/decide`", doors: []door{{network: "unix", address: config.Socket(home), host: "interlock"}}},
		{name: "the console's first page", doors: []door{{network: "tcp", address: host,
			host: strings.Replace(host, "127.0.0.1", "localhost", 1)}}, page: true}}
	for _, token := range tokens[:fairAgents] {
		doors[0].doors = append(doors[0].doors, door{network: "tcp", address: host, host: host,
			header: "Authorization: Bearer " + token + "\r\n"})
	}
	var waves slowWaves
	for range fairRounds {
		for i := range doors {
			if err := doors[i].measure(b, &doors[i].quiet); err != nil {
				return err
			}
		}
		end := waves.begin(b.ctx, host, attacker)
		time.Sleep(2 * slowPause) // for all of them to be there
		for i := range doors {
			if err := doors[i].measure(b, &doors[i].attacked); err != nil {
				end()
				return err
			}
		}
		end()
		time.Sleep(slowPause)
	}
	fmt.Fprintf(b.out, "\n## Fair shares\n\n%d requests of one token at once, each of which sends its header and one byte of its body, and begins "+
		"again a second after it was answered or cut; beside them one caller per door. Quiet and attacked by turns, %d times. The attack was "+
		"answered 429 %d times, 503 %d times, and cut with 408 %d times. Aim: p99 of the others within 3 times of quiet, and none refused.\n\n"+
		"| who | quiet p50 ms | p99 ms | attacked p50 ms | p99 ms | p99 ratio | refused |\n|---|---:|---:|---:|---:|---:|---:|\n",
		slowRequests, fairRounds, waves.limited.Load(), waves.unavailable.Load(), waves.cut.Load())
	for _, d := range doors {
		fmt.Fprintf(b.out, "| %s | %s | %s | %s | %s | %.2f | %d of %d |\n", d.name, millis(quantile(d.quiet.times, 0.5)),
			millis(quantile(d.quiet.times, 0.99)), millis(quantile(d.attacked.times, 0.5)), millis(quantile(d.attacked.times, 0.99)),
			float64(quantile(d.attacked.times, 0.99))/float64(max(quantile(d.quiet.times, 0.99), 1)),
			d.attacked.refused, d.attacked.refused+int64(len(d.attacked.times)))
	}
	return nil
}

// tokens registers agents and returns their tokens.
func (b *bench) tokens(home string, count int) ([]string, error) {
	var tokens []string
	for n := range count {
		token, err := b.agent(home, fmt.Sprintf("agent%d", n))
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

// A fairDoor is a way in that others use while one is attacked.
type fairDoor struct {
	name            string
	doors           []door // one caller each
	page            bool   // asks for the console's login page
	quiet, attacked served
}

// served is how callers were: how long each answer took, and how often there was a refusal instead.
type served struct {
	times   []time.Duration
	refused int64
}

func (f *fairDoor) measure(b *bench, into *served) error {
	var clients []*client
	defer func() {
		for _, c := range clients {
			c.connection.Close()
		}
	}()
	for _, d := range f.doors {
		connection, err := net.Dial(d.network, d.address)
		if err != nil {
			return err
		}
		headers := "HTTP/1.1\r\nHost: " + d.host + "\r\n" + d.header
		clients = append(clients, &client{connection: connection, reader: bufio.NewReader(connection),
			get:  "GET /login " + headers + "\r\n",
			post: "POST /v1/decide " + headers + "Content-Type: application/json\r\nContent-Length: "})
	}
	var refused atomic.Int64
	_, times, err := load(len(clients), b.step, func(caller int) error {
		if f.page {
			clients[caller].request = append(clients[caller].request[:0], clients[caller].get...)
			return clients[caller].exchange("Interlock")
		}
		err := clients[caller].decide(b.sequence.Add(1))
		if err != nil && strings.HasPrefix(err.Error(), "HTTP/1.1 503") {
			refused.Add(1)
			time.Sleep(time.Millisecond)
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	into.times, into.refused = append(into.times, times...), into.refused+refused.Load()
	return nil
}

// slowWaves are the attack's requests and how they ended.
type slowWaves struct{ limited, unavailable, cut atomic.Int64 }

// begin attacks until the returned function is called.
func (w *slowWaves) begin(ctx context.Context, host, token string) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range slowRequests {
		all.Go(func() {
			for ctx.Err() == nil {
				w.once(ctx, host, token)
				select {
				case <-ctx.Done():
				case <-time.After(slowPause):
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// once sends a header and a byte, and waits for the end of it.
func (w *slowWaves) once(ctx context.Context, host, token string) {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return // the server's backlog is full, which is part of it
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { connection.Close() })()
	fmt.Fprintf(connection, "POST /v1/decide HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: 64\r\n\r\n{", host, token)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusTooManyRequests:
		w.limited.Add(1)
	case http.StatusServiceUnavailable:
		w.unavailable.Add(1)
	case http.StatusRequestTimeout:
		w.cut.Add(1)
	}
}
