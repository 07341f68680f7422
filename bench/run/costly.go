package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The attack: so many requests of one agent at once, each with an input of so many bytes that is slow to read. What is refused
// comes again after a pause.
const (
	costlyRequests = 256
	costlyBytes    = 120 << 10
	costlyPause    = 10 * time.Millisecond
	mostSlower     = 3.0 // times its quiet p99 that another agent may wait
)

// costlyShares measures what an agent that asks for `ls` notices of one whose inputs are costly: quiet and attacked by turns.
func costlyShares(b *bench) error {
	home, err := b.home("costly")
	if err != nil {
		return err
	}
	address, stop, err := b.server(home)
	if err != nil {
		return err
	}
	defer stop()
	tokens, err := b.tokens(home, 2)
	if err != nil {
		return err
	}
	host := strings.TrimPrefix(address, "http://")
	fmt.Fprintf(b.out, "\n## Costly inputs\n\n%d requests of one agent at once, each with %d KB that are slow to read, and another agent that asks for "+
		"`ls`, one call at a time. Quiet and\nattacked by turns, %d times. Aim: its p99 within %.0f times of quiet.\n\n"+
		"| input | quiet p50 ms | p99 ms | attacked p50 ms | p99 ms | p99 ratio | attacker: judged, refused |\n|---|---:|---:|---:|---:|---:|---:|\n",
		costlyRequests, costlyBytes>>10, fairRounds, mostSlower)
	for _, h := range hostile {
		if h.name != "a list of variables in pipes" && h.name != "nothing but $" && h.name != "many small commands" {
			continue
		}
		var quiet, attacked []time.Duration
		var judged, refused atomic.Int64
		for range fairRounds {
			calm, err := b.lists(host, tokens[0])
			if err != nil {
				return err
			}
			end := attack(b.ctx, host, tokens[1], h.build(costlyBytes), &judged, &refused)
			time.Sleep(time.Second) // for all of them to be there
			busy, err := b.lists(host, tokens[0])
			end()
			if err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
			quiet, attacked = append(quiet, calm...), append(attacked, busy...)
		}
		ratio := float64(quantile(attacked, 0.99)) / float64(max(quantile(quiet, 0.99), 1))
		shown := fmt.Sprintf("%.2f", ratio)
		if ratio > mostSlower {
			shown = "**" + shown + "**"
		}
		fmt.Fprintf(b.out, "| %s | %s | %s | %s | %s | %s | %d, %d |\n", h.name, millis(quantile(quiet, 0.5)), millis(quantile(quiet, 0.99)),
			millis(quantile(attacked, 0.5)), millis(quantile(attacked, 0.99)), shown, judged.Load(), refused.Load())
	}
	return nil
}

// lists has one agent ask for `ls` again and again, and returns how long each answer took.
func (b *bench) lists(host, token string) ([]time.Duration, error) {
	connection, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	body := `{"kind":"shell","input":"ls","dir":"/repo"}`
	c := &client{connection: connection, reader: bufio.NewReader(connection), request: []byte("POST /v1/decide HTTP/1.1\r\nHost: " + host +
		"\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)}
	_, times, err := load(1, b.step, func(int) error { return c.exchange(`"answer":"allow"`) })
	return times, err
}

// attack has an agent ask about an input until the returned function is called, and counts its answers.
func attack(ctx context.Context, host, token, input string, judged, refused *atomic.Int64) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	body, _ := json.Marshal(map[string]string{"kind": "shell", "input": input, "dir": "/repo"}) // of strings; it can't fail
	transport := &http.Transport{MaxIdleConnsPerHost: costlyRequests}
	var all sync.WaitGroup
	for range costlyRequests {
		all.Go(func() {
			for ctx.Err() == nil {
				request, err := http.NewRequestWithContext(ctx, "POST", "http://"+host+"/v1/decide", bytes.NewReader(body))
				if err != nil {
					return
				}
				request.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
				response, err := transport.RoundTrip(request)
				if err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
				if err == nil && response.StatusCode == http.StatusOK {
					judged.Add(1)
					continue
				}
				refused.Add(1)
				select {
				case <-ctx.Done():
				case <-time.After(costlyPause):
				}
			}
		})
	}
	return func() { cancel(); all.Wait(); transport.CloseIdleConnections() }
}
