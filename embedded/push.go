package embedded

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/webpush"
)

// pushKeyFile is the key in the home by which push services know this server.
const pushKeyFile = "push.key"

// PushKey reads the key for push messages, or makes it on first use. One that is lost costs the browsers that are told, which switch
// it on again; so it is not worth a backup.
func PushKey(home string) (webpush.Key, error) {
	path := filepath.Join(home, pushKeyFile)
	text, err := readPushKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = makePushKey(home, path)
	}
	if err != nil {
		return webpush.Key{}, err
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		raw = nil
	}
	key, err := webpush.ParseKey(raw)
	if err != nil {
		return key, interlock.Errorf(interlock.CodeUnavailable, pushKeyFile,
			"the key for push messages is damaged; remove the file, and a new one is made")
	}
	return key, nil
}

func readPushKey(path string) (string, error) {
	text, err := fileio.Own(path, maxKey, fileio.Secret)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", interlock.Errorf(interlock.CodeUnavailable, pushKeyFile, "the key for push messages can't be used: %s", fileio.Reason(err))
	}
	return strings.TrimSpace(string(text)), err
}

// makePushKey writes a new key. Of several processes that start at once the first one's stays.
func makePushKey(home, path string) (string, error) {
	key, err := webpush.NewKey(rand.Reader)
	if err != nil {
		return "", err
	}
	err = appear(home, path, []byte(hex.EncodeToString(key)+"\n"), os.Link)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", interlock.Errorf(interlock.CodeUnavailable, pushKeyFile,
			"the key for push messages can't be written: %s", fileio.Reason(err))
	}
	return readPushKey(path)
}
