package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"interlock/test/terminal"
)

// sitter is a program of scripts: `sitter [REGEXP=TEXT]… -- PROGRAM ARGS…` runs a program whose three streams are a terminal of 24
// lines and 100 columns. Where the screen shows what REGEXP matches, TEXT and Enter are typed, in order. It prints the screen.
func sitter() {
	var answers []terminal.Answer
	args := os.Args[1:]
	for ; len(args) > 0 && args[0] != "--"; args = args[1:] {
		shown, text, _ := strings.Cut(args[0], "=")
		answers = append(answers, terminal.Answer{Shown: regexp.MustCompile(shown), Type: text + "\n"})
	}
	command := exec.Command(args[1], args[2:]...)
	screen, err := terminal.Sit(command, 24, 100, answers)
	fmt.Print(strings.ReplaceAll(screen, "\r\n", "\n"))
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "sitter:", err)
		os.Exit(1)
	}
}
