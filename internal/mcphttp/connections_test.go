package mcphttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/mcphttp"
)

// from is a client with connections of its own, from one address of the loopback network.
func (r *httpRig) from(address string) *http.Client {
	r.t.Helper()
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask sends a call with a client of its own and returns what is answered, or that nothing is.
func (r *httpRig) ask(client *http.Client, x exchange) string {
	response, err := client.Do(r.request(context.Background(), x))
	if err != nil {
		return "no answer"
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "no answer"
	}
	return response.Status + " " + string(text)
}

// Connections that are opened and left lying make room for those that ask for something, and a call that is under way is not
// among what makes room.
func TestHTTPConnectionsThatAreLeftLying(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.Connections, c.Limits.ReadHeader = 8, time.Minute })
	slow := func() (all []func() string) {
		for range 32 {
			all = append(all, r.raw(""), r.raw("POST /mcp HTTP/1.1\r\nHost: local"))
		}
		return all
	}
	first := slow()
	answer := make(chan string, 1)
	go func() { answer <- r.ask(r.from("127.0.0.1"), modern(1, "wait")) }()
	<-r.waiting
	second := slow()
	if got := r.ask(r.from("127.0.0.1"), modern(2, "echo")); !strings.HasPrefix(got, "200") {
		t.Errorf("a client among connections that say nothing: %s", got)
	}
	kept := r.from("127.0.0.1")
	for range 3 { // one that keeps its connection
		if got := r.ask(kept, modern(3, "echo")); !strings.HasPrefix(got, "200") {
			t.Errorf("a client that comes again: %s", got)
		}
	}
	for n, rest := range append(first, second[:32]...) {
		if said := rest(); said != "" {
			t.Errorf("connection %d is told %q", n, said)
		}
	}
	close(r.release)
	if got := <-answer; !strings.Contains(got, "waited") {
		t.Errorf("the call that was under way: %s", got)
	}
}

// Where all connections are busy, a new one is closed, and served when one of the others is done.
func TestHTTPNoRoomForAConnection(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.Connections = 4 })
	answers := make(chan string, 4)
	for n := range 4 {
		go func() { answers <- r.ask(r.from("127.0.0.1"), modern(n, "wait")) }()
	}
	for range 4 {
		<-r.waiting
	}
	if got := r.ask(r.from("127.0.0.1"), modern(5, "echo")); got != "no answer" {
		t.Errorf("the fifth connection: %s", got)
	}
	close(r.release)
	for range 4 {
		if got := <-answers; !strings.Contains(got, "waited") {
			t.Errorf("a call that was under way: %s", got)
		}
	}
	if got := r.ask(r.from("127.0.0.1"), modern(6, "echo")); !strings.HasPrefix(got, "200") {
		t.Errorf("afterwards: %s", got)
	}
}

// abroad says of connections from 127.0.0.N, except the first, that they come from 203.0.113.N.
type abroad struct{ net.Listener }

type stranger struct {
	net.Conn
	from net.Addr
}

func (s stranger) RemoteAddr() net.Addr { return s.from }

func (a abroad) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err != nil {
		return nil, err
	}
	from := *c.RemoteAddr().(*net.TCPAddr)
	if ip := from.IP.To4(); ip != nil && ip[3] != 1 {
		from.IP = net.IPv4(203, 0, 113, ip[3])
	}
	return stranger{c, &from}, nil
}

// One remote address that takes all it may leaves the others theirs, and those of this machine have no such bound.
func TestHTTPConnectionsOfOneAddress(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newHTTPOn(t, abroad{listener}, nil, func(c *mcphttp.Config) { c.Limits.PerAddress = 2 })
	answers := make(chan string, 5)
	for _, address := range []string{"127.0.0.5", "127.0.0.5", "127.0.0.1", "127.0.0.1", "127.0.0.1"} {
		go func() { answers <- r.ask(r.from(address), modern(1, "wait")) }()
	}
	for range 5 {
		<-r.waiting
	}
	if got := r.ask(r.from("127.0.0.5"), modern(2, "echo")); got != "no answer" {
		t.Errorf("the third connection of one address: %s", got)
	}
	if got := r.ask(r.from("127.0.0.6"), modern(3, "echo")); !strings.HasPrefix(got, "200") {
		t.Errorf("another address: %s", got)
	}
	close(r.release)
	for range 5 {
		if got := <-answers; !strings.Contains(got, "waited") {
			t.Errorf("a call that was under way: %s", got)
		}
	}
	if got := r.ask(r.from("127.0.0.5"), modern(4, "echo")); !strings.HasPrefix(got, "200") {
		t.Errorf("the address afterwards: %s", got)
	}
}

func TestRemoteNetworks(t *testing.T) {
	got := map[string]string{}
	for _, address := range []string{"127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "203.0.113.7:1", "[::ffff:203.0.113.7]:1",
		"[2001:db8:1:2:3:4:5:6]:1", "[fe80::1%eth0]:1", "@"} {
		got[address] = mcphttp.RemoteNetwork(address)
	}
	if diff := cmp.Diff(map[string]string{"127.0.0.1:1": "", "[::1]:1": "", "[::ffff:127.0.0.1]:1": "", "203.0.113.7:1": "203.0.113.7/32",
		"[::ffff:203.0.113.7]:1": "203.0.113.7/32", "[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:1": "fe80::/64", "@": ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
