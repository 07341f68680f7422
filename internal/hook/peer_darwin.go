package hook

import (
	"errors"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// What getsockopt wants for the credentials of who listens: see unix(4) and struct xucred in sys/ucred.h.
const (
	levelLocal    = 0
	localPeerCred = 1
)

type credentials struct {
	version uint32
	user    uint32
	count   int16
	groups  [16]uint32
}

// ownPeer refuses a listener that another user runs, as the kernel tells.
func ownPeer(conn net.Conn, _ string) error {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("it is no socket of this machine")
	}
	raw, err := local.SyscallConn()
	if err != nil {
		return err
	}
	var peer credentials
	var failed syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		size := uint32(unsafe.Sizeof(peer))
		_, _, failed = syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, levelLocal, localPeerCred,
			uintptr(unsafe.Pointer(&peer)), uintptr(unsafe.Pointer(&size)), 0)
	}); err != nil {
		return err
	}
	if failed != 0 {
		return failed
	}
	if int64(peer.user) != int64(os.Geteuid()) {
		return errors.New("another user listens on it")
	}
	return nil
}

// peerIs: there is no server of the system's here.
func peerIs(net.Conn, int) error {
	return errors.New("a server of the system's is known on Linux only")
}
