package embedded

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/mcpgateway"
)

// gatewayKeyFile is the key in the home that protects what the gateway hands to clients and takes back from them.
const gatewayKeyFile = "gateway.key"

// NewAsker returns what holds the calls of a gateway's clients that a human has to answer. console is where browsers reach
// the console.
func NewAsker(b *Backend, c config.Config, console string) (*mcpgateway.Asker, error) {
	key, err := gatewayKey(c.Home)
	if err != nil {
		return nil, err
	}
	return mcpgateway.NewAsker(mcpgateway.AskConfig{Approvals: b.Admission, Key: key, Patience: time.Duration(c.Gateway.Patience),
		Console: console, Shelf: newShelf(c.Home)})
}

// gatewayKey reads the gateway's key, or makes it on first use. One that is lost costs the handles that clients hold, which
// they may ask for again; so it is not worth a backup.
func gatewayKey(home string) ([]byte, error) {
	path := filepath.Join(home, gatewayKeyFile)
	text, err := readGatewayKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = makeGatewayKey(home, path)
	}
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != mcpgateway.KeyBytes {
		return nil, interlock.Errorf(interlock.CodeUnavailable, gatewayKeyFile,
			"the gateway's key is damaged; remove the file, and a new one is made")
	}
	return key, nil
}

func readGatewayKey(path string) (string, error) {
	text, err := fileio.Own(path, maxKey, fileio.Secret)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", interlock.Errorf(interlock.CodeUnavailable, gatewayKeyFile, "the gateway's key can't be used: %s", fileio.Reason(err))
	}
	return strings.TrimSpace(string(text)), nil
}

// makeGatewayKey writes a new key. Of several processes that start at once the first one's stays.
func makeGatewayKey(home, path string) (string, error) {
	key := make([]byte, mcpgateway.KeyBytes)
	if _, err := rand.Read(key); err != nil {
		return "", err
	}
	if err := appear(home, path, []byte(hex.EncodeToString(key)+"\n"), os.Link); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", interlock.Errorf(interlock.CodeUnavailable, gatewayKeyFile,
			"the gateway's key can't be written: %s", fileio.Reason(err))
	}
	return readGatewayKey(path)
}

// appear has a file appear whole or not at all, for its owner alone; put gives it its name.
func appear(dir, path string, content []byte, put func(from, to string) error) error {
	temporary, err := os.CreateTemp(dir, ".new-*") // CreateTemp gives mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err == nil {
		err = temporary.Sync()
	}
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = put(temporary.Name(), path)
	}
	return err
}

// The bounds of the shelf.
const (
	shelfDir  = "tasks"
	shelfMost = 1024
	shelfLife = 24 * time.Hour
	shelfFile = 64 << 20 // bytes of one: more than any door takes
)

// A shelf keeps sealed calls as files of the home.
type shelf struct{ dir string }

func newShelf(home string) *shelf { return &shelf{dir: filepath.Join(home, shelfDir)} }

// path is where a call is kept. The id is the gateway's own; anything else has no place.
func (s *shelf) path(id string) (string, error) {
	if id == "" || len(id) > 64 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return "", interlock.Errorf(interlock.CodeNotFound, "taskId", "there is no such task")
	}
	return filepath.Join(s.dir, id), nil
}

// Put keeps a call. Those that nobody has touched for a day are swept out; beyond the bound there is no room.
func (s *shelf) Put(_ context.Context, id string, sealed []byte) error {
	path, err := s.path(id)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, shelfDir,
			"the directory of waiting calls can't be made: %s", fileio.Reason(err))
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && s.sweep() >= shelfMost {
		return interlock.Errorf(interlock.CodeLimited, shelfDir, "%d calls wait already", shelfMost)
	}
	if err := appear(s.dir, path, sealed, os.Rename); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, shelfDir, "a waiting call can't be kept: %s", fileio.Reason(err))
	}
	return nil
}

// sweep removes what is too old and returns how many are left.
func (s *shelf) sweep() int {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return 0
	}
	left := 0
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > shelfLife {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // one that stays is swept next time
			continue
		}
		left++
	}
	return left
}

// Get returns what is kept.
func (s *shelf) Get(_ context.Context, id string) ([]byte, bool, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, false, nil
	}
	sealed, err := fileio.Plain(path, shelfFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, interlock.Errorf(interlock.CodeUnavailable, shelfDir, "a waiting call can't be read: %s", fileio.Reason(err))
	}
	return sealed, true, nil
}
