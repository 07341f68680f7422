//go:build unix && !linux

package upstream

import "syscall"

// attributes put a program into a process group of its own. When this process is killed, the end of its input tells it so.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
