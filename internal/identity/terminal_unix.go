//go:build !windows

package identity

import "os"

func openTerminal() (terminal, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return terminal{tty, tty}, err
}
