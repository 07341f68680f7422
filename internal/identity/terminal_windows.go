package identity

import (
	"errors"
	"os"
)

func openTerminal() (terminal, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return terminal{}, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return terminal{}, errors.Join(err, in.Close())
	}
	return terminal{in, out}, nil
}
