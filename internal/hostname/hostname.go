// Package hostname says under which names a server answers, and which addresses are the internet's. A page that resolves its
// own name to 127.0.0.1 reaches a port of
// this machine, and its browser names that name in Host; so a server that answers under any name answers to any page.
package hostname

import (
	"net"
	"strings"
)

// Names are what a server is called beside the loopback interface. Case means nothing in them. The zero value has none.
type Names struct {
	more map[string]bool
}

// New returns names, each of them for every port or, as name:port, for one.
func New(names ...string) Names {
	n := Names{more: make(map[string]bool, len(names))}
	for _, name := range names {
		n.more[strings.ToLower(name)] = true
	}
	return n
}

// Has reports whether a request's Host is one of the names, or the loopback interface's under any port.
func (n Names) Has(host string) bool {
	host = strings.ToLower(host)
	if n.more[host] {
		return true
	}
	name := host
	if split, _, err := net.SplitHostPort(host); err == nil {
		name = split
	}
	switch name {
	case "127.0.0.1", "localhost", "::1", "[::1]":
		return true
	}
	return n.more[name]
}
