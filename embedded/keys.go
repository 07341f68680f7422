package embedded

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/store"
)

// The log's key pair in the home directory. The public half is all that verification needs.
const (
	privateKeyFile = "log.key"
	publicKeyFile  = "log.pub"
)

// maxKey bounds what is read of a key's file, in bytes.
const maxKey = 64 << 10

// PublicKeyPath is where a home keeps the key that checks its log.
func PublicKeyPath(home string) string { return filepath.Join(home, publicKeyFile) }

// prepareHome creates the home directory for its owner alone, or refuses one that others may write.
func prepareHome(home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--home",
			"the home directory can't be created: %s; name another with --home", fileio.Reason(err))
	}
	info, err := os.Stat(home)
	if err != nil || !info.IsDir() {
		return interlock.Errorf(interlock.CodeUnavailable, "--home",
			"the home is not a directory that can be read; name another with --home")
	}
	if err := fileio.Kept(info, fileio.Settled); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--home",
			"the home directory may be written by others (mode %04o); run: chmod 700 on it", info.Mode().Perm())
	}
	return nil
}

// LogSealer is the key that signs a home's log, for checking what only its holder can: with it, anybody can sign.
func LogSealer(home string) (*auditlog.Sealer, error) {
	private, err := readKey(filepath.Join(home, privateKeyFile))
	if err != nil {
		return nil, err
	}
	return auditlog.NewSealer(private)
}

// logSigner reads the log's key, or makes it on the first run. A store without its key is refused: a new key would start a
// log that nobody can connect to the old one.
func logSigner(home string, storeExists bool) (*auditlog.Sealer, error) {
	path := filepath.Join(home, privateKeyFile)
	private, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if storeExists {
			return nil, interlock.Errorf(interlock.CodeUnavailable, "log.key",
				"the log's signing key is missing from the home directory although the store exists; restore log.key "+
					"from a backup, or move %s away to start a new log", store.File(home))
		}
		private, err = makeKey(home, path)
	}
	if err != nil {
		return nil, err
	}
	return auditlog.NewSealer(private)
}

func readKey(path string) (string, error) {
	text, err := fileio.Own(path, maxKey, fileio.Secret)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", interlock.Errorf(interlock.CodeUnavailable, "log.key", "the log's signing key can't be used: %s", fileio.Reason(err))
	}
	return strings.TrimSpace(string(text)), nil
}

// makeKey writes a new key pair. Several processes may start at once in a new home: the private key appears whole or not at
// all, and the first one wins.
func makeKey(home, path string) (string, error) {
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	if err := writeOnce(home, path, private); err != nil {
		return "", interlock.Errorf(interlock.CodeUnavailable, "log.key",
			"the log's signing key can't be written: %s", fileio.Reason(err))
	}
	return readKey(path)
}

// publish writes the public key beside the private one, where it is missing or another.
func publish(home string, key *auditlog.PublicKey) error {
	path := PublicKeyPath(home)
	if have, err := fileio.Plain(path, maxKey); err == nil && strings.TrimSpace(string(have)) == key.String() {
		return nil
	}
	temporary, err := os.CreateTemp(home, ".log.pub-*")
	if err == nil {
		defer os.Remove(temporary.Name())
		_, err = temporary.WriteString(key.String() + "\n")
		if closeErr := temporary.Close(); err == nil {
			err = closeErr
		}
	}
	if err == nil {
		err = os.Chmod(temporary.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "log.pub", "the log's public key can't be written: %s", fileio.Reason(err))
	}
	return nil
}
