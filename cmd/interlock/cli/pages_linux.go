package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// returnProgramPages lets go of the pages of the program's own file that were read into this process: most of them hold what only
// its start runs. They are the same in the file and mostly still in the system's cache, from where whatever is used next comes
// back by itself. Where the system tells nothing of them they stay.
func returnProgramPages() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		var from, to uintptr
		var may string
		// What may be written is this process's own, and would be lost.
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &may); n != 3 || may != "r-xp" && may != "r--p" ||
			!strings.HasSuffix(line, " "+program) {
			continue
		}
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED) // refused: they stay
	}
}
