package lineage

import (
	"os"
	"syscall"
	"unsafe"
)

// above returns this process's ancestors by the names of their programs, nearest first: a snapshot says no more of them.
func above(most int) []Process {
	snapshot, err := syscall.CreateToolhelp32Snapshot(syscall.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer syscall.CloseHandle(snapshot)
	type known struct {
		parent uint32
		name   string
	}
	all := map[uint32]known{}
	var entry syscall.ProcessEntry32
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = syscall.Process32First(snapshot, &entry); err == nil; err = syscall.Process32Next(snapshot, &entry) {
		all[entry.ProcessID] = known{entry.ParentProcessID, syscall.UTF16ToString(entry.ExeFile[:])}
	}
	var line []Process
	for pid := uint32(os.Getppid()); len(line) < most; {
		one, found := all[pid]
		if !found || pid == 0 {
			break
		}
		line = append(line, Process{Args: []string{one.name}, pid: int(pid)})
		pid = one.parent
	}
	return line
}
