package sandbox

import (
	"bufio"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestAbandonLeavesNothing although what is to end has a child of its own, which holds our pipes and would not go with it.
func TestAbandonLeavesNothing(t *testing.T) {
	command := exec.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	out, told := io.Pipe()
	command.Stdout = told
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	grandchild, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	(&child{command: command}).abandon()
	if text, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(grandchild)).Output(); err == nil && !strings.HasPrefix(string(text), "Z") {
		t.Errorf("process %d is still there: %s", grandchild, text)
		_ = syscall.Kill(grandchild, syscall.SIGKILL)
	}
}
