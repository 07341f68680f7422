package setup

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain lets a copy of the test binary stand in for the program that setup has put in place and tries: it says a version
// and ends. It must not run these tests, which would copy it again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		fmt.Println("interlock (a test)")
		return
	}
	os.Exit(m.Run())
}
