package lineage

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// above returns this process's ancestors with their arguments and environments, nearest first.
func above(most int) []Process {
	var line []Process
	for pid := os.Getppid(); pid > 1 && len(line) < most; {
		known, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			break
		}
		p := Process{pid: pid, Args: []string{unix.ByteSliceToString(known.Proc.P_comm[:])}}
		if text, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
			if args, env := splitArguments(text); len(args) > 0 {
				p.Args, p.Env = args, env
			}
		}
		line = append(line, p)
		pid = int(known.Eproc.Ppid)
	}
	return line
}

// splitArguments reads what the kernel tells of a process: how many arguments there are, the program's path, zeros, the arguments,
// the environment.
func splitArguments(text []byte) (args, env []string) {
	if len(text) < 4 {
		return nil, nil
	}
	count := int(binary.LittleEndian.Uint32(text))
	_, rest, found := bytes.Cut(text[4:], []byte{0})
	if !found {
		return nil, nil
	}
	words := strings.Split(strings.TrimRight(string(bytes.TrimLeft(rest, "\x00")), "\x00"), "\x00")
	if count < 1 || count > len(words) {
		return nil, nil
	}
	return words[:count], words[count:]
}
