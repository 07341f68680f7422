//go:build !linux

package terminal

import (
	"errors"
	"os/exec"
	"regexp"
)

var errHere = errors.New("terminal: tests make one on Linux only")

// Run can't make a terminal here yet.
func Run(*exec.Cmd) (string, error) { return "", errHere }

// An Answer is what the person types once the screen shows something.
type Answer struct {
	Shown *regexp.Regexp
	Type  string
}

// Sit can't make a terminal here yet.
func Sit(*exec.Cmd, uint16, uint16, []Answer) (string, error) { return "", errHere }
