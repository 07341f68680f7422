package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// The numbers of rlimits that package syscall does not name.
const (
	rlimitNproc    = 6
	rlimitMemlock  = 8
	rlimitMsgqueue = 12
)

// setLimits binds a process, and all it will start, before the command begins. Only what must be held for each process is
// held here: totals are the cgroups' business.
func setLimits(pid int, l Limits, walls Walls) error {
	seconds := uint64((l.Time + time.Second - 1) / time.Second)
	limits := map[int]uint64{
		syscall.RLIMIT_CPU:    seconds + 1,
		syscall.RLIMIT_FSIZE:  uint64(l.Disk),
		syscall.RLIMIT_NOFILE: uint64(l.Files),
		syscall.RLIMIT_CORE:   0,
		rlimitMemlock:         64 << 10,
		rlimitMsgqueue:        0,
		// One more than the command may have, for the process that reaps the sandbox's orphans. It counts in the sandbox's own
		// user namespace, and binds everybody but the host's root.
		rlimitNproc: uint64(l.Processes) + 1,
	}
	if walls.Memory == byRlimit {
		limits[syscall.RLIMIT_DATA] = uint64(l.Memory)
	}
	for resource, value := range limits {
		var ours syscall.Rlimit // what the process that started us may have bounded more tightly, and the child can't be given back
		if err := processLimit(pid, resource, nil, &ours); err != nil {
			return err
		}
		value = min(value, ours.Max)
		if err := processLimit(pid, resource, &syscall.Rlimit{Cur: value, Max: value}, nil); err != nil {
			return err
		}
	}
	return nil
}

// processLimit sets a limit of a process, or reads it.
func processLimit(pid, resource int, limit, old *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(sysPrlimit64, uintptr(pid), uintptr(resource), uintptr(unsafe.Pointer(limit)),
		uintptr(unsafe.Pointer(old)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("setting limit %d: %w", resource, errno)
	}
	return nil
}

// The numbers of the calls on processes that are held like files, the same on every architecture.
const (
	sysPidfdSendSignal = 424
	sysPidfdOpen       = 434
)

// openProcess takes hold of a process that must be the child of another.
func openProcess(pid, parent int) (*os.File, error) {
	fd, _, errno := syscall.RawSyscall(sysPidfdOpen, uintptr(pid), 0, 0)
	if errno != 0 {
		return nil, fmt.Errorf("taking hold of the sandbox's first process (Linux 5.3 or newer is needed): %w", errno)
	}
	file := os.NewFile(fd, "process")
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err == nil && field(string(status), "PPid:") != int64(parent) {
		err = fmt.Errorf("process %d is not the sandbox's first", pid)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// endProcess kills a process and waits until it is gone. The first one of a pid namespace goes after all others.
func endProcess(process *os.File) error {
	_, _, errno := syscall.Syscall6(sysPidfdSendSignal, process.Fd(), uintptr(syscall.SIGKILL), 0, 0, 0, 0)
	if errno == syscall.ESRCH {
		return nil
	}
	if errno != 0 {
		return errno
	}
	type pollfd struct {
		fd              int32
		events, revents int16
	}
	one := pollfd{fd: int32(process.Fd()), events: 1}
	patience := syscall.Timespec{Sec: 10}
	for {
		n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&one)), 1,
			uintptr(unsafe.Pointer(&patience)), 0, 0, 0)
		switch {
		case errno == syscall.EINTR:
		case errno != 0:
			return errno
		case n == 0:
			return fmt.Errorf("it did not end within %d s", patience.Sec)
		default:
			return nil
		}
	}
}

// family returns a process and all its descendants, as far as they can be seen now.
func family(pid int) []int {
	found := []int{pid}
	for i := 0; i < len(found); i++ {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", found[i]))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", found[i], task.Name()))
			if err != nil {
				continue
			}
			for _, word := range strings.Fields(string(children)) {
				if child, err := strconv.Atoi(word); err == nil {
					found = append(found, child)
				}
			}
		}
	}
	return found
}

// written is how much the processes, and those of their children that are gone, have put on disk. The kernel counts a page
// when it is made dirty and takes it back when it is cut off unwritten.
func written(pids []int) int64 {
	total := int64(0)
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
		if err != nil {
			continue // gone; what it did counts with its parent
		}
		total += field(string(text), "write_bytes:") - field(string(text), "cancelled_write_bytes:")
	}
	return total
}

// resident is how much memory the processes hold, shared pages by share.
func resident(pids []int) int64 {
	total := int64(0)
	for _, pid := range pids {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)); err == nil {
			total += field(string(text), "Pss:") << 10
		}
	}
	return total
}

// field reads the number behind a name at the beginning of a line.
func field(text, name string) int64 {
	for _, line := range strings.Split(text, "\n") {
		rest, found := strings.CutPrefix(line, name)
		if !found {
			continue
		}
		words := strings.Fields(rest)
		if len(words) == 0 {
			return 0
		}
		n, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}
