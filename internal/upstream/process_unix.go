//go:build unix

package upstream

import (
	"io/fs"
	"os"
	"syscall"
)

// A group is a process group.
type group struct{ id int }

func groupOf(p *os.Process) (group, error) { return group{p.Pid}, nil }

// terminate asks every process of the group to end.
func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }

// kill ends every process of the group. The group's number is taken while one of them lives; when none does, nothing is hit.
func (g group) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

// runnable reports whether a file may be a program.
func runnable(mode fs.FileMode) bool { return mode.Perm()&0o111 != 0 }

// programExtensions are what may follow the name of a program.
func programExtensions(func(string) string) []string { return []string{""} }
