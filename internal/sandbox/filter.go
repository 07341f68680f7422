package sandbox

import (
	"encoding/binary"
	"fmt"
)

// An instruction is one of classic BPF, as seccomp takes it.
type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// The few forms of instruction the filter needs.
const (
	bpfLoad   = 0x20 // BPF_LD|BPF_W|BPF_ABS
	bpfEqual  = 0x15 // BPF_JMP|BPF_JEQ|BPF_K
	bpfAtMost = 0x25 // BPF_JMP|BPF_JGT|BPF_K
	bpfSet    = 0x45 // BPF_JMP|BPF_JSET|BPF_K
	bpfReturn = 0x06 // BPF_RET|BPF_K

	actAllow = 0x7fff0000
	actKill  = 0x80000000 // the whole process
	actErrno = 0x00050000

	errPerm     = 1
	errNoSys    = 38
	errNotHere  = 95 // "not supported": programs write zeros instead
	errNoFamily = 97

	offNumber = 0
	offArch   = 4
	offFirst  = 16 // low half of the first argument, on the little-endian machines we know
	offSecond = 24
)

// An architecture is what the filter must know of one: its audit number, the bit that marks a foreign calling convention,
// and its system calls by name.
type architecture struct {
	audit   uint32
	foreign uint32
	last    uint32 // the newest call this filter knows; those behind it don't exist inside
	calls   map[string]uint32
}

// denied are the calls a command has no business with, no matter who runs it: they make or enter namespaces, mount, look into
// other processes, load code into the kernel, or are roads into it that are seldom used and often broken.
var denied = []string{
	"mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount",
	"fspick", "mount_setattr",
	"setns", "unshare",
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"add_key", "request_key", "keyctl",
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
	"reboot", "swapon", "swapoff", "acct", "syslog", "quotactl", "quotactl_fd", "nfsservctl", "lookup_dcookie",
	"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "vhangup", "personality",
	"open_by_handle_at", "name_to_handle_at", "fanotify_init", "fanotify_mark", "move_pages", "migrate_pages",
	"iopl", "ioperm", "modify_ldt", "uselib", "ustat", "sysfs", "_sysctl",
}

// newNamespaces are the flags of clone that make a namespace.
const newNamespaces = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

// typing are the ioctls that put words into a terminal's input.
var typing = []uint32{0x5412, 0x541c} // TIOCSTI, TIOCLINUX

// Socket families. Everything else is refused: vsock leaves a virtual machine past every namespace, and the rest are roads
// into the kernel that commands don't need.
const (
	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16
)

// filter assembles the program. A call of another architecture or calling convention kills the process, because the numbers
// below mean something else there.
func filter(arch architecture, unixSockets bool) []instruction {
	families := []uint32{familyInet, familyInet6, familyNetlink}
	if unixSockets {
		families = append(families, familyUnix)
	}
	p := []instruction{
		{bpfLoad, 0, 0, offArch},
		{bpfEqual, 1, 0, arch.audit},
		{bpfReturn, 0, 0, actKill},
		{bpfLoad, 0, 0, offNumber},
	}
	if arch.foreign != 0 {
		p = append(p, instruction{bpfSet, 0, 1, arch.foreign}, instruction{bpfReturn, 0, 0, actKill})
	}
	p = append(p, instruction{bpfAtMost, 0, 1, arch.last}, instruction{bpfReturn, 0, 0, actErrno | errNoSys})
	for _, name := range denied {
		if number, known := arch.calls[name]; known {
			p = append(p, refuse(number, errPerm)...)
		}
	}
	// glibc falls back to clone where clone3 is missing, and only clone's flags can be read here.
	p = append(p, refuse(arch.calls["clone3"], errNoSys)...)
	// What fallocate takes is not accounted to the process that takes it, and the limit on disk lives from that account.
	p = append(p, refuse(arch.calls["fallocate"], errNotHere)...)
	p = append(p, instruction{bpfEqual, 0, 4, arch.calls["clone"]}, instruction{bpfLoad, 0, 0, offFirst},
		instruction{bpfSet, 0, 1, newNamespaces}, instruction{bpfReturn, 0, 0, actErrno | errPerm},
		instruction{bpfReturn, 0, 0, actAllow})
	p = append(p, argument(arch.calls["ioctl"], offSecond, typing, true, errPerm)...)
	p = append(p, argument(arch.calls["socket"], offFirst, families, false, errNoFamily)...)
	return append(p, instruction{bpfReturn, 0, 0, actAllow})
}

// refuse answers one call with an error.
func refuse(number uint32, errno uint32) []instruction {
	return []instruction{{bpfEqual, 0, 1, number}, {bpfReturn, 0, 0, actErrno | errno}}
}

// argument answers one call by an argument: with an error if it is one of the values and they are bad, or if it is none of
// them and they are good; else it allows.
func argument(number, offset uint32, values []uint32, bad bool, errno uint32) []instruction {
	found, other := uint32(actAllow), actErrno|errno
	if bad {
		found, other = other, found
	}
	n := len(values)
	p := []instruction{{bpfEqual, 0, uint8(n + 3), number}, {bpfLoad, 0, 0, offset}}
	for i, v := range values {
		p = append(p, instruction{bpfEqual, uint8(n - i), 0, v})
	}
	return append(p, instruction{bpfReturn, 0, 0, other}, instruction{bpfReturn, 0, 0, found})
}

// filterFor returns the filter for a Go architecture as the kernel reads it.
func filterFor(goarch string, unixSockets bool) ([]byte, error) {
	arch, known := architectures()[goarch]
	if !known {
		return nil, fmt.Errorf("the system call filter knows amd64 and arm64, and this is %s", goarch)
	}
	var out []byte
	for _, i := range filter(arch, unixSockets) {
		out = binary.LittleEndian.AppendUint16(out, i.code)
		out = append(out, i.jt, i.jf)
		out = binary.LittleEndian.AppendUint32(out, i.k)
	}
	return out, nil
}
