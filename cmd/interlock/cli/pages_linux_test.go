package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// What the program's file takes in memory becomes less, and the program goes on.
func TestReturnProgramPages(t *testing.T) {
	fromFile := func() (kb int) {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if n, _ := fmt.Sscanf(line, "RssFile: %d kB", &kb); n == 1 {
				return kb
			}
		}
		t.Fatal("the system does not tell what is from files")
		return 0
	}
	before := fromFile()
	returnProgramPages()
	if after := fromFile(); after > before/2 {
		t.Errorf("%d kB from files before, %d after", before, after)
	}
}
