package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/hostname"
)

// The bounds of the proxy.
const (
	maxTunnels  = 32
	maxHeader   = 8 << 10
	headTimeout = 10 * time.Second
	dialTimeout = 15 * time.Second
)

// A proxy answers CONNECT requests of one run. It decides each host, resolves its name itself and connects to the very
// addresses it looked at, so that a name that means something else a moment later leads nowhere else.
type proxy struct {
	network Network
	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup
	places  chan struct{} // one for each tunnel

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	refused  []string
	why      []string // each was
	closed   bool
}

func newProxy(ctx context.Context, n Network) *proxy {
	p := &proxy{network: n, places: make(chan struct{}, maxTunnels), conns: map[net.Conn]bool{}}
	p.ctx, p.stop = context.WithCancel(ctx)
	if p.network.Lookup == nil {
		p.network.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if p.network.Dial == nil {
		p.network.Dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	return p
}

// accept serves a listener until it is closed.
func (p *proxy) accept(l net.Listener) {
	p.mu.Lock()
	if p.listener = l; p.closed {
		l.Close()
	}
	p.mu.Unlock()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case p.places <- struct{}{}:
			p.work.Go(func() {
				defer func() { <-p.places }()
				p.serve(conn)
			})
		default:
			conn.Close()
		}
	}
}

// close ends every tunnel and returns the hosts that were refused, and why.
func (p *proxy) close() (refused, why []string) {
	p.mu.Lock()
	p.closed = true
	if p.listener != nil {
		p.listener.Close()
	}
	for conn := range p.conns {
		conn.Close()
	}
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
	return p.refused, p.why
}

// holds remembers a connection that close must end, and reports whether there is still time for it.
func (p *proxy) holds(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Close()
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *proxy) drop(conn net.Conn) {
	conn.Close()
	p.mu.Lock()
	delete(p.conns, conn)
	p.mu.Unlock()
}

// serve answers one connection: one CONNECT request, and then the tunnel.
func (p *proxy) serve(client net.Conn) {
	if !p.holds(client) {
		return
	}
	defer p.drop(client)
	_ = client.SetReadDeadline(time.Now().Add(headTimeout))
	limited := &io.LimitedReader{R: client, N: maxHeader}
	reader := bufio.NewReader(limited)
	request, err := http.ReadRequest(reader)
	if err != nil {
		answer(client, http.StatusBadRequest, "this is no CONNECT request")
		return
	}
	if request.Method != http.MethodConnect {
		answer(client, http.StatusMethodNotAllowed, "only CONNECT is answered: use https")
		return
	}
	server, err := p.dial(request.RequestURI)
	if err != nil {
		status, message := http.StatusBadGateway, "the host can't be reached"
		var e *interlock.Error
		if errors.As(err, &e) {
			status, message = http.StatusForbidden, e.Message
		}
		p.refuse(request.RequestURI, message)
		answer(client, status, message)
		return
	}
	if !p.holds(server) {
		return
	}
	defer p.drop(server)
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	_ = client.SetReadDeadline(time.Time{})
	early, _ := reader.Peek(reader.Buffered())
	if _, err := server.Write(early); err != nil {
		return
	}
	tunnel(client, server)
}

// tunnel copies both ways until both have ended.
func tunnel(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way[1], way[0])
			if half, ok := way[1].(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			} else {
				way[1].Close()
			}
		})
	}
	both.Wait()
}

// dial decides a host and connects to it.
func (p *proxy) dial(target string) (net.Conn, error) {
	host, port, err := splitTarget(target)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(p.ctx, dialTimeout)
	defer cancel()
	if err := p.network.Decide(ctx, host, port); err != nil {
		return nil, err
	}
	addresses, err := p.network.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if !hostname.Public(a) { // one is enough: a name that leads here as well as there is meant to lead here
			return nil, interlock.Errorf(interlock.CodeUnauthorized, "",
				"%.200s leads to an address of this machine or its networks", host)
		}
	}
	err = errors.New("no address")
	for _, a := range addresses {
		var conn net.Conn
		if conn, err = p.network.Dial(ctx, "tcp", net.JoinHostPort(a.Unmap().String(), strconv.Itoa(port))); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// splitTarget takes a CONNECT request's target apart. A host is a name: an address can't be named in a profile, and what
// looks like one in some notation or other is refused.
func splitTarget(target string) (host string, port int, err error) {
	bad := interlock.Errorf(interlock.CodeInvalid, "", "the target is not NAME:PORT")
	host, text, err := net.SplitHostPort(target)
	if err != nil {
		return "", 0, bad
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return "", 0, bad
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || len(host) > 253 || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return "", 0, bad
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", 0, bad
	}
	return host, port, nil
}

func (p *proxy) refuse(target, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(target) > 100 {
		target = target[:100]
	}
	if !slices.Contains(p.refused, target) && len(p.refused) < 20 {
		p.refused, p.why = append(p.refused, target), append(p.why, why)
	}
}

// answer refuses a request in words the command can print.
func answer(w io.Writer, status int, message string) {
	_, _ = io.WriteString(w, "HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+"\r\nContent-Type: "+
		"text/plain\r\nX-Interlock: "+oneLine(message)+
		"\r\nConnection: close\r\nContent-Length: "+strconv.Itoa(len(message)+1)+"\r\n\r\n"+message+"\n")
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, s)
}
