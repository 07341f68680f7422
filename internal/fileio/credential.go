package fileio

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// ErrNoCredentials says that this process was handed no credentials.
var ErrNoCredentials = errors.New("no credentials were handed to this process: CREDENTIALS_DIRECTORY is not set, see LoadCredential= of systemd")

// unitPrefix comes before the names of credentials that systemd hands over as a whole directory, as our own unit has it.
const unitPrefix = "interlock_"

// Credential reads a secret that the service manager handed to this process, by its name. Unlike a secret's own file it may be root's
// with a right to read for this user beside it, which looks like one for a group; nobody else may read it and nobody may write it.
func Credential(getenv func(string) string, name string, most int64) ([]byte, error) {
	if !CredentialName(name) {
		return nil, errors.New("the name of a credential is letters, digits, dots, _ and -")
	}
	dir := getenv("CREDENTIALS_DIRECTORY")
	if !filepath.IsAbs(dir) {
		return nil, ErrNoCredentials
	}
	path := filepath.Join(dir, name)
	data, info, err := Look(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(dir, unitPrefix+name)
		data, info, err = Look(path, most)
	}
	if err != nil {
		return nil, err
	}
	if err := kept(info, Settled, "it"); err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, openError{"everybody may read it"}
	}
	if err := OwnDir(dir); err != nil {
		return nil, err
	}
	return data, nil
}

// CredentialName reports whether a text can be the name of a credential: of a file in one directory, and nothing that leads out of it.
func CredentialName(name string) bool {
	if name == "" || len(name) > 255 || strings.HasPrefix(name, ".") {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
