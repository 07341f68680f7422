package cli

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

// A Screen collects what a command has people read, and shows it at once. At a terminal it is in colour and, where it is longer
// than the terminal is high, goes through a pager; everything else gets the plain text, whole.
type Screen struct {
	strings.Builder
	Program  *Program
	Colour   bool
	Terminal bool
	Width    int // of the terminal in characters; 0: nothing is cut
	height   int // of the terminal in lines; 0: no pager
}

// Screen is standard output as people read it.
func (p *Program) Screen() *Screen {
	s := &Screen{Program: p, Terminal: AtTerminal(p.Stdout)}
	if s.Terminal {
		s.Width, s.height = SizeOf(p.Stdout)
		s.Colour = p.Coloured()
	}
	return s
}

// AtTerminal reports whether a stream is a terminal.
func AtTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// SizeOf is how wide and high a terminal is; zeros where it does not say.
func SizeOf(stream any) (width, height int) {
	if file, ok := stream.(*os.File); ok {
		if width, height, err := term.GetSize(int(file.Fd())); err == nil {
			return width, height
		}
	}
	return 0, 0
}

// Coloured reports whether a terminal here takes colours and its user wants them: see https://no-color.org.
func (p *Program) Coloured() bool {
	if p.Getenv("NO_COLOR") != "" || p.Getenv("TERM") == "dumb" {
		return false
	}
	return runtime.GOOS != "windows" || p.Getenv("WT_SESSION") != "" // the old console of Windows shows the codes
}

// A Style is how a piece of text looks in colour, as the numbers of the terminal's own codes.
type Style string

const (
	plain   Style = ""
	Heading Style = "1"
	Faint   Style = "2"
	Red     Style = "31"
	green   Style = "32"
	Yellow  Style = "33"
	Alarm   Style = "1;31"
)

// Paint gives a text its style, where there are colours.
func (s *Screen) Paint(as Style, text string) string {
	if !s.Colour || as == plain || text == "" {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}

// VerdictStyle is the colour of a verdict.
func VerdictStyle(v interlock.Verdict) Style {
	switch v {
	case interlock.Allow:
		return green
	case interlock.Ask:
		return Yellow
	case interlock.Halt:
		return Alarm
	default:
		return Red
	}
}

// Show prints what was collected.
func (s *Screen) Show() error {
	text := s.String()
	if s.Terminal && s.height > 0 && strings.Count(text, "\n") >= s.height {
		if shown, err := s.paged(text); shown {
			return err
		}
	}
	_, err := io.WriteString(s.Program.Stdout, text)
	return err
}

// paged has the user's pager show a text: PAGER, else less where there is one. `cat` means none.
func (s *Screen) paged(text string) (shown bool, err error) {
	words := strings.Fields(s.Program.Getenv("PAGER"))
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
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), s.Program.Stdout, s.Program.Stderr
	if pager.Env = os.Environ(); s.Program.Getenv("LESS") == "" {
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
