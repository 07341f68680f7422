package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/term"

	"interlock"
)

// A screen collects what a command has people read, and shows it at once. At a terminal it is in colour and, where it is longer
// than the terminal is high, goes through a pager; everything else gets the plain text, whole.
type screen struct {
	strings.Builder
	program  *program
	colour   bool
	terminal bool
	width    int // of the terminal in characters; 0: nothing is cut
	height   int // of the terminal in lines; 0: no pager
}

// screen is standard output as people read it.
func (p *program) screen() *screen {
	s := &screen{program: p, terminal: atTerminal(p.stdout)}
	if s.terminal {
		s.width, s.height = sizeOf(p.stdout)
		s.colour = p.coloured()
	}
	return s
}

// atTerminal reports whether a stream is a terminal.
func atTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// sizeOf is how wide and high a terminal is; zeros where it does not say.
func sizeOf(stream any) (width, height int) {
	if file, ok := stream.(*os.File); ok {
		if width, height, err := term.GetSize(int(file.Fd())); err == nil {
			return width, height
		}
	}
	return 0, 0
}

// coloured reports whether a terminal here takes colours and its user wants them: see https://no-color.org.
func (p *program) coloured() bool {
	if p.getenv("NO_COLOR") != "" || p.getenv("TERM") == "dumb" {
		return false
	}
	return runtime.GOOS != "windows" || p.getenv("WT_SESSION") != "" // the old console of Windows shows the codes
}

// A style is how a piece of text looks in colour, as the numbers of the terminal's own codes.
type style string

const (
	plain   style = ""
	heading style = "1"
	faint   style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	alarm   style = "1;31"
)

// paint gives a text its style, where there are colours.
func (s *screen) paint(as style, text string) string {
	if !s.colour || as == plain || text == "" {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}

// verdictStyle is the colour of a verdict.
func verdictStyle(v interlock.Verdict) style {
	switch v {
	case interlock.Allow:
		return green
	case interlock.Ask:
		return yellow
	case interlock.Halt:
		return alarm
	default:
		return red
	}
}

// show prints what was collected.
func (s *screen) show() error {
	text := s.String()
	if s.terminal && s.height > 0 && strings.Count(text, "\n") >= s.height {
		if shown, err := s.paged(text); shown {
			return err
		}
	}
	_, err := io.WriteString(s.program.stdout, text)
	return err
}

// paged has the user's pager show a text: PAGER, else less where there is one. `cat` means none.
func (s *screen) paged(text string) (shown bool, err error) {
	words := strings.Fields(s.program.getenv("PAGER"))
	if len(words) == 0 {
		words = []string{"less"}
	}
	if words[0] == "cat" {
		return false, nil
	}
	program, err := exec.LookPath(words[0])
	if err != nil {
		return false, nil
	}
	pager := exec.Command(program, words[1:]...)
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), s.program.stdout, s.program.stderr
	if pager.Env = os.Environ(); s.program.getenv("LESS") == "" {
		pager.Env = append(pager.Env, "LESS=FRX") // ends by itself where all fits, passes colours on, leaves the text standing
	}
	if err := pager.Start(); err != nil {
		return false, nil
	}
	err = pager.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, syscall.EPIPE) {
		return true, nil // it was left before the end
	}
	return true, err
}
