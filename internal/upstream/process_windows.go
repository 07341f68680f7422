package upstream

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is a job object: it ends with its last handle, which is ours, and everything in it with it.
type group struct{ job windows.Handle }

// groupOf puts a program into a job. What it started in the moment before is not in it: the accepted risk is that so early a
// child outlives its parent.
func groupOf(p *os.Process) (group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return group{}, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)),
		uint32(unsafe.Sizeof(limits))); err == nil {
		var handle windows.Handle
		if handle, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false,
			uint32(p.Pid)); err == nil {
			err = windows.AssignProcessToJobObject(job, handle)
			_ = windows.CloseHandle(handle)
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return group{}, err
	}
	return group{job}, nil
}

// terminate does nothing: Windows has no signal that a program without a console would get.
func (g group) terminate() {}

// kill ends everything in the job.
func (g group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{HideWindow: true} }

func runnable(mode fs.FileMode) bool { return mode.IsRegular() }

// programExtensions are what may follow the name of a program.
func programExtensions(getenv func(string) string) []string {
	list := getenv("PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	return append([]string{""}, strings.Split(strings.ToLower(list), ";")...)
}
