package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// The variables in which the program that stands in for go is told where go is, and how long a package's tests may run.
const (
	realGo   = "MUTANTS_GO"
	patience = "MUTANTS_PATIENCE"
)

// notViable is the exit code that gremlins takes for a break that is none.
const notViable = 2

// compile stands in for go while gremlins runs. Since go test ends with 1 both where a test fails and where nothing could be compiled,
// gremlins takes a text minus a text for a break that was noticed; here that is told apart. So are tests that do not end, for which
// gremlins would wait by a time that has the compiler's in it, minutes for each loop without an end. And it leaves out what only
// costs time with a thousand runs: vet, and the tables for debuggers.
func compile(args []string) int {
	measures := slices.ContainsFunc(args, func(a string) bool { return a == "-coverprofile" })
	tests := len(args) > 0 && args[0] == "test" && !measures
	if tests {
		args = append([]string{"test", "-vet=off", "-ldflags=-w"}, args[1:]...)
		if at := slices.Index(args, "-timeout"); at >= 0 && at+1 < len(args) && os.Getenv(patience) != "" {
			args[at+1] = os.Getenv(patience)
		}
	}
	var said bytes.Buffer
	cmd := exec.Command(os.Getenv(realGo), args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	_, _ = os.Stdout.Write(said.Bytes())
	var ended *exec.ExitError
	if at := slices.Index(args, "-coverprofile"); err == nil && at >= 0 && at+1 < len(args) {
		err = coverCases(".", args[at+1])
	}
	switch {
	case err == nil:
		return 0
	case tests && isNone(said.String()):
		return notViable
	case errors.As(err, &ended) && ended.ExitCode() > 0:
		return ended.ExitCode()
	default:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 1
	}
}

// isNone reports whether what go test said means that there was nothing to notice, or nobody can tell.
func isNone(said string) bool {
	return strings.Contains(said, "[build failed]") || strings.Contains(said, "[setup failed]") ||
		strings.Contains(said, "panic: test timed out after")
}
