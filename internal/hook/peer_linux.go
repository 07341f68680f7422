package hook

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// ownPeer refuses a listener that another user runs, as the kernel tells.
func ownPeer(conn net.Conn, _ string) error { return peerIs(conn, os.Geteuid()) }

// peerIs refuses a listener that is not run by the user.
func peerIs(conn net.Conn, user int) error {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("it is no socket of this machine")
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var asked error
	if err := raw.Control(func(fd uintptr) {
		peer, asked = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if asked != nil {
		return asked
	}
	if int(peer.Uid) != user {
		return errors.New("another user listens on it")
	}
	return nil
}
