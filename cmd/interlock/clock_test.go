package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheClockIsMovedInOnePlace: a program that was started has the machine's clock. Another one is a value that the conformance run
// makes, and nothing else in this package sets one: no flag, no setting, no variable of the environment.
func TestTheClockIsMovedInOnePlace(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	sets := regexp.MustCompile(`\bclock:|\.clock\s*=[^=]|OpenClocked\(`)
	var found []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if sets.MatchString(line) {
				found = append(found, f.Name()+": "+strings.TrimSpace(line))
			}
		}
	}
	for _, line := range found {
		if !strings.HasPrefix(line, "conformance_maso.go: ") && !strings.Contains(line, "p.clock)") {
			t.Errorf("%s: only the conformance run moves a clock", line)
		}
	}
	if len(found) != 4 {
		t.Errorf("found %q", found)
	}
}
