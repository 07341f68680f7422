package upstream

import "syscall"

// attributes put a program into a process group of its own, and have the kernel end it when this process is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
