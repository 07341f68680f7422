package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/fileio"
	"interlock/internal/witness"
)

// pinName is the file beside a harness's settings that says, for each home, under which key its server has to answer.
const pinName = "interlock.pin"

// privateKeyName is the file in a home that holds the private key of its log.
const privateKeyName = "log.key"

// PinFile is where `install` leaves the name of the key under which a harness's hook may believe a server.
func PinFile(home, agent string) string {
	return filepath.Join(filepath.Dir(CheckpointFile(home, agent)), pinName)
}

// ServerKey is the key under which the server of an Interlock home has to answer a hook of a harness: it comes of the private key of
// the home's log, and has to be the one that was pinned when the hook was installed, if one was. Files that others may write, or
// a private key that others may read, give none.
func ServerKey(userHome, agent, home string) (witness.Key, error) {
	path := filepath.Join(home, privateKeyName)
	text, err := quickRead(path, 0o077)
	if err != nil {
		return witness.Key{}, errors.New("the key of the home's log can't be used: " + fileio.Reason(err))
	}
	key, err := witness.ParseKey(string(text))
	if err != nil || userHome == "" {
		return key, err
	}
	pin, err := pinned(PinFile(userHome, agent), home)
	if err == nil && pin != "" && pin != key.Pin() {
		err = errors.New("the home's key is another than when the hook was installed")
	}
	if err != nil {
		return witness.Key{}, err
	}
	return key, nil
}

// Replaced reports whether a hook was installed for a home when that had another key: then another home is there now.
func Replaced(userHome, home, key string) bool {
	if userHome == "" || key == "" {
		return false
	}
	for _, agent := range Names() {
		if pin, err := pinned(PinFile(userHome, agent), home); err == nil && pin != "" && pin != key {
			return true
		}
	}
	return false
}

// pinned is what a file pins for a home; empty where it pins nothing.
func pinned(path, home string) (string, error) {
	text, err := quickRead(path, 0o022)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", errors.New("the file that pins the server's key can't be used: " + fileio.Reason(err))
	}
	for _, line := range strings.Split(string(text), "\n") {
		if key, of, ok := strings.Cut(line, " "); ok && of == home {
			return key, nil
		}
	}
	return "", nil
}

// Pin leaves the name of the key under which the server of an Interlock home has to answer. Other homes keep theirs.
func Pin(userHome, agent, home, key string) error {
	path := PinFile(userHome, agent)
	have, err := quickRead(path, 0o022)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return about(path, errors.New("can't be read: "+fileio.Reason(err)))
	}
	if strings.Contains(home, "\n") || key == "" {
		return about(path, errors.New("can't name this home"))
	}
	var lines []string
	for _, line := range strings.Split(string(have), "\n") {
		if _, of, ok := strings.Cut(line, " "); ok && of != home {
			lines = append(lines, line)
		}
	}
	lines = append(lines, key+" "+home)
	return replace(path, []byte(strings.Join(lines, "\n")+"\n"), nil)
}
