//go:build !linux

package httpapi

import "net"

// peerOf knows nobody: the agents' door is Linux's only.
func peerOf(net.Conn) (uid int, known bool) { return 0, false }
