package mcphttp

import (
	"context"
	"crypto/tls"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"interlock/internal/meter"
)

// A doorway is a listener with room for so many connections. Where there is none left, one with nothing under way makes room
// for the next: first those that have shown no credential, the oldest first, then those that have been silent for longest. So
// connections that are opened and left lying keep nobody out, and a request that is under way is never cut off for another. Only
// if all are busy is a new connection closed.
type doorway struct {
	net.Listener
	most       int
	perAddress int // of one remote address; this machine's own are not counted
	logger     *slog.Logger

	mu        sync.Mutex
	inside    map[*visit]struct{}
	addresses map[netip.Prefix]int
	told      meter.Allowance // of lines about connections that were closed
}

// A visit is one connection of a client.
type visit struct {
	net.Conn
	door  *doorway
	from  netip.Prefix // zero: this machine
	known atomic.Bool  // a credential was shown and taken
	busy  atomic.Int64 // requests under way; far below zero: it is being closed
	since atomic.Int64 // when it came, or its last request ended, in ns
	left  sync.Once
}

const leaving = math.MinInt64 / 2

func newDoorway(listener net.Listener, limits Limits, logger *slog.Logger) *doorway {
	return &doorway{Listener: listener, most: limits.Connections, perAddress: limits.PerAddress, logger: logger,
		told: meter.Allowance{Most: 1, Per: time.Minute}, inside: map[*visit]struct{}{}, addresses: map[netip.Prefix]int{}}
}

// Accept returns the next connection there is room for.
func (d *doorway) Accept() (net.Conn, error) {
	for {
		connection, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if v := d.admit(connection); v != nil {
			return v, nil
		}
		_ = connection.Close() // there is nothing to say to it before a request was read
	}
}

// admit finds room for a connection; nil: there is none.
func (d *doorway) admit(connection net.Conn) *visit {
	v := &visit{Conn: connection, door: d, from: remote(connection)}
	v.since.Store(time.Now().UnixNano())
	d.mu.Lock()
	var out *visit
	room := true
	switch {
	case v.from.IsValid() && d.addresses[v.from] >= d.perAddress:
		out = d.showOutLocked(v.from)
		room = out != nil
	case len(d.inside) >= d.most:
		out = d.showOutLocked(netip.Prefix{})
		room = out != nil
	}
	if room {
		d.inside[v] = struct{}{}
		if v.from.IsValid() {
			d.addresses[v.from]++
		}
	}
	tell := 0
	if out != nil || !room {
		if may, missed := d.told.Take(time.Now()); may { // one that fills the room must not fill the log too
			tell = missed + 1
		}
	}
	d.mu.Unlock()
	if tell > 0 {
		d.logger.Warn("the gateway has more connections than gateway.connections or connections_per_address lets in", "closed", tell)
	}
	if out != nil {
		_ = out.Close()
	}
	if !room {
		return nil
	}
	return v
}

// showOutLocked takes out the connection that can be spared most easily, of one address if one is given; nil: all are busy.
func (d *doorway) showOutLocked(from netip.Prefix) *visit {
	for {
		var spare *visit
		for v := range d.inside {
			if from.IsValid() && v.from != from || v.busy.Load() != 0 {
				continue
			}
			if spare == nil || !v.known.Load() && spare.known.Load() || v.known.Load() == spare.known.Load() &&
				v.since.Load() < spare.since.Load() {
				spare = v
			}
		}
		if spare == nil {
			return nil
		}
		if spare.busy.CompareAndSwap(0, leaving) { // or a request came just now
			d.forgetLocked(spare)
			return spare
		}
	}
}

func (d *doorway) forgetLocked(v *visit) {
	if _, ok := d.inside[v]; !ok {
		return
	}
	delete(d.inside, v)
	if !v.from.IsValid() {
		return
	}
	if d.addresses[v.from]--; d.addresses[v.from] == 0 {
		delete(d.addresses, v.from)
	}
}

// Close closes the connection and makes its room free.
func (v *visit) Close() error {
	v.left.Do(func() {
		v.door.mu.Lock()
		defer v.door.mu.Unlock()
		v.door.forgetLocked(v)
	})
	return v.Conn.Close()
}

// CloseWrite is what the server ends an answer with where it does not read a request to its end.
func (v *visit) CloseWrite() error {
	if c, ok := v.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// begin counts in a request of someone who was let in. It reports false if the connection is being closed.
func (v *visit) begin() bool {
	v.known.Store(true)
	if v.busy.Add(1) > 0 {
		return true
	}
	v.busy.Add(-1)
	return false
}

func (v *visit) end() {
	v.since.Store(time.Now().UnixNano())
	v.busy.Add(-1)
}

// remote is the network a connection comes from: an address of IPv4, the 64 bits that are one customer's of IPv6. It is the zero
// value for this machine's loopback interface, where all clients share one.
func remote(connection net.Conn) netip.Prefix {
	address, err := netip.ParseAddrPort(connection.RemoteAddr().String())
	if err != nil {
		return netip.Prefix{}
	}
	ip := address.Addr().Unmap().WithZone("")
	if ip.IsLoopback() {
		return netip.Prefix{}
	}
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

type visitKey struct{}

// withVisit lets requests find the connection they came on.
func withVisit(ctx context.Context, connection net.Conn) context.Context {
	if secure, ok := connection.(*tls.Conn); ok {
		connection = secure.NetConn()
	}
	if v, ok := connection.(*visit); ok {
		return context.WithValue(ctx, visitKey{}, v)
	}
	return ctx
}

// visitOf is the connection a request came on; nil: another server's.
func visitOf(r *http.Request) *visit {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	return v
}
