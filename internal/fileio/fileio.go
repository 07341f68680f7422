// Package fileio reads files within a bound and says what is wrong with one without repeating its path, which the caller gave.
package fileio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// All reads what is open to its end, or refuses what is longer than so many bytes.
func All(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("it is longer than %d bytes", most)
	}
	return data, err
}

// Reason names a file error without the path it happened at.
func Reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err.Error()
	}
	return err.Error()
}
