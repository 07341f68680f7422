package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ancestors returns the command lines of this process's ancestors, nearest first.
func ancestors(most int) [][]string {
	var lines [][]string
	for pid := os.Getppid(); pid > 1 && len(lines) < most; {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			break
		}
		lines = append(lines, strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00"))
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		// The name in parentheses may hold anything, spaces and parentheses too; the parent is the second field after it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			break
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			break
		}
	}
	return lines
}
