package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/config"
)

// overHTTP measures durable decisions through `interlock up`, over its unix socket and over TCP with an agent's token,
// with the load generator on the same machine, and what the server's memory does meanwhile.
func overHTTP(b *bench) error {
	home, err := b.home("http")
	if err != nil {
		return err
	}
	address, stop, err := b.server(home)
	if err != nil {
		return err
	}
	defer stop()
	token, err := b.agent(home, "bench")
	if err != nil {
		return err
	}
	doors := []door{
		{name: "unix socket", network: "unix", address: config.Socket(home), host: "interlock"},
		{name: "TCP, token", network: "tcp", address: strings.TrimPrefix(address, "http://"),
			host:   strings.TrimPrefix(address, "http://"),
			header: "Authorization: Bearer " + token + "\r\n"},
	}
	fmt.Fprintf(b.out, "\n## Durable decisions over HTTP\n\n`POST /v1/decide` of `interlock up`, keep-alive, load generator on the same CPUs. Beside it `GET /healthz` from the same callers: the same server answering without deciding or recording. Budget: p50 <= 0.35 ms at 1 caller; >= 20,000/s at 16 and >= 40,000/s at 128 callers.\n\n| door | callers | healthz /s | decisions /s | p50 ms | p99 ms | server CPU µs/decision |\n|---|---:|---:|---:|---:|---:|---:|\n")
	total := 0
	for _, d := range doors {
		for _, callers := range callerCounts {
			plain, _, err := b.over(d, callers, b.step, (*client).health)
			if err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
			used := processCPU(b.pid)
			rate, times, err := b.over(d, callers, b.step, (*client).decide)
			if err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
			used = processCPU(b.pid) - used
			total += len(times)
			fmt.Fprintf(b.out, "| %s | %d | %.0f | %.0f | %s | %s | %.1f |\n", d.name, callers, plain, rate,
				millis(quantile(times, 0.5)), millis(quantile(times, 0.99)),
				float64(used.Microseconds())/float64(len(times)))
		}
	}
	time.Sleep(time.Minute)
	crowd := residentMB(b.pid)
	fmt.Fprintf(b.out, "\nServer memory (resident): %.0f MB a minute after these %d decisions, "+
		"of which a good part came over 128 connections. ", crowd, total)
	stop()
	return b.serverMemory()
}

// What the server's memory is held to.
const (
	loadedDecisions = 200_000
	loadingCallers  = 16
	settleTime      = 4 * time.Second // after its start: then what only that needed has been given back
)

// serverMemory says what a server takes before anybody has come, and a minute after a load.
func (b *bench) serverMemory() error {
	home, err := b.home("http-memory")
	if err != nil {
		return err
	}
	_, stop, err := b.server(home)
	if err != nil {
		return err
	}
	defer stop()
	time.Sleep(settleTime)
	rest, done := residentMB(b.pid), 0
	for done < loadedDecisions {
		_, times, err := b.over(door{network: "unix", address: config.Socket(home), host: "interlock"}, loadingCallers, time.Second,
			(*client).decide)
		if err != nil {
			return err
		}
		done += len(times)
	}
	loaded := residentMB(b.pid)
	time.Sleep(time.Minute)
	after := residentMB(b.pid)
	fmt.Fprintf(b.out, "One that nobody has asked yet: %.0f MB at rest, %.0f MB at the end of %d decisions by %d callers, %.0f MB a minute "+
		"later, %.2f times what it was at rest. Budget: <= 30 MB at rest, and <= 1.5 times that a minute after 200,000. Under load the heap "+
		"is let grow to five times what lives (GOGC=400), and goes back when it is over, as do pages of the program that are not used.\n",
		rest, loaded, done, loadingCallers, after, after/rest)
	return nil
}

// A door is a way into the server.
type door struct{ name, network, address, host, header string }

// over has callers make requests over connections of their own.
func (b *bench) over(d door, callers int, length time.Duration,
	request func(c *client, n int64) error) (rate float64, times []time.Duration, err error) {
	clients := make([]*client, callers)
	defer func() {
		for _, c := range clients {
			if c != nil {
				c.connection.Close()
			}
		}
	}()
	for n := range clients {
		connection, err := net.Dial(d.network, d.address)
		if err != nil {
			return 0, nil, err
		}
		headers := "HTTP/1.1\r\nHost: " + d.host + "\r\n" + d.header
		clients[n] = &client{connection: connection, reader: bufio.NewReader(connection), get: "GET /healthz " + headers + "\r\n",
			post: "POST /v1/decide " + headers + "Content-Type: application/json\r\nContent-Length: "}
	}
	return load(callers, length, func(caller int) error {
		return request(clients[caller], b.sequence.Add(1))
	})
}

// A client sends one request after another over one connection. It is no HTTP client for anything else: net/http's own
// takes as much of the CPUs that server and load share as the decision does, and the server is what is measured.
type client struct {
	connection net.Conn
	reader     *bufio.Reader
	get, post  string // a whole request for /healthz; one for /v1/decide up to its length
	request    []byte
	body       []byte
	answer     []byte
}

func (c *client) decide(n int64) error {
	c.body = append(c.body[:0], `{"kind":"shell","input":"git diff HEAD~`...)
	c.body = strconv.AppendInt(c.body, n, 10)
	c.body = append(c.body, ` -- src/main.go | head -50","dir":"/repo"}`...)
	c.request = append(c.request[:0], c.post...)
	c.request = strconv.AppendInt(c.request, int64(len(c.body)), 10)
	c.request = append(append(c.request, "\r\n\r\n"...), c.body...)
	return c.exchange(`"answer":"allow"`)
}

// health asks for nothing but an answer.
func (c *client) health(int64) error {
	c.request = append(c.request[:0], c.get...)
	return c.exchange("ok")
}

// exchange sends the request and reads the answer, which must be a 200 that holds a text.
func (c *client) exchange(holds string) error {
	if _, err := c.connection.Write(c.request); err != nil {
		return err
	}
	status, length, err := c.head()
	if err != nil {
		return err
	}
	if length < 0 { // in chunks: the answer was longer than what the server buffers
		if c.answer, err = io.ReadAll(httputil.NewChunkedReader(c.reader)); err != nil {
			return err
		}
		if _, err := c.reader.ReadSlice('\n'); err != nil { // the empty line after the last chunk
			return err
		}
	} else {
		c.answer = slices.Grow(c.answer[:0], length)[:length]
		if _, err := io.ReadFull(c.reader, c.answer); err != nil {
			return err
		}
	}
	if status != "HTTP/1.1 200 OK" || !bytes.Contains(c.answer, []byte(holds)) {
		return fmt.Errorf("%s: %.200s", status, c.answer)
	}
	return nil
}

// head reads an answer's status line and headers, and returns the length of its body, or -1 where that comes in chunks.
func (c *client) head() (status string, length int, err error) {
	length = -1
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return "", 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if status == "" {
			status = string(line)
			continue
		}
		if len(line) == 0 {
			return status, length, nil
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return "", 0, err
			}
		}
	}
}

// residentMB is a process's resident memory, where the system tells it.
func residentMB(pid int) float64 { return statusMB(pid, "VmRSS:") }

// peakResidentMB is the most memory that a running process has had.
func peakResidentMB(pid int) float64 { return statusMB(pid, "VmHWM:") }

// statusMB is a line of what the system tells of a process, in megabytes.
func statusMB(pid int, name string) float64 {
	text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "status"))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		var kb float64
		if n, _ := fmt.Sscanf(line, name+" %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}

// processCPU is what a process has used, where the system tells it in the usual hundredths of a second.
func processCPU(pid int) time.Duration {
	text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	const user, system = 11, 12 // counted from the state, which follows the name
	if len(fields) <= system {
		return 0
	}
	ticks := 0
	for _, field := range fields[user : system+1] {
		n, _ := strconv.Atoi(field) // what is no number counts nothing
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
