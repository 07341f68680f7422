package httpapi

import (
	"net"
	"syscall"
)

// peerOf is the user at the other end of a unix socket, as the kernel noted it when the connection was made.
func peerOf(conn net.Conn) (uid int, known bool) {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, false
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		if peer, asked := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); asked == nil {
			uid, known = int(peer.Uid), true
		}
	})
	return uid, known && err == nil
}
