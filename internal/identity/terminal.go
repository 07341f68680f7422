package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"interlock"
)

// maxTyped bounds what is read of a line that somebody types.
const maxTyped = 256

// typeAlphabet has no letters that look like others.
const typeAlphabet = "abcdefghjkmnpqrstuvwxyz23456789"

// A terminal is the controlling terminal, whatever standard input and output are.
type terminal struct{ in, out *os.File }

func (t terminal) Close() error {
	if t.in == t.out {
		return t.in.Close()
	}
	return errors.Join(t.in.Close(), t.out.Close())
}

// Word draws eight letters for somebody to type back, in two groups. They can't be known before they are shown.
func Word(random io.Reader) (string, error) {
	var b strings.Builder
	raw := make([]byte, 1)
	for b.Len() < 9 {
		if b.Len() == 4 {
			b.WriteByte('-')
		}
		if _, err := io.ReadFull(random, raw); err != nil {
			return "", fmt.Errorf("reading randomness: %w", err)
		}
		if n := int(raw[0]); n < 256/len(typeAlphabet)*len(typeAlphabet) {
			b.WriteByte(typeAlphabet[n%len(typeAlphabet)])
		}
	}
	return b.String(), nil
}

// ErrNoTerminal says that nobody could be shown anything.
var ErrNoTerminal error = interlock.Errorf(interlock.CodeUnauthorized, "", "this takes a person at a terminal, and there is none here")

// TypeBack shows a text and a word at the controlling terminal, never on standard output, and returns nil once somebody there
// has typed the word back.
func TypeBack(ctx context.Context, text, word string) error {
	tty, err := openTerminal()
	if err != nil {
		return ErrNoTerminal
	}
	defer tty.Close()
	if _, err := fmt.Fprintf(tty.out, "%sto go on, type %s and Enter: ", text, word); err != nil {
		return fmt.Errorf("asking at the terminal: %w", err)
	}
	typed := make(chan string, 1) // the reader may outlive the one who waits for it; the process ends then
	go func() { typed <- readLine(tty.in) }()
	select {
	case line := <-typed:
		if strings.TrimSpace(line) == word {
			return nil
		}
		return interlock.Errorf(interlock.CodeUnauthorized, "", "that is not what was shown; nothing was changed")
	case <-ctx.Done():
		return interlock.Errorf(interlock.CodeUnauthorized, "", "interrupted; nothing was changed")
	}
}

// readLine reads up to the end of a line, byte by byte, so that nothing of what comes after is lost.
func readLine(from io.Reader) string {
	var line []byte
	for one := make([]byte, 1); len(line) < maxTyped; line = append(line, one[0]) {
		if n, err := from.Read(one); n == 0 || err != nil || one[0] == '\n' || one[0] == '\r' {
			break
		}
	}
	return string(line)
}
