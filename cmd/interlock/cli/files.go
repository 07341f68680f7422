package cli

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/fileio"
)

// ReplaceFile puts content at path whole or not at all.
func ReplaceFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".checkpoint-*")
	if err != nil {
		return errors.New("the file's directory can't be written")
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.New("the file can't be written")
	}
	return nil
}

func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func Redacted(text string) string {
	clean, _ := classify.Redact(text)
	return clean
}

// Shown is what of an error may be shown: the message of an *interlock.Error, else nothing specific.
func Shown(err error) string {
	var e *interlock.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return "there was not enough time"
	}
	return "`interlock doctor` says what is wrong"
}

// Exists reports whether something is at path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// UserHome is the user's home directory, or nothing.
func UserHome(getenv func(string) string) string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home := getenv(name); home != "" {
			return home
		}
	}
	return ""
}

// WritePrivate writes a file that only its owner may read, whole or not at all.
func WritePrivate(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "", "%s can't be made", filepath.Dir(path))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".interlock-*") // mode 0600
	if err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "", "%s can't be written: %s", path, fileio.Reason(err))
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "", "%s can't be written: %s", path, fileio.Reason(err))
	}
	return nil
}
