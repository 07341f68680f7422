//go:build !unix

package harness

import (
	"io/fs"
	"os"
	"path/filepath"

	"interlock/internal/fileio"
)

// quickRead reads a small file. Who else may have put it there is left to the permissions of the user's own directories, which other
// users can't write here.
func quickRead(path string, _ fs.FileMode) ([]byte, error) { return fileio.Plain(path, maxSmall) }

// quickWrite writes a small file whole or not at all.
func quickWrite(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".interlock-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		os.Remove(temporary.Name())
	}
	return err
}
