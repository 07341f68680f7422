//go:build !linux

package lineage

// ancestors knows no way here to look at other processes without running a program.
func ancestors(int) []Process { return nil }

// leaders and groups are not known here.
func leaders(int) [][]Process { return nil }
func groups() []string        { return nil }

// HasChild can't be told here.
func (Process) HasChild([]string) bool { return false }
