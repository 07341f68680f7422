//go:build linux

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// attemptWord is the first argument that makes the test binary one attempt to escape, inside a sandbox.
const attemptWord = "attempt-to-escape"

// attempt runs inside: it prints ESCAPED for everything that should not have worked.
func attempt(args []string) {
	switch args[0] {
	case "calls":
		calls()
	case "convention":
		syscall.RawSyscall(0x40000000|39, 0, 0, 0) // getpid of x32; arm64 has no such call at all
		escaped("a call of another convention was answered")
	case "open":
		open(args[1:])
	case "connect":
		connect(args[1], args[2])
	case "signal":
		signal(args[1])
	case "many-files":
		manyFiles()
	case "memory":
		grow(args[1])
	case "memfd":
		memfd()
	case "setuid":
		setuid()
	case "terminal":
		terminal()
	case "unix":
		unix(args[1:])
	}
	fmt.Println("tried")
}

func escaped(format string, args ...any) { fmt.Printf("ESCAPED: "+format+"\n", args...) }

// must expects a call to fail.
func must(name string, number uintptr, args ...uintptr) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return
	}
	escaped("%s returned %d", name, r)
}

// calls tries system calls that the filter refuses, with arguments that would work where they are allowed.
func calls() {
	path, none := text("/"), text("none")
	must("unshare", syscall.SYS_UNSHARE, syscall.CLONE_NEWUSER)
	must("unshare mounts", syscall.SYS_UNSHARE, syscall.CLONE_NEWNS)
	must("clone3", 435, 0, 0)
	if pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, syscall.CLONE_NEWUSER|uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0); errno == 0 {
		if pid == 0 {
			syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
		}
		escaped("clone made a user namespace")
	}
	if fd, err := syscall.Open("/proc/1/ns/pid", syscall.O_RDONLY, 0); err == nil {
		must("setns", 308, uintptr(fd), 0)
	}
	must("ptrace", syscall.SYS_PTRACE, syscall.PTRACE_TRACEME)
	must("process_vm_readv", callNumbers()["process_vm_readv"], 1, 0, 0, 0, 0, 0)
	must("mount", syscall.SYS_MOUNT, none, text("/tmp"), text("tmpfs"), 0, 0)
	must("mount bind", syscall.SYS_MOUNT, path, text("/tmp"), 0, syscall.MS_BIND, 0)
	must("umount2", syscall.SYS_UMOUNT2, text("/tmp"), syscall.MNT_DETACH)
	must("pivot_root", syscall.SYS_PIVOT_ROOT, text("/tmp"), text("/tmp"))
	must("chroot", syscall.SYS_CHROOT, text("/tmp"))
	must("fsopen", 430, text("tmpfs"), 0)
	must("open_tree", 428, ^uintptr(99), path, 1)
	must("move_mount", 429, 0, path, 0, path, 0)
	var attributes [128]byte
	must("bpf", callNumbers()["bpf"], 0, uintptr(unsafe.Pointer(&attributes)), uintptr(len(attributes)))
	must("io_uring_setup", 425, 1, uintptr(unsafe.Pointer(&attributes)))
	must("userfaultfd", callNumbers()["userfaultfd"], 1)
	must("perf_event_open", callNumbers()["perf_event_open"], uintptr(unsafe.Pointer(&attributes)), 0, ^uintptr(0), ^uintptr(0), 0)
	must("keyctl", callNumbers()["keyctl"], 0, ^uintptr(2), 1)
	must("add_key", callNumbers()["add_key"], text("user"), text("x"), path, 1, ^uintptr(2))
	must("init_module", syscall.SYS_INIT_MODULE, path, 1, path)
	must("kexec_load", callNumbers()["kexec_load"], 0, 0, 0, 0)
	must("reboot", syscall.SYS_REBOOT, 0xfee1dead, 672274793, 0)
	must("open_by_handle_at", callNumbers()["open_by_handle_at"], 0, uintptr(unsafe.Pointer(&attributes)), 0)
	must("a call of tomorrow", 470, 0, 0)
	must("mknod", syscall.SYS_MKNODAT, ^uintptr(99), text("/tmp/disk"), syscall.S_IFBLK|0o666, 8<<8)
	for _, family := range []uintptr{syscall.AF_PACKET, 40 /* vsock */, 38 /* alg */, 30 /* tipc */, 21 /* rds */} {
		must(fmt.Sprintf("socket of family %d", family), syscall.SYS_SOCKET, family, syscall.SOCK_STREAM, 0)
	}
	must("sched realtime", syscall.SYS_SCHED_SETSCHEDULER, 0, 1, uintptr(unsafe.Pointer(&[1]int32{50})))
	runtime.KeepAlive(attributes)
}

func text(s string) uintptr {
	p, err := syscall.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

// kept holds what system calls were given as numbers.
var kept []*byte

// callNumbers are calls whose numbers package syscall does not name.
func callNumbers() map[string]uintptr {
	if runtime.GOARCH == "arm64" {
		return map[string]uintptr{"process_vm_readv": 270, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "keyctl": 219,
			"add_key": 217, "kexec_load": 104, "open_by_handle_at": 265, "memfd_create": 279}
	}
	return map[string]uintptr{"process_vm_readv": 310, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "keyctl": 250,
		"add_key": 248, "kexec_load": 246, "open_by_handle_at": 304, "memfd_create": 319}
}

// open tries to open files, for reading and for writing.
func open(paths []string) {
	for _, path := range paths {
		how, name, _ := strings.Cut(path, ":")
		flags := os.O_RDONLY
		if how == "w" {
			flags = os.O_WRONLY
		}
		if file, err := os.OpenFile(name, flags, 0); err == nil {
			var one [1]byte
			n := 1
			if how == "r" {
				n, _ = file.Read(one[:]) // what is masked is there and empty
			}
			if n > 0 {
				escaped("%s was opened", path)
			}
			file.Close()
		}
	}
}

func connect(network, address string) {
	conn, err := net.DialTimeout(network, address, 2*time.Second)
	if err == nil {
		conn.Close()
		escaped("%s %s answered", network, address)
	}
}

func unix(paths []string) {
	for _, path := range paths {
		connect("unix", path)
	}
	if l, err := net.Listen("unix", "/tmp/socket"); err == nil {
		l.Close()
		escaped("a unix socket was made")
	}
}

// signal kills every process it can name but itself.
func signal(victim string) {
	pid, err := strconv.Atoi(victim)
	if err != nil {
		panic(err)
	}
	for n := 2; n < 70000; n++ {
		if n != os.Getpid() {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
	if syscall.Kill(pid, 0) == nil && pid != os.Getpid() {
		escaped("process %d can be seen", pid)
	}
}

func manyFiles() {
	for n := 0; ; n++ {
		fd, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0)
		if err != nil {
			return
		}
		if fd >= 100 {
			escaped("%d files are open", fd+1)
			return
		}
	}
}

// grow takes memory, in one process or in many.
func grow(how string) {
	if how == "many" {
		for range 20 {
			command := exec.Command("/proc/self/exe", attemptWord, "memory", "one")
			if command.Start() != nil {
				return
			}
		}
	}
	var held [][]byte
	for range 512 {
		block := make([]byte, 4<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		held = append(held, block)
	}
	escaped("%d blocks of 4 MB are held", len(held))
}

// memfd fills a file in memory that has no name.
func memfd() {
	fd, _, errno := syscall.Syscall(callNumbers()["memfd_create"], text("x"), 0, 0)
	if errno != 0 {
		return
	}
	block := make([]byte, 1<<20)
	for range 2048 {
		if n, err := syscall.Write(int(fd), block); err != nil || n < len(block) {
			return
		}
	}
	escaped("2 GB are in a file without a name")
}

// setuid tries to become somebody.
func setuid() {
	if syscall.Setuid(0) == nil {
		escaped("setuid")
	}
	must("setgroups", syscall.SYS_SETGROUPS, 0, 0)
	for _, process := range []string{"self", "1"} { // the first process is bubblewrap's, and lives behind the same walls
		status, err := os.ReadFile("/proc/" + process + "/status")
		if err != nil {
			escaped("the status can't be read: %v", err)
		}
		for _, want := range []string{"CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(string(status), want) {
				escaped("%q is not so of process %s", want, process)
			}
		}
	}
	for _, dir := range []string{".", "/tmp"} {
		path := filepath.Join(dir, "id")
		program, err := os.ReadFile("/usr/bin/id")
		if err != nil || os.WriteFile(path, program, 0o755) != nil {
			continue
		}
		_ = os.Chmod(path, 0o755|os.ModeSetuid)
		if out, err := exec.Command(path, "-u").Output(); err == nil && strings.TrimSpace(string(out)) != "1000" {
			escaped("a setuid program ran as %s", out)
		}
	}
}

func terminal() {
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		tty.Close()
		escaped("/dev/tty was opened")
	}
	for fd := range uintptr(3) {
		c := byte('x')
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, 0x5412, uintptr(unsafe.Pointer(&c))); errno == 0 {
			escaped("a letter was typed")
		} else if errno != syscall.EPERM {
			escaped("typing is not refused by the filter: %v", errno)
		}
	}
}
