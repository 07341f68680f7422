package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"

	"interlock/internal/fileio"
)

// KeepCheckpoint puts a signed checkpoint at path unless the one there is of the same log and as large. A checkpoint of
// another log is moved aside under a name made of its origin, never overwritten: it may be the only witness of a log that
// is gone.
func KeepCheckpoint(path string, checkpoint []byte) error {
	origin, size, ok := CheckpointHead(checkpoint)
	if !ok {
		return os.ErrInvalid
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	unlock, err := lockDirectory(dir) // two hooks at once must not put the older one last
	if err != nil {
		return err
	}
	defer unlock()
	if have, err := fileio.Plain(path, maxFile); err == nil {
		haveOrigin, haveSize, readable := CheckpointHead(have)
		switch {
		case readable && haveOrigin == origin && haveSize >= size:
			return nil
		case readable && haveOrigin != origin:
			sum := sha256.Sum256([]byte(haveOrigin))
			if err := os.Rename(path, path+"."+hex.EncodeToString(sum[:4])); err != nil {
				return err
			}
		}
	}
	temporary, err := os.CreateTemp(dir, ".interlock-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(checkpoint)
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	return err
}

// CheckpointHead reads the first two lines of a checkpoint: the log's name and its size.
func CheckpointHead(checkpoint []byte) (origin string, size int64, ok bool) {
	lines := bytes.SplitN(checkpoint, []byte("\n"), 3)
	if len(lines) < 3 {
		return "", 0, false
	}
	size, err := strconv.ParseInt(string(lines[1]), 10, 64)
	return string(lines[0]), size, err == nil && size >= 0 && len(lines[0]) > 0
}
