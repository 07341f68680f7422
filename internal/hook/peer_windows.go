package hook

import (
	"errors"
	"net"
	"syscall"
	"unsafe"
)

// What GetNamedSecurityInfo is asked for.
const (
	fileObject       = 1
	ownerInformation = 1
	administrators   = "S-1-5-32-544" // who own what an administrator's elevated programs make
)

// ownPeer refuses a socket whose file is another user's: Windows tells no more of who listens.
func ownPeer(_ net.Conn, socket string) error {
	token, err := syscall.OpenCurrentProcessToken()
	if err != nil {
		return err
	}
	defer token.Close()
	user, err := token.GetTokenUser()
	if err != nil {
		return err
	}
	self, err := user.User.Sid.String()
	if err != nil {
		return err
	}
	owner, err := fileOwner(socket)
	if err != nil {
		return err
	}
	if owner != self && owner != administrators {
		return errors.New("another user made it")
	}
	return nil
}

// fileOwner is the security identifier of whom a file belongs to.
func fileOwner(path string) (string, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	ask := syscall.NewLazyDLL("advapi32.dll").NewProc("GetNamedSecurityInfoW")
	if err := ask.Find(); err != nil {
		return "", err
	}
	var owner *syscall.SID
	var descriptor syscall.Handle
	failed, _, _ := ask.Call(uintptr(unsafe.Pointer(name)), fileObject, ownerInformation, uintptr(unsafe.Pointer(&owner)), 0, 0, 0,
		uintptr(unsafe.Pointer(&descriptor)))
	if failed != 0 {
		return "", syscall.Errno(failed)
	}
	defer syscall.LocalFree(descriptor)
	return owner.String()
}

// peerIs: there is no server of the system's here.
func peerIs(net.Conn, int) error {
	return errors.New("a server of the system's is known on Linux only")
}
