//go:build !linux && !darwin && !windows

package hook

import "net"

// ownPeer leaves it to the signature: what the system tells of who listens is not asked for here.
func ownPeer(net.Conn, string) error { return nil }
